"""What is asked of a property: whether it was put to the test at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from insync.explorer.coverage.counts import Answers, Questions
from insync.explorer.coverage.nearness import comparisons, one_from_failing
from insync.explorer.coverage.results import PremiseCoverage, PropertyCoverage
from insync.explorer.coverage.source_text import premise_text
from insync.model import Model
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply
from insync.model.expressions.source import Premise, Spot
from insync.model.tracing.predicates import step_condition
from insync.properties.condition_text import show
from insync.properties.invariants import Invariant, StepInvariant

__all__ = ["ask_of_property"]


def ask_of_property(
    questions: Questions, model: Model, asked: Invariant, node: Node, premises: Sequence[Premise]
) -> Callable[[Answers], PropertyCoverage]:
    """Ask what is to be known of a property; what is returned makes it of the answers.

    Args:
        questions: where to ask.
        model: whose property it is.
        asked: the property.
        node: its condition.
        premises: what was noticed of its implications.
    """
    of_steps = asked if isinstance(asked, StepInvariant) else None
    of_states = of_steps is None
    fails = questions.ask([apply(Op.NOT, node)])
    near = questions.ask([one_from_failing(node)]) if of_states else None
    parts = [(part, questions.ask([part])) for part in comparisons(node)] if of_states else []
    true = partial(_in_a_step, model, of_steps) if of_steps is not None else partial(_in_the_state, questions.graph)
    implied = _ask_of_premises(questions, premises, true)

    def answer(answers: Answers) -> PropertyCoverage:
        settled = [part for part, one in parts if answers[one] in (0, answers.states)]
        return PropertyCoverage(
            name=asked.name,
            fails=answers[fails],
            near=None if near is None else answers[near],
            premises=tuple(premise(answers) for premise in implied),
            comparisons=len(parts),
            settled=tuple(f"{_word(answers[part] > 0)} {show(model, part) or '...'}" for part in settled),
        )

    return answer


def _ask_of_premises(
    questions: Questions, premises: Sequence[Premise], true: Callable[[Node | bool], Sequence[Sequence[Node]]]
) -> list[Callable[[Answers], PremiseCoverage]]:
    """Ask in how many states each premise is true; `true` gives the alternatives in which one is."""
    by_spot: dict[Spot, list[Sequence[Node]]] = {}
    for one in premises:
        by_spot.setdefault(one.spot, []).extend(true(one.condition))
    asked = {spot: questions.ask_some(each) for spot, each in by_spot.items()}

    def one_premise(spot: Spot) -> Callable[[Answers], PremiseCoverage]:
        return lambda answers: PremiseCoverage(spot, *premise_text(spot), answers[asked[spot]])

    return [one_premise(spot) for spot in by_spot]


def _in_the_state(graph: Graph, premise: Node | bool) -> list[list[Node]]:
    return [[graph.boolean(premise) if isinstance(premise, bool) else premise]]


def _in_a_step(model: Model, asked: StepInvariant, premise: Node | bool) -> list[list[Node]]:
    """Return what makes a premise on two states true: that some action takes a step there, of which it is true."""
    on_two = asked.pair(model).graph.boolean(premise) if isinstance(premise, bool) else premise
    program, never = model.program, apply(Op.NOT, on_two)
    return [[apply(Op.NOT, step_condition(program, never, action))] for action in program.actions]


def _word(holds: bool) -> str:
    return "always" if holds else "never"

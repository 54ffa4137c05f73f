"""What is asked of a property: whether it was put to the test at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from insync.explorer.coverage.nearness import comparisons, one_from_failing
from insync.explorer.coverage.questions import Answers, Questions
from insync.explorer.coverage.results import PremiseCoverage, PropertyCoverage
from insync.explorer.coverage.source_text import premise_text
from insync.model import Model
from insync.model.graph import Node, Op
from insync.model.noticed import Premise, Spot
from insync.model.simplify import apply
from insync.properties.invariants import Invariant
from insync.properties.show import show
from insync.properties.step_invariants import StepInvariant

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
    of_states = not isinstance(asked, StepInvariant)
    fails = questions.ask([apply(Op.NOT, node)])
    near = questions.ask([one_from_failing(node)]) if of_states else None
    parts = [(part, questions.ask([part])) for part in comparisons(node)] if of_states else []
    implied = _ask_of_premises(questions, premises if of_states else [])

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


def _ask_of_premises(questions: Questions, premises: Sequence[Premise]) -> list[Callable[[Answers], PremiseCoverage]]:
    by_spot: dict[Spot, list[list[Node]]] = {}
    for one in premises:
        given = one.condition
        by_spot.setdefault(one.spot, []).append([questions.graph.boolean(given) if isinstance(given, bool) else given])
    asked = {spot: questions.ask_some(each) for spot, each in by_spot.items()}

    def one_premise(spot: Spot) -> Callable[[Answers], PremiseCoverage]:
        return lambda answers: PremiseCoverage(spot, *premise_text(spot), answers[asked[spot]])

    return [one_premise(spot) for spot in by_spot]


def _word(holds: bool) -> str:
    return "always" if holds else "never"

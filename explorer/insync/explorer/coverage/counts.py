"""The conditions whose states `why` counts, and the coverage that is made of the counts.

`Questions` collects the conditions, each once, `Answers` has the number of states for each. The functions `ask_of_...`
add the conditions of an action or property, and return a function from the answers to its coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate

from insync.explorer.coverage.results import (
    ActionCoverage,
    AssignmentCoverage,
    BranchCoverage,
    GuardCoverage,
    PremiseCoverage,
    PropertyCoverage,
)
from insync.explorer.coverage.source_page import argument_text, premise_text
from insync.model import Model
from insync.model.expressions.graph import Graph, Node, Op, fold, reachable
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.source import Premise, Spot
from insync.model.expressions.store import conjuncts
from insync.model.tracing.grounding import ActionParts
from insync.model.tracing.predicates import step_condition
from insync.model.tracing.program import BoundAction
from insync.properties.condition_text import show
from insync.properties.invariants import Invariant, StepInvariant

__all__ = [
    "Answers",
    "Questions",
    "ask_of_action",
    "ask_of_property",
]


class Answers:
    """The number of states in which each condition holds.

    Args:
        states: the number of all states.
        counts: the number of states in which each condition holds.
    """

    def __init__(self, states: int, counts: Mapping[Node, int]) -> None:
        self.states, self._counts = states, counts

    def __getitem__(self, condition: Node) -> int:
        if condition.op is Op.CONST:
            return self.states if condition is condition.graph.true else 0
        return self._counts[condition]


class Questions:
    """The conditions to count.

    Args:
        graph: of the conditions.
        inside: the condition of the states that are counted.

    Attributes:
        nodes: for each condition its conjunction with `inside`, which is what is counted.
    """

    def __init__(self, graph: Graph, inside: Node) -> None:
        self.graph, self.inside = graph, inside
        self.nodes: dict[Node, Node] = {}

    def ask(self, conditions: Sequence[Node]) -> Node:
        """Count the states in which all of some conditions hold; return the condition that is the key of the answer."""
        condition = combine(self.graph, Op.AND, list(conditions))
        if condition.op is not Op.CONST:
            self.nodes[condition] = combine(self.graph, Op.AND, [self.inside, condition])
        return condition

    def ask_some(self, alternatives: Sequence[Sequence[Node]]) -> Node:
        """Count the states in which all conditions of at least one alternative hold; return the key of the answer."""
        each = [combine(self.graph, Op.AND, list(conditions)) for conditions in alternatives]
        return self.ask([combine(self.graph, Op.OR, each)])

    def not_all(self, conditions: Sequence[Node]) -> Node:
        """Return the condition that at least one of these fails."""
        return apply(Op.NOT, combine(self.graph, Op.AND, list(conditions)))


# ------------------------------------------------------------------------------------------------------------ actions


def ask_of_action(
    questions: Questions, fields: Sequence[str], name: str, place: str, bindings: Sequence[ActionParts]
) -> Callable[[Answers], ActionCoverage]:
    """Add the conditions of an action, and return the function from the answers to its coverage.

    Args:
        questions: where the conditions are added.
        fields: the field of each cell, without indexes.
        name: the action.
        place: its `file:line`.
        bindings: the parts of the action for all values of its parameters.
    """
    possible = [(one, one.bound) for one in bindings if one.bound is not None]
    takes = [(one, [*bound.guard, *(check.node for check in bound.checks)]) for one, bound in possible]
    enabled = questions.ask_some([bound.guard for _, bound in possible])
    attempts = [questions.ask(bound.guard) for _, bound in possible]
    steps = [questions.ask(takes_it) for _, takes_it in takes]
    guards = _ask_of_guards(questions, bindings)
    branches = _ask_of_branches(questions, takes)
    assignments = _ask_of_assignments(questions, takes)
    changed = _ask_of_fields(questions, fields, [bound for _, bound in possible])
    file, _, line = place.rpartition(":")

    def answer(answers: Answers) -> ActionCoverage:
        taken = sum(answers[node] for node in steps)
        return ActionCoverage(
            name=name,
            file=file,
            line=int(line),
            bindings=len(possible),
            states=answers[enabled],
            chances=answers.states * len(possible),
            steps=taken,
            refused=sum(answers[node] for node in attempts) - taken,
            guards=tuple(one(answers) for one in guards),
            branches=tuple(one(answers) for one in branches),
            assignments=tuple(one(answers) for one in assignments),
            changed={field: sum(answers[node] for node in nodes) for field, nodes in changed.items()},
        )

    return answer


def _ask_of_guards(questions: Questions, bindings: Sequence[ActionParts]) -> list[Callable[[Answers], GuardCoverage]]:
    false: dict[tuple[Spot, int], list[Node]] = {}
    alone: dict[tuple[Spot, int], list[Node]] = {}
    ruled_out: dict[tuple[Spot, int], int] = {}
    for binding in bindings:
        parts: dict[tuple[Spot, int], list[Node]] = {}
        for one in binding.required:
            parts.setdefault((one.spot, one.place), []).extend(conjuncts(one.condition))
            false.setdefault((one.spot, one.place), [])
        if binding.bound is None:
            last = binding.required[-1]  # it is false, and ended the tracing
            ruled_out[last.spot, last.place] = ruled_out.get((last.spot, last.place), 0) + 1
            continue
        for key, own in parts.items():
            # A confinement is no guard, as only the states inside are counted.
            others = [node for other, nodes in parts.items() if other != key for node in nodes]
            fails = questions.not_all(own)
            false[key].append(questions.ask([fails]))
            alone.setdefault(key, []).append(questions.ask([fails, *others]))

    def one_guard(key: tuple[Spot, int]) -> Callable[[Answers], GuardCoverage]:
        return lambda answers: GuardCoverage(
            spot=key[0],
            place=key[1],
            text=argument_text(key[0], key[1]),
            false=sum(answers[node] for node in false[key]),
            alone=sum(answers[node] for node in alone.get(key, [])),
            ruled_out=ruled_out.get(key, 0),
            decided=all(node.op is Op.CONST for node in false[key]),
        )

    return [one_guard(key) for key in false]


def _ask_of_branches(
    questions: Questions, takes: Sequence[tuple[ActionParts, Sequence[Node]]]
) -> list[Callable[[Answers], BranchCoverage]]:
    sides: dict[tuple[Spot, str], tuple[list[Node], list[Node]]] = {}
    by_state: set[tuple[Spot, str]] = set()
    for binding, guard in takes:
        tests: dict[tuple[Spot, str], tuple[list[list[Node]], list[list[Node]]]] = {}
        for one in binding.branches:
            true, false = tests.setdefault((one.spot, one.word), ([], []))
            if one.test.op is not Op.CONST and questions.graph.false not in one.where:
                by_state.add((one.spot, one.word))
            true.append([*one.where, one.test])
            false.append([*one.where, apply(Op.NOT, one.test)])
        for key, (true, false) in tests.items():
            asked = sides.setdefault(key, ([], []))
            for side, alternatives in zip(asked, (true, false), strict=True):
                side.append(_ask_within(questions, guard, alternatives))

    def one_branch(key: tuple[Spot, str]) -> Callable[[Answers], BranchCoverage]:
        spot, word = key
        true, false = sides[key]
        return lambda answers: BranchCoverage(
            spot=spot,
            word=word,
            text=argument_text(spot),
            true=sum(answers[node] for node in true),
            false=sum(answers[node] for node in false),
            decided=key not in by_state,
        )

    return [one_branch(key) for key in sides]


def _ask_of_assignments(
    questions: Questions, takes: Sequence[tuple[ActionParts, Sequence[Node]]]
) -> list[Callable[[Answers], AssignmentCoverage]]:
    happen: dict[Spot, list[Node]] = {}
    for binding, guard in takes:
        wheres: dict[Spot, list[list[Node]]] = {}
        for one in binding.assigned:
            wheres.setdefault(one.spot, []).append(list(one.where))
        for spot, alternatives in wheres.items():
            happen.setdefault(spot, []).append(_ask_within(questions, guard, alternatives))

    def one_assignment(spot: Spot) -> Callable[[Answers], AssignmentCoverage]:
        return lambda answers: AssignmentCoverage(spot, sum(answers[node] for node in happen[spot]))

    return [one_assignment(spot) for spot in happen]


def _ask_of_fields(
    questions: Questions, field_of: Sequence[str], actions: Sequence[BoundAction]
) -> dict[str, list[Node]]:
    changes: dict[str, list[Node]] = {}
    for action in actions:
        fields: dict[str, list[list[Node]]] = {}
        for cell, node in action.updates:
            other = apply(Op.NOT, apply(Op.EQ, node, questions.graph.cell(cell)))
            fields.setdefault(field_of[cell], []).append([other])
        guard = [*action.guard, *(check.node for check in action.checks)]
        for field, alternatives in fields.items():
            changes.setdefault(field, []).append(_ask_within(questions, guard, alternatives))
    return changes


def _ask_within(questions: Questions, guard: Sequence[Node], alternatives: Sequence[Sequence[Node]]) -> Node:
    """Count the states in which a guard and at least one of some conjunctions hold."""
    graph = questions.graph
    some = combine(graph, Op.OR, [combine(graph, Op.AND, list(conditions)) for conditions in alternatives])
    return questions.ask([*guard, some])


# --------------------------------------------------------------------------------------------------------- properties


def ask_of_property(
    questions: Questions, model: Model, asked: Invariant, node: Node, premises: Sequence[Premise]
) -> Callable[[Answers], PropertyCoverage]:
    """Add the conditions of a property, and return the function from the answers to its coverage.

    Args:
        questions: where the conditions are added.
        model: the model of the property.
        asked: the property.
        node: its condition.
        premises: the premises of its implications, with their source spans.
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
    """Count the states in which each premise is true; `true` returns the alternatives in which one is."""
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
    """Return the alternatives in which a premise on two states is true: for each action, its steps that meet it."""
    on_two = asked.pair(model).graph.boolean(premise) if isinstance(premise, bool) else premise
    program, never = model.program, apply(Op.NOT, on_two)
    return [[apply(Op.NOT, step_condition(program, never, action))] for action in program.actions]


def _word(holds: bool) -> str:
    return "always" if holds else "never"


# ----------------------------------------------------------------------------------------------------------- nearness
#
# A condition that holds is near to failing if it would fail were the result of one of its comparisons reversed.


_CONNECTIVES = {Op.AND, Op.OR, Op.NOT}


def comparisons(root: Node) -> list[Node]:
    """Return the comparisons that a condition joins by and, or and not; constants are left out."""
    return [node for node in reachable([root], _parts) if node.op not in (*_CONNECTIVES, Op.CONST)]


def one_from_failing(root: Node) -> Node:
    """Return the condition that another one holds, and would fail were the result of one of its comparisons reversed.

    A comparison that occurs in several places counts as several, as each could be reversed alone.
    """
    return fold([root], _near, needs=_parts)[0][0]


def _near(node: Node, parts: Sequence[tuple[Node, Node]]) -> tuple[Node, Node]:
    """Return that a condition holds and is one from failing, and that it fails and is one from holding."""
    graph = node.graph
    if node.op is Op.NOT:
        return parts[0][1], parts[0][0]
    if node.op is Op.AND:
        all_hold = combine(graph, Op.AND, [node, combine(graph, Op.OR, [holds for holds, _ in parts])])
        return all_hold, _one_alone(graph, [fails for _, fails in parts], node.args)
    if node.op is Op.OR:
        negated = [apply(Op.NOT, arg) for arg in node.args]
        some = combine(graph, Op.OR, [fails for _, fails in parts])
        none_holds = combine(graph, Op.AND, [apply(Op.NOT, node), some])
        return _one_alone(graph, [holds for holds, _ in parts], negated), none_holds
    if node.op is Op.CONST:
        return graph.false, graph.false
    return node, apply(Op.NOT, node)


def _one_alone(graph: Graph, ones: Sequence[Node], others: Sequence[Node]) -> Node:
    """Return the condition that for some index i, `ones[i]` holds and `others[j]` holds for all j other than i."""

    def both(left: Node, right: Node) -> Node:
        return combine(graph, Op.AND, [left, right])

    before = list(accumulate(others[:-1], both, initial=graph.true))
    after = list(accumulate(reversed(others[1:]), both, initial=graph.true))[::-1]
    places = zip(ones, before, after, strict=True)
    return combine(graph, Op.OR, [combine(graph, Op.AND, list(place)) for place in places])


def _parts(node: Node) -> tuple[Node, ...]:
    """Return the conditions that a condition is made of by and, or and not."""
    return node.args if node.op in _CONNECTIVES else ()

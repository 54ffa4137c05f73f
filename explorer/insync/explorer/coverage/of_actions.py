"""What is asked of an action: its guards, branches, assignments and fields, over all values of its parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from insync.explorer.coverage.counts import Answers, Questions
from insync.explorer.coverage.results import ActionCoverage, AssignmentCoverage, BranchCoverage, GuardCoverage
from insync.explorer.coverage.source_text import argument_text
from insync.model.domains.layout import Schema
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.source import Spot
from insync.model.expressions.store import conjuncts
from insync.model.tracing.anatomy import Anatomy
from insync.model.tracing.program import BoundAction

__all__ = ["ask_of_action", "field_of"]

_PLACES = re.compile(r"\[[^\]]*\]|\{.*\}$")


def field_of(path: str) -> str:
    """Return the field that a cell is of, whatever the place in it: `replica[].log[].epoch`."""
    return _PLACES.sub(lambda found: "[]" if found[0].startswith("[") else "", path)


def ask_of_action(
    questions: Questions, schema: Schema, name: str, place: str, bindings: Sequence[Anatomy]
) -> Callable[[Answers], ActionCoverage]:
    """Ask what is to be known of an action; what is returned makes it of the answers.

    Args:
        questions: where to ask.
        schema: of the states.
        name: the action.
        place: its `file:line`.
        bindings: its parts for all values of its parameters.
    """
    possible = [(one, one.bound) for one in bindings if one.bound is not None]
    takes = [(one, [*bound.guard, *(check.node for check in bound.checks)]) for one, bound in possible]
    enabled = questions.ask_some([bound.guard for _, bound in possible])
    attempts = [questions.ask(bound.guard) for _, bound in possible]
    steps = [questions.ask(takes_it) for _, takes_it in takes]
    guards = _ask_of_guards(questions, bindings)
    branches = _ask_of_branches(questions, takes)
    assignments = _ask_of_assignments(questions, takes)
    changed = _ask_of_fields(questions, schema, [bound for _, bound in possible])
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


def _ask_of_guards(questions: Questions, bindings: Sequence[Anatomy]) -> list[Callable[[Answers], GuardCoverage]]:
    false: dict[tuple[Spot, int], list[Node]] = {}
    alone: dict[tuple[Spot, int], list[Node]] = {}
    ruled_out: dict[tuple[Spot, int], int] = {}
    for binding in bindings:
        parts: dict[tuple[Spot, int], list[Node]] = {}
        for one in binding.required:
            parts.setdefault((one.spot, one.place), []).extend(conjuncts(one.condition))
            false.setdefault((one.spot, one.place), [])
        if binding.bound is None:
            last = binding.required[-1]  # it ended the tracing
            ruled_out[last.spot, last.place] = ruled_out.get((last.spot, last.place), 0) + 1
            continue
        for key, own in parts.items():
            # What the model is confined to is no guard: only the states inside are counted.
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
    questions: Questions, takes: Sequence[tuple[Anatomy, Sequence[Node]]]
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
    questions: Questions, takes: Sequence[tuple[Anatomy, Sequence[Node]]]
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


def _ask_of_fields(questions: Questions, schema: Schema, actions: Sequence[BoundAction]) -> dict[str, list[Node]]:
    changes: dict[str, list[Node]] = {}
    for action in actions:
        fields: dict[str, list[list[Node]]] = {}
        for cell, node in action.updates:
            other = apply(Op.NOT, apply(Op.EQ, node, questions.graph.cell(cell)))
            fields.setdefault(field_of(schema.cells[cell].path), []).append([other])
        guard = [*action.guard, *(check.node for check in action.checks)]
        for field, alternatives in fields.items():
            changes.setdefault(field, []).append(_ask_within(questions, guard, alternatives))
    return changes


def _ask_within(questions: Questions, guard: Sequence[Node], alternatives: Sequence[Sequence[Node]]) -> Node:
    """Ask in how many states a guard and one of some conjunctions hold."""
    graph = questions.graph
    some = combine(graph, Op.OR, [combine(graph, Op.AND, list(conditions)) for conditions in alternatives])
    return questions.ask([*guard, some])

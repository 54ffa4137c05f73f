"""Forms of what actions make of a collection: equal ones only where they leave the same in every state."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from insync.model import (
    Bag,
    Bool,
    BoundValues,
    Index,
    Model,
    Not,
    Range,
    SetOf,
    State,
    StateView,
    action,
    require,
    when,
)
from insync.model.evaluator import Evaluator
from insync.model.symmetry.gathering import Element, Form, Gathering
from insync.model.symmetry.presence import Presence
from insync.model.symmetry.renaming import NormalForms
from insync.model.tracing.program import BoundAction

NODE = Element(kinds=(None,), guards=(None,), targets=(0,), inner=(), once=False)
"""A node, in one cell."""


class Node(Index, symmetric=True):
    """A node."""

    size, label = 2, "n"


WAYS = (
    "+a", "+b", "+a+b", "+b+a", "+a+a", "-a", "-a-b", "-b-a", "-a+b", "+b-a", "f+a", "F+a", "f-a", "f+a +b", "+b f+a",
    "f+b+a F+b", "f+a F+b", "F+b f+a", "f+a F+b+a", "f+a+b F+b+b", "f+a+a F+a", "f-a F-b", "f-a F+b", "f-a-b F-b",
    "-b f-a", "l-a L+b", "f+a F-a", "l+a L-a",
)  # fmt: skip
"""What is added and removed, each part where the condition in front of it holds: f and l, or F and L where not."""


def _change(s: Any, way: str) -> None:
    conditions = {"f": s.flag, "F": Not(s.flag), "l": s.late, "L": Not(s.late)}
    for part in way.split():
        with when(conditions[part[0]]) if part[0] in conditions else nullcontext():
            for sign, name in re.findall(r"([+-])([ab])", part):
                (s.heap.add if sign == "+" else s.heap.remove)(getattr(s, name))


class Way(Range):
    """A way to change the heap."""

    lo, hi = 0, len(WAYS) - 1


class Heap(Model):
    """A bag or a set of nodes, which is changed in one of many ways."""

    collection: Callable[..., Any] = Bag

    def declare(self, b: BoundValues) -> State:
        return State(flag=Bool, late=Bool, a=Node, b=Node, heap=type(self).collection(Node, 4))

    @action
    def prepare(self, s: StateView, a: Node, b: Node, flag: bool, late: bool) -> None:
        """Choose what the next change is about."""
        s.a, s.b, s.flag, s.late = a, b, flag, late

    @action
    def change(self, s: StateView, way: Way) -> None:
        """Change the heap in one way."""
        _change(s, WAYS[int(way)])

    @action
    def put(self, s: StateView, node: Node) -> None:
        """Put a node on a small heap."""
        require(s.heap.length < 2)
        s.heap.add(node)


class HeapOfSets(Heap):
    """The same with a set."""

    collection = SetOf


def _states(model: Model) -> list[tuple[int, ...]]:
    """All states with up to two nodes."""
    evaluator, numbers = Evaluator(model.program), range(len(model.program.actions))
    small = [n for n in numbers if model.program.actions[n].name != "change"]
    found, left = dict[tuple[int, ...], None](), [model.program.initials[0]]
    while left:
        codes = left.pop()
        if codes not in found:
            found[codes] = None
            left += [evaluator.step(n, codes) for n in set(small) & set(evaluator.enabled(codes))]
    return list(found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Heap, HeapOfSets])
def test_what_has_equal_forms_is_equal_in_every_state(kind: type[Heap]) -> None:
    model = kind()
    program = model.program
    assert program.symmetry is not None
    (group,) = program.symmetry.arranged
    cells = [group.lengths[0], *(cell for row in group.rows[0] for cell in row)]
    forms = Gathering(NormalForms(), Presence(program.symmetry, [cell.size for cell in program.schema.cells]), None)
    element = replace(NODE, once=group.once)

    def form(one: BoundAction) -> Form:
        updates = dict(one.updates)
        return forms.form(element, [updates.get(cell, program.graph.cell(cell)) for cell in cells], {})

    evaluator, states = Evaluator(program), _states(model)
    changes = [n for n, one in enumerate(program.actions) if one.name == "change"]
    left: dict[int, list[object]] = {}
    for number in changes:
        left[number] = []
        for codes in states:
            taken = number in evaluator.enabled(codes) and evaluator.failing_check(number, codes) is None
            left[number].append(model.decode(evaluator.step(number, codes))["heap"] if taken else None)
    alike = 0
    for one, other in itertools.combinations(changes, 2):
        if form(program.actions[one]) == form(program.actions[other]):
            alike += 1
            pairs = zip(left[one], left[other], strict=True)
            assert all(a == b for a, b in pairs if a is not None and b is not None), (one, other)
    assert alike == (7 if kind is Heap else 13)

"""Forms of collections that are kept in order: equal forms only for collections that are equal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import pytest

from insync.model.evaluator import evaluate
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply
from insync.model.symmetry.gathering import Element, Form, Gathering, placed
from insync.model.symmetry.presence import Presence
from insync.model.symmetry.renaming import NormalForms
from insync_symmetric import Gossip

NUMBER = Element(kinds=(None,), guards=(None,), targets=(0,), inner=(), once=False)
"""An element that is a number, in one cell."""


@pytest.mark.parametrize("capacity", [1, 2, 3])
def test_collections_that_differ_in_one_place_have_unlike_forms_the_last_place_included(capacity: int) -> None:
    graph = Graph([capacity + 1, *[5] * (2 * capacity)])
    symmetry = Gossip().program.symmetry
    assert symmetry is not None
    gathering = Gathering(NormalForms(), Presence(symmetry, graph.cell_sizes), None)
    length, *cells = (graph.cell(number) for number in range(len(graph.cell_sizes)))

    def form(elements: list[Node]) -> Form:
        return gathering.form(NUMBER, [length, *elements], {})

    first, others = cells[:capacity], cells[capacity:]
    assert form(first) == form(first)
    for place in range(capacity):
        assert form([*first[:place], others[place], *first[place + 1 :]]) != form(first)


def test_what_a_set_has_it_has_once() -> None:
    twice = Counter[Hashable](["a", "a", "b"])
    assert Form("base").changed("added", twice, once=True).what == {("a", 1), ("b", 1)}
    again = Form("base").changed("added", twice, once=False).changed("added", twice, once=False)
    assert again == Form("base", "added", frozenset({("a", 4), ("b", 2)}))
    other = again.changed("removed", Counter(["a"]), once=False)
    assert other == Form(again, "removed", frozenset({("a", 1)}))


@pytest.mark.parametrize(("above", "there"), [(0, (True, True)), (1, (False, True)), (2, (False, False))])
def test_a_code_is_there_where_its_guard_is_above(above: int, there: tuple[bool, bool]) -> None:
    """The guard is 1 or 2, as a condition says."""
    graph = Graph([2, 5])
    condition = apply(Op.EQ, graph.cell(0), graph.const(1))
    guard = apply(Op.ITE, condition, graph.const(1), graph.const(2))
    code = placed(graph.cell(1), guard, above, None, None)
    for one, is_there in zip((1, 0), there, strict=True):
        assert evaluate(code, (one, 4)) == (4 if is_there else 0)
    assert placed(graph.cell(1), None, above, None, None) is graph.cell(1)

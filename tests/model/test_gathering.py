"""Forms of collections that are kept in order: equal forms only for collections that are equal."""

from __future__ import annotations

import pytest

from insync.model.gathering import Element, Form, Gathering
from insync.model.graph import Graph, Node
from insync.model.presence import Presence
from insync.model.renaming import NormalForms
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

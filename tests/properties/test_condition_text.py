"""Which conditions are shown as text, and which are too deep or too long for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from insync.model import (
    Array,
    BoundValues,
    Condition,
    Implies,
    Index,
    Int,
    Model,
    Option,
    Range,
    State,
    StateView,
    for_all,
)
from insync.model.expressions.graph import Node, Op
from insync.properties.condition_text import LONGEST, show


class Voter(Index):
    """Whoever has a term."""

    label = "v"
    size = 3


class Pair(Model):
    """Two numbers."""

    def declare(self, b: BoundValues) -> State:
        return State(a=Int(0, 1), b=Int(0, 1), **{"x" * (LONGEST - 10): Int(0, 3)})


MODEL = Pair()


def nested(depth: int) -> Node:
    """A product of so many factors, each within the one before it."""
    graph = MODEL.program.graph
    made = graph.cell(0)
    for number in range(depth):
        made = graph.node(Op.MUL, (graph.cell((number + 1) % 2), made))
    return made


@pytest.mark.parametrize("depth", [0, 1, 5, 12])
def test_what_is_nested_no_deeper_than_twelve_times_is_shown(depth: int) -> None:
    text = show(MODEL, nested(depth))
    assert text.count("a") + text.count("b") == depth + 1
    assert text.count("(") == text.count(")") == depth


@pytest.mark.parametrize("depth", [13, 14, 100, 5000])
def test_what_is_nested_deeper_is_not(depth: int) -> None:
    assert show(MODEL, nested(depth)) == ""


@pytest.mark.parametrize(("more", "length"), [(1, LONGEST - 4), (12345, LONGEST), (123456, 0)])
def test_what_takes_more_characters_than_anybody_reads_is_not_shown(more: int, length: int) -> None:
    graph = MODEL.program.graph
    assert len(show(MODEL, graph.node(Op.ADD, (graph.cell(2), graph.const(more))))) == length


def test_a_condition_that_depends_on_nothing_is_a_word_as_in_a_trace() -> None:
    graph = MODEL.program.graph
    assert [show(MODEL, node) for node in (graph.true, graph.false)] == ["true", "false"]


class Terms(Model):
    """Terms of three voters, which are the first cells."""

    def declare(self, b: BoundValues) -> State:
        return State(term=Array(Voter, Int(0, 3)), at=Int(0, 1))


@pytest.mark.parametrize(("first", "whole"), [(0, True), (1, False)])
def test_the_elements_without_the_first_one_are_not_shown_as_the_array(first: int, whole: bool) -> None:
    graph = Terms().program.graph
    chosen = graph.node(Op.SELECT, (graph.cell(3), *(graph.cell(cell) for cell in range(first, 3))))
    text = show(Terms(), graph.node(Op.LT, (chosen, graph.const(2))))
    assert ("term[at]" in text) == whole


class Place(Range):
    lo, hi = 0, 2


class Hall(Model):
    """Voters in a row, of whom one may speak."""

    def declare(self, b: BoundValues) -> State:
        return State(row=Array(Place, Int(0, 9)), term=Array(Voter, Int(0, 3)), speaker=Option(Voter), voter=Voter)


CONDITIONS: dict[str, Callable[[StateView], Condition]] = {
    "(for all voter: term[voter] > 1)": lambda s: for_all(Voter, lambda voter: s.term[voter] > 1),
    "(for all voter: (not speaker == voter or term[voter] < 2))": lambda s: for_all(
        Voter, lambda voter: Implies(s.speaker == voter, s.term[voter] < 2)
    ),
    "(for all i: row[i] < 5)": lambda s: for_all(Place, lambda i: s.row[i] < 5),
    "(for all i: row[0] <= 0 and row[1] <= 1 and row[2] <= 2)": lambda s: for_all(Place, lambda i: s.row[i] <= i),
    "(for all voter: voter == v1 and voter == v2 and voter == v3)": lambda s: for_all(
        Voter, lambda voter: s.voter == voter
    ),
}


@pytest.mark.parametrize("text", CONDITIONS)
def test_what_holds_of_every_element_is_said_once_where_all_say_the_same(text: str) -> None:
    """A number is an element only as an index, and a field with the variable's name leaves the elements named."""
    hall = Hall()
    assert show(hall, hall.trace_predicate(CONDITIONS[text])) == text

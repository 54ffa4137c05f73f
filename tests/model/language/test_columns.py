"""What the grid shows of one's own states: a column for each member of a sort, and parts that change by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from insync.model import (
    Array,
    Bag,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Index,
    Int,
    Model,
    ModelError,
    Option,
    Range,
    Record,
    Seq,
    Set,
    SetOf,
    State,
    bound,
)
from insync.model.language.presentation import cell_text, show


class Node(Index):
    size, label = 2, "n"


class Seat(Index):
    size, label = 3, "seat"


class Many(Index):
    size = 9


class Guest(Index):
    size = bound("guests")


class Hall(Model):
    def declare(self, b: BoundValues) -> State:
        return State(
            term=Array(Node, Int(0, 3)),
            leader=Option(Node),
            vote=Array(Node, Option(Node)),
            log=Array(Node, Record(end=Int(0, 1), marks=Set(Node))),
            seat=Array(Seat, Bool),
            row=Array(Node, Array(2, Bool)),
            many=Array(Many, Bool),
            list=Array(2, Int(0, 1)),
            queue=Seq(Option(Node), 2),
            post=Record(by=Option(Node), kept=Bool),
        )


def test_members_have_columns_with_the_arrays_as_parts() -> None:
    model = Hall()
    cells = model.grid(model.decode(model.program.initials[0]))
    member = {
        "term": "0",
        "vote": "-",
        "log.end": "0",
        "log.marks": "{}",
        "row": "[false, false]",
    }
    assert cells == {
        "n1": member,
        "n2": member,
        "leader": "-",
        "seat[seat1]": "false",
        "seat[seat2]": "false",
        "seat[seat3]": "false",
        "many": {f"many{i}": "false" for i in range(1, 10)},
        "list": "[0, 0]",
        "queue": "[]",
        "post": {"by": "-", "kept": "false"},
    }
    assert cell_text(cells["post"]) == "by=- kept=false"
    waiting = {**model.decode(model.program.initials[0]), "queue": [None, "n1"]}
    assert model.grid(waiting)["queue"] == "[-, n1]"


@pytest.mark.parametrize("guests", [1, 7, 8, 9, 20])
def test_up_to_eight_members_have_columns_and_more_stand_in_one(guests: int) -> None:
    class House(Model):
        bounds = Bounds(guests=Bound(2, 1, 20))

        def declare(self, b: BoundValues) -> State:
            return State(up=Array(Guest, Bool), spare=Bool)

    model = House(guests=guests)
    cells = model.grid(model.decode(model.program.initials[0]))
    names = [f"guest{number}" for number in range(1, guests + 1)]
    rooms = {f"up[{name}]": "false" for name in names} if guests <= 8 else {"up": dict.fromkeys(names, "false")}
    assert cells == {**rooms, "spare": "false"}


def test_one_array_of_records_over_a_sort_has_their_fields_as_parts() -> None:
    class Single(Model):
        def declare(self, b: BoundValues) -> State:
            return State(node=Array(Node, Record(term=Int(0, 3), up=Bool)))

    model = Single()
    cells = model.grid(model.decode(model.program.initials[0]))
    assert cells == {"node[n1]": {"term": "0", "up": "false"}, "node[n2]": {"term": "0", "up": "false"}}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([], "{}"),
        ([{"by": "n1", "kept": True}], "{(by=n1 kept=true)}"),
        ([{"by": None, "kept": False}, {"by": "n2", "kept": True}], "{(by=- kept=false), (by=n2 kept=true)}"),
    ],
)
def test_what_is_collected_reads_alike_in_a_cell_and_in_a_sentence(value: list[Any], text: str) -> None:
    class Letters(Model):
        def declare(self, b: BoundValues) -> State:
            letter = Record(by=Option(Node), kept=Bool)
            return State(set=SetOf(letter, 2), bag=Bag(letter, 2))

    model = Letters()
    assert [cell_text(cell) for cell in model.grid({"set": value, "bag": value}).values()] == [text, text]
    assert show(value) == text


def test_a_field_that_is_called_like_a_member_has_its_own_column() -> None:
    class Twice(Model):
        def declare(self, b: BoundValues) -> State:
            return State(n1=Bool, a=Array(Node, Bool), b=Array(Node, Bool))

    model = Twice()
    cells = model.grid(model.decode(model.program.initials[0]))
    assert list(cells) == ["n1", "[n1]", "n2"]


def test_numbers_and_names_have_no_columns_of_their_own() -> None:
    class Level(Range):
        lo, hi = 1, 2

    class Stacks(Model):
        def declare(self, b: BoundValues) -> State:
            return State(left=Array(Level, Int(0, 3)), right=Array(Level, Bool))

    model = Stacks()
    cells = model.grid(model.decode(model.program.initials[0]))
    assert cells == {"left[1]": "0", "left[2]": "0", "right[1]": "false", "right[2]": "false"}


@pytest.mark.parametrize("wrong", ["*", {"*": 1}, {1: "one"}, {"": "nothing"}, None])
def test_a_legend_says_what_marks_mean(wrong: Any) -> None:
    with pytest.raises(ModelError, match=r"test_columns\.py:\d+: Wrong: legend=.+ must say of each mark what it means"):

        class Wrong(Model):
            legend = wrong


@pytest.mark.parametrize("wrong", [None, 3, ("the first leads",)])
def test_how_members_are_told_apart_is_a_text(wrong: Any) -> None:
    with pytest.raises(ModelError, match=r"test_columns\.py:\d+: Wrong: tells_apart=.+ must be a text"):

        class Wrong(Model):
            tells_apart = wrong

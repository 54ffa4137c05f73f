"""What an author may name in `abstraction`, and what is said where it is something else."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from insync.model import (
    NONE,
    Absent,
    Array,
    Bag,
    Bool,
    BoundValues,
    Enum,
    If,
    Index,
    Int,
    Model,
    Option,
    Record,
    Set,
    State,
    StateView,
    action,
    record,
    require,
)
from insync.model.abstraction import abstraction_of
from insync.model.evaluator import evaluate
from insync.runtime.errors import ModelError


class Room(Index):
    label = "r"
    size = 3


class Light(enum.Enum):
    OFF = 0
    ON = 1


class House(Model):
    """Rooms with lights."""

    def declare(self, b: BoundValues) -> State:
        return State(
            light=Enum(Light),
            locked=Bool,
            guest=Option(Room),
            heated=Set(Room),
            warmth=Array(Room, Int(-2, 5)),
            bill=Option(Record(sum=Int(0, 3), paid=Bool)),
            mail=Bag(Int(0, 3), most=2),
            cellar=Absent(Bool),
        )

    @action
    def change(self, s: StateView, room: Room) -> None:
        """Change everything."""
        require(room != 2)
        s.light = Light.ON
        s.bill = record(sum=2, paid=True)
        s.warmth[room] = -1
        s.mail.add(2)


def named(what: Callable[[Any], object]) -> Model:
    class Named(House):
        name = "named"

        def abstraction(self, s: StateView) -> Mapping[str, object]:
            return cast(Mapping[str, object], what(s))

    return Named()


def test_by_default_it_is_the_whole_state() -> None:
    model = House()
    found = abstraction_of(model)
    assert found.names == ("light", "locked", "guest", "heated", "warmth", "bill", "mail")
    assert [cell.size for cell in found.schema.cells] == [cell.size for cell in model.program.schema.cells]
    codes = model.program.initials[0]
    assert tuple(evaluate(node, codes) for node in found.codes) == codes


@pytest.mark.parametrize(
    ("what", "sizes"),
    [
        (lambda s: s.light, [2]),
        (lambda s: s.locked, [2]),
        (lambda s: s.guest, [4]),
        (lambda s: s.guest == 1, [2]),
        (lambda s: s.guest.is_none(), [2]),
        (lambda s: s.heated, [8]),
        (lambda s: s.heated.count(), [4]),
        (lambda s: s.warmth, [8, 8, 8]),
        (lambda s: s.warmth[0] - s.warmth[1], [15]),
        (lambda s: -s.warmth[0], [8]),
        (lambda s: s.bill, [2, 4, 2]),
        (lambda s: s.bill.value.sum, [4]),
        (lambda s: s.mail.length, [3]),
        (lambda s: [s.locked, (s.light,), {"deeper": s.guest}], [2, 2, 4]),
        (lambda s: [s.locked, 7, True, Light.ON, None, NONE, s.cellar], [2]),
    ],
)
def test_what_can_be_named(what: Callable[[Any], object], sizes: list[int]) -> None:
    model = named(lambda s: {"it": what(s), "nothing": [s.cellar, 3]})
    found = abstraction_of(model)
    assert found.names == ("it",), "what is the same in all states is left out"
    assert [cell.size for cell in found.schema.cells] == sizes
    (start,) = model.program.initials
    assert all(0 <= evaluate(node, start) < size for node, size in zip(found.codes, sizes, strict=True))


def test_negative_numbers_are_codes_from_zero() -> None:
    model = named(lambda s: {"least": s.warmth[0], "difference": s.warmth[0] - s.warmth[1]})
    found = abstraction_of(model)
    (start,) = model.program.initials
    lowest = dict(zip([cell.path for cell in model.program.schema.cells], start, strict=True))
    assert lowest["warmth[r1]"] == 0
    assert [evaluate(node, start) for node in found.codes] == [0, 7]


@pytest.mark.parametrize("found", [None, {}, [1], {1: 2}, "leader"])
def test_it_must_be_a_dict_by_name(found: object) -> None:
    with pytest.raises(
        ModelError, match=r"test_abstraction.py:\d+: abstraction returns .*; it must return a dict with"
    ):
        abstraction_of(named(lambda s: found))


def test_it_must_be_a_method() -> None:
    class Fixed(House):
        abstraction = {"light": 1}  # type: ignore[assignment]  # noqa: RUF012

    with pytest.raises(ModelError, match=r"Fixed.abstraction is {'light': 1}; it must be a method of self and the"):
        abstraction_of(Fixed())


@pytest.mark.parametrize("value", ["x", 1.5, object, If])
def test_what_is_named_must_be_of_the_state(value: object) -> None:
    with pytest.raises(ModelError, match=r"test_abstraction.py:\d+: 'it' of the abstraction is .*; it must be a field"):
        abstraction_of(named(lambda s: {"it": [s.light, value]}))


def test_it_reads_and_changes_nothing() -> None:
    def assigns(s: Any) -> object:
        s.locked = True
        return {"locked": s.locked}

    def requires(s: Any) -> object:
        require(s.locked)
        return {"locked": s.locked}

    for what, words in ((assigns, "locked cannot be assigned here"), (requires, "require")):
        with pytest.raises(ModelError, match=words):
            abstraction_of(named(what))


def test_an_action_cannot_have_its_name() -> None:
    with pytest.raises(ModelError, match="cannot be named 'abstraction': every model has that already"):

        class Wrong(House):
            @action
            def abstraction(self, s: StateView) -> None:  # type: ignore[override]
                """Do something."""

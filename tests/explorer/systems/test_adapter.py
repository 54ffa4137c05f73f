"""What a system shows is compared with the model's value, whatever kinds of value the two are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.explorer.systems.adapter import SideBySide, check_adapter
from insync.model import StateView, initial
from insync.runtime.errors import UserError
from insync_runs import Round

VALUES: list[object] = [
    None, False, True, 0, 1, 2, "", "b1",
    [], [0], [1], [0, 1], [1, 0], [False], ["b1"], ["b1", "b2"], [["b1"], []], [[], ["b1"]],
    {}, {"leo": 1}, {"leo": 0}, {"leo": 1, "hw": 0}, {"leo": [1]}, [{"leo": 1}], [{}],
]  # fmt: skip
"""Values that a readable state may have, no two of them the same."""


def shows(shown: object, right: object) -> str | None:
    """What is said of a system that shows this in a field in which the model has that."""

    class Adapter:
        def observe(self) -> dict[str, object]:
            return {"field": [shown]}  # within a list a mapping must be the whole one

    return SideBySide(Adapter, {}).difference({"field": [right]})


@pytest.mark.parametrize("shown", VALUES, ids=repr)
def test_a_value_is_the_same_as_itself_and_as_no_other(shown: object) -> None:
    """Kinds that cannot be compared are different, and truth values are not numbers."""
    for right in VALUES:
        said = f"field is {[shown]!r} in the system and {[right]!r} in the model."
        assert shows(shown, right) == (None if shown is right else said)


@pytest.mark.parametrize(("shown", "right", "same"), [
    ((), [], True), ((0, 1), [0, 1], True), ((0, 1), [1, 0], False), ((0,), [0, 1], False), ((0,), 0, False),
    (set(), [], True), ({"b1", "b2"}, ["b2", "b1"], True), ({"b1"}, ["b1", "b2"], False), ({"b1", "b2"}, ["b1"], False),
    ({"b1"}, ["b2"], False), ({"b1"}, "b1", False), (frozenset({"b1"}), ["b1"], True),
    ({"leo": (1,)}, {"leo": [1]}, True),
])  # fmt: skip
def test_a_tuple_stands_for_a_list_and_a_set_for_one_in_any_order(shown: object, right: object, same: bool) -> None:
    assert (shows(shown, right) is None) == same


@given(st.recursive(st.integers(0, 1) | st.booleans(), lambda part: st.lists(part, max_size=2)), st.data())
def test_what_is_the_same_for_one_is_the_same_for_the_other(one: object, data: st.DataObject) -> None:
    other = data.draw(st.just(one) | st.recursive(st.integers(0, 1), lambda part: st.lists(part, max_size=2)))
    assert (shows(one, other) is None) == (shows(other, one) is None) == (repr(one) == repr(other))


def test_a_list_for_a_set_differs_in_its_order_alone() -> None:
    class Adapter:
        def observe(self) -> dict[str, object]:
            return {"field": ["b2", "b1"]}

    said = SideBySide(Adapter, {}).difference({"field": ["b1", "b2"]})
    assert said is not None
    assert said.endswith(" in the model. Only the order differs: for a field that is a set, return a set.")
    assert "order" not in str(SideBySide(Adapter, {}).difference({"field": ["b1", "b1"]}))


class Silent:
    """Takes all steps of the round, and shows no state."""

    def go(self) -> int:
        return 1

    def leave(self) -> int:
        return 3


class EitherWay(Round):
    """It begins at one of two places."""

    @initial
    def begin(self, s: StateView, late: bool) -> None:
        s.at = 2 if late else 0


def test_of_two_ways_to_begin_an_adapter_must_be_told_which() -> None:
    class Told(Silent):
        def begin(self, state: object) -> None:
            """Begin there."""

    check_adapter(EitherWay(), Told, {"go": lambda *given: None})
    with pytest.raises(UserError, match="cannot begin in each of the 2 initial states"):
        check_adapter(EitherWay(), Silent, {"go": lambda *given: None})


def test_an_adapter_shows_its_state_or_what_its_steps_return() -> None:
    check_adapter(Round(), Silent, {"go": lambda *given: None})
    with pytest.raises(UserError, match="Silent shows nothing that could be compared"):
        check_adapter(Round(), Silent, {})


def test_what_a_step_returns_is_right_by_the_state_before_the_one_after_and_the_parameters() -> None:
    class Adds(Silent):
        def add(self, twice: bool) -> int:
            return 10 if twice else 5

    added = {"add": lambda before, after, twice: (after["n"] - before["n"]) * (1 + twice)}
    system = SideBySide(Adds, added)
    assert system.step("add", {"twice": False}, {"n": 1}, {"n": 6}) is None
    assert system.step("add", {"twice": True}, {"n": 1}, {"n": 6}) is None
    said = system.step("add", {"twice": True}, {"n": 6}, {"n": 1})
    assert said == "add returned 10 in the system, and -10 is right by the model."

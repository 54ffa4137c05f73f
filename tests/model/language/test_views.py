from __future__ import annotations

import itertools
from typing import Any

import pytest

from insync.model import (
    NONE,
    Array,
    Bag,
    BoundValues,
    If,
    Int,
    Model,
    ModelError,
    Option,
    Record,
    Seq,
    Set,
    SetOf,
    State,
    StateView,
    action,
    maximum,
    minimum,
    record,
    require,
    snapshot,
    when,
)
from insync.model.evaluator import Evaluator, evaluate
from insync_toys import Node as Player
from insync_toys import TokenRing


class Corners(Model):
    """One field of each kind, for the tests that trace a single function."""

    bounds = TokenRing.bounds

    def declare(self, b: BoundValues) -> State:
        entry = Record(id=Int(0, 3), by=Int(0, 1))
        return State(
            n=Int(0, 3),
            low=Int(-2, 2),
            maybe=Option(Int(2, 5)),
            entry=Option(entry),
            plain=entry,
            wide=Record(id=Int(0, 5), by=Int(0, 1)),
            other=Option(entry),
            log=Array(2, Option(entry)),
            players=Option(Set(Player)),
            friends=Option(Set(Player)),
            plain_copy=entry,
            entry_copy=Option(entry),
            log_copy=Array(2, Option(entry)),
            only=Record(one=Seq(Int(0, 3), 2)),
            **dict.fromkeys(("line", "line_copy"), Seq(Int(0, 3), 2)),
            **dict.fromkeys(("bag", "bag_copy"), Bag(Int(0, 3), 2)),
            **dict.fromkeys(("few", "few_copy"), SetOf(Int(0, 3), 2)),
            **dict.fromkeys(("many", "many_copy"), SetOf(Int(0, 3))),
        )

    def __init__(self, body: Any) -> None:
        super().__init__()
        self.body = body

    @action
    def run(self, s: StateView) -> None:
        self.body(s)


ZERO: dict[str, Any] = {
    "n": 0,
    "low": -2,
    "maybe": None,
    "entry": None,
    "plain": {"id": 0, "by": 0},
    "wide": {"id": 0, "by": 0},
    "other": None,
    "log": [None, None],
    "players": None,
    "friends": None,
    "plain_copy": {"id": 0, "by": 0},
    "entry_copy": None,
    "log_copy": [None, None],
    "only": {"one": []},
    **{f"{kind}{copy}": [] for kind in ("line", "bag", "few", "many") for copy in ("", "_copy")},
}


def after(body: Any, **state: Any) -> dict[str, Any]:
    """Return the state after the body, from zero with these changes."""
    model = Corners(body)
    evaluator = Evaluator(model.program)
    return model.decode(evaluator.step(0, model.encode(ZERO | state)))


def refused(body: Any, **state: Any) -> str | None:
    """Return the message of the check that fails."""
    model = Corners(body)
    check = Evaluator(model.program).failing_check(0, model.encode(ZERO | state))
    return None if check is None else check.message


def value(body: Any, **state: Any) -> int:
    """Return what a condition or number is in a state."""
    model = Corners(lambda s: None)
    found: list[Any] = []
    model.trace_predicate(lambda s: bool(found.append(body(s))))  # type: ignore[func-returns-value]
    return evaluate(found[0].node, model.encode(ZERO | state))


def test_reads_see_earlier_assignments() -> None:
    def body(s: Any) -> None:
        s.n = 2
        s.n += 1
        s.low = s.n - 1

    state = after(body)
    assert (state["n"], state["low"]) == (3, 2)


def test_scalars_and_sets_of_members_swap_as_in_python_and_records_need_a_snapshot() -> None:
    def scalars(s: Any) -> None:
        s.plain.id, s.n = s.n, s.plain.id
        s.players, s.friends = s.friends, s.players

    def frozen(s: Any) -> None:
        first = snapshot(s.entry)
        s.entry = s.other
        s.other = first

    state = after(scalars, n=3, friends=["n1"])
    assert (state["n"], state["plain"]["id"]) == (0, 3)
    assert (state["players"], state["friends"]) == (["n1"], None)
    one, two = {"id": 1, "by": 0}, {"id": 2, "by": 1}
    swapped = after(frozen, entry=one, other=two)
    assert (swapped["entry"], swapped["other"]) == (two, one)


def test_an_index_stays_what_it_was_when_the_view_was_taken() -> None:
    def body(s: Any) -> None:
        place = s.log[s.plain.by]
        s.plain.by = 1
        s.log[0].value.id = 1
        s.other = place

    assert after(body, log=[{"id": 2, "by": 0}, None])["other"] == {"id": 1, "by": 0}


PARTS = {
    "plain": record(id=1, by=0),
    "entry": NONE,
    "log": [NONE, NONE],
    "line": [1],
    "bag": [1],
    "few": [1],
    "many": [1],
}


@pytest.mark.parametrize("name", PARTS)
def test_what_a_view_had_before_an_assignment_is_not_lost_unsaid(name: str) -> None:
    message = rf"test_views\.py:\d+: {name} was assigned to at line \d+ after it was read, .* snapshot\(...\) where it"
    copy = f"{name}_copy"

    def swap(s: Any) -> None:
        one, other = getattr(s, name), getattr(s, copy)
        setattr(s, name, other)
        setattr(s, copy, one)

    def compared(s: Any) -> None:
        one = getattr(s, name)
        setattr(s, name, PARTS[name])
        require(one == PARTS[name])

    def under_a_condition(s: Any) -> None:
        one = getattr(s, name)
        with when(s.n == 1):
            setattr(s, name, PARTS[name])
        setattr(s, copy, one)

    for body in (swap, compared, under_a_condition):
        with pytest.raises(ModelError, match=message):
            after(body)

    def right(s: Any) -> None:
        one = snapshot(getattr(s, name))
        setattr(s, name, getattr(s, copy))
        setattr(s, copy, one)

    assert after(right) == ZERO


def test_a_part_of_what_was_assigned_to_is_lost_with_it() -> None:
    def field(s: Any) -> None:
        entry = s.entry.value
        s.entry = NONE
        s.n = entry.id

    def element(s: Any) -> None:
        first = s.log[0]
        s.log = [NONE, NONE]
        s.other = first

    def changed(s: Any) -> None:
        line = s.line
        s.line = []
        line.append(1)

    def cleared(s: Any) -> None:
        last = s.log[1]
        s.log.clear_from(0)
        s.other = last

    for body in (field, element, changed, cleared):
        with pytest.raises(ModelError, match="was assigned to at line"):
            after(body)


def test_a_change_within_is_seen_as_in_python_and_another_part_may_be_assigned() -> None:
    def body(s: Any) -> None:
        line, log, first, second = s.line, s.log, s.log[0], s.log[1]
        line.append(1)
        line.append(2)
        log[1] = record(id=2, by=1)
        s.only.one = [3]
        s.line_copy, s.log_copy, s.other = line, log, first
        second = s.log[1]
        s.wide = record(id=second.value.id, by=line.length - 1)

    state = after(body)
    assert (state["line_copy"], state["log_copy"]) == ([1, 2], [None, {"id": 2, "by": 1}])
    assert (state["other"], state["wide"]) == (None, {"id": 2, "by": 1})


def test_a_record_of_one_field_is_not_its_field() -> None:
    def within(s: Any) -> None:
        only = s.only
        s.only.one = [3]
        s.line = only.one

    def whole(s: Any) -> None:
        one = s.only.one
        s.only = record(one=[3])
        s.line = one

    assert after(within)["line"] == [3]
    with pytest.raises(ModelError, match=r"only\.one was assigned to at line"):
        after(whole)


def test_two_members_that_cannot_be_the_same_have_views_of_their_own() -> None:
    class Boxes(Model):
        def declare(self, b: BoundValues) -> State:
            return State(box=Array(Player, Record(n=Int(0, 3), on=Int(0, 3))))

        bounds = TokenRing.bounds

        @action
        def hand_over(self, s: StateView, one: Player, other: Player) -> None:
            require(*[one != other] * self.apart)
            mine = s.box[one]
            s.box[other] = record(n=1, on=2)
            s.box[one].n = mine.on

        apart = 1

    class Perhaps(Boxes):
        apart = 0

    assert Boxes().program.actions
    with pytest.raises(ModelError, match=r"box\[n1\] was assigned to"):
        _ = Perhaps().program


def test_reading_outside_an_array_gives_zero_whether_or_not_the_index_is_known() -> None:
    def known(s: Any) -> None:
        s.n = 0
        s.other = s.log[s.n - 1]

    assert after(known, other={"id": 1, "by": 1})["other"] is None
    assert value(lambda s: s.log[s.n].is_none(), n=3) == 1


def test_writing_outside_an_array_is_refused() -> None:
    def body(s: Any) -> None:
        s.log[s.n] = NONE

    assert refused(body, n=1) is None
    message = refused(body, n=2)
    assert message is not None
    assert message.endswith("this assigns outside log[...], which has 2 places.")


@pytest.mark.parametrize(
    ("body", "bad", "good", "part"),
    [
        (
            lambda s: setattr(s, "n", s.n + 1),
            {"n": 3},
            {"n": 2},
            "the value assigned to n is not a whole number from 0",
        ),
        (
            lambda s: setattr(s, "low", s.low - 1),
            {"low": -2},
            {"low": 2},
            "assigned to low is not a whole number from -2",
        ),
        (lambda s: setattr(s, "maybe", s.n + 1), {"n": 0}, {"n": 1}, "assigned to maybe is not NONE or a whole number"),
        (lambda s: setattr(s, "maybe", s.n + 3), {"n": 3}, {"n": 2}, "assigned to maybe is not NONE or a whole number"),
        (lambda s: setattr(s, "plain", s.wide), {"wide": {"id": 4, "by": 0}}, {}, "assigned to plain.id is not"),
        (
            lambda s: setattr(s.entry.value, "id", 1),
            {"entry": None},
            {"entry": {"id": 0, "by": 0}},
            "this assigns to a part of entry, which is none.",
        ),
        (
            lambda s: setattr(s, "entry", If(s.n == 0, record(id=s.n + 3, by=0), record(id=s.n, by=s.n))),
            {"n": 2},
            {"n": 0},
            "assigned to entry.by is not",
        ),
        (lambda s: setattr(s, "maybe", If(s.n == 0, NONE, s.n)), {"n": 1}, {"n": 0}, "assigned to maybe is not"),
        (
            lambda s: setattr(s, "maybe", If(s.n == 0, s.maybe, s.n)),
            {"n": 1},
            {"n": 0},
            "is not NONE or a whole number",
        ),
    ],
)
def test_an_assignment_outside_its_domain_is_refused_and_one_inside_is_not(
    body: Any, bad: dict[str, Any], good: dict[str, Any], part: str
) -> None:
    message = refused(body, **bad)
    assert message is not None
    assert part in message
    assert "test_views.py:" in message
    assert refused(body, **good) is None


def test_options() -> None:
    for maybe, n in itertools.product([None, 2, 3, 5], range(4)):
        state = {"maybe": maybe, "n": n}
        assert value(lambda s: s.maybe.is_none(), **state) == (maybe is None)
        assert value(lambda s: s.maybe == s.n + 1, **state) == (maybe == n + 1)
        assert value(lambda s: s.n + 1 == s.maybe, **state) == (maybe == n + 1)
        assert value(lambda s: s.maybe != NONE, **state) == (maybe is not None)
        assert value(lambda s: s.maybe.or_else(1), **state) == (1 if maybe is None else maybe)
        assert value(lambda s: s.maybe.or_else(s.n), **state) == (n if maybe is None else maybe)
        assert value(lambda s: s.maybe.value, **state) == (2 if maybe is None else maybe)
        assert value(lambda s: s.maybe == If(s.n == 1, NONE, 3), **state) == (maybe == (None if n == 1 else 3))
        assert value(lambda s: If(s.n == 1, NONE, 3) == s.maybe, **state) == (maybe == (None if n == 1 else 3))
        assert value(lambda s: If(s.n == 1, s.maybe, 4) == NONE, **state) == (n == 1 and maybe is None)
        assert value(lambda s: If(s.n == 1, NONE, 3) != 3, **state) == (n == 1)


def test_comparing_with_what_does_not_fit_is_false_and_no_error() -> None:
    for n in range(4):
        assert value(lambda s: s.plain == record(id=s.n + 1, by=0), n=n, plain={"id": 3, "by": 0}) == (n == 2)
        assert value(lambda s: s.entry == record(id=s.n - 1, by=0), n=n, entry=None) == 0

    def body(s: Any) -> None:
        s.n = If(s.plain == record(id=s.n + 1, by=0), 1, 0)

    assert refused(body, n=3) is None


def test_optional_records() -> None:
    one = {"id": 1, "by": 0}
    assert value(lambda s: s.entry == NONE) == 1
    assert value(lambda s: s.entry == NONE, entry=one) == 0
    assert value(lambda s: s.entry == s.other, entry=one, other=one) == 1
    assert value(lambda s: s.entry == s.plain, entry=one, plain=one) == 1
    assert value(lambda s: s.entry.value.id, entry=one) == 1
    assert value(lambda s: If(s.n == 0, s.entry, s.other).value.id, entry=one) == 1
    assert value(lambda s: If(s.n == 0, s.entry, NONE).is_some(), entry=one, n=1) == 0
    assert value(lambda s: If(s.n == 1, s.plain, record(id=3, by=1)).id) == 3

    def body(s: Any) -> None:
        s.entry = s.plain
        s.log[s.n] = s.entry
        s.entry.value.id = maximum(s.entry.value.id, 2)
        s.other = If(s.n == 0, s.entry, NONE)

    state = after(body, plain=one)
    assert (state["entry"], state["log"][0], state["other"]) == ({"id": 2, "by": 0}, one, {"id": 2, "by": 0})


def test_an_absent_record_is_stored_in_one_way_only() -> None:
    model = Corners(lambda s: setattr(s, "entry", NONE))
    evaluator = Evaluator(model.program)
    there = model.encode(ZERO | {"entry": {"id": 3, "by": 1}})
    assert evaluator.step(0, there) == model.encode(ZERO)


def test_whole_arrays_are_assigned_and_compared() -> None:
    one = {"id": 1, "by": 1}
    assert after(lambda s: setattr(s, "log", [NONE, record(id=1, by=1)]))["log"] == [None, one]
    assert value(lambda s: s.log == [NONE, s.plain], log=[None, one], plain=one) == 1
    assert value(lambda s: minimum(len(s.log), 5) == s.n, n=2) == 1


def test_an_option_of_a_set() -> None:
    def body(s: Any) -> None:
        s.players = s.players.value | {1}

    assert after(body, players=["n1"])["players"] == ["n1", "n2"]
    assert value(lambda s: s.players == {0, 1}, players=["n1", "n2"]) == 1
    assert value(lambda s: s.players == set(), players=None) == 0

"""Where two models part, found in machine code, is where a plain search in Python sees them part."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings

from insync.explorer import CheckResult, DiffResult, Limits, OnlyOne, StopReason, Verdict, check, diff, replay
from insync.explorer.products import divergence
from insync.explorer.products.divergence import compare_traces
from insync.explorer.products.product import Joined, join
from insync.explorer.search.explored import Explored
from insync.explorer.stepping.stepper import Refused, Stepper
from insync.model import (
    ANY,
    Bound,
    Bounds,
    BoundValues,
    Int,
    Model,
    State,
    StateView,
    action,
    initial,
    require,
)
from insync.model.catalogue import find_model
from insync.model.evaluator import Codes
from insync.runtime.errors import UserError
from insync.runtime.watch import Watch
from insync_plain_counts import states_of
from insync_random_models import Written, random_model, written
from insync_toys import Clock, DieHard, TokenRing
from insync_worksite import Worksite

SMALL = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
PAIRS = [
    (TokenRing(), TokenRing(two_tokens=1)),
    (TokenRing(nodes=2), TokenRing(nodes=3)),
    (Clock(hours=4), Clock(hours=5)),
    (Worksite(depth=2), Worksite(depth=3)),
    (DieHard(), Worksite()),
    (find_model("kip101")(**SMALL), find_model("kip320")(**SMALL)),
    (find_model("kip320")(**SMALL), find_model("kip320_first_try")(**SMALL)),
]


def steps(model: Model, stepper: Stepper, codes: Codes) -> dict[tuple[str, str], Codes]:
    taken = {}
    for number, after in stepper.outcomes(codes):
        if not isinstance(after, Refused):
            action = model.program.actions[number]
            taken[action.name, str(sorted(action.shown_parameters.items()))] = after
    return taken


def common(joined: Joined, side: int, codes: Codes) -> Codes:
    at = {place: cell for cell, place in enumerate(joined.places)}
    return tuple(codes[place] if side == 0 else codes[at[place]] for place in joined.common)


def plain_lengths(first: Model, second: Model) -> list[int | None]:
    """How many states the shortest trace has that only the first, and only the second, allows."""
    joined, steppers = join(first, second), (Stepper(first), Stepper(second))
    found: list[int | None] = [None, None]
    starts = [(a, b) for a in first.program.initials for b in second.program.initials]
    frontier = [(a, b) for a, b in starts if common(joined, 0, a) == common(joined, 1, b)]
    for side, initials in enumerate((first.program.initials, second.program.initials)):
        if any(codes not in [pair[side] for pair in frontier] for codes in initials):
            found[side] = 1
    seen, length = set(frontier), 2
    while frontier and None in found:
        after = []
        for pair in frontier:
            both = [steps(model, s, codes) for model, s, codes in zip((first, second), steppers, pair, strict=True)]
            alike = {
                key
                for key in both[0].keys() & both[1].keys()
                if common(joined, 0, both[0][key]) == common(joined, 1, both[1][key])
            }
            for side in (0, 1):
                if both[side].keys() - alike:
                    found[side] = found[side] or length
            after += [(both[0][key], both[1][key]) for key in sorted(alike)]
        frontier = [pair for pair in dict.fromkeys(after) if pair not in seen]
        seen.update(frontier)
        length += 1
    return found


def lengths(result: DiffResult) -> list[int | None]:
    return [None if one is None else one.trace.length for one in result.only]


@pytest.mark.slow_for("kip101-kip320", "kip320-kip320_first_try")
@pytest.mark.parametrize(("first", "second"), PAIRS, ids=lambda model: str(model.name))
def test_the_shortest_traces_of_one_alone_are_as_long_as_in_a_plain_search(first: Model, second: Model) -> None:
    result = diff(first, second)
    assert lengths(result) == plain_lengths(first, second)
    assert result.same is (result.only == (None, None) and not any(one.changed for one in result.properties))
    for side, model in enumerate((first, second)):
        if (one := result.only[side]) is not None:
            replay(one.trace, model=model)


@settings(max_examples=6)
@given(parts=written(), others=written())
def test_random_models_part_where_they_do_in_a_plain_search(parts: Written, others: Written) -> None:
    first, second = random_model(parts), random_model(others)
    result = diff(first, second, properties=[])
    assert lengths(result) == plain_lengths(first, second)
    if result.states is not None:
        mine, theirs = set(states_of(first)), set(states_of(second))
        assert result.states.both == len(mine & theirs)
        assert sum(result.states.only_first) == len(mine - theirs)
        assert sum(result.states.only_second) == len(theirs - mine)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), PAIRS[-2:], ids=lambda model: str(model.name))
def test_the_states_of_one_alone_are_counted_by_level(first: Model, second: Model) -> None:
    states = diff(first, second).states
    assert states is not None

    def alone(model: Model, other: Model) -> Iterator[int]:
        theirs, stepper, seen = set(states_of(other)), Stepper(model), set(model.program.initials)
        level = list(model.program.initials)
        while level:
            yield sum(codes not in theirs for codes in level)
            after = {new: None for codes in level for _, new in stepper.outcomes(codes) if not isinstance(new, Refused)}
            level = [codes for codes in after if codes not in seen]
            seen.update(level)

    assert list(states.only_first) == list(alone(first, second))
    assert list(states.only_second) == list(alone(second, first))
    assert states.both == len(set(states_of(first)) & set(states_of(second)))


class Begun(Model):
    """Counts on from where it begins."""

    bounds = Bounds(first=Bound(0, 0, 3, "where it begins"), free=Bound(0, 0, 1, "1: anywhere below"))

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 5))

    @initial
    def begins(self, s: StateView) -> None:
        """Begin at the bound, or anywhere below it as well."""
        if self.b.free:
            s.n = ANY
            require(s.n <= self.b.first)
        else:
            s.n = self.b.first

    @action
    def count(self, s: StateView) -> None:
        require(s.n < 5)
        s.n += 1


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"first": 0}, {"first": 2}, [1, 1]),
        ({"first": 2}, {"first": 2, "free": 1}, [None, 1]),
        ({"first": 1, "free": 1}, {"first": 2, "free": 1}, [None, 1]),
        ({"first": 0}, {"first": 0, "free": 1}, [None, None]),
    ],
)
def test_an_initial_state_of_one_alone_is_a_trace_of_one_state(
    first: dict[str, int], second: dict[str, int], expected: list[int | None]
) -> None:
    one, other = Begun(**first), Begun(**second)
    result = diff(one, other)
    assert lengths(result) == plain_lengths(one, other) == expected
    assert result.same is (expected == [None, None])
    if result.only[1] is not None:
        assert result.only[1].reason == f"This initial state is none of begun ({said(one, other)})."


def said(one: Model, other: Model) -> str:
    return ", ".join(f"{name} {value}" for name, value in one.identity.items() if other.identity[name] != value)


def only(result: DiffResult, side: int) -> OnlyOne:
    found = result.only[side]
    assert found is not None
    return found


def test_a_step_that_the_other_does_not_take_is_told_with_the_condition_that_fails() -> None:
    result = diff(Worksite(depth=3), Worksite(depth=3), properties=[])
    assert (result.same, result.only, result.settings) == (True, (None, None), {})
    forging = diff(TokenRing(), TokenRing(two_tokens=1))
    assert forging.settings == {"two_tokens": (0, 1)}
    assert forging.only[0] is None
    assert only(forging, 1).trace.steps[-1].action == "forge"
    assert only(forging, 1).reason == "token_ring (two_tokens 0) has no such step: its bounds and settings rule it out."
    assert [(one.name, one.first, one.second, one.lengths) for one in forging.properties] == [
        ("exclusive", Verdict.HOLDS, Verdict.VIOLATED, (None, 4))
    ]


class Counter(Model):
    """Counts by one."""

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 4))

    @action
    def count(self, s: StateView) -> None:
        require(s.n < 3)
        s.n += 1


class Noting(Model):
    """Counts by two, and notes before it what it has counted."""

    def declare(self, b: BoundValues) -> State:
        return State(noted=Int(0, 4), n=Int(0, 4))

    @action
    def count(self, s: StateView) -> None:
        require(s.n < 3)
        s.noted = s.n
        s.n += 2


def test_whichever_model_takes_a_step_its_values_are_told_first() -> None:
    result = diff(Counter(), Noting(), properties=[])
    assert [only(result, side).reason for side in (0, 1)] == [
        "noting takes this step too, and it leads elsewhere: n is 1 here and 2 there.",
        "counter takes this step too, and it leads elsewhere: n is 2 here and 1 there.",
    ]


@pytest.mark.slow
def test_a_step_that_leads_elsewhere_is_told_with_both_values() -> None:
    result = diff("cluster", "cluster", first_bounds={"release": "3.9"}, second_bounds={"release": "4.1"},
                  properties=[], limits=Limits(states=200))  # fmt: skip
    assert result.stopped_by is StopReason.STATES
    assert only(result, 0).reason.startswith(
        "cluster (release 4.1) takes this step too, and it leads elsewhere: registrations[0].isr is {b1, b2, b3} here "
        "and {b1, b3} there; "
    )
    assert only(result, 0).trace.length == only(result, 1).trace.length == 3
    assert result.own_fields == ((), ("controller.elr", "controller.last_known_leader"))
    assert result.same is False


def test_a_limit_leaves_open_whether_models_differ() -> None:
    result = diff(Clock(hours=4), Clock(hours=5), properties=[], limits=Limits(depth=2))
    assert (result.same, result.stopped_by, result.only, result.states) == (None, StopReason.DEPTH, (None, None), None)
    assert diff(Clock(hours=4), Clock(hours=5), limits=Limits(seconds=0)).same is None


def test_a_property_that_neither_has_is_refused() -> None:
    with pytest.raises(UserError, match=r"neither die_hard nor worksite has a property .never_for.\. Did you mean"):
        diff(DieHard(), Worksite(), properties=["never_for"])
    with pytest.raises(UserError, match=r"^grows has no property .never_for.\. Known"):
        diff(Grows(), Grows(top=3), properties=["never_for"])
    found = diff(DieHard(), Worksite(), properties=["never_four"]).properties
    assert [(one.name, one.first, one.second, one.changed) for one in found] == [
        ("never_four", Verdict.VIOLATED, None, False)
    ]


@pytest.mark.parametrize("full", [1, 2], ids=["first", "second"])
def test_states_that_do_not_fit_beside_those_of_the_other_model_end_the_comparison(
    full: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest, calls = divergence._added, list[Explored]()

    def added(into: Explored, of: Explored, watch: Watch) -> tuple[int, ...] | None:
        calls.append(into)
        return None if len(calls) == full else honest(into, of, watch)

    monkeypatch.setattr(divergence, "_added", added)
    found = diff(TokenRing(), TokenRing(two_tokens=1))
    assert (found.states, found.stopped_by, len(calls)) == (None, StopReason.MEMORY, full)


class Climb(Model):
    """A step at a time."""

    def declare(self, b: BoundValues) -> State:
        return State(height=Int(0, 3))

    @action
    def up(self, s: StateView) -> None:
        """One step up."""
        require(s.height < 3)
        s.height += 1


class Leap(Model):
    """A leap as well, from the first step on."""

    def declare(self, b: BoundValues) -> State:
        return State(height=Int(0, 3))

    @action
    def leap(self, s: StateView) -> None:
        """To the top."""
        require(s.height == 1)
        s.height = 3

    @action
    def up(self, s: StateView) -> None:
        """One step up."""
        require(s.height < 3)
        s.height += 1


@pytest.mark.parametrize("swapped", [False, True])
def test_an_action_that_one_model_lacks_does_not_hide_those_behind_it(swapped: bool) -> None:
    found = diff(Climb, Leap) if swapped else diff(Leap, Climb)
    one, other = found.only[::-1] if swapped else found.only
    assert other is None
    assert one is not None
    assert [step.action for step in one.trace.steps] == [None, "up", "leap"]


class Stairs(Model):
    """More steps, by an action that the others lack."""

    def declare(self, b: BoundValues) -> State:
        return State(floor=Int(0, 9))

    @action
    def rise(self, s: StateView) -> None:
        require(s.floor < 9)
        s.floor += 1


@pytest.mark.slow_for("pair1-", "pair1-states")
@pytest.mark.parametrize("limits", [Limits(), Limits(states=6), Limits(depth=3)], ids=["", "states", "depth"])
@pytest.mark.parametrize("pair", [(Climb, Leap), (Climb, Stairs), (Leap, Stairs)])
def test_which_model_is_named_first_decides_nothing_but_who_is_told_first(
    pair: tuple[type[Model], type[Model]], limits: Limits
) -> None:
    one, other = (diff(*models, limits=limits) for models in (pair, pair[::-1]))
    assert (one.stopped_by, one.same, one.states is None) == (other.stopped_by, other.same, other.states is None)
    assert (one.first.verdict, one.second.verdict) == (other.second.verdict, other.first.verdict)
    assert one.own_fields == other.own_fields[::-1]
    told = [[each and [step.action for step in each.trace.steps] for each in result.only] for result in (one, other)]
    assert told[0] == told[1][::-1]
    if Verdict.INCOMPLETE in (one.first.verdict, one.second.verdict):
        assert one.stopped_by is not None


class Grows(Model):
    """A count that a setting lets grow out of its field."""

    bounds = Bounds(top=Bound(2, 1, 3, "how far it counts"))

    def declare(self, b: BoundValues) -> State:
        return State(count=Int(0, 2))

    @action
    def grow(self, s: StateView) -> None:
        require(s.count < self.b.top)
        s.count += 1


def test_type_ok_is_a_property_of_both_models_where_one_breaks_it() -> None:
    (found,) = [one for one in diff(Grows(), Grows(top=3)).properties if one.name == "type_ok"]
    assert (found.first, found.second, found.changed) == (Verdict.HOLDS, Verdict.VIOLATED, True)
    assert "type_ok" not in [one.name for one in diff(Grows(), Grows(top=1)).properties]


def test_type_ok_is_open_where_a_limit_ended_the_search_that_has_not_broken_it() -> None:
    found = diff(Grows(top=3), Clock(hours=9), limits=Limits(depth=4))
    known = {one.name: (one.first, one.second, one.changed) for one in found.properties}
    assert known["type_ok"] == (Verdict.VIOLATED, Verdict.INCOMPLETE, False)


def test_what_a_limit_leaves_open_of_one_model_is_no_change() -> None:
    small = {"replicas": 2}
    found = diff("kip101", "kip101", first_bounds=small, second_bounds=small, limits=Limits(depth=11))
    assert [(one.first, one.changed) for one in found.properties] == [(Verdict.INCOMPLETE, False)] * 2
    (weak, _) = found.properties
    assert not replace(weak, first=Verdict.VIOLATED).changed
    assert not replace(weak, second=Verdict.HOLDS).changed
    assert replace(weak, first=Verdict.VIOLATED, second=Verdict.HOLDS).changed
    assert replace(found, properties=(replace(weak, first=Verdict.VIOLATED),)).same is None


def test_a_bound_that_only_one_of_two_traces_has_is_a_difference() -> None:
    first = check(TokenRing(two_tokens=1)).violations[0].trace
    second = replace(first, bounds={**first.bounds, "spare": 2})
    for one, other, about in ((first, second, (None, 2)), (second, first, (2, None))):
        assert compare_traces(one, other).about == {"spare": about}


def test_the_seconds_are_for_all_searches_together(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[float | None] = []

    def searched(model: Model, *, limits: Limits, **rest: object) -> CheckResult:
        left.append(limits.seconds)
        time.sleep(0.05)
        return check(model, limits=limits, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(sys.modules["insync.explorer.diff"], "check", searched)
    diff(Clock(hours=4), Clock(hours=5), limits=Limits(seconds=60))
    first, second = left
    assert first is not None
    assert second is not None
    assert second <= first - 0.05


def test_one_who_stops_it_ends_the_searches_too() -> None:
    stop = threading.Event()
    stop.set()
    found = diff(Clock(hours=4), Clock(hours=5), stop=stop)
    assert (found.first.stopped_by, found.second.stopped_by, found.stopped_by) == (StopReason.INTERRUPT,) * 3


def test_a_bound_that_one_model_lacks_is_a_difference() -> None:
    one, other = diff(DieHard(), Clock(hours=5)), diff(Clock(hours=5), DieHard())
    assert one.settings["hours"] == (None, 5)
    assert other.settings["hours"] == (5, None)

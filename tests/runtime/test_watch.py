"""A limit ends a search where it is reached, and not one state, byte or second before."""

from __future__ import annotations

import threading

import pytest

from insync.explorer import progress
from insync.explorer.progress import Pulse
from insync.runtime import watch as limits
from insync.runtime.errors import UserError
from insync.runtime.watch import GivenUp, Limits, StopReason, Watch, require_room


class Clock:
    """A clock that stands still between two settings."""

    now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(limits, "time", made)
    monkeypatch.setattr(progress, "time", made)
    return made


@pytest.mark.parametrize(("given", "depth", "states", "reason"), [
    (Limits(), 10**6, 10**9, None),
    (Limits(depth=3), 2, 100, None),
    (Limits(depth=3), 3, 100, StopReason.DEPTH),
    (Limits(depth=3), 4, 1, StopReason.DEPTH),
    (Limits(states=9), 9, 8, None),
    (Limits(states=9), 1, 9, StopReason.STATES),
    (Limits(states=9), 1, 10, StopReason.STATES),
    (Limits(depth=3, states=9), 3, 9, StopReason.DEPTH),
    (Limits(depth=3, states=9), 2, 9, StopReason.STATES),
])  # fmt: skip
def test_a_level_that_reaches_a_limit_is_the_last(
    given: Limits, depth: int, states: int, reason: StopReason | None
) -> None:
    assert Watch(given, None).after_level(depth, states) == reason


def test_time_is_up_when_it_has_passed_and_an_interrupt_comes_first(clock: Clock) -> None:
    stop = threading.Event()
    watch, unlimited = Watch(Limits(seconds=2.5), stop), Watch(Limits(), None)
    for now, reason in ((100.0, None), (102.4, None), (102.5, StopReason.TIME), (200.0, StopReason.TIME)):
        clock.now = now
        assert (watch.seconds, watch.interrupted()) == (now - 100, reason)
        assert unlimited.interrupted() is None
    with pytest.raises(GivenUp) as caught:
        watch.go_on()
    assert caught.value.reason is StopReason.TIME
    stop.set()
    assert watch.interrupted() is StopReason.INTERRUPT
    clock.now = 100.0
    assert watch.interrupted() is StopReason.INTERRUPT
    unlimited.go_on()


def test_within_the_block_it_tells_once_a_second(clock: Clock) -> None:
    watch, told = Watch(Limits(), None), list[float]()
    with watch.telling(lambda: told.append(clock.now)):
        for now in (100.0, 100.9, 101.0, 101.1, 101.9, 102.0, 105.0, 105.9, 106.0):
            clock.now = now
            watch.interrupted()
    clock.now = 110.0
    watch.interrupted()
    assert told == [101.0, 102.0, 105.0, 106.0]
    with watch.telling(None):
        assert watch.interrupted() is None


def test_memory_is_promised_up_to_the_limit_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "resident_memory", lambda: 1000)
    watch = Watch(Limits(memory_bytes=1600), None)
    assert not watch.may_use(601)
    assert [watch.may_use(size) for size in (400, 201, 200, 1, 0)] == [True, False, True, False, True]
    watch.settle()
    assert [watch.may_use(size) for size in (601, 600, 1)] == [False, True, False]
    monkeypatch.setattr(limits, "available_memory", lambda: 100)
    assert Watch(Limits(), None).memory_bytes == 1090, "nine tenths of what is free, besides what is taken"


MEBIBYTE = 1 << 20


@pytest.mark.parametrize(("taken", "needed", "said", "least"), [
    (60, 0, "takes 60 MiB before the search begins", 70),
    (0, 51, "needs 51 MiB for buffers", 70),
    (30, 21, "takes 30 MiB before the search begins and needs 21 MiB for buffers", 70),
    (61, 0, "takes 61 MiB before the search begins", 80),
])  # fmt: skip
def test_a_limit_that_leaves_no_room_is_refused_with_a_round_one(
    taken: int, needed: int, said: str, least: int
) -> None:
    given = Limits(memory_bytes=50 * MEBIBYTE)
    with pytest.raises(UserError) as caught:
        require_room(given, taken * MEBIBYTE, needed * MEBIBYTE, "buffers")
    assert caught.value.args[0] == (
        f"A limit of 50 MiB on the memory is too little, as insync {said}; "
        f"give {least}M (memory_bytes={least * MEBIBYTE}) or more."
    )
    require_room(Limits(memory_bytes=(taken + needed) * MEBIBYTE), taken * MEBIBYTE, needed * MEBIBYTE, "buffers")
    require_room(Limits(), taken << 60, needed << 60, "buffers")


def test_a_pulse_is_due_after_its_period_and_its_rate_is_that_of_the_last_seconds(clock: Clock) -> None:
    pulse = Pulse(2.0)
    for now, due in ((100.0, False), (101.9, False), (102.0, True), (103.0, True)):
        clock.now = now
        assert pulse.due() == due
    clock.now = 104.0
    assert pulse.rate(20) == 5.0
    assert not pulse.due()
    clock.now = 106.0
    assert pulse.due()
    assert pulse.rate(26) == pytest.approx(26 / 6)
    clock.now = 109.0
    assert pulse.rate(26) == pytest.approx(26 / 9), "a pause of some seconds is no fall to nothing"
    clock.now = 116.0
    assert pulse.rate(46) == 2.0, "of the ten seconds since 106"
    clock.now = 200.0
    assert pulse.rate(46 + 84) == 1.0

"""How walks are shared out over threads, and which of them count when one fails or somebody stops them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from insync.explorer.progress import WalkProgress
from insync.explorer.search.walks import Walks, _Shares
from insync.machine.walker import FailedWalk, Walked
from insync.runtime.errors import UserError
from insync.runtime.watch import Limits, StopReason, Watch

SHARE = 4096


class Played:
    """Walks of two steps each; the walk of one number fails.

    Attributes:
        taken: the first and the last of each share that was asked for.
        begun: called with the number of the first walk as a share begins.
    """

    steps, seen = 7, b""

    def __init__(self, fails: int | None = None, begun: Callable[[int], None] = lambda first: None) -> None:
        self.taken: list[tuple[int, int]] = []
        self.fails, self.begun = fails, begun

    def walk(self, first: int, end: int, stopped: Callable[[], bool]) -> Walked:
        self.taken.append((first, end))
        self.begun(first)
        if stopped():
            return Walked((2,), {2: 1}, 0, None)
        if self.fails is not None and first <= self.fails < end:
            many = self.fails - first + 1
            return Walked((2 * many,), {2: many}, 0, FailedWalk(self.fails, 0, (0,)))
        return Walked((2 * (end - first),), {2: end - first}, end - first, None)


class Seen:
    """What is saturated after so many walks, as soon as anything is counted."""

    saturated: int | None = None

    def __init__(self, after: int) -> None:
        self.after, self.counted = after, list[tuple[int, int, bool]]()

    def add(self, entries: bytes, first: int, end: int, failed: int | None, whole: bool = True) -> None:
        self.counted.append((first, end, whole))
        if whole and end >= self.after:
            self.saturated = self.after


def shares(count: int, watch: Watch | None = None, told: Callable[[WalkProgress], None] | None = None) -> _Shares:
    return _Shares(Walks(count, 1, 0), watch or Watch(Limits(), None), told)


def work(some: _Shares, walker: Played) -> None:
    played: Any = walker
    some.work(played)


@pytest.mark.parametrize(
    ("depth", "share"), [(1, 4096), (64, 4096), (65, 4032), (1000, 262), (1024, 256), (10**6, 256)]
)
def test_the_longer_the_walks_the_fewer_are_handed_out_at_a_time(depth: int, share: int) -> None:
    assert Walks(1, depth, 0).per_share == share


def test_walks_are_numbers_that_can_be() -> None:
    Walks(1, 1, 2**64 - 1)
    for wrong in ((0, 1, 0), (1, 0, 0), (1, 1, -1), (1, 1, 2**64)):
        with pytest.raises(UserError):
            Walks(*wrong)


def test_shares_are_handed_out_in_order_and_summed_up() -> None:
    some, walker = shares(2 * SHARE + 5), Played()
    work(some, walker)
    assert walker.taken == [(0, SHARE), (SHARE, 2 * SHARE), (2 * SHARE, 2 * SHARE + 5)]
    total = some.taken().total
    assert (total.steps, total.lengths, total.stuck) == ((4 * SHARE + 10,), {2: 2 * SHARE + 5}, 2 * SHARE + 5)
    assert (total.failed, some.taken().stopped_by) == (None, None)


def test_after_a_walk_that_fails_no_further_share_is_taken() -> None:
    some, walker = shares(9 * SHARE), Played(fails=SHARE + 3)
    work(some, walker)
    assert walker.taken == [(0, SHARE), (SHARE, 2 * SHARE)]
    taken = some.taken()
    assert taken.total.failed is not None
    assert (taken.total.failed.number, taken.total.steps, taken.stopped_by) == (SHARE + 3, (2 * SHARE + 8,), None)


def test_a_share_beyond_one_that_fails_meanwhile_is_left_off_and_does_not_count() -> None:
    some, early, seen = shares(9 * SHARE), Played(fails=SHARE + 3), list[bool]()

    class Late(Played):
        def walk(self, first: int, end: int, stopped: Callable[[], bool]) -> Walked:
            if first != 2 * SHARE:
                return super().walk(first, end, stopped)
            seen.append(stopped())
            thread = threading.Thread(target=work, args=(some, early))
            thread.start()
            thread.join()
            return super().walk(first, end, stopped)

    some._next = 2 * SHARE
    early.begun = lambda first: None
    late = Late(begun=lambda first: None)
    some._done[0] = Played().walk(0, SHARE, lambda: False)
    some._done[SHARE] = early.walk(SHARE, 2 * SHARE, lambda: False)
    early.fails = 3 * SHARE
    work(some, late)
    assert seen == [False]
    assert early.taken[1:] == [(3 * SHARE, 4 * SHARE)]
    assert late.taken == [(2 * SHARE, 3 * SHARE)], "what comes after the failure is not taken"
    taken = some.taken()
    assert taken.total.failed is not None
    assert (taken.total.failed.number, taken.stopped_by) == (SHARE + 3, None)


@pytest.mark.parametrize("fails", [3, None])
def test_what_is_stopped_counts_where_it_is_and_is_decided_by_an_earlier_failure(fails: int | None) -> None:
    stop = threading.Event()
    some = shares(9 * SHARE, Watch(Limits(), stop))
    walker = Played(begun=lambda first: stop.set() if first else None)
    work(some, walker)
    assert walker.taken == [(0, SHARE), (SHARE, 2 * SHARE)]
    taken = some.taken()
    assert (taken.total.steps, taken.stopped_by) == ((2 * SHARE + 2,), StopReason.INTERRUPT)
    if fails is not None:
        some._done[0] = Played(fails=fails).walk(0, SHARE, lambda: False)
        assert (some.taken().total.steps, some.taken().stopped_by) == ((8,), None)
        some._done[0] = Played().walk(0, SHARE, lambda: False)
        some._done[2 * SHARE] = Played(fails=2 * SHARE).walk(2 * SHARE, 3 * SHARE, lambda: False)
        assert some.taken().stopped_by is StopReason.INTERRUPT, "the share that was left off comes before the failure"


def test_the_first_share_is_taken_even_if_it_is_stopped_before() -> None:
    stop = threading.Event()
    stop.set()
    some, walker = shares(9 * SHARE, Watch(Limits(), stop)), Played()
    work(some, walker)
    assert walker.taken == [(0, SHARE)]
    assert some.taken().total.lengths == {2: 1}


@pytest.mark.parametrize(("after", "again"), [(5, [(0, 5)]), (SHARE, []), (SHARE + 7, [(SHARE, SHARE + 7)])])
def test_of_a_share_in_which_walks_are_saturated_only_those_before_count(
    after: int, again: list[tuple[int, int]]
) -> None:
    seen: Any = Seen(after)
    some, walker = _Shares(Walks(9 * SHARE, 1, 0), Watch(Limits(), None), None, seen), Played()
    work(some, walker)
    whole = [(first, first + SHARE) for first in range(0, after, SHARE)]
    assert walker.taken == [*whole, *again]
    assert seen.counted == [(first, end, True) for first, end in whole]
    taken = some.taken()
    assert (taken.total.steps, taken.total.lengths, taken.stopped_by) == ((2 * after,), {2: after}, "saturation")


def test_who_stops_while_the_last_share_is_taken_again_is_told_so() -> None:
    stop, seen = threading.Event(), Seen(5)
    counting: Any = seen
    some = _Shares(Walks(9 * SHARE, 1, 0), Watch(Limits(), stop), None, counting)
    walker = Played(begun=lambda first: stop.set() if seen.saturated else None)
    work(some, walker)
    taken = some.taken()
    assert (taken.total.lengths, taken.stopped_by) == ({2: 1}, StopReason.INTERRUPT)


def test_what_shares_saw_is_counted_in_their_order_and_up_to_the_first_that_fails() -> None:
    seen: Any = Seen(100 * SHARE)
    some, first, second = _Shares(Walks(9 * SHARE, 1, 0), Watch(Limits(), None), None, seen), Played(), Played()

    def work_on_the_second(begun: int) -> None:
        if begun == 0:
            thread = threading.Thread(target=work, args=(some, second))
            thread.start()
            thread.join()

    first.begun, second.fails = work_on_the_second, 2 * SHARE + 1
    work(some, first)
    assert second.taken == [(SHARE, 2 * SHARE), (2 * SHARE, 3 * SHARE)]
    assert first.taken == [(0, SHARE)]
    assert seen.counted == [(first, first + SHARE, True) for first in (0, SHARE, 2 * SHARE)]
    assert some.taken().total.failed is not None
    assert len(seen.counted) == 3


def test_the_main_thread_tells_what_is_done_and_what_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.explorer.progress.Pulse.due", lambda _: True)
    told: list[WalkProgress] = []
    some = shares(SHARE + 1, told=told.append)
    work(some, Played())
    assert [(each.walks, each.steps) for each in told] == [
        (0, 7), (SHARE, 2 * SHARE), (SHARE, 2 * SHARE + 7), (SHARE + 1, 2 * SHARE + 2),
    ]  # fmt: skip
    other = threading.Thread(target=work, args=(shares(1, told=told.append), Played()))
    other.start()
    other.join()
    assert len(told) == 4, "only the thread that called is told"

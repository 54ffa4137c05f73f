"""Walks that are handed out to several: what counts is what one would have come to, taking them in order."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.conformance.comparing.handed_out import HandedOut
from insync.conformance.comparing.walks import Divergence
from insync.runtime.watch import Stopped, StopReason


def difference(number: int) -> Divergence:
    return Divergence([number], (), (), {}, ())


@given(st.integers(0, 12), st.sets(st.integers(0, 12)), st.integers(1, 4))
def test_the_first_walk_that_differs_counts_and_those_before_it(count: int, differ: set[int], several: int) -> None:
    handed_out = HandedOut(count)

    def take(number: int) -> Divergence | None:
        if reason := handed_out.needless(number):
            raise Stopped(reason)
        return difference(number) if number in differ else None

    threads = [threading.Thread(target=handed_out.work, args=(take,)) for _ in range(several)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first = min((number for number in differ if number < count), default=None)
    assert (None if handed_out.found is None else handed_out.found.actions) == (None if first is None else [first])
    assert handed_out.walks == (count if first is None else first + 1)
    assert handed_out.stopped_by is None


def test_who_stops_it_gets_the_walks_that_were_taken() -> None:
    handed_out = HandedOut(9)

    def take(number: int) -> None:
        if number == 4:
            raise Stopped(StopReason.INTERRUPT)

    handed_out.work(take)
    assert (handed_out.walks, handed_out.stopped_by, handed_out.found) == (4, StopReason.INTERRUPT, None)


def test_a_fault_in_one_walk_ends_the_others() -> None:
    handed_out = HandedOut(9)
    taken = []

    def take(number: int) -> None:
        taken.append(number)
        if number == 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        handed_out.work(take)
    handed_out.work(take)
    assert taken == [0, 1, 2]

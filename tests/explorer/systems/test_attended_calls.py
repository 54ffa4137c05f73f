"""Calls of a system have a limit of time, and a call that hangs keeps nobody waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from insync.explorer.systems.adapter import Call
from insync.explorer.systems.attended_calls import AttendedCalls, CallHung, CallRaised
from insync.runtime.watch import Limits, Stopped, StopReason, Watch


def named(name: str, method: Callable[[], object]) -> Callable[[Call], object]:
    return lambda call: call(name, method)


@pytest.mark.parametrize("seconds", [10.0, None])
def test_work_returns_what_its_calls_return_and_raises_what_they_raise(seconds: float | None) -> None:
    calls = AttendedCalls(seconds, Watch())
    assert calls.run(lambda call: call("A.get", lambda *given, **rest: (given, rest), 1, name=2)) == ((1,), {"name": 2})
    with pytest.raises(CallRaised) as caught:
        calls.run(named("A.get", lambda: 1 // 0))
    assert (caught.value.name, type(caught.value.error)) == ("A.get", ZeroDivisionError)
    with pytest.raises(pytest.skip.Exception):
        calls.run(named("A.get", lambda: pytest.skip("not here")))
    with pytest.raises(KeyError):
        calls.run(lambda call: dict[str, int]()["what the work itself raises"])


def test_all_calls_are_made_in_one_thread_or_in_that_of_the_caller() -> None:
    def threads(call: Call) -> set[object]:
        return {call("A.get", threading.current_thread) for _ in range(3)}

    (own,) = AttendedCalls(None, Watch()).run(threads)
    assert own is threading.current_thread()
    (other,) = AttendedCalls(1.0, Watch()).run(threads)
    assert isinstance(other, threading.Thread)
    assert other is not own
    assert other.daemon


def test_a_call_that_hangs_is_left_behind_and_no_further_call_is_made_but_close() -> None:
    release, made = threading.Event(), list[str]()

    def work(call: Call) -> None:
        try:
            call("A.hang", release.wait)
            call("A.next", lambda: made.append("next"))
        finally:
            call("A.close", lambda: made.append("close"))

    began = time.monotonic()
    with pytest.raises(CallHung) as caught:
        AttendedCalls(0.1, Watch()).run(work)
    assert caught.value.name == "A.hang"
    assert time.monotonic() - began < 5
    release.set()
    for thread in threading.enumerate():
        if thread.name == "insync-system":
            thread.join(5)
    assert made == ["close"]


def test_the_limit_is_for_each_call_and_not_for_all_together() -> None:
    def work(call: Call) -> int:
        for _ in range(8):
            call("A.get", lambda: time.sleep(0.05))
        return 8

    assert AttendedCalls(0.3, Watch()).run(work) == 8


@pytest.mark.parametrize("seconds", [10.0, None])
def test_work_ends_where_there_is_a_reason_to_stop(seconds: float | None) -> None:
    stop, closed = threading.Event(), list[int]()

    def work(call: Call) -> None:
        try:
            while True:
                call("A.get", stop.set)
        finally:
            call("A.close", lambda: closed.append(1))

    with pytest.raises(Stopped) as caught:
        AttendedCalls(seconds, Watch(stop=stop)).run(work)
    assert caught.value.reason is StopReason.INTERRUPT
    assert closed == [1]
    with pytest.raises(Stopped, match="time"):
        AttendedCalls(seconds, Watch(Limits(seconds=0))).run(work)

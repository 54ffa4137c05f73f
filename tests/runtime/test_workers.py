"""A team of threads: each member has a number, all work at once, and nobody is left behind by an error."""

from __future__ import annotations

import threading

import pytest

from insync.runtime.workers import Team


@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_member_works_at_the_same_time_as_the_others(size: int) -> None:
    together, seen = threading.Barrier(size), dict[int, threading.Thread]()

    def task(number: int) -> None:
        together.wait(20)
        seen[number] = threading.current_thread()

    with Team(size) as team:
        assert team.size == size
        for _ in range(3):
            seen.clear()
            team.run(task)
            assert sorted(seen) == list(range(size))
            assert len(set(seen.values())) == size
            assert seen[0] is threading.current_thread()
    assert not [thread for thread in seen.values() if thread.is_alive() and thread is not threading.current_thread()]


def test_alone_the_caller_does_the_work_of_all_in_order() -> None:
    seen: list[tuple[int, threading.Thread]] = []
    with Team(3) as team:
        team.run(lambda number: seen.append((number, threading.current_thread())), alone=True)
    assert seen == [(number, threading.current_thread()) for number in range(3)]


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_is_raised_once_all_have_finished(failing: int) -> None:
    failed, done = threading.Event(), list[int]()

    def task(number: int) -> None:
        if number == failing:
            failed.set()
            raise ZeroDivisionError(number)
        assert failed.wait(20)
        done.append(number)

    with Team(3) as team:
        with pytest.raises(ZeroDivisionError) as error:
            team.run(task)
        assert error.value.args == (failing,)
        assert sorted(done) == [number for number in range(3) if number != failing]
        team.run(done.append)
        assert sorted(done[2:]) == [0, 1, 2], "the team goes on, and the error is not raised again"

"""`take` of a sequence takes away the element at a place, and leaves the others in their order."""

from __future__ import annotations

import re
from typing import Any

import pytest

from insync.explorer import check
from insync.model import Int, Model, ModelError, Range, Seq, State, StateView, action, require, when
from insync.model.evaluator import Evaluator
from insync_evaluator import successors

MOST = 3


class Place(Range):
    """A place of the queue."""

    lo, hi = 0, MOST - 1


class Letter(Range):
    """What stands in the queue."""

    lo, hi = 0, 2


class Queue(Model):
    """A queue from which anything may be taken."""

    def declare(self, b: Any) -> State:
        return State(queue=Seq(Letter, MOST), taken=Int(0, 2), at=Place)

    @action
    def append(self, s: StateView, letter: Letter) -> None:
        require(s.queue.length < MOST)
        s.queue.append(letter)

    @action
    def point(self, s: StateView, place: Place) -> None:
        s.at = place

    @action
    def take(self, s: StateView, place: Place) -> None:
        require(place < s.queue.length)
        s.taken = s.queue.take(place)

    @action
    def take_pointed(self, s: StateView) -> None:
        require(s.at < s.queue.length)
        s.taken = s.queue.take(s.at)


class Careless(Queue):
    """It takes what is not there."""

    @action
    def take_pointed(self, s: StateView) -> None:
        s.taken = s.queue.take(s.at)


class Behind(Queue):
    """It takes from, and writes to, the place before the one that it points to."""

    @action
    def take_pointed(self, s: StateView) -> None:
        s.taken = s.queue.take(s.at - 1)

    @action
    def write(self, s: StateView) -> None:
        s.queue[s.at - 1] = 2


class Blunt(Queue):
    """It takes from a place that no queue has."""

    @action
    def take_pointed(self, s: StateView) -> None:
        s.queue.take(MOST)


def test_what_is_taken_is_what_python_takes() -> None:
    model = Queue()
    evaluator, seen, waiting = Evaluator(model.program), set(model.program.initials), list(model.program.initials)
    taken = 0
    while waiting:
        codes = waiting.pop()
        before = model.decode(codes)
        for number, following in successors(evaluator, codes):
            action, after = model.program.actions[number], model.decode(following)
            if action.name.startswith("take"):
                place: Any = dict(action.parameters).get("place", before["at"])
                queue = list(before["queue"])
                assert after == before | {"taken": queue.pop(place), "queue": queue}
                taken += 1
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    found = check(Queue)
    assert (found.distinct_states, found.actions["take"] + found.actions["take_pointed"]) == (len(seen), taken)


def test_taking_from_past_the_end_is_a_violation() -> None:
    result = check(Careless)
    assert [violation.property for violation in result.violations] == ["type_ok"]
    assert "this takes an element past the end of queue." in result.violations[0].trace.reason


def test_only_a_place_before_the_end_can_be_taken() -> None:
    model = Careless()
    evaluator = Evaluator(model.program)
    (pointed,) = (number for number, one in enumerate(model.program.actions) if one.name == "take_pointed")
    for length in range(MOST + 1):
        for at in range(MOST):
            codes = model.encode({"queue": [1] * length, "taken": 0, "at": at})
            assert (evaluator.failing_check(pointed, codes) is None) == (at < length)


def test_there_is_no_place_before_the_first_one() -> None:
    model = Behind()
    evaluator = Evaluator(model.program)
    numbers = [number for number, one in enumerate(model.program.actions) if one.name in ("take_pointed", "write")]
    assert len(numbers) == 2
    for at in range(MOST):
        codes = model.encode({"queue": [1, 0], "taken": 0, "at": at})
        assert [evaluator.failing_check(number, codes) is None for number in numbers] == [at > 0, at > 0]


def test_a_place_that_no_queue_has_is_refused() -> None:
    with pytest.raises(ModelError, match=re.escape("queue has no place 3; its 3 places are numbered from 0.")):
        _ = Blunt().program


class Emptied(Queue):
    """It reads, and would take, past the end of a queue whose length is known by then."""

    @action
    def take_pointed(self, s: StateView) -> None:
        s.queue.clear()
        end = s.queue.length + MOST
        s.at = s.queue[end]
        with when(end < s.queue.length):
            s.taken = s.queue.take(end)


def test_a_number_of_the_state_may_be_past_the_end_also_where_it_is_known() -> None:
    model = Emptied()
    evaluator = Evaluator(model.program)
    (pointed,) = (number for number, one in enumerate(model.program.actions) if one.name == "take_pointed")
    codes = model.encode({"queue": [1, 2], "taken": 2, "at": 2})
    assert model.decode(evaluator.step(pointed, codes)) == {"queue": [], "taken": 2, "at": 0}

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from insync.explorer import check
from insync.explorer.hypothesis import reachable_states, typed_states
from insync.explorer.stepping.stepper import Stepper
from insync.explorer.task import model_of
from insync.model import Bag, BoundValues, Index, Int, Model, ReadableState, Seq, State, StateView, action, require
from insync.model.evaluator import Codes
from insync.runtime.errors import UserError
from insync_lamp import Lamp
from insync_post import Post
from insync_toys import Clock

BOUNDS = {"replicas": 2, "log_size": 1, "max_records": 2, "max_leader_epoch": 1}
KIP320 = model_of("kip320", BOUNDS)


def reached(model: Model) -> set[Codes]:
    """Every reachable state, by the evaluator."""
    stepper = Stepper(model)
    seen, fresh = {model.program.initials[0]}, [model.program.initials[0]]
    while fresh:
        codes = fresh.pop()
        for numbers in stepper.enabled(codes).values():
            for number in numbers:
                after = stepper.step(codes, number)
                if after not in seen:
                    seen.add(after)
                    fresh.append(after)
    return seen


REACHED = reached(KIP320)


@given(state=reachable_states(KIP320))
def test_reachable_states_are_reachable(state: ReadableState) -> None:
    assert KIP320.encode(state) in REACHED


def test_reachable_states_are_those_of_the_search() -> None:
    assert len(REACHED) == check(KIP320, properties=[]).distinct_states


def test_reachable_states_shrink_to_short_walks() -> None:
    how = settings(database=None, derandomize=True, max_examples=500)
    quiet = find(reachable_states(KIP320), lambda state: True, settings=how)
    assert KIP320.encode(quiet) == KIP320.program.initials[0]
    led = find(reachable_states(KIP320), lambda state: state["replica"]["b2"]["leader"] == "b2", settings=how)
    assert led["next_record"] == 0, "a walk to there needs no record"


class Door(Index):
    """One of several doors."""

    label = "d"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 6


class Doors(Model):
    """Behind each door is something else, and no way back."""

    def declare(self, b: BoundValues) -> State:
        return State(behind=Int(0, 6))

    @action
    def open(self, s: StateView, door: Door) -> None:
        """Go through a door."""
        require(s.behind == 0)
        s.behind = int(door) + 1


@pytest.mark.parametrize("least", [1, 2, 4, 6])
def test_of_several_actions_it_shrinks_to_the_first_that_will_do(least: int) -> None:
    how = settings(database=None, derandomize=True)
    found = find(reachable_states(Doors, max_steps=1), lambda state: state["behind"] >= least, settings=how)
    assert found == {"behind": least}


def test_a_walk_goes_on_where_there_is_one_action_only() -> None:
    how = settings(database=None, derandomize=True)
    late = find(reachable_states(Clock), lambda state: state["hour"] == 4, settings=how)
    assert late == {"hour": 4, "chimes": False}


@given(state=reachable_states(Lamp, bounds={"presses": 1}, max_steps=3))
def test_a_step_that_is_refused_is_not_taken(state: ReadableState) -> None:
    assert state["count"] <= 1


@given(state=reachable_states(KIP320, max_steps=0))
def test_a_walk_without_steps_is_the_initial_state(state: ReadableState) -> None:
    assert KIP320.encode(state) == KIP320.program.initials[0]


@pytest.mark.slow_for("kip101")
@pytest.mark.parametrize(
    "model", [KIP320, Lamp(), Post(), model_of("async_isr"), model_of("kip101")], ids=lambda m: m.name
)
@given(data=st.data())
def test_typed_states_are_states(model: Model, data: st.DataObject) -> None:
    state = data.draw(typed_states(model))
    codes = model.encode(state)
    assert model.decode(codes) == state
    assert all(0 <= code < cell.size for code, cell in zip(codes, model.program.schema.cells, strict=True))


def test_typed_states_are_not_only_those_that_are_reached() -> None:
    how = settings(database=None, derandomize=True, phases=[Phase.generate])
    strange = find(typed_states(KIP320), lambda state: KIP320.encode(state) not in REACHED, settings=how)
    assert strange


@pytest.mark.parametrize("kind", [Seq, Bag])
@pytest.mark.parametrize("most", [1, 2])
def test_a_typed_collection_may_be_as_long_as_it_can(kind: type[Seq] | type[Bag], most: int) -> None:
    class Held(Model):
        """A collection that nobody touches."""

        def declare(self, b: BoundValues) -> State:
            return State(held=kind(Int(0, 1), most))

    lengths = typed_states(Held).map(lambda state: len(state["held"]))
    how = settings(database=None, derandomize=True)
    assert [find(lengths, length.__le__, settings=how) for length in range(most + 1)] == list(range(most + 1))


def test_a_walk_cannot_have_fewer_than_no_steps() -> None:
    with pytest.raises(UserError, match="max_steps=-1 must be at least 0; a walk of 0 steps is the initial state"):
        reachable_states(KIP320, max_steps=-1)


@pytest.mark.parametrize("given", ["5", True, 2.0])
def test_a_number_of_steps_that_is_none_is_a_mistake(given: Any) -> None:
    with pytest.raises(UserError, match=rf"max_steps={given!r} must be a whole number"):
        reachable_states(Lamp, max_steps=given)

"""Hypothesis draws the initial state where there are several, and a system beside a model is told which."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import find, settings
from hypothesis.stateful import run_state_machine_as_test

from insync.explorer.hypothesis import Disagreement, model_based_test, reachable_states, replay_against, state_machine
from insync.explorer.replay import replay
from insync.explorer.testing import PropertyViolated
from insync.model import ANY, BoundValues, Int, Model, ReadableState, State, action, initial, require
from insync.runtime.errors import UserError
from insync_initials import Cabinet

QUICK = settings(max_examples=60, stateful_step_count=8, deadline=None, database=None, derandomize=True)


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in ("model_based", "state_machines"):
        monkeypatch.setattr(f"insync.explorer.hypothesis.{module}.trace_directory", lambda: tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_failing_run_begins_in_one_of_them() -> None:
    with pytest.raises(PropertyViolated) as caught:
        run_state_machine_as_test(state_machine(Cabinet()), settings=QUICK)
    trace = caught.value.trace
    assert trace is not None
    assert trace.steps[0].label in {"start: two are low", "start: d1 is full", "start: d2 is full", "start: d3 is full"}
    assert replay(trace, model=Cabinet()) == trace


def test_reachable_states_begin_in_any_of_them() -> None:
    how = settings(database=None, derandomize=True, max_examples=2000)
    model = Cabinet()
    assert (
        model.encode(find(reachable_states(model, max_steps=0), lambda state: True, settings=how))
        == (model.program.initials[0])
    )
    full = find(reachable_states(model, max_steps=0), lambda state: state["note"] is not None, settings=how)
    assert full["inside"]["d1"] == 3


class Countdown(Model):
    """A counter that begins anywhere."""

    headline = ()

    def declare(self, b: BoundValues) -> State:
        return State(left=Int(0, 6))

    @initial
    def anywhere(self, s: Any) -> None:
        s.left = ANY

    @action
    def tick(self, s: Any) -> None:
        require(s.left > 0)
        s.left -= 1


class System:
    """A system that begins where it is told."""

    jump = 99

    def begin(self, state: ReadableState) -> None:
        self.left = state["left"]

    def tick(self) -> None:
        self.left -= 2 if self.left == self.jump else 1

    def observe(self) -> dict[str, int]:
        return {"left": self.left}


class Broken(System):
    """It skips a number."""

    jump = 5


class Deaf(System):
    """It begins where it wants."""

    begin = None  # type: ignore[assignment]


def test_a_system_is_told_where_to_begin() -> None:
    run_state_machine_as_test(model_based_test(Countdown, adapter=System), settings=QUICK)


def test_a_disagreement_is_taken_again_from_its_own_beginning() -> None:
    with pytest.raises(Disagreement) as caught:
        run_state_machine_as_test(model_based_test(Countdown, adapter=Broken), settings=QUICK)
    assert caught.value.trace is not None
    assert [step.state["left"] for step in caught.value.trace.steps] == [5, 4]
    assert caught.value.file is not None
    with pytest.raises(Disagreement, match="left is 3 in the system and 4 in the model"):
        replay_against(caught.value.file, Broken, model=Countdown)
    replay_against(caught.value.file, System, model=Countdown)
    moved = caught.value.file.with_name("moved.json")
    moved.write_text(caught.value.file.read_text().replace('"left": 5', '"left": 7'))
    with pytest.raises(UserError, match="the first state is not an initial one; give the model of the trace"):
        replay_against(moved, System, model=Countdown)


def test_a_system_that_cannot_be_told_is_refused() -> None:
    with pytest.raises(UserError) as caught:
        model_based_test(Countdown, adapter=Deaf)
    assert str(caught.value) == (
        "Deaf cannot begin in each of the 7 initial states of countdown; write `def begin(self, state)`, which "
        "receives the readable state."
    )


def test_nothing_to_do_in_any_of_them_is_said() -> None:
    class Still(Countdown):
        @action
        def tick(self, s: Any) -> None:
            require(s.left > 6)

    class Rare(Countdown):
        @action
        def tick(self, s: Any) -> None:
            require(s.left == 6)
            s.left = 0

    with pytest.raises(UserError, match="still: no action is enabled in any initial state under"):
        state_machine(Still)
    run_state_machine_as_test(state_machine(Rare), settings=QUICK)

"""Random tests take steps that no run of the test has taken, and stay repeatable and shrinkable."""

from __future__ import annotations

import enum
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, core, settings
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from insync.explorer.hypothesis import Disagreement, model_based_test, state_machine
from insync.explorer.hypothesis.coverage import Coverage
from insync.explorer.hypothesis.state_machines import ModelMachine
from insync.explorer.stepping.stepper import Stepper
from insync.explorer.testing import PropertyViolated
from insync.model import (
    Array,
    Bool,
    Bounds,
    BoundValues,
    Condition,
    Enum,
    Implies,
    Index,
    Model,
    Or,
    State,
    StateView,
    action,
    exists,
    for_all,
    invariant,
    require,
)
from insync.model.evaluator import Codes
from insync_lamp import Lamp
from insync_systems import CopiesTwice, ReplicatedLog, example


class Manager(Index):
    """A resource manager."""

    label = "m"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 2


class Progress(enum.Enum):
    WORKING = 0
    PREPARED = 1
    COMMITTED = 2
    ABORTED = 3


class Decision(enum.Enum):
    NONE_YET = 0
    COMMIT = 1
    ABORT = 2


class TwoPhase(Model):
    """Two-phase commit, as in docs/guide/refinement.md: 49 states."""

    bounds = Bounds()
    headline = ("all_commit",)

    def declare(self, b: BoundValues) -> State:
        return State(
            phase=Array(Manager, Enum(Progress)),
            sent=Array(Manager, Bool),
            heard=Array(Manager, Bool),
            decision=Enum(Decision),
        )

    @action
    def prepare(self, s: StateView, m: Manager) -> None:
        require(s.phase[m] == Progress.WORKING)
        s.phase[m] = Progress.PREPARED
        s.sent[m] = True

    @action
    def hear(self, s: StateView, m: Manager) -> None:
        require(s.decision == Decision.NONE_YET, s.sent[m])
        s.heard[m] = True

    @action
    def decide_commit(self, s: StateView) -> None:
        require(s.decision == Decision.NONE_YET, self.may_commit(s))
        s.decision = Decision.COMMIT

    @action
    def decide_abort(self, s: StateView) -> None:
        require(s.decision == Decision.NONE_YET)
        s.decision = Decision.ABORT

    @action
    def obey(self, s: StateView, m: Manager, commits: bool) -> None:
        require(s.decision == (Decision.COMMIT if commits else Decision.ABORT))
        s.phase[m] = Progress.COMMITTED if commits else Progress.ABORTED

    def may_commit(self, s: StateView) -> Condition:
        return for_all(self.all(Manager), lambda m: s.heard[m])

    @invariant
    def all_commit(self, s: StateView) -> Condition:
        """Where one manager has committed, all have or can."""
        return for_all(
            self.all(Manager),
            lambda m: Implies(
                s.phase[m] == Progress.COMMITTED,
                for_all(
                    self.all(Manager), lambda n: Or(s.phase[n] == Progress.PREPARED, s.phase[n] == Progress.COMMITTED)
                ),
            ),
        )


class Hasty(TwoPhase):
    """Commits as soon as anybody is prepared: a violation after four steps."""

    def may_commit(self, s: StateView) -> Condition:
        return exists(self.all(Manager), lambda m: s.heard[m])


def planted() -> type[RuleBasedStateMachine]:
    outputs = {"append": example.offset_appended}
    return model_based_test(ReplicatedLog, bounds={"records": 2}, adapter=CopiesTwice, outputs=outputs)


def run(machine: type[RuleBasedStateMachine], **changes: object) -> None:
    """Run a machine as pytest does, with half as many runs as Hypothesis's default."""
    how: Any = {"max_examples": 50, "derandomize": False, "database": None, **changes}
    run_state_machine_as_test(machine, settings=settings(machine.TestCase.settings, **how))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("state_machines", "model_based"):
        monkeypatch.setattr(f"insync.explorer.hypothesis.{module}.trace_directory", lambda: tmp_path)


@pytest.fixture(params=[1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(20) if n != 1)])
def seed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """A seed for Hypothesis, as `--hypothesis-seed` gives it; before there was coverage, 1 missed what is below."""
    monkeypatch.setattr(core, "global_force_seed", request.param)
    return int(request.param)


@pytest.mark.usefixtures("seed")
def test_a_violation_after_four_steps_is_found_with_every_seed_and_shrunk() -> None:
    with pytest.raises(PropertyViolated) as caught:
        run(state_machine(Hasty))
    assert caught.value.trace is not None
    assert [step.action for step in caught.value.trace.steps[1:]] == ["prepare", "hear", "decide_commit", "obey"]


@pytest.mark.usefixtures("seed")
def test_a_defect_of_a_system_after_four_steps_is_found_with_every_seed_and_shrunk() -> None:
    with pytest.raises(Disagreement) as caught:
        run(planted())
    assert caught.value.trace is not None
    assert sorted(str(step.action) for step in caught.value.trace.steps[1:]) == ["append", "append", "copy", "copy"]


@pytest.mark.usefixtures("seed")
def test_a_small_space_is_seen_whole() -> None:
    machine = state_machine(TwoPhase)
    states: set[Codes] = set()
    assert issubclass(machine, ModelMachine)

    def note(self: ModelMachine) -> None:
        states.update(codes for _, codes in self.walk.moves)

    machine.teardown = note  # type: ignore[method-assign,assignment]
    run(machine, phases=[Phase.generate])
    assert len(states) == 49


@pytest.mark.slow_for("system")
@pytest.mark.parametrize("make", [lambda: state_machine(Hasty), planted], ids=["model", "system"])
def test_a_failure_is_repeated_from_the_database_by_another_process(make: object) -> None:
    assert callable(make)
    database = InMemoryExampleDatabase()
    traces = []
    for phases in ([Phase.generate, Phase.shrink], [Phase.reuse]):
        with pytest.raises((PropertyViolated, Disagreement)) as caught:
            run(make(), database=database, phases=phases)
        assert isinstance(caught.value, PropertyViolated | Disagreement)
        traces.append(caught.value.trace)
    assert traces[0] is not None
    assert traces[0].length == 5
    assert traces[0] == traces[1]


@pytest.mark.slow
def test_a_test_that_failed_fails_again_in_the_same_process_in_the_same_way() -> None:
    machine = state_machine(Hasty)
    lengths = set()
    for _ in range(3):
        with pytest.raises(PropertyViolated) as caught:
            run(machine)
        assert caught.value.trace is not None
        lengths.add(caught.value.trace.length)
    assert lengths == {5}


def test_new_states_come_first_then_new_steps_then_the_way_to_one() -> None:
    stepper = Stepper(Lamp())
    coverage, order = Coverage(stepper), random.Random(0)
    start = stepper.model.program.initials[0]
    steps = {number for numbers in stepper.enabled(start).values() for number in numbers}
    while steps:
        number = coverage.next_step(start, order)
        assert number in steps
        steps.remove(number)
        coverage.add(start, number, stepper.step(start, number))
    way = coverage.next_step(start, order)
    assert way is not None, "all steps of the first state are taken, and one of them leads to a state with others"
    assert coverage.next_step(stepper.step(start, way), order) is not None


def test_nothing_is_suggested_where_all_is_seen() -> None:
    stepper = Stepper(TwoPhase())
    coverage, order = Coverage(stepper), random.Random(0)
    waiting, seen = [stepper.model.program.initials[0]], set()
    while waiting:
        codes = waiting.pop()
        if codes in seen:
            continue
        seen.add(codes)
        for number, after in stepper.outcomes(codes):
            assert isinstance(after, tuple)
            coverage.add(codes, number, after)
            waiting.append(after)
    assert {coverage.next_step(codes, order) for codes in seen} == {None}

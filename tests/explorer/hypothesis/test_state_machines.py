from __future__ import annotations

import enum
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from insync.explorer import testing
from insync.explorer.hypothesis import state_machine
from insync.explorer.hypothesis.state_machines import ModelMachine
from insync.explorer.replay import replay
from insync.explorer.task import model_of
from insync.explorer.testing import PropertyViolated
from insync.explorer.traces.trace_file import read_trace
from insync.model import (
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Enum,
    Implies,
    Int,
    Model,
    Not,
    ReadableState,
    State,
    StateView,
    action,
    invariant,
    require,
    step_invariant,
)
from insync.model.catalogue import class_reference
from insync.runtime.errors import GuardError, UserError
from insync_lamp import Lamp

QUICK = settings(max_examples=40, stateful_step_count=8, deadline=None, database=None, derandomize=True)


class Colour(enum.Enum):
    RED = 0
    GREEN = 1


class Chain(Model):
    """Actions of which one is enabled at a time, and an end."""

    bounds = Bounds(rounds=Bound(3, 1, 9))
    headline = ("no_colour_yet",)

    def declare(self, b: BoundValues) -> State:
        return State(at=Int(0, 3), round=Int(0, b.rounds), colour=Enum(Colour))

    def follow(self, s: StateView, at: int) -> None:
        require(s.at == at, s.round < self.b.rounds)
        s.at = (at + 1) % 4

    @action
    def first(self, s: StateView, target: Colour) -> None:
        """Its parameter has a name that Hypothesis uses for itself."""
        self.follow(s, 0)
        s.colour = target

    @action
    def second(self, s: StateView) -> None:
        """Follow."""
        self.follow(s, 1)

    @action
    def third(self, s: StateView) -> None:
        """Follow."""
        self.follow(s, 2)

    @action
    def last(self, s: StateView) -> None:
        """Begin anew."""
        self.follow(s, 3)
        s.round += 1

    @invariant
    def no_colour_yet(self, s: StateView) -> Condition:
        """Something that is not broken."""
        within: Condition = s.round <= self.b.rounds
        return within


def run(machine: type[RuleBasedStateMachine], how: settings = QUICK) -> None:
    run_state_machine_as_test(machine, settings=how)


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("insync.explorer.hypothesis.state_machines.trace_directory", lambda: tmp_path)
    return tmp_path


def test_it_has_a_rule_per_action_and_an_invariant_per_property() -> None:
    machine = state_machine("kip320", bounds={"replicas": 2})
    setup = machine.setup_state()
    assert machine.__name__ == "Kip320Machine"
    actions = set(model_of("kip320", {"replicas": 2}).program.action_names)
    assert {rule.function.__name__ for rule in setup.rules} == actions | {"nothing_is_enabled"}
    assert [found.function.__name__ for found in setup.invariants] == ["strong_isr", "weak_isr"]


def test_a_model_that_is_right_passes() -> None:
    run(state_machine("kip320", bounds={"replicas": 2}), settings(QUICK, max_examples=15))


def test_actions_that_wait_for_one_another_are_all_reached_and_the_end_is_no_failure() -> None:
    machine = state_machine(Chain)
    seen: list[str] = []
    assert issubclass(machine, ModelMachine)

    def note(self: ModelMachine) -> None:
        seen.append(" ".join(self.stepper.actions[n].name for n, _ in self.walk.moves if n is not None))

    machine.teardown = note  # type: ignore[method-assign,assignment]
    run(machine, settings(max_examples=10, deadline=None, database=None, phases=[Phase.generate]))
    assert "first second third last " * 2 + "first second third last" in seen
    assert len([walk for walk in seen if len(walk.split()) == 12]) > 5


@pytest.mark.slow
def test_a_failure_is_shrunk_shown_and_saved(traces: Path) -> None:
    with pytest.raises(PropertyViolated) as caught:
        run(state_machine(Lamp, bounds={"presses": 9}, properties=["broken_lamps_are_dark"]))
    shown = str(caught.value)
    file = traces / "lamp-broken_lamps_are_dark.json"
    assert shown.startswith("lamp: broken_lamps_are_dark violated\n\nbroken_lamps_are_dark fails after 2 steps")
    assert shown.endswith(f"Replay: insync replay {file} --model {class_reference(Lamp)}")
    assert set(traces.iterdir()) == {file, file.with_suffix(".html")}, "only the shrunk failure is saved"
    assert replay(read_trace(file), model=Lamp(presses=9), place=str(file)) == caught.value.trace
    assert "state.press(switch='s1')\nstate.breaks(really=True)" in "\n".join(caught.value.__notes__).replace(
        "state.broken_lamps_are_dark()\n", ""
    )


def test_a_step_that_leaves_a_domain_is_a_failure_of_type_ok(traces: Path) -> None:
    with pytest.raises(PropertyViolated) as caught:
        run(state_machine(Lamp, bounds={"presses": 1}, properties=[]))
    assert caught.value.trace is not None
    assert caught.value.trace.refused is not None
    assert (caught.value.trace.property, caught.value.trace.length) == ("type_ok", 2)
    assert replay(read_trace(traces / "lamp-type_ok.json"), model=Lamp(presses=1), place="t") == caught.value.trace


@pytest.mark.slow
def test_properties_fail_one_by_one_each_with_its_trace(traces: Path) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        run(state_machine(Lamp, bounds={"presses": 1}, properties=["broken_lamps_are_dark"]))
    assert {str(error).split()[1] for error in caught.value.exceptions} == {"broken_lamps_are_dark", "type_ok"}
    assert {file.name for file in traces.glob("*.json")} == {"lamp-broken_lamps_are_dark.json", "lamp-type_ok.json"}


@pytest.mark.slow
def test_a_property_may_be_a_function_of_the_readable_state() -> None:
    def pressed_by_one(state: ReadableState) -> bool:
        """Only one switch is used."""
        return len(state["pressed"]) < 2

    with pytest.raises(PropertyViolated, match="pressed_by_one fails after 2 steps"):
        run(state_machine(Lamp, bounds={"presses": 9}, properties=[pressed_by_one]))


def test_a_failing_run_can_be_taken_again_by_hand() -> None:
    state = state_machine(Lamp, properties=["broken_lamps_are_dark"])()
    state.press(switch="s1")  # type: ignore[attr-defined]
    with pytest.raises(GuardError, match=r"breaks\(really=False\) is not enabled after 1 steps"):
        state.breaks(really=False)  # type: ignore[attr-defined]
    state.breaks(really=True)  # type: ignore[attr-defined]
    with pytest.raises(PropertyViolated, match="fails after 2 steps"):
        state.broken_lamps_are_dark()  # type: ignore[attr-defined]


class Stuck(Lamp):
    """Nothing ever happens."""

    press = None  # type: ignore[assignment]
    go_off = None  # type: ignore[assignment]
    breaks = None  # type: ignore[assignment]


def test_a_model_without_enabled_actions_is_refused() -> None:
    message = r"stuck: no action is enabled in the initial state under .*'switches': 2.*, so there is nothing to run\."
    with pytest.raises(UserError, match=message):
        state_machine(Stuck)


def test_an_unknown_property_is_refused() -> None:
    with pytest.raises(UserError, match=r"lamp has no property 'never_onn'\. Did you mean 'never_on'"):
        state_machine(Lamp, properties=["never_onn"])


class Fall(Model):
    """One step, and it is the wrong one."""

    def declare(self, b: BoundValues) -> State:
        return State(fallen=Bool)

    @action
    def fall(self, s: StateView) -> None:
        require(Not(s.fallen))
        s.fallen = True

    @step_invariant
    def never_down(self, before: StateView, after: StateView) -> Condition:
        return Implies(after.fallen, before.fallen)


def test_the_very_first_step_may_be_a_bad_one() -> None:
    with pytest.raises(PropertyViolated, match="never_down fails after 1 step") as caught:
        run(state_machine(Fall, properties=["never_down"]))
    assert caught.value.trace is not None
    assert caught.value.trace.length == 2


class Names(Lamp):
    """Its names are taken."""

    press = None  # type: ignore[assignment]

    @action
    def teardown(self, s: StateView) -> None:
        """Hypothesis has a method of that name."""
        require(s.count == 0)
        s.count += 1

    @invariant
    def rules(self, s: StateView) -> Condition:
        """Hypothesis has an attribute of that name."""
        untouched: Condition = s.count == 0
        return untouched


def test_names_that_hypothesis_uses_are_no_obstacle() -> None:
    with pytest.raises(PropertyViolated, match="rules fails after 1 step") as caught:
        run(state_machine(Names, properties=["rules"]))
    assert "state.teardown()\nstate.rules()\nstate.teardown()" in "\n".join(caught.value.__notes__)


def test_outside_pytest_traces_go_to_a_directory_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "_insync_pytestplugin", raising=False)
    first, second = testing.trace_directory(), testing.trace_directory()
    assert first != second
    for directory in (first, second):
        assert directory.name.startswith("insync-")
        directory.rmdir()

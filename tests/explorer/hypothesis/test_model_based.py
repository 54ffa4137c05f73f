from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from insync.explorer.hypothesis import Disagreement, model_based_test, replay_against
from insync.explorer.systems.adapter import Adapter, Output
from insync.explorer.testing_systems import SystemHung, SystemRaised
from insync.explorer.traces.trace_file import read_trace
from insync.model.catalogue import find_model
from insync.runtime.errors import UserError
from insync_lamp import Lamp

EXAMPLE = Path(__file__).parents[3] / "examples" / "replicated_log.py"
ReplicatedLog = find_model(f"{EXAMPLE}:ReplicatedLog")
example = sys.modules[ReplicatedLog.__module__]
OUTPUTS: Mapping[str, Output] = {"append": example.offset_appended}
QUICK = settings(max_examples=30, stateful_step_count=12, deadline=None, database=None, derandomize=True)


def run(machine: type[RuleBasedStateMachine], how: settings = QUICK) -> None:
    run_state_machine_as_test(machine, settings=how)


def machine(adapter: Adapter, outputs: Mapping[str, Output] = OUTPUTS) -> type[RuleBasedStateMachine]:
    return model_based_test(ReplicatedLog, adapter=adapter, outputs=outputs)


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("insync.explorer.hypothesis.model_based.trace_directory", lambda: tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def disagreement(tmp_path_factory: pytest.TempPathFactory) -> Disagreement:
    directory = tmp_path_factory.mktemp("found")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("insync.explorer.hypothesis.model_based.trace_directory", lambda: directory)
        with pytest.raises(Disagreement) as caught:
            run(machine(example.LogAdapter))
    return caught.value


def test_a_system_that_does_what_the_model_does_passes() -> None:
    run(machine(example.FixedAdapter))


def test_the_planted_defect_is_found_and_shrunk(disagreement: Disagreement) -> None:
    trace = disagreement.trace
    assert trace is not None
    assert [step.action for step in trace.steps][-3:] == ["append", "copy", "take_over"]
    assert trace.length <= 5
    shown = str(disagreement)
    assert shown.startswith("LogAdapter and replicated_log disagree\n\nagreement fails after ")
    assert "system and model disagree: log.b1 is [0, None, None] in the system and [None, None, None] in the\n" in shown
    given = "LogAdapter, model=ReplicatedLog, outputs={'append': ...}"
    imported = "from insync.explorer.hypothesis import replay_against"
    assert shown.endswith(f"Again: {imported}; replay_against({str(disagreement.file)!r}, {given})")


def test_the_trace_of_a_disagreement_is_taken_again(disagreement: Disagreement) -> None:
    assert disagreement.file is not None
    with pytest.raises(Disagreement, match="agreement fails after"):
        replay_against(disagreement.file, example.LogAdapter, outputs=OUTPUTS)
    replay_against(disagreement.file, example.FixedAdapter, outputs=OUTPUTS)
    replay_against(disagreement.file, example.FixedAdapter, outputs=OUTPUTS, model=ReplicatedLog)
    assert read_trace(disagreement.file).property == "agreement"


def test_a_trace_of_another_model_is_refused(disagreement: Disagreement, tmp_path: Path) -> None:
    assert disagreement.file is not None
    changed = tmp_path / "t.json"
    changed.write_text(disagreement.file.read_text().replace('"copy"', '"commit"').replace('{"follower": "b2"}', "{}"))
    with pytest.raises(UserError, match=r"t\.json: the step commit is not enabled; give the model of the t"):
        replay_against(changed, example.FixedAdapter, outputs=OUTPUTS)


class Forgetful(example.FixedAdapter):  # type: ignore[name-defined,misc]
    """Returns the wrong offset."""

    def append(self, leader: str) -> int:
        return int(super().append(leader)) // 2


@pytest.mark.slow
def test_what_a_step_returns_is_compared() -> None:
    with pytest.raises(Disagreement, match=r"append returned 0 in the system, and 1 is right by the\s+model"):
        run(machine(Forgetful))


class Late(example.FixedAdapter):  # type: ignore[name-defined,misc]
    """Begins in another state."""

    def observe(self) -> dict[str, object]:
        return {"committed": 1, "log": {"b1": [None] * 3}}


def test_the_initial_state_is_compared() -> None:
    with pytest.raises(
        Disagreement, match="In the initial state system and model disagree: committed is 1 in the syst"
    ):
        run(machine(Late))


class Crashing(example.FixedAdapter):  # type: ignore[name-defined,misc]
    """Cannot copy."""

    closed = 0

    def copy(self, follower: str) -> None:
        raise ZeroDivisionError

    def close(self) -> None:
        type(self).closed += 1


def test_a_system_that_raises_shows_the_steps_and_is_closed() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run(machine(Crashing), settings(QUICK, phases=[Phase.generate, Phase.shrink]))
    notes = "\n".join(caught.value.__notes__)
    assert "agreement fails after 2 steps" in notes
    assert "Crashing.copy raised ZeroDivisionError in the last step." in notes
    assert Crashing.closed > 2


def test_an_exception_in_a_replay_keeps_its_steps(disagreement: Disagreement) -> None:
    with pytest.raises(SystemRaised, match=r"Crashing.copy raised ZeroDivisionError in the last step\.") as caught:
        replay_against(disagreement.file or "", Crashing, outputs=OUTPUTS, model=ReplicatedLog)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.trace is not None
    assert caught.value.trace.steps[-1].action == "copy"
    assert f"Trace: {caught.value.file}" in str(caught.value)


class Hanging(example.FixedAdapter):  # type: ignore[name-defined,misc]
    """Waits for ever when a follower copies."""

    release = threading.Event()
    copied = 0

    def copy(self, follower: str) -> None:
        type(self).copied += 1
        self.release.wait()


def test_a_system_that_hangs_is_left_behind_and_seldom_tried_again() -> None:
    test = model_based_test(ReplicatedLog, adapter=Hanging, outputs=OUTPUTS, step_seconds=0.1)
    with pytest.raises(
        SystemHung, match=r"Hanging.copy did not return within 0.1 seconds in the last step\."
    ) as caught:
        run(test)
    assert "step_seconds=0.1)" in str(caught.value)
    assert Hanging.copied <= 5
    with pytest.raises(SystemHung, match="Hanging hangs beside replicated_log"):
        replay_against(caught.value.file or "", Hanging, outputs=OUTPUTS, model=ReplicatedLog, step_seconds=0.1)
    Hanging.release.set()


def test_an_adapter_lives_in_one_thread_or_in_that_of_the_test() -> None:
    threads = set[threading.Thread]()

    class Noting(example.FixedAdapter):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.thread = threading.current_thread()

        def commit(self) -> None:
            threads.add(threading.current_thread())
            assert threading.current_thread() is self.thread
            super().commit()

    run(machine(Noting))
    assert threading.current_thread() not in threads
    threads.clear()
    run(model_based_test(ReplicatedLog, adapter=Noting, outputs=OUTPUTS, step_seconds=None))
    assert threads == {threading.current_thread()}


class Partial(example.FixedAdapter):  # type: ignore[name-defined,misc]
    """Shows a part, with its own types."""

    def observe(self) -> dict[str, object]:
        log = (*self.log.logs["b2"], *[None] * (3 - len(self.log.logs["b2"])))
        return {"log": {"b2": log}, "committed": self.log.committed}


def test_a_part_of_the_state_may_be_shown_and_an_adapter_made_by_a_function() -> None:
    run(machine(lambda: Partial()))


class Lit:
    """Shows more members of a set than there are."""

    def observe(self) -> dict[str, object]:
        return {"pressed": {"s1", "s2"}}

    def press(self, switch: str) -> None: ...
    def go_off(self) -> None: ...
    def breaks(self, really: bool) -> None: ...


def test_a_set_stands_for_the_list_of_its_members_and_of_no_others() -> None:
    with pytest.raises(Disagreement, match=r"In the initial state .* disagree: pressed is .'s[12]', 's[12]'. in"):
        run(model_based_test(Lamp, adapter=Lit))


class Empty(example.FixedAdapter):  # type: ignore[name-defined,misc]
    """Shows no field."""

    def append(self, leader: str) -> None:
        super().append(leader)

    def observe(self) -> dict[str, object]:
        return {}


def test_a_run_in_which_nothing_was_compared_is_a_mistake() -> None:
    with pytest.raises(UserError, match=r"Nothing of the state was compared: Empty.observe never showed a field\."):
        run(machine(Empty, {}))


class Misspelt(example.FixedAdapter):  # type: ignore[name-defined,misc]
    """Shows what is not there."""

    def observe(self) -> dict[str, object]:
        return {"comitted": 0}


def test_a_field_that_the_model_does_not_have_is_a_mistake() -> None:
    message = "Misspelt.observe shows 'comitted', which the model's state does not have. Did you mean 'committed'?"
    with pytest.raises(UserError, match=message):
        run(machine(Misspelt))


class Blind:
    """Shows nothing."""

    def append(self, leader: str) -> None: ...
    def copy(self, follower: str) -> None: ...
    def commit(self) -> None: ...
    def take_over(self, leader: str) -> None: ...


class Observes(Blind):
    """Has another name for what it shows."""

    def observes(self) -> dict[str, object]:
        return {}


class Lacking(Blind):
    """Lacks an action, and takes the wrong parameters."""

    commit = None  # type: ignore[assignment]

    def take_over(self, broker: str) -> None: ...


@pytest.mark.parametrize(
    ("adapter", "outputs", "message"),
    [
        (Lacking, {}, "Lacking does not cover replicated_log: it has no method for the action 'commit', write `def "),
        (Lacking, {}, r"'take_over' takes other parameters, write `def take_over\(self, leader\)`\."),
        (Blind, {}, r"Blind shows nothing that could be compared; write `def observe\(self\)`, which returns the"),
        (7, {}, "7 is not an adapter; give a class, or a function without arguments that makes one"),
        (Observes, OUTPUTS, "Observes has a method 'observes' and no 'observe', so nothing of the state is compared."),
        (Blind, ["append"], r"outputs=\['append'\] is not a dictionary; give a function for each action whose method"),
        (Blind, {"apend": print}, "outputs: replicated_log has no action 'apend'. Did you mean 'append'?"),
    ],
)
def test_a_mistake_in_an_adapter_is_one_sentence(adapter: Adapter, outputs: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        machine(adapter, outputs)


def test_an_output_that_nothing_judges_is_a_mistake() -> None:
    with pytest.raises(
        UserError, match=r"FixedAdapter.append returned 0, and nothing says .*lambda before, after, leader"
    ):
        run(machine(example.FixedAdapter, {}))

"""A tour takes every transition on a system, and tells what differs, raises, hangs or contradicts itself apart."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import FailureKind, Limits, TourProgress, graph, read_trace, tour, write_trace
from insync.explorer.hypothesis import Disagreement, replay_against
from insync.explorer.tour import MOST_TRANSITIONS, TourFailure, TourInterrupted, TourResult
from insync.model import (
    Array,
    BoundValues,
    Index,
    Int,
    Model,
    Range,
    Record,
    Seq,
    State,
    StateView,
    action,
    initial,
    require,
)
from insync.runtime.errors import UserError
from insync_confined import Plane
from insync_lamp import Lamp
from insync_process import took_at_most
from insync_suspicious import Inert
from insync_systems import CopiesTwice, ReplicatedLog, example, system_of
from insync_toys import Clock, TokenRing

OUTPUTS = {"append": example.offset_appended}
SMALL = {"records": 2}


class Shows(example.FixedAdapter):  # type: ignore[name-defined,misc]
    """The right system, with two records."""

    def observe(self) -> dict[str, object]:
        logs = {broker: [*log, *[None] * (2 - len(log))] for broker, log in self.log.logs.items()}
        return {"leader": self.log.leader, "log": logs, "committed": self.log.committed}


def toured(adapter: Any, **given: Any) -> TourResult:
    return tour(ReplicatedLog, adapter, bounds=SMALL, outputs=OUTPUTS, **given)


def failure(adapter: Any, **given: Any) -> TourFailure:
    found = toured(adapter, **given).failure
    assert found is not None
    return found


def taken(found: TourFailure) -> list[str | None]:
    return [step.action for step in found.trace.steps[1:]]


@pytest.mark.parametrize("step_seconds", [10.0, None])
def test_a_system_that_does_what_the_model_does_holds(step_seconds: float | None) -> None:
    result, space = toured(Shows, step_seconds=step_seconds), graph(ReplicatedLog, bounds=SMALL)
    assert (result.verdict, result.failure, result.stopped_by) == ("holds", None, None)
    assert (result.taken, result.transitions) == (len(space.source), len(space.source))
    assert (result.visited, result.states) == (len(space), len(space))
    assert sum(share.taken for share in result.actions.values()) == result.taken
    assert result.never_enabled == ()


def test_the_planted_defect_of_four_steps_is_found_and_shrunk() -> None:
    found = failure(CopiesTwice)
    assert found.kind is FailureKind.DIFFERENCE
    assert sorted(map(str, taken(found))) == ["append", "append", "copy", "copy"]
    assert "system and model disagree: log.b3 is [0, 1, 1] in the system and [0, 1] in the model." in found.trace.reason


def test_the_defect_of_the_example_is_found_with_its_fewest_steps() -> None:
    found = tour(ReplicatedLog, example.LogAdapter, outputs=OUTPUTS).failure
    assert found is not None
    assert taken(found) in (["append", "take_over"], ["append", "copy", "take_over"])


def test_the_same_model_and_system_give_the_same_walks() -> None:
    calls: list[list[str]] = []

    def noted(made: type) -> type:
        class Noted(made):  # type: ignore[misc]
            def note(self, transition: object) -> None:
                calls[-1].append(str(transition))

        return Noted

    for _ in range(2):
        calls.append([])
        tour(TokenRing(two_tokens=1), noted(system_of(TokenRing(two_tokens=1))))
    assert calls[0] == calls[1]
    assert len(calls[0]) > 20


def test_a_failure_is_a_trace_that_is_saved_and_taken_again(tmp_path: Path) -> None:
    found, file = failure(CopiesTwice), tmp_path / "t.json"
    write_trace(file, found.trace)
    assert [step.state for step in read_trace(file).steps] == [step.state for step in found.trace.steps]
    with pytest.raises(Disagreement):
        replay_against(file, CopiesTwice, outputs=OUTPUTS)
    replay_against(file, Shows, outputs=OUTPUTS)


def test_what_a_step_returns_is_compared() -> None:
    class Forgetful(Shows):
        def append(self, leader: str) -> int:
            return int(super().append(leader)) // 2

    found = failure(Forgetful)
    assert found.kind is FailureKind.DIFFERENCE
    assert found.trace.reason.endswith("append returned 0 in the system, and 1 is right by the model.")


# ------------------------------------------------------------------------------- what is told apart from a difference


class Crashing(Shows):
    """Cannot copy a second record."""

    closed = 0

    def copy(self, follower: str) -> None:
        if self.log.logs[follower]:
            message = "no more\nroom"
            raise MemoryError(message)
        super().copy(follower)

    def close(self) -> None:
        type(self).closed += 1


def test_a_system_that_raises_is_told_apart_and_closed() -> None:
    found = failure(Crashing)
    assert found.kind is FailureKind.RAISED
    assert found.trace.reason == "Crashing.copy raised MemoryError in the last step: no more."
    assert isinstance(found.error, MemoryError)
    assert taken(found) == ["append", "append", "copy", "copy"]
    assert Crashing.closed > 2


@pytest.mark.parametrize("step_seconds", [10.0, None])
def test_a_system_that_ends_the_program_is_one_that_raises(step_seconds: float | None) -> None:
    class Exits(Shows):
        def copy(self, follower: str) -> None:
            sys.exit(0)

    found = failure(Exits, step_seconds=step_seconds)
    assert (found.kind, found.trace.reason) == ("raised", "Exits.copy raised SystemExit in the last step: 0.")
    assert isinstance(found.error, SystemExit)


def test_what_the_state_is_compared_with_is_said_if_it_is_nothing() -> None:
    class Empty(Shows):
        def observe(self) -> dict[str, object]:
            return {}

    said = (
        "Nothing of the state was compared: Empty.observe never showed a field. Return the fields that the system has."
    )
    assert toured(Empty).warnings == (said,)
    assert toured(Shows).warnings == ()


def test_a_set_that_hides_a_doubled_element_of_a_sequence_is_a_mistake() -> None:
    class Log(Model):
        def declare(self, b: BoundValues) -> State:
            return State(log=Array(1, Record(written=Seq(Int(0, 1), 2))))

        @action
        def put(self, s: StateView) -> None:
            require(s.log[0].written.length < 1)
            s.log[0].written.append(1)

    class Twice:
        def __init__(self) -> None:
            self.log: list[int] = []

        def put(self) -> None:
            self.log += [1, 1]

        def observe(self) -> dict[str, object]:
            return {"log": [{"written": set(self.log)}]}

    said = r"Twice.observe shows a set for log.0.written, which is a sequence in the model. A set hides .* or a tuple."
    with pytest.raises(UserError, match=said):
        tour(Log, Twice)


class Everywhere:
    """Raises in one method of the adapter."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.raises("__init__")

    def raises(self, method: str) -> None:
        if method == self.method:
            raise KeyError(method)

    def tick(self) -> None:
        self.raises("tick")

    def observe(self) -> dict[str, object]:
        self.raises("observe")
        return {}

    def close(self) -> None:
        self.raises("close")


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("__init__", "make() raised KeyError before the first step: '__init__'."),
        ("observe", "make.observe raised KeyError before the first step: 'observe'."),
        ("tick", "make.tick raised KeyError in the last step: 'tick'."),
        ("close", "make.close raised KeyError at the end of the walk: 'close'."),
    ],
)
def test_every_call_of_the_system_may_raise(method: str, said: str) -> None:
    def make() -> Everywhere:
        return Everywhere(method)

    found = tour(Clock, make).failure
    assert found is not None
    assert (found.kind, found.trace.reason) == (FailureKind.RAISED, said)


class Hanging(Shows):
    """Waits for ever where the leader has two records and nobody else has one."""

    release = threading.Event()

    def commit(self) -> None:
        self.release.wait()


def test_a_system_that_hangs_is_told_apart_and_left_behind() -> None:
    began = time.monotonic()
    found = failure(Hanging, step_seconds=0.2)
    Hanging.release.set()
    assert time.monotonic() - began < 10
    assert found.kind is FailureKind.HUNG
    assert found.trace.reason == "Hanging.commit did not return within 0.2 seconds in the last step."
    assert taken(found)[-1] == "commit"
    assert taken(found).count("commit") == 1
    assert found.trace.length == 1 + taken(found).count("append") + taken(found).count("copy") + 1


def test_a_system_that_hangs_in_close_after_a_difference_differs() -> None:
    class Stuck(CopiesTwice):
        def close(self) -> None:
            if any(len(log) > 2 for log in self.log.logs.values()):
                time.sleep(1)

    found = failure(Stuck, step_seconds=0.1)
    assert found.kind is FailureKind.DIFFERENCE


class Settling(Shows):
    """Shows a record only the second time."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: object = super().observe()

    def observe(self) -> dict[str, object]:
        before, self.shown = self.shown, super().observe()
        return before  # type: ignore[return-value]


def test_a_system_that_shows_two_things_after_the_same_steps_is_told_apart() -> None:
    found = failure(Settling)
    assert found.kind is FailureKind.UNSTABLE
    assert "Settling.observe shows two things with no step in between: log.b1 is [None, None]" in found.trace.reason
    assert found.trace.length == 2


def test_a_system_that_returns_before_it_has_settled_is_told_apart() -> None:
    class Behind(Shows):
        def commit(self) -> None:
            threading.Timer(0.03, super().commit).start()

    found = failure(Behind)
    assert found.kind is FailureKind.UNSTABLE
    assert taken(found)[-1] == "commit"
    assert found.trace.reason.endswith(
        "A moment later it shows what the model has. A method must not return before the system has settled."
    )


def test_a_system_that_does_not_begin_anew_is_told_apart() -> None:
    log = example.FixedLog(["b1", "b2", "b3"])

    class Shared(Shows):
        def __init__(self) -> None:
            self.log = log

    found = failure(Shared)
    assert found.kind is FailureKind.UNSTABLE
    assert found.trace.reason.startswith(
        "A new Shared does not begin anew, as an earlier one has. In the initial state"
    )
    assert found.trace.length == 1


def test_a_difference_that_does_not_come_again_is_told_apart() -> None:
    number = count()

    class Flaky(Shows):
        def commit(self) -> None:
            if next(number) != 3:
                super().commit()

    found = failure(Flaky)
    assert found.kind is FailureKind.UNSTABLE
    assert "The same steps on a new system do not show it again" in found.trace.reason


def test_an_exception_that_does_not_come_again_is_an_exception() -> None:
    number = count()

    class Flaky(Shows):
        def commit(self) -> None:
            if next(number) == 3:
                raise OSError
            super().commit()

    found = failure(Flaky)
    assert found.kind is FailureKind.RAISED
    assert found.trace.reason.startswith("Flaky.commit raised OSError in the last step. The same steps on a new")


# ------------------------------------------------------------------------------------------------------ spaces


class Which(Range):
    lo, hi = 0, 3


class Pair(Model):
    """Two numbers that begin anywhere, and one way to begin that leads nowhere."""

    def declare(self, b: object) -> State:
        return State(low=Int(0, 3), high=Int(0, 3))

    @initial
    def begin(self, s: StateView, at: Which) -> None:
        s.low = at

    @action
    def up(self, s: StateView) -> None:
        require(s.low < 3, s.high < 3)
        s.high += 1


def test_a_tour_begins_in_each_initial_state() -> None:
    begun: list[object] = []

    class Begins(system_of(Pair())):  # type: ignore[misc]
        def begin(self, state: dict[str, object]) -> None:
            begun.append(state["low"])
            super().begin(state)

    result = tour(Pair, Begins)
    assert (result.verdict, result.transitions, result.visited) == ("holds", 9, 13)
    assert sorted(begun, key=str) == [0, 1, 2, 3]


def test_a_tour_is_confined_as_the_call_or_the_class_says() -> None:
    sizes = [tour(Plane, system_of(Plane()), within=within).transitions for within in ([], None, ["near", "flat"])]
    assert sizes[0] > sizes[1] > sizes[2]


def test_actions_that_no_state_enables_are_listed() -> None:
    result = tour(TokenRing, system_of(TokenRing(two_tokens=1)))
    assert result.never_enabled == ("forge",)
    assert "Never enabled: forge." in result._repr_html_()


def test_a_limit_allows_a_tour_of_a_part() -> None:
    result = toured(Shows, limits=Limits(depth=4))
    assert (result.verdict, result.stopped_by) == ("incomplete", "depth")
    assert 0 < result.taken == result.transitions < toured(Shows).transitions
    assert toured(CopiesTwice, limits=Limits(depth=4)).failure is None
    assert toured(CopiesTwice, limits=Limits(depth=5)).verdict == "violated"


def test_a_space_that_is_too_large_is_a_mistake_that_says_how_large_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[TourResult.__module__], "MOST_TRANSITIONS", 50)
    transitions = len(graph(ReplicatedLog, bounds=SMALL).source)
    with pytest.raises(UserError) as caught:
        toured(Shows)
    said = str(caught.value)
    assert said.startswith(
        f"replicated_log has {transitions:,} transitions under {{'brokers': 3, 'records': 2}}, and a "
    )
    assert "and a tour takes at most 50. Give smaller bounds, a confinement with within=, or a limit" in said
    assert toured(Shows, limits=Limits(states=10)).verdict == "incomplete"


# ---------------------------------------------------------------------------------------------------- mistakes


class Twins(Index):
    label = "t"
    size = 2

    @classmethod
    def show(cls, number: int) -> str:
        return "twin"


class Alike(Model):
    """Two members with one name."""

    def declare(self, b: object) -> State:
        return State(last=Int(0, 1))

    @action
    def choose(self, s: StateView, twin: Twins) -> None:
        s.last = twin


class Chooses:
    def choose(self, twin: str) -> None: ...
    def observe(self) -> dict[str, object]:
        return {}


class Ticks:
    def tick(self) -> None: ...
    def observe(self) -> object:
        return None


class Closing(Model):
    """Its action has a name that an adapter has for itself."""

    def declare(self, b: object) -> State:
        return State(open=Int(0, 1))

    @action
    def close(self, s: StateView) -> None:
        s.open = 0


class Coroutine(Ticks):
    async def tick(self) -> None: ...  # type: ignore[override]


class Wants(Ticks):
    def __init__(self, port: int) -> None:
        """Take a port."""


class Presses(Ticks):
    def press(self, switch: str) -> None: ...
    def go_off(self) -> None: ...
    def breaks(self, really: bool) -> None: ...


@pytest.mark.parametrize(
    ("model", "adapter", "given", "said"),
    [
        (Clock, 7, {}, "7 is not an adapter; give a class, or a function without arguments that makes one"),
        (Clock, Wants, {}, r"Wants is called without arguments .* adapter=lambda: Wants\(\.\.\.\)"),
        (Clock, Chooses, {}, r"Chooses does not cover clock: it has no method for the action 'tick', write `def tick"),
        (Clock, lambda: Chooses(), {}, r"<lambda> does not cover clock: it has no method for the action 'tick'"),
        (Clock, Coroutine, {}, r"action 'tick' is a coroutine, write `def tick\(self\)` and run the coroutine in it"),
        (Clock, Ticks, {}, r"Ticks.observe returned None; return a dictionary of fields of the .*: hour, chimes, or"),
        (Clock, Ticks, {"outputs": {"tick": 3}}, r"outputs\['tick'\] is 3; give a function: lambda before, after: "),
        (Clock, Ticks, {"outputs": {"tock": print}}, "clock has no action 'tock'. Did you mean 'tick'"),
        (Clock, Ticks, {"step_seconds": 0}, "step_seconds=0 is not a time; give a number of seconds above 0"),
        (Clock, Ticks, {"step_seconds": "1"}, "step_seconds='1' is not a time"),
        (Clock, Ticks, {"limits": Limits(query_seconds=1)}, "does not limit a tour; its limits are"),
        (Clock, Ticks, {"within": "near"}, r"within='near' is one string; give a list of names"),
        (Clock, Ticks, {"bounds": {"hors": 3}}, "hors"),
        (
            Alike,
            Chooses,
            {},
            r"alike has two steps choose\(twin='twin'\), and a method of an adapter stands for both",
        ),
        (Closing, Ticks, {}, "closing has an action 'close', which every adapter has for itself. Rename the action"),
        (Lamp, Presses, {}, "lamp itself breaks type_ok; fix that first: `insync check` with the same model"),
        (Inert, Ticks, {}, "no action is enabled in the initial state|has no action"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(model: Any, adapter: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        tour(model, adapter, **given)
    assert str(caught.value).endswith((".", "?"))
    assert "\n" not in str(caught.value)


def test_an_output_that_raises_is_a_mistake_of_the_test_and_no_failure_of_the_system() -> None:
    with pytest.raises(UserError, match=r"outputs\['append'\] raised KeyError: 'ends'\. It is called as `\(before, af"):
        tour(ReplicatedLog, Shows, bounds=SMALL, outputs={"append": lambda before, after, leader: before["ends"]})


def test_what_outputs_do_to_a_state_is_not_seen_by_others() -> None:
    def spoils(before: dict[str, Any], after: dict[str, Any], leader: str) -> int:
        end = before["end"][leader]
        before["log"].clear()
        after["log"].clear()
        return int(end)

    assert tour(ReplicatedLog, Shows, bounds=SMALL, outputs={"append": spoils}).verdict == "holds"


# -------------------------------------------------------------------------------------- progress, and an early end


class Slow(Shows):
    """Takes a moment for some steps."""

    def copy(self, follower: str) -> None:
        time.sleep(0.004)
        super().copy(follower)


def test_a_tour_reports_its_progress_in_the_thread_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.runtime.watch._TELLING_SECONDS", 0.05)
    seen: list[tuple[threading.Thread, TourProgress]] = []
    result = toured(Slow, reporter=lambda said: seen.append((threading.current_thread(), said)))
    assert {thread for thread, _ in seen} == {threading.current_thread()}
    (*_, last) = [said for _, said in seen if said.phase == "tour"]
    assert 0 < last.taken <= last.transitions == result.transitions
    assert 0 < last.walks <= last.steps


@pytest.mark.parametrize("step_seconds", [10.0, None])
def test_a_limit_of_time_or_stop_ends_a_tour_with_what_is_known(step_seconds: float | None) -> None:
    stop = threading.Event()
    result = toured(Slow, limits=Limits(seconds=0.3), step_seconds=step_seconds)
    assert (result.verdict, result.stopped_by) == ("incomplete", "time")
    threading.Timer(0.2, stop.set).start()
    result = toured(Slow, stop=stop, step_seconds=step_seconds)
    assert (result.verdict, result.stopped_by) == ("incomplete", "interrupt")
    assert 0 < result.taken < result.transitions


class Pressed(Shows):
    """Presses Ctrl-C when it copies for the fifth time, and then goes on or waits."""

    release = threading.Event()
    pressed: list[float]
    waits = 0.0

    def copy(self, follower: str) -> None:
        self.pressed.append(time.monotonic())
        if len(self.pressed) == 5:
            os.kill(os.getpid(), signal.SIGINT)
            self.release.wait(self.waits)
        super().copy(follower)


@pytest.mark.parametrize("waits", [0.02, 60])
@pytest.mark.parametrize("step_seconds", [90.0, None])
def test_ctrl_c_ends_a_tour_within_a_second_with_what_is_known(waits: float, step_seconds: float | None) -> None:
    times: list[float] = []
    released = threading.Event()

    class Interrupted(Pressed):
        pressed, release = times, released

    Interrupted.waits = waits
    with pytest.raises(KeyboardInterrupt) as caught:
        toured(Interrupted, step_seconds=step_seconds)
    assert took_at_most(1, times[4])
    released.set()
    assert isinstance(caught.value, TourInterrupted)
    result = caught.value.result
    assert (result.verdict, result.stopped_by, result.failure) == ("incomplete", "interrupt", None)
    assert 0 < result.taken < result.transitions
    assert str(caught.value) == result.summary()


def test_an_adapter_lives_in_one_thread() -> None:
    """Such as SQLite's connections, which refuse others."""

    class Kept(Shows):
        def __init__(self) -> None:
            super().__init__()
            self.connection = sqlite3.connect(":memory:")

        def commit(self) -> None:
            self.connection.execute("select 1")
            super().commit()

        def close(self) -> None:
            self.connection.close()

    assert toured(Kept).verdict == "holds"


# ------------------------------------------------------------------------------------------------------ the result


def test_a_result_shows_itself_and_is_a_table() -> None:
    result = toured(CopiesTwice)
    assert repr(result).startswith("<TourResult ")
    assert ": violated (difference), " in repr(result)
    page = result._repr_html_()
    assert "A tour says nothing about larger bounds" in page
    assert "<img" in page
    assert result.tables() == ("actions",)
    assert list(result._columns("actions")) == ["action", "transitions", "taken"]
    assert repr(result.failure).startswith("<TourFailure difference: After `b3 copies a record` system and model")
    assert MOST_TRANSITIONS == 200_000

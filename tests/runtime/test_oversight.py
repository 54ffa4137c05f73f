"""Code of a model that does not return is named, and ended at a limit."""

from __future__ import annotations

import inspect
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from insync.explorer import Limits, check
from insync.model import Bool, BoundValues, Model, State, StateView, action
from insync.runtime import oversight
from insync.runtime.errors import UserError
from insync.runtime.oversight import Oversight, place_in_traceback, read_within
from insync.runtime.watch import Stopped, StopReason, Watch


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_LOOK_SECONDS", "_PATIENCE_SECONDS", "_TELL_SECONDS"):
        monkeypatch.setattr(oversight, name, 0.02)


def for_ever() -> None:
    while True:
        try:
            time.sleep(0)
        except Exception:  # noqa: BLE001 -- an author's code may catch all that it likes
            time.sleep(0)


def place(function: Callable[..., object]) -> str:
    lines, first = inspect.getsourcelines(function)
    return f"{function.__name__}, test_oversight.py:{first}-{first + len(lines) - 1}"


def is_at(told: str, function: Callable[..., object]) -> bool:
    name, line = told.rsplit(":", 1)
    begin, end = place(function).rsplit(":", 1)[1].split("-")
    return name == f"{function.__name__}, test_oversight.py" and int(begin) < int(line) <= int(end)


def test_code_that_does_not_return_is_told_of_and_ended_at_the_limit() -> None:
    told: list[str] = []
    with pytest.raises(Stopped) as caught, Oversight(Watch(Limits(seconds=0.2)), told.append):
        for_ever()
    assert caught.value.reason is StopReason.TIME
    assert told
    assert all(is_at(each, for_ever) for each in [*told, caught.value.place])


def test_an_interruption_ends_it_too() -> None:
    stop = threading.Event()
    threading.Timer(0.05, stop.set).start()
    with pytest.raises(Stopped) as caught, Oversight(Watch(stop=stop)):
        for_ever()
    assert caught.value.reason is StopReason.INTERRUPT


def test_code_that_drops_the_exception_once_is_ended_by_the_next() -> None:
    """Python drops what is raised in a weak reference's callback or in `__del__`."""
    dropped: list[BaseException] = []

    def dropping() -> None:
        end = time.perf_counter() + 10
        while time.perf_counter() < end:
            try:
                time.sleep(0)
            except BaseException as error:
                if dropped:
                    raise
                dropped.append(error)

    with pytest.raises(Stopped), Oversight(Watch(Limits(seconds=0.1))):
        dropping()
    assert dropped


def test_only_an_authors_code_is_ended() -> None:
    """What looks at no limit for a while without it is insync itself, which ends at its next look."""
    told: list[str] = []
    with Oversight(Watch(Limits(seconds=0.05)), told.append):
        threading.Event().wait(0.5)
    with read_within(Watch(Limits(seconds=0.05)), "m.py:M", told.append):
        threading.Event().wait(0.5)
    assert told == []


def test_code_that_looks_at_its_limits_ends_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oversight, "_PATIENCE_SECONDS", 60)
    watch = Watch(Limits(seconds=0.2))

    def looking() -> None:
        while True:
            watch.check()

    with pytest.raises(Stopped) as caught, Oversight(watch):
        looking()
    assert caught.value.place == ""


def test_nothing_happens_to_code_that_returns() -> None:
    with Oversight(Watch(Limits(seconds=60))):
        pass
    with pytest.raises(ValueError, match="its own"), Oversight(Watch()):
        raise ValueError("its own")


class Endless(Model):
    """Its action is read for ever."""

    def declare(self, b: BoundValues) -> State:
        return State(on=Bool)

    @action
    def go(self, s: StateView) -> None:
        for_ever()


def test_a_check_ends_within_an_action() -> None:
    result = check(Endless, properties=[], limits=Limits(seconds=0.1))
    assert (result.verdict, result.stopped_by) == ("incomplete", StopReason.TIME)


def test_a_check_ends_within_a_file(tmp_path: Path) -> None:
    file = tmp_path / "endless.py"
    file.write_text("while True:\n    pass\n")
    with pytest.raises(
        UserError, match=r"endless.py:M: reading the model took longer than the .* at endless.py:[12]\."
    ):
        check(f"{file}:M", limits=Limits(seconds=0.1))


def test_the_place_of_an_interruption() -> None:
    def within() -> None:
        Watch(Limits(seconds=-1))

    with pytest.raises(UserError) as caught:
        within()
    line = within.__code__.co_firstlineno + 1
    assert place_in_traceback(caught.value.__traceback__) == f"within, test_oversight.py:{line}"


_PROFILED = """
import sys
from insync.runtime.oversight import Oversight
from insync.runtime.watch import Watch

with Oversight(Watch()):
    pass
sys.setprofile(lambda *told: None)
sum(map(int, "12"))
(lambda: 0)()
"""


def test_a_thread_is_left_as_it_was_found() -> None:
    """An exception that is taken back leaves Python looking for it at each call, which never ends under a profiler."""
    subprocess.run([sys.executable, "-c", _PROFILED], check=True, timeout=60)

"""Ctrl-C is the entry point's own affair while it imports, and the command's afterwards."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable, Iterator

import pytest

import insync.cli.group
from insync.cli import main as entry
from insync.cli.progress import stop_on_interrupt
from insync.runtime import watch

Handler = Callable[..., object] | int | None


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(atexit, "register", lambda *given: None)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("given", [signal.SIG_IGN, signal.SIG_DFL], ids=str)
def test_a_signal_that_python_does_not_handle_is_left_as_it_is(given: Handler, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Handler] = []

    def run_command(arguments: object) -> int:
        seen.append(signal.getsignal(signal.SIGINT))
        return 7

    monkeypatch.setattr(insync.cli.group, "run_command", run_command)
    signal.signal(signal.SIGINT, given)
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert (seen, ended.value.code, signal.getsignal(signal.SIGINT)) == ([given], 7, given)


def test_ctrl_c_in_a_command_is_an_exception_there(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    closed: list[str] = []

    def run_command(arguments: object) -> int:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        finally:
            closed.append("what was open")
        return 0

    monkeypatch.setattr(insync.cli.group, "run_command", run_command)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert (ended.value.code, closed, capfd.readouterr().err) == (130, ["what was open"], "Interrupted.\n")


@pytest.mark.parametrize("code", [0, 1, 3])
def test_ctrl_c_after_the_answer_ends_the_process_with_the_code_of_the_answer(
    code: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(insync.cli.group, "run_command", lambda arguments: code)
    monkeypatch.setattr(os, "_exit", ended_at_once)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(SystemExit):
        entry.main()
    with pytest.raises(Ended) as ended:
        os.kill(os.getpid(), signal.SIGINT)
    assert (ended.value.args, capfd.readouterr().err) == ((code,), "")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [(MemoryError(), 2, "Error: The system gives this process no more memory"), (ImportError("gone"), 70, "gone")],
    ids=repr,
)
def test_a_command_that_cannot_be_loaded_violates_nothing(
    error: Exception, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def run_command(arguments: object) -> int:
        raise error

    monkeypatch.setattr(insync.cli.group, "run_command", run_command)
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert ended.value.code == code
    assert said in capfd.readouterr().err


class Ended(BaseException):
    """Stands for the end of the process."""


def ended_at_once(code: int) -> None:
    raise Ended(code)


@pytest.mark.parametrize("working", [True, False])
def test_what_nobody_waits_for_any_more_does_not_keep_the_process(
    working: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def run_command(arguments: object) -> int:
        sys.stdout.write("said")
        return 3

    monkeypatch.setattr(insync.cli.group, "run_command", run_command)
    monkeypatch.setattr(os, "_exit", ended_at_once)
    monkeypatch.setattr(watch, "still_working", lambda: [1] * working)
    with pytest.raises(Ended if working else SystemExit) as ended:
        entry.main()
    assert (ended.value.args, capfd.readouterr().out) == ((3,), "said")


def test_ctrl_c_while_it_imports_ends_it_with_a_word(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "_exit", ended_at_once)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "insync.cli.group")
    with pytest.raises(Ended) as ended:
        entry.main()
    assert (ended.value.args, capfd.readouterr().err) == ((130,), "Interrupted.\n")


class Interrupting:
    """A finder of modules that gets Ctrl-C as soon as the command is imported."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "insync.cli.group":
            os.kill(os.getpid(), signal.SIGINT)


def test_a_long_argument_of_the_process_is_cut_in_what_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "x y" * 200
    monkeypatch.setattr(sys, "argv", ["insync", long])
    assert entry.run() == 2
    said = capsys.readouterr().err
    assert long[:80] in said
    assert len(said) < 400


@pytest.mark.parametrize("shown", [True, False])
def test_ctrl_c_is_noticed_at_once_below_a_line_of_status(
    shown: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("insync.cli.progress.status_shown", lambda: shown)
    before = signal.getsignal(signal.SIGINT)
    with stop_on_interrupt() as stop:
        assert not stop.is_set()
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(20)
    assert signal.getsignal(signal.SIGINT) is before
    said = capfd.readouterr().err
    assert said.startswith("\n") == shown
    assert said.strip()

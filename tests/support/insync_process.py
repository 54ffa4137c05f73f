"""The command in a process of its own, which ends with the test that started it, and with pytest if that is killed."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

__all__ = ["COMMAND", "SLOW_LLVM", "end_processes", "processes_of", "started", "took_at_most", "wait_for"]

COMMAND = [sys.executable, "-c", "from insync.cli.start import main; main()"]

SLOW_LLVM = """
import sys, time
from insync.machine import compiler
from insync.cli.main import main

def slow(text):
    print("compiling", file=sys.stderr, flush=True)
    time.sleep(100)

compiler.object_code = slow
main()
"""
"""The command with a compiler that takes much longer than a test, and says when it begins."""

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_running: list[subprocess.Popen[str]] = []


def started(
    arguments: Sequence[str],
    *,
    script: str | None = None,
    stdin: int | None = None,
    stdout: int = subprocess.PIPE,
    own_session: bool = False,
    **environment: str,
) -> subprocess.Popen[str]:
    """Start `insync` with these arguments, or a script that runs it, with further variables in its environment.

    In a session of its own, all that it starts is found by `processes_of`.
    """
    command = COMMAND if script is None else [sys.executable, "-c", script]
    process = subprocess.Popen(
        [*command, *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=own_session,
        preexec_fn=_end_with_parent,
    )
    _running.append(process)
    return process


def wait_for(process: subprocess.Popen[str], beginning: str | tuple[str, ...], but: str = "\n\n") -> None:
    """Read standard error up to a line with this beginning, or one of several, that does not contain `but`."""
    assert process.stderr is not None
    while not (line := process.stderr.readline()).startswith(beginning) or but in line:
        assert line, f"the command ended before it printed {beginning!r}"


def processes_of(session: int) -> list[str]:
    """Return the command of each process in a session, or about it; those that have ended do not count."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
                command = (folder / "cmdline").read_text()
            except OSError:
                continue
            if fields[0] != "Z" and (int(fields[3]) == session or str(session) in command):
                found.append(command[:200])
    return found


def took_at_most(seconds: float, began: float) -> bool:
    """Return whether so many seconds of an idle machine, at most, have passed since a time of `time.monotonic`.

    On a busy machine a process waits for its turn. So the time that is allowed grows by as much as work takes longer
    now than its processor time.
    """
    took = time.monotonic() - began
    return took < seconds or took < seconds * _wait_of_work()


def _wait_of_work(seconds: float = 0.5) -> float:
    """Return the wall time of some work, divided by its processor time: 1 on an idle machine."""
    began, own = time.monotonic(), time.thread_time()
    while time.thread_time() - own < seconds:
        pass
    return (time.monotonic() - began) / seconds


def end_processes() -> None:
    """End what tests have started and not waited for."""
    while _running:
        process = _running.pop()
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _end_with_parent() -> None:
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

"""The command in a process of its own, which ends with the test that started it, and with pytest if that is killed."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

__all__ = ["COMMAND", "SLOW_LLVM", "end_processes", "started", "wait_for"]

COMMAND = [sys.executable, "-c", "from insync.cli.main import main; main()"]

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
    arguments: Sequence[str], *, script: str | None = None, stdout: int = subprocess.PIPE, **environment: str
) -> subprocess.Popen[str]:
    """Start `insync` with these arguments, or a script that runs it, with further variables in its environment."""
    command = COMMAND if script is None else [sys.executable, "-c", script]
    process = subprocess.Popen(
        [*command, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        preexec_fn=_end_with_parent,
    )
    _running.append(process)
    return process


def wait_for(process: subprocess.Popen[str], beginning: str) -> None:
    """Read standard error up to the line that begins so."""
    assert process.stderr is not None
    while not (line := process.stderr.readline()).startswith(beginning):
        assert line, f"the command ended before it printed {beginning!r}"


def end_processes() -> None:
    """End what tests have started and not waited for."""
    while _running:
        process = _running.pop()
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _end_with_parent() -> None:
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

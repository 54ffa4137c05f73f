"""The guardian: a supervisor process that kills the programs it started when insync ends, even if insync is killed.

It reads commands as lines of JSON, and answers each with a line that has the number of the command. At the end of its
input, because insync closed the pipe or died, it kills the programs with their process groups and removes their folder.
If it is killed itself, Linux kills the programs (PR_SET_PDEATHSIG). It runs as a script with the standard library
alone: python guardian.py FOLDER.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
from typing import Any

__all__: list[str] = []

_PR_SET_PDEATHSIG = 1
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Program:
    """A started program, and its exit code and CPU time when it has ended."""

    def __init__(self, command: list[str], output: str, folder: str) -> None:
        with open(output, "ab") as written:
            self._process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                cwd=folder,
                process_group=0,  # a compiler has processes of its own
                preexec_fn=_begin,
            )
        self.id = self._process.pid
        self._cpu_seconds = 0.0

    def ended(self) -> dict[str, float] | None:
        """Return its exit code and CPU time in seconds; None while it runs."""
        self._wait(os.WNOHANG)
        code = self._process.returncode
        return None if code is None else {"code": code, "cpu_seconds": self._cpu_seconds}

    def end(self) -> None:
        if self.ended() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.id, signal.SIGKILL)
            self._wait(0)

    def _wait(self, how: int) -> None:
        if self._process.returncode is None:
            known, status, used = os.wait4(self.id, how)
            if known:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                self._cpu_seconds = used.ru_utime + used.ru_stime


def _begin() -> None:
    """In the child process: restore the handling of signals, and request to be killed when the guardian ends."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _answer(command: dict[str, Any], folder: str, programs: dict[str, _Program]) -> dict[str, Any]:
    name = command.get("name", "")
    if command["do"] == "begin":
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return {}
    if command["do"] == "start":
        programs[name] = _Program(command["command"], command["output"], folder)
        return {"process": programs[name].id}
    if command["do"] == "signal":
        runs = programs[name].ended() is None
        if runs:
            os.kill(programs[name].id, command["signal"])
        return {"sent": runs}
    looked = {name: program.ended() for name, program in programs.items()}
    return {"ended": {name: found for name, found in looked.items() if found is not None}}


def _guard(folder: str) -> None:
    programs: dict[str, _Program] = {}
    try:
        for line in sys.stdin:
            command = json.loads(line)
            try:
                answer = _answer(command, folder, programs)
            except OSError as error:
                answer = {"fault": str(error)}
            sys.stdout.write(json.dumps({**answer, "number": command["number"]}) + "\n")
            sys.stdout.flush()
    except BrokenPipeError:
        pass
    finally:
        for program in programs.values():
            program.end()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    for ignored in _IGNORED:
        signal.signal(ignored, signal.SIG_IGN)
    _guard(sys.argv[1])

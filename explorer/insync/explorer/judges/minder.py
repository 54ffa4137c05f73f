"""The process between insync and a checker: it runs programs in a folder of its own, and ends with insync, however.

It reads commands as lines of JSON and answers each, when the program has ended, with one. When nobody can send another,
because insync has closed the pipe or was killed, it kills the program at work and removes the folder. It is run as a
file, with the standard library alone: python minder.py FOLDER.
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
import threading
from typing import Any

__all__: list[str] = []

_PR_SET_PDEATHSIG = 1
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _begin() -> None:
    """In the new process: hear signals again, and end when the minder ends."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _started(command: list[str], folder: str) -> subprocess.Popen[bytes]:
    with open(os.path.join(folder, "output"), "wb") as output:
        return subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            process_group=0,  # a compiler has processes of its own
            preexec_fn=_begin,
        )


def _await(process: subprocess.Popen[bytes]) -> None:
    """Answer when a program has ended: with its exit code, and the seconds of work that it took."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    _answer(code=process.returncode, work=used.ru_utime + used.ru_stime)


def _answer(**said: Any) -> None:
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


def _mind(folder: str) -> None:
    process: subprocess.Popen[bytes] | None = None
    waiting: threading.Thread | None = None
    try:
        os.makedirs(folder, mode=0o700)
        _answer(ready=True)
        for line in sys.stdin:
            try:
                process = _started(json.loads(line), folder)
            except OSError as error:
                _answer(fault=str(error))
                continue
            waiting = threading.Thread(target=_await, args=[process])
            waiting.start()
    except OSError as error:
        _answer(fault=str(error))
    finally:
        if process is not None and waiting is not None:
            if waiting.is_alive():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            waiting.join()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    for ignored in _IGNORED:
        signal.signal(ignored, signal.SIG_IGN)
    _mind(sys.argv[1])

"""Child processes in a folder of their own; a supervisor, the guardian, ends both when this process ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from insync.runtime import guardian
from insync.runtime.errors import UserError
from insync.runtime.watch import Watch

__all__ = [
    "Ended",
    "GuardedPrograms",
    "ProgramRunner",
    "Ran",
    "modules_of_python",
]


_PATIENCE = 30.0  # seconds until a guardian that does not exit is killed
_NO_GUARDIAN = {"fault": "the process that guards it has ended"}


@dataclass(frozen=True, slots=True)
class Ended:
    """An ended program: its exit code, negative for a signal, and its CPU time in seconds."""

    code: int
    cpu_seconds: float


class GuardedPrograms:
    """Programs under a guardian: starts them, sends signals, and returns which have ended.

    Args:
        folder: the folder where they run, created if missing and removed at the end.
        lock: an open, locked file that the guardian inherits, so that the lock lasts as long as it runs.

    Raises:
        UserError: the folder cannot be created.
    """

    def __init__(self, folder: Path, lock: IO[str] | None = None) -> None:
        self._folder, self._lock = folder, lock
        self._asked = 0
        self._guardian = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", guardian.__file__, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C reaches this process alone, which then closes the guardian
            pass_fds=[] if lock is None else [lock.fileno()],
        )
        try:
            self._ask(do="begin")
        except BaseException:
            self.close()
            raise

    @property
    def guardian_id(self) -> int:
        """The process id of the guardian."""
        return self._guardian.pid

    def start(self, name: str, command: Sequence[str], output: Path) -> int:
        """Start a program, with its output appended to a file, and return its process id.

        Raises:
            UserError: the program cannot be started.
        """
        return int(self._ask(do="start", name=name, command=list(command), output=str(output))["process"])

    def signal(self, name: str, number: signal.Signals) -> bool:
        """Send a signal to a program; return whether it was still running."""
        return bool(self._ask(do="signal", name=name, signal=int(number))["sent"])

    def ended(self) -> dict[str, Ended]:
        """Return the programs that have ended, by name."""
        return {name: Ended(**found) for name, found in self._ask(do="look")["ended"].items()}

    def close(self) -> None:
        """Kill all programs and remove the folder."""
        assert self._guardian.stdin is not None
        assert self._guardian.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._guardian.stdin.close()
        try:
            self._guardian.wait(_PATIENCE)
        except subprocess.TimeoutExpired:  # the kernel kills the programs with it
            self._guardian.kill()
            self._guardian.wait()
        finally:
            self._guardian.stdout.close()
            if self._lock is not None:
                self._lock.close()

    def _ask(self, **command: Any) -> dict[str, Any]:
        assert self._guardian.stdin is not None
        self._asked += 1
        try:
            self._guardian.stdin.write(json.dumps({**command, "number": self._asked}) + "\n")
            self._guardian.stdin.flush()
            answer = self._answer()
        except BrokenPipeError:
            answer = _NO_GUARDIAN
        if "fault" in answer:
            message = f"No program can be run in {self._folder}: {answer['fault']}."
            raise UserError(message)
        return answer

    def _answer(self) -> dict[str, Any]:
        """Return the answer to the last command. Answers to commands that Ctrl-C interrupted are skipped."""
        assert self._guardian.stdout is not None
        while line := self._guardian.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer["number"] == self._asked:
                return answer
        return _NO_GUARDIAN


_OFTEN = 0.05  # the longest interval of polling, in seconds
_SOON = 0.002  # the first interval


@dataclass(frozen=True, slots=True)
class Ran:
    """An ended program: its exit code, its output, and its CPU time in seconds."""

    code: int
    output: str
    cpu_seconds: float


class ProgramRunner:
    """Runs programs one after the other in a temporary folder; a context manager, which kills them at its end.

    Args:
        watch: stops a running program.

    Attributes:
        folder: the folder where the programs run.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._begun = 0
        self.folder = Path(tempfile.gettempdir()).resolve() / f"insync-judge-{uuid.uuid4().hex}"
        self._programs = GuardedPrograms(self.folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._programs.close()

    def write(self, name: str, text: str) -> None:
        """Write a file into the folder."""
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, command: Sequence[str]) -> Ran:
        """Run a program in the folder until it ends.

        Raises:
            Stopped: the watch stops the work; the program is killed when the context ends.
            UserError: the program cannot be started.
        """
        self._begun += 1
        name, output = str(self._begun), self.folder / f"output-{self._begun}"
        self._programs.start(name, command, output)
        pause = _SOON
        while (ended := self._programs.ended().get(name)) is None:
            self._watch.check()
            time.sleep(pause)
            pause = min(2 * pause, _OFTEN)
        return Ran(ended.code, output.read_text(encoding="utf-8", errors="replace"), ended.cpu_seconds)


_SAFE_PATH = "PYTHONSAFEPATH"


@contextmanager
def modules_of_python() -> Iterator[None]:
    """Remove the current folder from the module search path of Python processes that start in this block.

    `multiprocessing` starts processes by `python -c`, which searches the current folder first, even for
    `multiprocessing.py` itself. A file in a folder from a stranger would run.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before

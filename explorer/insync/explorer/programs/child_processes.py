"""Programs in a folder of their own, by way of the guardian that ends them with this process and removes the folder."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from insync.explorer.programs import guardian
from insync.model.errors import UserError

__all__ = ["Ended", "Guarded"]

_PATIENCE = 30.0  # seconds for the guardian to end, who then is killed
_NO_GUARDIAN = {"fault": "the process that guards it has ended"}


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a program: its exit code, where a signal is a negative one, and the seconds of work it took."""

    code: int
    work: float


class Guarded:
    """Starts programs, sends them signals, and knows which have ended.

    Args:
        folder: where they run; made if it is not there, and removed when they are over.
        lock: an open file that says that the folder is in use, for as long as the guardian lives.

    Raises:
        UserError: the folder cannot be made.
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
            start_new_session=True,  # Ctrl-C is for us, who end it in order
            pass_fds=[] if lock is None else [lock.fileno()],
        )
        try:
            self._ask(do="begin")
        except BaseException:
            self.close()
            raise

    @property
    def guardian_id(self) -> int:
        """The id of the process between."""
        return self._guardian.pid

    def start(self, name: str, command: Sequence[str], output: Path) -> int:
        """Start a program whose output is added to a file, and return the id of its process.

        Raises:
            UserError: it cannot be started.
        """
        return int(self._ask(do="start", name=name, command=list(command), output=str(output))["process"])

    def signal(self, name: str, number: signal.Signals) -> bool:
        """Send a signal to a program, and return whether it runs."""
        return bool(self._ask(do="signal", name=name, signal=int(number))["sent"])

    def ended(self) -> dict[str, Ended]:
        """Return what became of those that have ended."""
        return {name: Ended(**found) for name, found in self._ask(do="look")["ended"].items()}

    def close(self) -> None:
        """Kill all of them, and remove their folder."""
        assert self._guardian.stdin is not None
        assert self._guardian.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._guardian.stdin.close()
        try:
            self._guardian.wait(_PATIENCE)
        except subprocess.TimeoutExpired:  # the system ends its programs with it
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
        """The answer to what was asked last: one that Ctrl-C has interrupted has left its own behind."""
        assert self._guardian.stdout is not None
        while line := self._guardian.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer["number"] == self._asked:
                return answer
        return _NO_GUARDIAN

"""Programs in a folder of their own, by way of the guardian that ends them with this process and removes the folder."""

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

from insync.explorer.limits import Watch
from insync.explorer.programs import guardian
from insync.model.errors import UserError

__all__ = [
    "Ended",
    "Guarded",
    "Ran",
    "Workshop",
    "modules_of_python",
]


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


# A folder in which programs are run one after the other; nothing of it is left, whatever becomes of insync.


_OFTEN = 0.05  # seconds between two looks at a program, at most
_SOON = 0.002  # between the first two


@dataclass(frozen=True, slots=True)
class Ran:
    """A program that has ended: its exit code, all it wrote, and the seconds of work that it took."""

    code: int
    output: str
    work: float


class Workshop:
    """A folder of its own for programs, which ends them and goes when it is left.

    Args:
        watch: says when to stop what runs.

    Attributes:
        folder: where the programs run.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._begun = 0
        self.folder = Path(tempfile.gettempdir()).resolve() / f"insync-judge-{uuid.uuid4().hex}"
        self._programs = Guarded(self.folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._programs.close()

    def write(self, name: str, text: str) -> None:
        """Write a file into the folder."""
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, command: Sequence[str]) -> Ran:
        """Run a program in the folder and return what became of it.

        Raises:
            GivenUp: the watch says to stop; the program is ended when the workshop is left.
            UserError: it cannot be started.
        """
        self._begun += 1
        name, output = str(self._begun), self.folder / f"output-{self._begun}"
        self._programs.start(name, command, output)
        pause = _SOON
        while (ended := self._programs.ended().get(name)) is None:
            self._watch.go_on()
            time.sleep(pause)
            pause = min(2 * pause, _OFTEN)
        return Ran(ended.code, output.read_text(encoding="utf-8", errors="replace"), ended.work)


# Processes of Python that `multiprocessing` starts: where they look for their modules.


_SAFE_PATH = "PYTHONSAFEPATH"


@contextmanager
def modules_of_python() -> Iterator[None]:
    """Have processes that start in this block pass over the current folder when they import their first modules.

    `multiprocessing` starts them by `python -c`, which would look there first: for `multiprocessing.py` itself, and for
    whatever that imports. So a file in a folder that somebody sent would run.
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

"""A folder in which programs are run one after the other; nothing of it is left, whatever becomes of insync."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from insync.explorer.judges import minder
from insync.explorer.limits import Watch
from insync.model.errors import UserError

__all__ = ["Ran", "Workshop"]

_OFTEN = 0.05  # seconds between two looks at whether to stop
_PATIENCE = 10.0  # seconds for the minder to end, who then is killed


@dataclass(frozen=True, slots=True)
class Ran:
    """A program that has ended: its exit code, all it wrote, and the seconds of work that it took."""

    code: int
    output: str
    work: float


class Workshop:
    """A folder of its own for programs, and the process that ends them and removes it.

    Args:
        watch: says when to stop what runs.

    Attributes:
        folder: where the programs run.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.folder = Path(tempfile.gettempdir()).resolve() / f"insync-judge-{uuid.uuid4().hex}"
        self._minder = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", minder.__file__, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us, who end it in order
        )

    def __enter__(self) -> Self:
        try:
            self._answer()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def write(self, name: str, text: str) -> None:
        """Write a file into the folder."""
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, command: Sequence[str]) -> Ran:
        """Run a program in the folder and return what became of it.

        Raises:
            GivenUp: the watch says to stop; the program is ended when the workshop is closed.
            UserError: it cannot be started.
        """
        assert self._minder.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # then there is no answer either
            self._minder.stdin.write(json.dumps(list(command)).encode() + b"\n")
            self._minder.stdin.flush()
        told = self._answer()
        output = (self.folder / "output").read_text(encoding="utf-8", errors="replace")
        return Ran(told["code"], output, told["work"])

    def close(self) -> None:
        """End what runs, and remove the folder."""
        assert self._minder.stdin is not None
        assert self._minder.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._minder.stdin.close()
        try:
            self._minder.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._minder.kill()
            self._minder.wait()
        finally:
            self._minder.stdout.close()

    def _answer(self) -> dict[str, Any]:
        assert self._minder.stdout is not None
        while not select.select([self._minder.stdout], [], [], _OFTEN)[0]:
            self._watch.go_on()
        line = self._minder.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"fault": "the process that runs it has ended"}
        if "fault" in answer:
            message = f"A checker cannot be run in {self.folder}: {answer['fault']}."
            raise UserError(message)
        return answer

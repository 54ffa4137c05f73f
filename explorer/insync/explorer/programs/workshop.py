"""A folder in which programs are run one after the other; nothing of it is left, whatever becomes of insync."""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from insync.explorer.limits import Watch
from insync.explorer.programs.child_processes import Guarded

__all__ = ["Ran", "Workshop"]

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

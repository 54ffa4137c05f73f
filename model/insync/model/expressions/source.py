"""What a model's Python says while it is traced, noted with the place in its source for whoever wants to know."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice

from insync.model.errors import author_frame
from insync.model.expressions.graph import Node

__all__ = ["Assigning", "Branch", "Notes", "Premise", "Required", "Spot", "noted", "noting"]


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A piece of source, as Python knows it of the call or assignment that it runs.

    Attributes:
        file: its path.
        line, column: where it begins; lines are counted from 1, columns, which are of UTF-8, from 0.
        end_line, end_column: where it ends.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def source(self) -> str:
        """The piece itself; empty where the file cannot be read."""
        lines = [line.encode() for line in linecache.getlines(self.file)[self.line - 1 : self.end_line]]
        if not lines:
            return ""
        lines[-1] = lines[-1][: self.end_column]
        lines[0] = lines[0][self.column :]
        return b"".join(lines).decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Required:
    """A condition that `require` was given.

    Attributes:
        spot: the call.
        place: the condition's place among the arguments.
        condition: the condition; a constant where the bounds alone decide it.
    """

    spot: Spot
    place: int
    condition: Node


@dataclass(frozen=True, slots=True)
class Branch:
    """A condition that `If` or `when` was given.

    Attributes:
        spot: the call.
        word: "If" or "when".
        where: the conditions of the `when` blocks around it.
        test: the condition.
    """

    spot: Spot
    word: str
    where: tuple[Node, ...]
    test: Node


@dataclass(frozen=True, slots=True)
class Assigning:
    """An assignment, and the conditions of the `when` blocks around it."""

    spot: Spot
    where: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Premise:
    """The first condition that `Implies` was given; a plain one where Python decides it.

    Where the call is a `for_all` over a set of the state, it is that somebody is a member.
    """

    spot: Spot
    condition: Node | bool


@dataclass(slots=True)  # not frozen: filled while a model is traced
class Notes:
    """What was noted, each in the order in which Python ran it."""

    required: list[Required] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    assigned: list[Assigning] = field(default_factory=list)
    premises: list[Premise] = field(default_factory=list)

    def require(self, place: int, condition: Node) -> None:
        """Note a condition that `require` was given."""
        self.required.append(Required(_spot(), place, condition))

    def branch(self, word: str, where: list[Node], test: Node) -> None:
        """Note a condition that the author gives to `If` or `when`, not one that a word of the language is made of."""
        if author_frame() is sys._getframe(2):
            self.branches.append(Branch(_spot(), word, tuple(where), test))

    def assign(self, where: list[Node]) -> None:
        """Note an assignment."""
        self.assigned.append(Assigning(_spot(), tuple(where)))

    def imply(self, condition: Node | bool) -> None:
        """Note the first condition of `Implies`."""
        self.premises.append(Premise(_spot(), condition))


noted: ContextVar[Notes | None] = ContextVar("noted", default=None)
"""Where notes go; None, as nearly always, is nowhere."""


@contextmanager
def noting() -> Iterator[Notes]:
    """Yield notes that are taken of what is traced inside."""
    notes = Notes()
    token = noted.set(notes)
    try:
        yield notes
    finally:
        noted.reset(token)


def _spot() -> Spot:
    """Return the piece of source that runs now, of the innermost caller outside the modelling package."""
    frame = author_frame()
    if frame is None:
        return Spot("<unknown>", 1, 0, 1, 0)
    code = frame.f_code
    found = next(islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    line, end_line, column, end_column = found
    line = frame.f_lineno if line is None else line
    return Spot(code.co_filename, line, column or 0, end_line or line, end_column or 0)

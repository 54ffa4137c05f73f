"""Source spans of a model's requirements, branches, assignments and premises, recorded while it is traced.

Nothing is recorded unless a caller opens `noting`.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice

from insync.model.expressions.graph import Node
from insync.runtime.errors import author_frame

__all__ = ["Assigning", "Branch", "Notes", "Premise", "Required", "Spot", "noted", "noting"]


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A source span: the text of a call or assignment, as Python's code objects record it.

    Attributes:
        file: the path of the file.
        line, column: where the span begins; lines count from 1, columns from 0 in bytes of UTF-8.
        end_line, end_column: where it ends.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def source(self) -> str:
        """The text of the span; empty where the file cannot be read."""
        lines = [line.encode() for line in linecache.getlines(self.file)[self.line - 1 : self.end_line]]
        if not lines:
            return ""
        lines[-1] = lines[-1][: self.end_column]
        lines[0] = lines[0][self.column :]
        return b"".join(lines).decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Required:
    """A condition of a `require`.

    Attributes:
        spot: the span of the call.
        place: the condition's place among the arguments.
        condition: the condition; a constant where the bounds alone decide it.
    """

    spot: Spot
    place: int
    condition: Node


@dataclass(frozen=True, slots=True)
class Branch:
    """A condition of an `If` or a `when`.

    Attributes:
        spot: the span of the call.
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
    """The first condition of an `Implies`; a plain bool where Python decides it.

    For a `for_all` over a set of the state the premise is that the variable is a member of the set.
    """

    spot: Spot
    condition: Node | bool


@dataclass(slots=True)  # not frozen: filled while a model is traced
class Notes:
    """The recorded spans of each kind, in the order in which Python ran them."""

    required: list[Required] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    assigned: list[Assigning] = field(default_factory=list)
    premises: list[Premise] = field(default_factory=list)

    def require(self, place: int, condition: Node) -> None:
        """Record a condition of a `require`."""
        self.required.append(Required(_spot(), place, condition))

    def branch(self, word: str, where: list[Node], test: Node) -> None:
        """Record a condition of an `If` or `when` that the author's code calls, not the language's own functions."""
        if author_frame() is sys._getframe(2):
            self.branches.append(Branch(_spot(), word, tuple(where), test))

    def assign(self, where: list[Node]) -> None:
        """Record an assignment."""
        self.assigned.append(Assigning(_spot(), tuple(where)))

    def imply(self, condition: Node | bool) -> None:
        """Record the first condition of an `Implies`."""
        self.premises.append(Premise(_spot(), condition))


noted: ContextVar[Notes | None] = ContextVar("noted", default=None)
"""The notes that are being filled; nearly always None, and nothing is recorded."""


@contextmanager
def noting() -> Iterator[Notes]:
    """Yield the notes that tracing fills in this context."""
    notes = Notes()
    token = noted.set(notes)
    try:
        yield notes
    finally:
        noted.reset(token)


def _spot() -> Spot:
    """Return the span that the innermost caller outside the modelling package runs."""
    frame = author_frame()
    if frame is None:
        return Spot("<unknown>", 1, 0, 1, 0)
    code = frame.f_code
    found = next(islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    line, end_line, column, end_column = found
    line = frame.f_lineno if line is None else line
    return Spot(code.co_filename, line, column or 0, end_line or line, end_column or 0)

"""Source spans of a model's requirements, branches, assignments and premises, recorded while it is traced.

Nothing is recorded unless a caller opens `noting`, as the tracing of actions and initial methods does. A span is found
in the author's code only where one is read.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from types import CodeType, FrameType
from typing import Any

from insync.model.expressions.graph import Node
from insync.runtime.errors import author_frame

__all__ = ["Assigning", "Branch", "Call", "Notes", "Premise", "Required", "Spot", "noted", "noting", "syntax_of"]


class Call:
    """An instruction of the author's code.

    Args:
        code: the code.
        instruction: the number of its byte.
        line: its line; None where that is not known.
    """

    def __init__(self, code: CodeType, instruction: int, line: int | None) -> None:
        self.code, self._instruction, self._line = code, instruction, line

    @cached_property
    def spot(self) -> Spot:
        """The span of the instruction."""
        places = islice(self.code.co_positions(), self._instruction // 2, None)
        line, end_line, column, end_column = next(places, (None,) * 4)
        line = (self._line or 1) if line is None else line
        return Spot(self.code.co_filename, line, column or 0, end_line or line, end_column or 0)


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
class _Noted:
    """A part of an action or property, and the author's instruction that made it."""

    call: Call

    @property
    def spot(self) -> Spot:
        """The source span of the instruction."""
        return self.call.spot


@dataclass(frozen=True, slots=True)
class Required(_Noted):
    """A condition of a `require`.

    Attributes:
        place: the condition's place among the arguments.
        condition: the condition; a constant where the bounds alone decide it.
    """

    place: int
    condition: Node


@dataclass(frozen=True, slots=True)
class Branch(_Noted):
    """A condition of an `If` or a `when`.

    Attributes:
        word: "If" or "when".
        where: the conditions of the `when` blocks around it.
        test: the condition.
    """

    word: str
    where: tuple[Node, ...]
    test: Node


@dataclass(frozen=True, slots=True)
class Assigning(_Noted):
    """An assignment, and the conditions of the `when` blocks around it."""

    where: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Premise(_Noted):
    """The first condition of an `Implies`; a plain bool where Python decides it.

    For a `for_all` over a set of the state the premise is that the variable is a member of the set.
    """

    condition: Node | bool


@dataclass(slots=True)  # not frozen: filled while a model is traced
class Notes:
    """The recorded spans of each kind, in the order in which Python ran them."""

    required: list[Required] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    assigned: list[Assigning] = field(default_factory=list)
    premises: list[Premise] = field(default_factory=list)

    def requiring(self) -> Callable[[int, Node], None]:
        """Return the function that records the conditions of the present `require`, by their places."""
        call = _call()
        return lambda place, condition: self.required.append(Required(call, place, condition))

    def branch(self, word: str, where: list[Node], test: Node) -> None:
        """Record a condition of an `If` or `when` that the author's code calls, not the language's own functions."""
        frame = sys._getframe(2)
        if author_frame() is frame:
            self.branches.append(Branch(_call_of(frame), word, tuple(where), test))

    def assign(self, where: list[Node]) -> None:
        """Record an assignment."""
        self.assigned.append(Assigning(_call(), tuple(where)))

    def imply(self, condition: Node | bool) -> None:
        """Record the first condition of an `Implies`."""
        self.premises.append(Premise(_call(), condition))

    def sizes(self) -> tuple[int, ...]:
        """Return how many notes of each kind there are."""
        return tuple(len(notes) for notes in self._lists())

    def forget(self, sizes: tuple[int, ...]) -> None:
        """Forget all notes after the first ones of each kind."""
        for notes, size in zip(self._lists(), sizes, strict=True):
            del notes[size:]

    def _lists(self) -> tuple[list[Any], ...]:
        return self.required, self.branches, self.assigned, self.premises


noted: ContextVar[Notes | None] = ContextVar("noted", default=None)
"""The notes that are being filled; None where nothing is recorded."""


class noting:
    """Has tracing fill new notes in this context."""

    __slots__ = ("_token",)

    def __enter__(self) -> Notes:
        notes = Notes()
        self._token = noted.set(notes)
        return notes

    def __exit__(self, *_: object) -> None:
        noted.reset(self._token)


_UNKNOWN = compile("", "<unknown>", "exec")


def _call() -> Call:
    """Return the instruction that the innermost caller outside the modelling package runs."""
    frame = author_frame()
    return Call(_UNKNOWN, 0, 1) if frame is None else _call_of(frame)


def _call_of(frame: FrameType) -> Call:
    return Call(frame.f_code, frame.f_lasti, frame.f_lineno)


def syntax_of(function: Callable[..., object]) -> ast.FunctionDef | None:
    """Return the syntax tree of a function, with the lines of its file; None where the file does not have it.

    The whole file is parsed. The text of a method alone is no Python where a line of it begins at the margin.
    """
    own = inspect.unwrap(function)
    try:
        lines, _ = inspect.findsource(own)
    except (OSError, TypeError):  # made at run time, without a file
        return None
    code: CodeType | None = getattr(own, "__code__", None)
    if code is None:
        return None
    found = _functions("".join(lines)).get(code.co_firstlineno)
    return found if found is not None and found.name == code.co_name else None


@lru_cache(maxsize=32)
def _functions(source: str) -> dict[int, ast.FunctionDef]:
    """Return the functions in a file by the lines on which they begin, with their decorators."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # changed since it was imported
        return {}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {min([node.lineno, *(one.lineno for one in node.decorator_list)]): node for node in functions}

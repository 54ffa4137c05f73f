"""What the rows of sorted files are: codes of states, which are small, or where there can be none whole states."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from insync.machine.stores.collapse import MOST_CODE_BITS, ROOMS, Codec, Layout

__all__ = ["FORMS", "CodeRows", "NoRows", "PairedCodeRows", "RowForm", "StateRows", "layout_of"]


class RowForm(Protocol):
    """Makes rows of states, and states of rows.

    Attributes:
        name: as files are named.
        words: of a row.
    """

    name: ClassVar[str]
    words: int

    @property
    def layout(self) -> Layout | None:
        """Of the rows that are made now; rows of files may have an earlier one, in which their order is the same."""

    def make(self, states: int, count: int, rows: int) -> int:
        """Write the rows of some states; return how many were done before `widen` is needed."""

    def widen(self, states: int) -> Layout | None:
        """Make room for more, and return the layout before, if there is another now; `states` is how many there are.

        Raises:
            NoRows: it cannot be.
        """

    def align(self, layout: Layout | None, rows: int, count: int) -> None:
        """Change rows of an earlier layout to what they are now, in place."""

    def states(self, rows: int, count: int, made: int) -> int:
        """Return the address of the states of some rows: `made`, where there is room for them, or `rows` itself."""

    def said(self) -> dict[str, Any]:
        """Return what a file says of its rows."""

    def values(self) -> list[bytes]:
        """Return the values that were numbered since this was asked before."""

    def take_up(self, said: dict[str, Any], values: Sequence[bytes]) -> None:
        """Take in what the file of the next level says."""

    def close(self) -> None:
        """Give all memory back."""


class StateRows:
    """Rows that are states.

    Args:
        words: of a state.
    """

    name: ClassVar[str] = "states"
    layout: ClassVar[Layout | None] = None

    def __init__(self, words: int) -> None:
        self.words = words

    def make(self, states: int, count: int, rows: int) -> int:
        """Copy the states."""
        ctypes.memmove(rows, states, 8 * self.words * count)
        return count

    def widen(self, states: int) -> Layout | None:
        """Do nothing: there is always room."""

    def align(self, layout: Layout | None, rows: int, count: int) -> None:
        """Do nothing: there are no layouts."""

    def states(self, rows: int, count: int, made: int) -> int:
        """Return the rows."""
        return rows

    def said(self) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def values(self) -> list[bytes]:
        """Return nothing."""
        return []

    def take_up(self, said: dict[str, Any], values: Sequence[bytes]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class NoRows(Exception):
    """Codes would be too wide, or save nothing."""


class CodeRows:
    """Rows of one word that are codes.

    Args:
        codec: that has numbered nothing yet.
    """

    name: ClassVar[str] = "codes"
    rounds: ClassVar[int] = 0  # see `components.digits_of`
    words = 1

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._written = codec.counts
        codec.lay_out(ROOMS[0])

    @property
    def layout(self) -> Layout:
        """Of the codes that are made now."""
        return self._codec.layout

    def make(self, states: int, count: int, rows: int) -> int:
        """Write the codes of some states; return how many were done before a dictionary was full."""
        return self._codec.encode(states, count, rows)

    def widen(self, states: int) -> Layout | None:
        """Make room for more values."""
        codec = self._codec
        if codec.has_more_room():
            return None
        room = next((room for room in ROOMS if codec.bits_with(room) <= MOST_CODE_BITS), None)
        if room is None or not codec.saves(states) or codec.has_used_all_numbers:
            raise NoRows
        return codec.lay_out(room)

    def align(self, layout: Layout | None, rows: int, count: int) -> None:
        """Change codes of an earlier layout: the numbers stay as they are, so their order does."""
        if layout is not None and layout.widths != self._codec.layout.widths:
            self._codec.lay(layout, rows, count)

    def states(self, rows: int, count: int, made: int) -> int:
        """Write the states of some codes."""
        self._codec.decode(rows, count, made)
        return made

    def said(self) -> dict[str, Any]:
        """Return the layout."""
        return {"widths": self._codec.layout.widths}

    def values(self) -> list[bytes]:
        """Return the values that were numbered since this was asked before."""
        before, self._written = self._written, self._codec.counts
        return [self._codec.values(shape, first) for shape, first in enumerate(before)]

    def take_up(self, said: dict[str, Any], values: Sequence[bytes]) -> None:
        """Number the values that the next level numbered, and lay codes out as it did."""
        self._codec.take_up(values, Layout(said["widths"]))
        self._written = self._codec.counts

    def close(self) -> None:
        """Give all memory back."""
        self._codec.close()


class PairedCodeRows(CodeRows):
    """Rows of one word that are codes of which a digit numbers two parts of a state together."""

    name: ClassVar[str] = "pairs"
    rounds: ClassVar[int] = 1


FORMS: tuple[type[RowForm], ...] = (CodeRows, PairedCodeRows, StateRows)
"""What rows can be: the one to begin with, and each that takes its place where it turns out ill."""


def layout_of(said: dict[str, Any]) -> Layout | None:
    """Return the layout of the rows of a file."""
    return Layout(said["widths"]) if "widths" in said else None

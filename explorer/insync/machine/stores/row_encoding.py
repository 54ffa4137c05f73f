"""The encoding of states as rows of sorted files: codes of one word, or whole states where codes are not possible."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from insync.machine.stores.collapse import MOST_CODE_BITS, ROOMS, Codec, Layout

__all__ = ["FORMS", "CodeRows", "NoRows", "PairedCodeRows", "RowForm", "StateRows", "code_form", "layout_of"]


class RowForm(Protocol):
    """Converts states to rows, and rows to states.

    Attributes:
        name: appears in the names of files.
        words: 64-bit words per row.
    """

    name: ClassVar[str]
    words: int

    @property
    def layout(self) -> Layout | None:
        """The layout of new rows. Rows of files may have an earlier layout, in which their order is the same."""

    def make(self, states: int, count: int, rows: int) -> int:
        """Write the rows of `count` states; return how many were written before `widen` became necessary."""

    def widen(self, states: int) -> Layout | None:
        """Make room for more values; return the previous layout if the layout has changed.

        Args:
            states: how many states are stored.

        Raises:
            NoRows: this encoding cannot hold more values, or saves nothing.
        """

    def align(self, layout: Layout | None, rows: int, count: int) -> None:
        """Convert rows of an earlier layout to the current one, in place."""

    def states(self, rows: int, count: int, made: int) -> int:
        """Return the address of the states of `count` rows: either `made`, where they are written, or `rows` itself."""

    def said(self) -> dict[str, Any]:
        """Return the description of the rows that is stored in a file."""

    def values(self) -> list[bytes]:
        """Return the values that were numbered since the last call, by dictionary."""

    def take_up(self, said: dict[str, Any], values: Sequence[bytes]) -> None:
        """Restore description and values from the file of the next level."""

    def close(self) -> None:
        """Free all memory."""


class StateRows:
    """Rows that are whole states.

    Args:
        words: 64-bit words per packed state.
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
        """Return an empty description."""
        return {}

    def values(self) -> list[bytes]:
        """Return no values: nothing is numbered."""
        return []

    def take_up(self, said: dict[str, Any], values: Sequence[bytes]) -> None:
        """Do nothing: nothing is numbered."""

    def close(self) -> None:
        """Do nothing: there is no memory to free."""


class NoRows(Exception):
    """Codes would be too wide, or save nothing."""


class CodeRows:
    """Rows of one word, each the code of a state.

    Args:
        codec: has numbered nothing yet.
    """

    name: ClassVar[str] = "codes"
    rounds: ClassVar[int] = 0  # see `collapse.digits_of`
    words = 1

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._written = codec.counts
        codec.lay_out(ROOMS[0])

    @property
    def layout(self) -> Layout:
        """The layout of new codes."""
        return self._codec.layout

    def make(self, states: int, count: int, rows: int) -> int:
        """Write the codes of `count` states; return how many were written before a dictionary was full."""
        return self._codec.encode(states, count, rows)

    def widen(self, states: int) -> Layout | None:
        """Make room for more values, in wider codes if necessary."""
        codec = self._codec
        if codec.has_more_room():
            return None
        room = next((room for room in ROOMS if codec.bits_with(room) <= MOST_CODE_BITS), None)
        if room is None or not codec.saves(states) or codec.has_used_all_numbers:
            raise NoRows
        return codec.lay_out(room)

    def align(self, layout: Layout | None, rows: int, count: int) -> None:
        """Convert codes of an earlier layout. Their numbers stay the same, and so does their order."""
        if layout is not None and layout.widths != self._codec.layout.widths:
            self._codec.lay(layout, rows, count)

    def states(self, rows: int, count: int, made: int) -> int:
        """Write the states of `count` codes to `made`."""
        self._codec.decode(rows, count, made)
        return made

    def said(self) -> dict[str, Any]:
        """Return the layout."""
        return {"widths": self._codec.layout.widths}

    def values(self) -> list[bytes]:
        """Return the values that were numbered since the last call, by dictionary."""
        before, self._written = self._written, self._codec.counts
        return [self._codec.values(shape, first) for shape, first in enumerate(before)]

    def take_up(self, said: dict[str, Any], values: Sequence[bytes]) -> None:
        """Number the values that the next level numbered, and use its layout."""
        self._codec.take_up(values, Layout(said["widths"]))
        self._written = self._codec.counts

    def close(self) -> None:
        """Free all memory."""
        self._codec.close()


class PairedCodeRows(CodeRows):
    """Rows of one word, each a code whose digits number pairs of parts of the state."""

    name: ClassVar[str] = "pairs"
    rounds: ClassVar[int] = 1


FORMS: tuple[type[RowForm], ...] = (CodeRows, PairedCodeRows, StateRows)
"""The encodings in the order in which they are tried: each replaces the one before when that raises `NoRows`."""


def code_form(name: str) -> type[CodeRows]:
    """Return the encoding of codes that has a name."""
    found = next(form for form in FORMS if form.name == name)
    assert issubclass(found, CodeRows)
    return found


def layout_of(said: dict[str, Any]) -> Layout | None:
    """Return the layout of a file's rows, given its description; None if the rows are whole states."""
    return Layout(said["widths"]) if "widths" in said else None

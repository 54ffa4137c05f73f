"""The schema of a state: its cells, and how they are packed into 64-bit words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["WORD", "Cell", "Celled", "Schema"]

WORD = 64


@dataclass(frozen=True, slots=True)
class Cell:
    """One packed field.

    Attributes:
        number: its place among the cells.
        path: what it is, such as `replica[b1].log[0].epoch`.
        size: how many codes it has: 0 .. size-1.
        bits: how many bits it takes; none when it has a single code.
        word, shift: where its lowest bit lies.
    """

    number: int
    path: str
    size: int
    bits: int
    word: int
    shift: int


class Celled(Protocol):
    """What lies in cells: the domain of a state, or those of two."""

    def cells(self, path: str) -> Iterable[tuple[str, int]]:
        """Return the path of each cell, and how many codes it has."""


class Schema:
    """The cells of a state in order of declaration, each in the first word that has room for it.

    Attributes:
        cells: the cells.
        words: how many 64-bit words a packed state takes, at least 1.
    """

    def __init__(self, state: Celled) -> None:
        used: list[int] = [0]
        cells = []
        for number, (path, size) in enumerate(state.cells("")):
            bits = (size - 1).bit_length()
            word = next((w for w, taken in enumerate(used) if taken + bits <= WORD), len(used))
            if word == len(used):
                used.append(0)
            cells.append(Cell(number, path, size, bits, word, used[word] if bits else 0))
            used[word] += bits
        self.cells = tuple(cells)
        self._places = [(cell.word, cell.shift, (1 << cell.bits) - 1) for cell in cells]
        self.words = len(used)
        self.bits = sum(cell.bits for cell in cells)

    def pack(self, codes: Sequence[int]) -> tuple[int, ...]:
        """Return the words of a state given by its cells' codes."""
        words = [0] * self.words
        for (word, shift, _), code in zip(self._places, codes, strict=True):
            words[word] |= code << shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> tuple[int, ...]:
        """Return the codes of the cells of a packed state."""
        return tuple([words[word] >> shift & mask for word, shift, mask in self._places])

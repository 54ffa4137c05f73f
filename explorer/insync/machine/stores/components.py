"""The components of a state: its parts whose values are numbered, so that a state is a code of a few numbers.

The cells of one element of an array of records, such as `replica[b1]`, take far fewer values together than their bits
allow, and so do the cells that belong to no such element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from insync.model.schema import Cell, Schema

__all__ = [
    "MOST_VALUE_BITS",
    "PAIRED_BITS",
    "BitRun",
    "Component",
    "Digit",
    "components_of",
    "dictionaries_of",
    "digits_of",
    "rest_masks",
]

MOST_VALUE_BITS = 40
"""Of the value of a component: a slot of its dictionary has the value and its number in one word."""

PAIRED_BITS = MOST_VALUE_BITS // 2
"""Of a number that is numbered together with another."""

_LEAST_ELEMENT_BITS = 12  # a smaller element takes most of its values: a number of its own would save nothing


@dataclass(frozen=True, slots=True)
class BitRun:
    """Some neighbouring bits of a word of the state: the bits from `at` on of a component's value."""

    word: int
    shift: int
    bits: int
    at: int


@dataclass(frozen=True, slots=True)
class Component:
    """A part of the state.

    Attributes:
        shape: the number of its dictionary; components of one shape share it, as the elements of an array do.
        pieces: where its value lies.
    """

    shape: int
    pieces: tuple[BitRun, ...]

    @property
    def bits(self) -> int:
        """Of its value."""
        return sum(piece.bits for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Digit:
    """A number, in a code or in what another digit numbers.

    Attributes:
        shape: the number of the dictionary that gives it.
        bits: that what it numbers may have.
        component: the component whose value it numbers; None if it numbers two other digits together.
        halves: these two.
    """

    shape: int
    bits: int
    component: int | None = None
    halves: tuple[Digit, ...] = ()

    @property
    def within(self) -> Iterator[Digit]:
        """The digits of which it is made, and those of which they are."""
        for half in self.halves:
            yield half
            yield from half.within


def digits_of(components: Sequence[Component], rounds: int) -> tuple[Digit, ...]:
    """Return what codes of states with these components consist of.

    Args:
        components: of the state.
        rounds: how often two digits that follow each other are made one. Of all pairs of numbers that there could be
            few are there: such codes are narrower, and take another look into a dictionary for each pair.
    """
    digits = [Digit(each.shape, each.bits, number) for number, each in enumerate(components)]
    shapes = dictionaries_of(digits)
    for _ in range(rounds):
        pairs = [tuple(digits[first : first + 2]) for first in range(0, len(digits), 2)]
        digits = []
        for pair in pairs:
            digits.append(Digit(shapes, MOST_VALUE_BITS, halves=pair) if len(pair) > 1 else pair[0])
            shapes += len(pair) - 1
    return tuple(digits)


def dictionaries_of(digits: Iterable[Digit]) -> int:
    """Return how many dictionaries number what these digits say."""
    return 1 + max((each.shape for digit in digits for each in (digit, *digit.within)), default=-1)


def components_of(schema: Schema) -> tuple[Component, ...]:
    """Return the components of a state: every bit of it is in one of them.

    The cells of a component are taken in the order of their declaration, wherever they lie: only so have the elements
    of an array values that mean the same.
    """
    shapes: dict[tuple[int, ...], int] = {}
    made = []
    for cells in _parts(schema):
        shape = shapes.setdefault(tuple(cell.size for cell in cells), len(shapes))
        made.append(Component(shape, _pieces(cells)))
    return tuple(made)


def rest_masks(schema: Schema) -> list[int]:
    """Return which bits of each word of a state belong to no large element: most steps leave them as they are."""
    masks = [0] * schema.words
    for cell in _elements(schema)[1]:
        masks[cell.word] |= (1 << cell.bits) - 1 << cell.shift
    return masks


def _parts(schema: Schema) -> list[list[Cell]]:
    """The cells of each component; those of no large element, together, come last."""
    large, rest = _elements(schema)
    return [part for cells in (*large, rest) for part in _divided(cells)]


def _elements(schema: Schema) -> tuple[list[list[Cell]], list[Cell]]:
    """The cells of each large element, and all others."""
    elements: dict[str, list[Cell]] = {}
    for cell in schema.cells:
        if cell.bits:
            head, bracket, _ = cell.path.partition("]")
            elements.setdefault(head if bracket else "", []).append(cell)
    large = [key for key, cells in elements.items() if key and _bits(cells) >= _LEAST_ELEMENT_BITS]
    rest = [cell for cell in schema.cells if cell.bits and cell.path.partition("]")[0] not in large]
    return [elements[key] for key in large], rest


def _divided(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Divide cells into parts of about equal width, none with more bits than a value may have."""
    total = _bits(cells)
    count = max(1, -(-total // MOST_VALUE_BITS))
    while True:
        parts: list[list[Cell]] = [[] for _ in range(count)]
        taken = 0
        for cell in cells:
            parts[min(count - 1, taken * count // total)].append(cell)
            taken += cell.bits
        if all(_bits(part) <= MOST_VALUE_BITS for part in parts):
            return [part for part in parts if part]
        count += 1


def _bits(cells: Sequence[Cell]) -> int:
    return sum(cell.bits for cell in cells)


def _pieces(cells: Sequence[Cell]) -> tuple[BitRun, ...]:
    pieces: list[BitRun] = []
    at = 0
    for cell in cells:
        last = pieces[-1] if pieces else None
        if last is not None and last.word == cell.word and last.shift + last.bits == cell.shift:
            pieces[-1] = BitRun(last.word, last.shift, last.bits + cell.bits, last.at)
        else:
            pieces.append(BitRun(cell.word, cell.shift, cell.bits, at))
        at += cell.bits
    return tuple(pieces)

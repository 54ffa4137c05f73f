"""Sorting networks (Batcher 1968): code that sorts a few records, or the few members of a sort, without branches.

`Placing` sorts members that a state relates to each other by their keys. A key is made of bits side by side, and is a
hash only if these exceed a word. A word with a lane of bits per member counts which members cells name; one product
spreads a set over the lanes. What lies at a member is sorted along with its key, and names are looked up in a word with
four bits per member. If two members have equal keys the order is not determined: callers must test `alone` first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

from insync.machine.emit.builder import GOLDEN_RATIO, I64, Function, Module, Value
from insync.machine.emit.memory import Elements, Row, Span, Track, rows_less, taken_out, with_spans
from insync.model.domains.layout import WORD
from insync.model.symmetry.group import Kind, Symmetry

__all__ = [
    "Placing",
    "PlacingTables",
    "Record",
    "can_place",
    "exchanges",
    "same_keys",
    "sorted_records",
]


_NUMBER = 4  # bits for the number of a member, or for a code that names it
_LARGEST_TABLE = 4  # the most members whose orders are looked up in a table


def can_place(symmetry: Symmetry, tracks: Iterable[Track]) -> bool:
    """Return whether `Placing` supports a state; if not, `member_orders.Relations` orders its members."""
    if symmetry.arranged or any(symmetry.sizes[sort] > 7 for sort in symmetry.relational):
        return False
    return all(
        not track.guards
        and len(track.places) <= 1
        and all(not place.height for place in track.places)
        and (track.value is None or (track.value.height <= 1 and track.value.offset <= 1))
        for track in tracks
    )


@dataclass(frozen=True, slots=True)
class _PlacedField:
    """The position of a track in the words that are sorted along with a member's key."""

    track: Track
    word: int
    shift: int

    @property
    def bits(self) -> int:
        return self.track.spans[0].bits


class PlacingTables:
    """Tables with two words for every order of a few members: the place of each, and the renamed code of each set.

    Args:
        m: the module in which they are defined.
        symmetry: of the state.
    """

    def __init__(self, m: Module, symmetry: Symmetry) -> None:
        self.members: dict[int, str] = {}
        self.sets: dict[int, str] = {}
        for sort in symmetry.relational:
            size = symmetry.sizes[sort]
            if size > _LARGEST_TABLE:
                continue
            members, sets = [0] * 4 ** (size - 1), [0] * 4 ** (size - 1)
            for order in itertools.permutations(range(size)):
                at = sum(member << 2 * place for place, member in enumerate(order[:-1]))
                members[at] = sum(place << _NUMBER * member for place, member in enumerate(order))
                sets[at] = sum(_renamed_set(order, held) << _NUMBER * held for held in range(1 << size))
            self.members[sort] = m.words(f"members{sort}", members)
            self.sets[sort] = m.words(f"sets{sort}", sets)


def _renamed_set(order: Sequence[int], held: int) -> int:
    return sum(1 << place for place, member in enumerate(order) if held >> member & 1)


class Placing:
    """The members of the related sorts of one state, sorted by their keys.

    Args:
        b: the function.
        tables: of the module.
        symmetry: of the state.
        tracks: all tracks that lie at members of the related sorts, or name them.
        row: the state.

    Attributes:
        sizes: how many members each sort has.
        alone: whether no two members have equal keys.
    """

    def __init__(
        self, b: Function, tables: PlacingTables, symmetry: Symmetry, tracks: Sequence[Track], row: Row
    ) -> None:
        self.sizes, self._tracks, self._row = symmetry.sizes, tracks, row
        self._codes = {span: taken_out(b, row, span) for track in tracks for span in track.spans}
        self._sorts = [_PlacedSort(self, b, tables, symmetry.sizes[sort], sort) for sort in symmetry.relational]
        self.alone = reduce(Value.__and__, [sort.alone for sort in self._sorts])

    def image(self) -> Row:
        """Return the words of the state with its members sorted; the result is meaningful only if all are `alone`."""
        by_number = {sort.number: sort for sort in self._sorts}
        new: dict[Span, Value] = {}
        for sort in self._sorts:
            new.update(sort.moved())
        for track in self._tracks:
            for span in track.spans:
                code = new.get(span, self._codes[span])
                new[span] = code if track.value is None else by_number[track.value.sort].renamed(code, track.value)
        return with_spans(self._row, new)

    def lying(self, sort: int) -> list[Track]:
        """Return the tracks that lie at members of a sort; those that name no member come first."""
        found = [track for track in self._tracks if [place.sort for place in track.places] == [sort]]
        return sorted(found, key=lambda track: track.value is not None)

    def naming(self, sort: int) -> list[Track]:
        """Return the tracks that name members of a sort."""
        return [track for track in self._tracks if track.value is not None and track.value.sort == sort]

    def codes(self, track: Track) -> list[Value]:
        """Return the codes of a track."""
        return [self._codes[span] for span in track.spans]


class _PlacedSort:
    """The members of one sort, in the order of their keys."""

    def __init__(self, placing: Placing, b: Function, tables: PlacingTables, size: int, number: int) -> None:
        self._placing, self._b, self._tables, self._size, self.number = placing, b, tables, size, number
        self._fields, words = _laid_out(placing.lying(number))
        lanes = self._lanes()
        records: list[Record] = []
        for member in range(size):
            columns = [b.typed(I64, 0)] * words
            for field in self._fields:
                code = placing.codes(field.track)[member]
                columns[field.word] = columns[field.word] | (code << field.shift if field.shift else code)
            columns.append(b.typed(I64, member))
            records.append([self._key(member, columns, lanes), *columns])
        self._sorted = sorted_records(b, records, 1)
        self.alone = reduce(Value.__and__, [run.equals(1) for run in same_keys(b, self._sorted, 1)])
        self._order = [record[-1] for record in self._sorted]
        self._look_up(tables)

    def _look_up(self, tables: PlacingTables) -> None:
        """Make a word with the place of each member, and for few members a word with the renamed code of each set."""
        b, order = self._b, self._order
        if self._size > _LARGEST_TABLE:
            places = [b.typed(I64, place) << (member << 2) for place, member in enumerate(order) if place]
            self._places = reduce(Value.__or__, places)
            self._optional = (self._places + self._one_each) << _NUMBER
            return
        at = reduce(Value.__or__, [member << 2 * place if place else member for place, member in enumerate(order[:-1])])
        self._places, self._sets = (
            Elements(b, b.address(found[self.number]))[at] for found in (tables.members, tables.sets)
        )
        self._optional = (self._places + self._one_each) << _NUMBER

    # ----------------------------------------------------------------------------------------------------------- keys

    def _lanes(self) -> list[tuple[Value, int, int]]:
        """Return (word, lane bits, bits in use): each lane of a word counts the cells that name its member."""
        b, naming = self._b, self._placing.naming(self.number)
        width = WORD // (self._size + 1)
        made: list[tuple[Value, int, int]] = []
        word, used = b.typed(I64, 0), 0
        for track in naming:
            bits = len(track.spans).bit_length()
            if used + bits > width:
                made.append((word, width, used))
                word, used = b.typed(I64, 0), 0
            assert track.value is not None
            told = [self._spread(code, track.value, width) for code in self._placing.codes(track)]
            total = reduce(Value.__add__, told)
            word = word | (total << used if used else total)
            used += bits
        return [*made, (word, width, used)] if used else made

    def _spread(self, code: Value, kind: Kind, width: int) -> Value:
        """Return a word with 1 in the lanes of the members that a code names."""
        b = self._b
        if not kind.height:  # an extra lane for nobody is shifted out
            told = b.typed(I64, 1) << code * width
            return told >> width * kind.offset if kind.offset else told
        held = code
        if kind.offset:
            held = b.select(code < kind.offset, b.typed(I64, 0), code - kind.offset)
        steps = sum(1 << member * (width - 1) for member in range(self._size))
        return held * steps & sum(1 << member * width for member in range(self._size))

    def _key(self, member: int, columns: Sequence[Value], lanes: Sequence[tuple[Value, int, int]]) -> Value:
        """Return the key of a member, which is the same for its image in any permuted state."""
        parts = self._impersonal(columns)
        for word, width, used in lanes:
            at = word >> width * member if member else word
            parts.append((at & (1 << used) - 1, used))
        for field in self._fields:
            if field.track.value is not None:
                parts += self._said(self._placing.codes(field.track)[member], field.track.value, member)
        words, room = [self._b.typed(I64, 0)], WORD
        for part, bits in parts:
            if bits > room:
                words.append(self._b.typed(I64, 0))
                room = WORD
            words[-1] = words[-1] | (part << WORD - room if room < WORD else part)
            room -= bits
        key = words[0]
        for word in words[1:]:
            key = (key * GOLDEN_RATIO + word) ^ (key >> 29)
        return key

    def _impersonal(self, columns: Sequence[Value]) -> list[tuple[Value, int]]:
        """Return (value, bits) pairs of the cells that lie at a member and name no member."""
        ends: dict[int, int] = {}
        for field in self._fields:
            if field.track.value is None:
                ends[field.word] = field.shift + field.bits
        return [(columns[word] & (1 << end) - 1, end) for word, end in ends.items()]

    def _said(self, code: Value, kind: Kind, member: int) -> list[tuple[Value, int]]:
        """Return (value, bits) pairs of a code at a member: how many members it names, and whether this one."""
        b, found = self._b, list[tuple[Value, int]]()
        there = code
        if kind.offset:
            nobody = code < kind.offset
            found.append((b.convert("zext", nobody, I64), 1))
            there = b.select(nobody, b.typed(I64, 0), code - kind.offset)
        if kind.height:
            found.append((b.ones(there), self._placing.sizes[kind.sort].bit_length()))
        if kind.sort == self.number:
            itself = (there >> member if member else there) & 1
            if not kind.height:
                itself = b.convert("zext", code.equals(kind.offset + member), I64)
            found.append((itself, 1))
        return found

    # ---------------------------------------------------------------------------------------------------------- image

    def moved(self) -> dict[Span, Value]:
        """Return the new code of each cell that lies at a member."""
        new: dict[Span, Value] = {}
        for field in self._fields:
            for span, record in zip(field.track.spans, self._sorted, strict=True):
                column = record[1 + field.word]
                new[span] = (column >> field.shift if field.shift else column) & (1 << field.bits) - 1
        return new

    def renamed(self, code: Value, kind: Kind) -> Value:
        """Return a code with its members renamed to their new places."""
        b = self._b
        if not kind.height:
            places = self._optional if kind.offset else self._places
            return places >> (code << 2) & (1 << _NUMBER) - 1
        if not kind.offset:
            return self._renamed_set(code)
        nobody = code < kind.offset
        named = b.select(nobody, b.typed(I64, 0), code - kind.offset)
        return b.select(nobody, code, self._renamed_set(named) + kind.offset)

    @property
    def _one_each(self) -> int:
        """Added to the places of all members, this gives their codes in an option, where 0 is nobody."""
        return sum(1 << _NUMBER * member for member in range(self._size))

    def _renamed_set(self, named: Value) -> Value:
        if self._size <= _LARGEST_TABLE:
            return self._sets >> (named << 2) & (1 << _NUMBER) - 1
        held = [named >> member & 1 for member in self._order]
        return reduce(Value.__or__, [bit << place if place else bit for place, bit in enumerate(held)])


def _laid_out(tracks: Iterable[Track]) -> tuple[list[_PlacedField], int]:
    """Lay tracks side by side into words, in their order; return the fields and the number of words."""
    fields: list[_PlacedField] = []
    word, used = 0, 0
    for track in tracks:
        bits = track.spans[0].bits
        if used + bits > WORD:
            word, used = word + 1, 0
        fields.append(_PlacedField(track, word, used))
        used += bits
    return fields, word + 1


# ---------------------------------------------------------------------------------------------------------- the network


Record = list[Value]
"""Words that are compared, the first word first, followed by words that are only carried along."""


def exchanges(count: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of places to compare and exchange, in order, of Batcher's odd-even merge sort."""
    power = 1
    while power < count:
        step = power
        while step:
            for start in range(step % power, count - step, 2 * step):
                for place in range(start, min(start + step, count - step)):
                    if place // (2 * power) == (place + step) // (2 * power):
                        yield place, place + step
            step //= 2
        power *= 2


def sorted_records(b: Function, records: Sequence[Record], compared: int) -> list[Record]:
    """Return records in ascending order of their first `compared` words."""
    made = [list(record) for record in records]
    for low, high in exchanges(len(made)):
        first, second = made[low], made[high]
        wrong = rows_less(second[:compared], first[:compared])
        made[low] = [b.select(wrong, y, x) for x, y in zip(first, second, strict=True)]
        made[high] = [b.select(wrong, x, y) for x, y in zip(first, second, strict=True)]
    return made


def same_keys(b: Function, records: Sequence[Record], compared: int) -> list[Value]:
    """Return for each sorted record its position, from 1, in the run of records with the same key."""
    runs = [b.typed(I64, 1)]
    for before, record in pairwise(records):
        same = before[0].equals(record[0])
        for x, y in zip(before[1:compared], record[1:compared], strict=True):
            same = same & x.equals(y)
        runs.append(b.select(same, runs[-1] + 1, b.typed(I64, 1)))
    return runs

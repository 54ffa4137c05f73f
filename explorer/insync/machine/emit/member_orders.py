"""Representatives for sorts whose members a state relates to each other: the least image under candidate permutations.

Each member gets a key that does not depend on its number, such as what its cells have and how often it is named.
Members are sorted by their keys. All orders of members with equal keys are tried, and the state whose words are least
is the representative.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from insync.machine.emit.builder import GOLDEN_RATIO, I8, I64, PTR, VOID, Function, Module, Value, Variable
from insync.machine.emit.containers import Collections, mixed, names
from insync.machine.emit.memory import (
    Elements,
    Row,
    Span,
    Track,
    read_row,
    rows_equal,
    rows_less,
    taken_out,
    tracks_of,
    with_spans,
    without_spans,
    write_row,
)
from insync.machine.emit.sorting_networks import Placing, PlacingTables, can_place, same_keys, sorted_records
from insync.model.domains.layout import WORD, Schema
from insync.model.symmetry.group import Kind, Symmetry

__all__ = [
    "Relations",
]


_PLACE = 4  # bits per member in the code of an order


class Relations:
    """The functions that permute the members of all related sorts.

    Args:
        m: the module in which they are defined.
        schema: where the cells lie.
        symmetry: of the state.
    """

    def __init__(self, m: Module, schema: Schema, symmetry: Symmetry) -> None:
        self._schema, self._symmetry = schema, symmetry
        self._sorts = symmetry.relational
        outside = [family for family in symmetry.families if symmetry.in_order.isdisjoint(family.cells)]
        inside = [family for family in symmetry.families if not symmetry.in_order.isdisjoint(family.cells)]
        self._in_order = tracks_of(schema, inside)
        tracks = [*tracks_of(schema, outside), *self._in_order]
        self._tracks = [track for track in tracks if track.sorts & set(self._sorts)]
        self._spans = [span for track in self._tracks for span in track.spans]
        ends = itertools.accumulate((len(track.spans) for track in self._tracks), initial=0)
        self._slots = dict(zip(map(id, self._tracks), ends, strict=False))
        self._collections = Collections(schema, symmetry)
        starts = [sum(symmetry.sizes[s] for s in self._sorts[:n]) for n in range(len(self._sorts))]
        self._starts = dict(zip(self._sorts, starts, strict=True))
        self._members = sum(symmetry.sizes[sort] for sort in self._sorts)
        permutations = [
            [place + self._starts[sort] for sort in self._sorts for place in permutation[sort]]
            for permutation in symmetry.permutations(self._sorts)
        ]
        self._orders = len(permutations)
        self._table = m.bytes("orders", [place for permutation in permutations for place in permutation])
        self._image = self._image_function(m)
        self._tables = PlacingTables(m, symmetry) if can_place(symmetry, self._tracks) else None
        self._each_by_itself = self._tables is None and can_permute(symmetry, self._tracks, self._orders)
        self._ordered = self._ordered_function(m)

    def represent(self, b: Function, row: Row, to: Value) -> Value:
        """Write the representative of a state to an address; return the size of its orbit.

        If there are few members and their keys differ, as nearly always, this takes no branch and no call.
        """
        if self._tables is None:
            return self._any_order(b, row, to)
        placing = Placing(b, self._tables, self._symmetry, self._tracks, row)
        write_row(b, to, placing.image())
        orbit = b.variable(self._orders)
        with b.when(~placing.alone):
            orbit.set(self._any_order(b, row, to))
        return orbit.value

    def orbit(self, b: Function, row: Row) -> Value:
        """Return the size of the orbit of a state."""
        scratch = b.space(I64, self._schema.words, 8)
        if self._tables is None:
            order, classes = (Elements(b, b.space(I64, self._members, 8)) for _ in range(2))
            alone = self._sort(b, row, {span: taken_out(b, row, span) for span in self._spans}, order, classes)
        else:
            alone = Placing(b, self._tables, self._symmetry, self._tracks, row).alone
        orbit = b.variable(self._orders)
        with b.when(~alone):
            orbit.set(self._any_order(b, row, scratch))
        return orbit.value

    def _any_order(self, b: Function, row: Row, to: Value) -> Value:
        base = b.space(I64, self._schema.words, 8)
        write_row(b, base, row)
        return b.call(self._ordered, base, to)

    def _ordered_function(self, m: Module) -> Function:
        """Define `ordered(row, to) -> orbit`, which does the same as `represent` for any state."""
        b = m.function("ordered", I64, (PTR, PTR), inline=False)
        row = read_row(b, b.arguments[0], self._schema.words)
        b.give(self._ordered_one(b, row, b.arguments[1]))
        return b

    def _ordered_one(self, b: Function, row: Row, to: Value) -> Value:
        codes = {span: taken_out(b, row, span) for span in self._spans}
        kept = Elements(b, b.space(I64, len(self._spans), 8))
        base = b.space(I64, self._schema.words, 8)
        order = Elements(b, b.space(I64, self._members, 8))
        classes = Elements(b, b.space(I64, self._members, 8))
        alone = self._sort(b, row, codes, order, classes)
        alike = b.variable(1)
        if self._each_by_itself:
            with b.when(alone):
                self._put_in_order(b, row, order, to)
            with b.when(~alone):
                self._keep(b, row, codes, kept, base)
                b.call(self._image, kept.address, order.address, base, to)
                self._try_all(b, kept, order, classes, base, to, alike)
        else:
            self._keep(b, row, codes, kept, base)
            b.call(self._image, kept.address, order.address, base, to)
            with b.when(~alone):
                self._try_all(b, kept, order, classes, base, to, alike)
        return b.typed(I64, self._orders) // alike.value

    def _keep(self, b: Function, row: Row, codes: dict[Span, Value], kept: Elements, base: Value) -> None:
        """Store the codes of the cells that move, and the words of the state without them."""
        for slot, span in enumerate(self._spans):
            kept[slot] = codes[span]
        write_row(b, base, without_spans(row, codes))

    def _put_in_order(self, b: Function, row: Row, order: Elements, to: Value) -> None:
        """Write the state with its members in an order, by the code generated for that order."""
        found = reduce(Value.__or__, [order[place] << _PLACE * place for place in range(self._members)])
        for permutation in self._symmetry.permutations(self._sorts):
            members = [self._starts[sort] + member for sort in self._sorts for member in permutation[sort]]
            number = sum(member << _PLACE * place for place, member in enumerate(members))
            with b.when(found.equals(number)):
                by_sort = dict(enumerate(permutation))
                write_row(b, to, permuted(b, self._symmetry, self._tracks, self._collections, row, by_sort))

    def _sort(self, b: Function, row: Row, codes: dict[Span, Value], order: Elements, classes: Elements) -> Value:
        """Store the members in the order of their keys, and the classes of equal keys; return whether all differ."""
        alone = b.typed(I64, 1)
        for sort in self._sorts:
            start, size = self._starts[sort], self._symmetry.sizes[sort]
            records = [[self._key(b, row, codes, sort, i), b.typed(I64, start + i)] for i in range(size)]
            ordered = sorted_records(b, records, 1)
            number = b.typed(I64, start)
            for place, run in enumerate(same_keys(b, ordered, 1)):
                number = b.select(run.equals(1), start + place, number)
                order[start + place] = ordered[place][1]
                classes[start + place] = number
                alone = b.select(run.equals(1), alone, b.typed(I64, 0))
        return alone.equals(1)

    def _try_all(
        self, b: Function, kept: Elements, order: Elements, classes: Elements, base: Value, to: Value, alike: Variable
    ) -> None:
        """Write the least image under all orders of members with equal keys, and count those that give it."""
        table = Elements(b, b.address(self._table), I8)
        trial, further = b.space(I64, self._schema.words, 8), Elements(b, b.space(I64, self._members, 8))
        alike.set(0)
        with b.loop(self._orders) as number:
            sensible = b.typed(I64, 1)
            for place in range(self._members):
                source = b.convert("zext", table[number * self._members + place], I64)
                sensible = b.select(classes[source].equals(classes[place]), sensible, b.typed(I64, 0))
                further[place] = order[source]
            with b.when(sensible.equals(0)):
                b.again()
            b.call(self._image, kept.address, further.address, base, trial)
            new, least = (read_row(b, address, self._schema.words) for address in (trial, to))
            with b.when(rows_less(new, least)):
                write_row(b, to, new)
                alike.set(0)
            least = read_row(b, to, self._schema.words)
            alike += b.select(rows_equal(new, least), 1, 0)

    # ----------------------------------------------------------------------------------------------------------- keys

    def _key(self, b: Function, row: Row, codes: dict[Span, Value], sort: int, member: int) -> Value:
        """Return the key of a member, which is the same for its image in any permuted state."""
        key = b.typed(I64, 0)
        for track in self._tracks:
            if track not in self._in_order:
                for part in self._key_parts(b, row, codes, track, sort, member):
                    key = (key * GOLDEN_RATIO + part) ^ (key >> 29)
        for part in self._collections.key_parts(b, row, sort, member):
            key = (key * GOLDEN_RATIO + part) ^ (key >> 29)
        return key

    def _key_parts(
        self, b: Function, row: Row, codes: dict[Span, Value], track: Track, sort: int, member: int
    ) -> list[Value]:
        def impersonal(at: int, index: tuple[int, ...]) -> Value:
            return self._where_there(b, row, track, at, self._impersonal(b, codes[track.spans[at]], track, index))

        def names_it(at: int) -> Value:
            assert track.value is not None
            found = names(b, self._symmetry, codes[track.spans[at]], track.value, member)
            return self._where_there(b, row, track, at, found)

        parts: list[Value] = []
        lying = list(enumerate(self._symmetry.indices(track.places)))
        for number, place in enumerate(track.places):
            if place.sort == sort and not place.height:
                own = [impersonal(at, i) for at, i in lying if i[number] == member]
                parts.append(own[0] if len(own) == 1 else reduce(Value.__add__, [mixed(value) for value in own]))
        if len(track.places) > 1 and all(place == Kind(sort, 0) for place in track.places):
            itself = (member,) * len(track.places)
            parts += [impersonal(at, i) for at, i in lying if i == itself]
        if track.value is not None and track.value.sort == sort:
            parts.append(reduce(Value.__add__, [names_it(at) for at, _ in lying]))
        return parts

    def _where_there(self, b: Function, row: Row, track: Track, at: int, number: Value) -> Value:
        """Return a number that a cell contributes, or 0 if the cell is absent."""
        return b.select(taken_out(b, row, track.guards[at]) > track.above, number, 0) if track.guards else number

    def _impersonal(self, b: Function, code: Value, track: Track, index: tuple[int, ...]) -> Value:
        """Return what a code contributes without the members it names, except those that its cell lies at."""
        value = track.value
        if value is None:
            return code
        said = b.convert("zext", code < value.offset, I64) if value.offset else b.typed(I64, 0)
        if value.height:
            said = (said << 8) + b.ones(code - value.offset if value.offset else code)
        for place, at in zip(track.places, index, strict=True):
            if place == Kind(value.sort, 0):
                said = (said << 1) + names(b, self._symmetry, code, value, at)
        return said

    # ---------------------------------------------------------------------------------------------------------- image

    def _image_function(self, m: Module) -> Function:
        """Define `image(codes, order, base, to)`: write a state with its members permuted.

        Its arguments are the codes of the cells that move, the member for each place, and the words of the state with 0
        in those cells.
        """
        words = self._schema.words
        b = m.function("image", VOID, (PTR, PTR, PTR, PTR), inline=False)
        codes, base, to = Elements(b, b.arguments[0]), b.arguments[2], b.arguments[3]
        order = _Order(b, Elements(b, b.arguments[1]), self._starts, self._symmetry)
        changes: dict[Span, Value] = {}
        for track in self._tracks:
            if not track.guards:
                for index, span in zip(self._symmetry.indices(track.places), track.spans, strict=True):
                    code = codes[self._source(b, order, track, index)]
                    changes[span] = code if track.value is None else order.renamed(code, track.value)
        row = with_spans(read_row(b, base, words), changes)
        row = with_spans(row, self._guarded(b, codes, order, row))
        write_row(b, to, self._collections.arranged(b, row))
        return b

    def _guarded(self, b: Function, codes: Elements, order: _Order, row: Row) -> dict[Span, Value]:
        """Return the new codes of cells with guards; the guards have been moved already."""
        changes: dict[Span, Value] = {}
        for track in self._tracks:
            for index, span, guard in zip(
                self._symmetry.indices(track.places), track.spans, track.guards, strict=False
            ):
                assert track.value is not None
                code, there = codes[self._source(b, order, track, index)], taken_out(b, row, guard) > track.above
                changes[span] = b.select(there, order.renamed(code, track.value), code)
        return changes

    def _source(self, b: Function, order: _Order, track: Track, index: tuple[int, ...]) -> Value:
        """Return the slot of the code that moves to the cell of a track with index `index`."""
        slot = b.typed(I64, self._slots[id(track)])
        stride = len(track.spans)
        for place, at in zip(track.places, index, strict=True):
            stride //= self._symmetry.size(place)
            slot = slot + order.source(place, at) * stride
        return slot


class _Order:
    """An order of members in registers: the member at each place, and the place of each member."""

    def __init__(self, b: Function, order: Elements, starts: dict[int, int], symmetry: Symmetry) -> None:
        self._b, self._symmetry = b, symmetry
        self._members: dict[int, list[Value]] = {}
        self._places: dict[int, Elements] = {}
        for sort, start in starts.items():
            members = [order[start + place] - start for place in range(symmetry.sizes[sort])]
            places = Elements(b, b.space(I64, len(members), 8))
            for place, member in enumerate(members):
                places[member] = place
            self._members[sort], self._places[sort] = members, places
        self._sources: dict[tuple[Kind, int], Value] = {}

    def source(self, kind: Kind, number: int) -> Value:
        """Return the member, or set of members, that moves to a place."""
        kind = Kind(kind.sort, kind.height)
        if not kind.height:
            return self._members[kind.sort][number]
        if (kind, number) not in self._sources:
            below = Kind(kind.sort, kind.height - 1)
            bits = [self._b.typed(I64, 1) << self.source(below, bit) for bit in _bits(number)]
            self._sources[kind, number] = reduce(Value.__or__, bits, self._b.typed(I64, 0))
        return self._sources[kind, number]

    def renamed(self, code: Value, value: Kind) -> Value:
        """Return a code with its members renamed to their new places."""
        b = self._b
        if not value.height and not value.offset:
            return self._places[value.sort][code]
        named = code - value.offset if value.offset else code
        nobody = code < value.offset if value.offset else None
        if not value.height:
            assert nobody is not None
            moved = self._places[value.sort][b.select(nobody, 0, named)]
        else:
            below = Kind(value.sort, value.height - 1)
            held = [(named >> self.source(below, bit) & 1) << bit for bit in range(self._symmetry.size(below))]
            moved = reduce(Value.__or__, held)
        return moved if nobody is None else b.select(nobody, code, moved + value.offset)


def _bits(number: int) -> Sequence[int]:
    return [bit for bit in range(number.bit_length()) if number >> bit & 1]


# -------------------------------------------------------------------------------------------------- code for each order

# If there are few orders, each gets code of its own, in which all moves are constant. Bits that are adjacent before and
# after move at once, and names of members are looked up in a word.


Renaming = Mapping[int, Sequence[int]]
"""For each sort the member that moves to each place."""

_MOST_ORDERS = 6
_MOST_SPANS = 1 << 10
_MOST_NAMES = 16
_NAME = 4  # bits per renamed name


def can_permute(symmetry: Symmetry, tracks: Sequence[Track], orders: int) -> bool:
    """Return whether orders, cells and names are few enough for each order to have code of its own."""
    values = [track.value for track in tracks if track.value is not None]
    few = all(value.height <= 1 and value.offset + symmetry.size(value) <= _MOST_NAMES for value in values)
    return few and orders <= _MOST_ORDERS and sum(len(track.spans) for track in tracks) <= _MOST_SPANS


def permuted(
    b: Function, symmetry: Symmetry, tracks: Sequence[Track], collections: Collections, row: Row, order: Renaming
) -> Row:
    """Return the words of a state with its members permuted.

    Args:
        b: the function.
        symmetry: of the state.
        tracks: all tracks that lie at members of the permuted sorts, or name them.
        collections: the collections whose elements are sorted again.
        row: the words of the state.
        order: of the members.
    """
    moves = [
        (span, track.spans[_source(symmetry, track, index, order)])
        for track in tracks
        for index, span in zip(symmetry.indices(track.places), track.spans, strict=True)
    ]
    row = with_spans(row, {to: taken_out(b, row, source) for to, source in _joined(moves) if to != source})
    row = with_spans(row, _renamed(b, symmetry, [track for track in tracks if not track.guards], row, order))
    row = with_spans(row, _renamed(b, symmetry, [track for track in tracks if track.guards], row, order))
    return collections.arranged(b, row)


def _joined(moves: Iterable[tuple[Span, Span]]) -> list[tuple[Span, Span]]:
    """Join moves whose bits are adjacent before and after."""
    joined: list[tuple[Span, Span]] = []
    for to, source in sorted(moves, key=lambda move: (move[0].word, move[0].shift)):
        if joined:
            last_to, last = joined[-1]
            beside = (last_to.word, last_to.end, last.word, last.end) == (to.word, to.shift, source.word, source.shift)
            if beside and last.bits + source.bits < WORD:
                bits = last.bits + source.bits
                joined[-1] = Span(last_to.word, last_to.shift, bits), Span(last.word, last.shift, bits)
                continue
        joined.append((to, source))
    return joined


def _renamed(b: Function, symmetry: Symmetry, tracks: Iterable[Track], row: Row, order: Renaming) -> dict[Span, Value]:
    """Return the changed names in a state whose cells have moved."""
    new: dict[Span, Value] = {}
    for track in tracks:
        names = [] if track.value is None else _new_names(symmetry, track.value, order)
        if names == list(range(len(names))):
            continue
        table = b.typed(I64, sum(name << _NAME * code for code, name in enumerate(names)))
        for at, span in enumerate(track.spans):
            code = taken_out(b, row, span)
            name = table >> code * _NAME & (1 << _NAME) - 1
            if track.guards:
                name = b.select(taken_out(b, row, track.guards[at]) > track.above, name, code)
            new[span] = name
    return new


def _new_names(symmetry: Symmetry, value: Kind, order: Renaming) -> list[int]:
    """Return the new code for each code that names a member, a set of members, or nobody."""
    members = order[value.sort]
    if value.height:
        held = range(symmetry.size(value))
        moved = [sum((one >> member & 1) << place for place, member in enumerate(members)) for one in held]
    else:
        moved = [list(members).index(member) for member in range(len(members))]
    return [*range(value.offset), *(value.offset + name for name in moved)]


def _source(symmetry: Symmetry, track: Track, index: Sequence[int], order: Renaming) -> int:
    """Return which cell of a track moves to the cell with index `index`."""
    slot = 0
    for place, at in zip(track.places, index, strict=True):
        slot = slot * symmetry.size(place) + _from(place.height, at, order[place.sort])
    return slot


def _from(height: int, number: int, members: Sequence[int]) -> int:
    """Return the member, or the set of members, that moves to a place."""
    if not height:
        return members[number]
    bits = (bit for bit in range(number.bit_length()) if number >> bit & 1)
    return sum(1 << _from(height - 1, bit, members) for bit in bits)

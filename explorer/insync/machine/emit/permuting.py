"""States with their members in another order, for generated code: each order by itself, so that it is known what moves.

Of few orders that is little code: bits that lie side by side before and after move at once, and what names a member is
looked up in a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from insync.machine.emit.builder import I64, Function, Value
from insync.machine.emit.containers import Collections
from insync.machine.emit.memory import Row, Span, Track, taken_out, with_spans
from insync.model.schema import WORD
from insync.model.symmetry import Kind, Symmetry

__all__ = ["Renaming", "can_permute", "permuted"]

Renaming = Mapping[int, Sequence[int]]
"""For each sort the member that is to be at each place."""

_MOST_ORDERS = 6
_MOST_SPANS = 1 << 10
_MOST_NAMES = 16
_NAME = 4  # bits for what a name becomes


def can_permute(symmetry: Symmetry, tracks: Sequence[Track], orders: int) -> bool:
    """Return whether there are so few orders, cells and names that each order is worth code of its own."""
    values = [track.value for track in tracks if track.value is not None]
    few = all(value.height <= 1 and value.offset + symmetry.size(value) <= _MOST_NAMES for value in values)
    return few and orders <= _MOST_ORDERS and sum(len(track.spans) for track in tracks) <= _MOST_SPANS


def permuted(
    b: Function, symmetry: Symmetry, tracks: Sequence[Track], collections: Collections, row: Row, order: Renaming
) -> Row:
    """Return the words of a state whose members are those of another in some order.

    Args:
        b: the function.
        symmetry: of the state.
        tracks: all that speak of the sorts that are permuted.
        collections: whose elements are to be in order again.
        row: the words of the other state.
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
    """Make one move of those whose bits lie side by side before and after."""
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
    """Return what becomes of the names in a state whose cells have moved, where it is something else."""
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
    """Return what becomes of each code that names a member, or a set of members, or nobody."""
    members = order[value.sort]
    if value.height:
        held = range(symmetry.size(value))
        moved = [sum((one >> member & 1) << place for place, member in enumerate(members)) for one in held]
    else:
        moved = [list(members).index(member) for member in range(len(members))]
    return [*range(value.offset), *(value.offset + name for name in moved)]


def _source(symmetry: Symmetry, track: Track, index: Sequence[int], order: Renaming) -> int:
    """Return which of the cells of a track moves to where that with these places lies."""
    slot = 0
    for place, at in zip(track.places, index, strict=True):
        slot = slot * symmetry.size(place) + _from(place.height, at, order[place.sort])
    return slot


def _from(height: int, number: int, members: Sequence[int]) -> int:
    """Return the member, or the set of members, that is to be at a place."""
    if not height:
        return members[number]
    bits = (bit for bit in range(number.bit_length()) if number >> bit & 1)
    return sum(1 << _from(height - 1, bit, members) for bit in bits)

"""Families of cells as bits in words, for generated code: cells that always move together are moved as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from insync.machine.emit.cells import Span, span_of
from insync.model.schema import WORD, Schema
from insync.model.symmetry import Family, Kind

__all__ = ["Track", "tracks_of"]


@dataclass(frozen=True, slots=True)
class Track:
    """A family of cells, or several that lie side by side at all places.

    Attributes:
        places: what they lie at, as of a family.
        spans: where they lie, for all values of the places.
        value: what their number names; None where it names nobody.
        guards: where the cells lie that tell which of them are there; empty where all always are.
        above: what those are greater than where they are there.
    """

    places: tuple[Kind, ...]
    spans: tuple[Span, ...]
    value: Kind | None
    guards: tuple[Span, ...] = ()
    above: int = 0

    @property
    def sorts(self) -> set[int]:
        """The sorts that it speaks of."""
        return {kind.sort for kind in (*self.places, self.value) if kind is not None}


def tracks_of(schema: Schema, families: Iterable[Family]) -> list[Track]:
    """Return where families lie; those that hold one code only are left out."""
    made: list[Track] = []
    for family in families:
        spans = tuple(span_of(schema, cell) for cell in family.cells)
        if not spans[0].bits:
            continue
        before = made[-1] if made else None
        if before is not None and family.value is before.value is None and family.places == before.places:
            pairs = list(zip(before.spans, spans, strict=True))
            if all(_adjoin(first, second) for first, second in pairs):
                joined = tuple(Span(first.word, first.shift, first.bits + second.bits) for first, second in pairs)
                made[-1] = Track(family.places, joined, None)
                continue
        guards = tuple(span_of(schema, cell) for cell in family.guards)
        made.append(Track(family.places, spans, family.value, guards, family.above))
    return made


def _adjoin(first: Span, second: Span) -> bool:
    return first.word == second.word and first.end == second.shift and first.bits + second.bits < WORD

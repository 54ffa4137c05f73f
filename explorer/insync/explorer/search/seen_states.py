"""Which abstract states random walks saw, counted in the order of the walks, whoever took them and when."""

from __future__ import annotations

from dataclasses import dataclass

from insync.explorer.tables import TableColumns, plural
from insync.machine.walker import Sightings

__all__ = ["AbstractStates", "SeenStates"]


@dataclass(frozen=True, slots=True)
class AbstractStates:
    """The abstract states that walks saw: the states, told apart by what the model's `abstraction` names alone.

    Attributes:
        names: what it names.
        distinct: how many there are; each is kept whole, so no two are taken for one.
        last_new: the number of the last walk that saw a new one; None if no walk was taken.
        growth: after how many walks there were how many: after 1, 10, 100, and so on, and after the last.
    """

    names: tuple[str, ...]
    distinct: int
    last_new: int | None
    growth: tuple[tuple[int, int], ...]

    def summary(self) -> str:
        """Return it as a line."""
        last = "" if self.last_new is None else f", the last new one in walk {self.last_new:,}"
        return f"{plural(self.distinct, 'abstract state')}{last}"

    def table(self) -> TableColumns:
        """Return how they grew, as the columns of a table."""
        walks, states = zip(*self.growth, strict=True) if self.growth else ((), ())
        return {"walks": list(walks), "abstract_states": list(states)}


class SeenStates:
    """Counts the abstract states of walks that come in order.

    Args:
        sightings: where they are kept, empty.
        patience: after how many walks in a row without a new one they are saturated; None is never.

    Attributes:
        saturated: how many walks it took until they were; None while they are not.
    """

    def __init__(self, sightings: Sightings, patience: int | None) -> None:
        self._sightings, self._patience = sightings, patience
        self._distinct = 0
        self._last_new: int | None = None
        self._growth: list[tuple[int, int]] = []
        self.saturated: int | None = None

    def __len__(self) -> int:
        return self._distinct

    def add(self, entries: bytes, first: int, end: int, failed: int | None, whole: bool = True) -> None:
        """Count what the walks of some numbers saw, which follow those that were counted.

        Args:
            entries: what they saw; see `Sightings.entries`.
            first: the number of the first walk.
            end: the number after the last.
            failed: the number of the first of them that fails.
            whole: whether they came to their ends; where somebody stopped them, saturation cannot be known.
        """
        assert self.saturated is None, "what comes after saturation does not count"
        new = self._sightings.absorb(entries, first, end - first)
        fresh = [(first + place, count) for place, count in enumerate(new) if count]
        if whole:
            saturated = self._saturated(fresh, end)
            if saturated is not None and (failed is None or saturated <= failed):
                self.saturated, end = saturated, saturated
        for walk, count in fresh:
            if walk < end:
                self._mark(walk)
                self._last_new = walk
                self._distinct += count
        self._mark(end)

    def found(self, names: tuple[str, ...], walks: int) -> AbstractStates:
        """Return what so many walks saw of what has these names."""
        before = [(mark, count) for mark, count in self._growth if mark < walks]
        after = [(walks, self._distinct)] if walks else []
        return AbstractStates(names, self._distinct, self._last_new, (*before, *after))

    def close(self) -> None:
        """Give all memory back."""
        self._sightings.close()

    def _saturated(self, fresh: list[tuple[int, int]], end: int) -> int | None:
        """Return how many walks it takes until they are saturated, if it is not more than so many."""
        if self._patience is None:
            return None
        last = -1 if self._last_new is None else self._last_new
        for walk, _ in [*fresh, (end, 0)]:
            if walk - last > self._patience:
                return last + 1 + self._patience
            last = walk
        return None

    def _mark(self, walks: int) -> None:
        """Note how many there were after 1, 10, 100 walks, and so on, as far as so many walks were taken."""
        while (mark := 10 ** len(self._growth)) <= walks:
            self._growth.append((mark, self._distinct))

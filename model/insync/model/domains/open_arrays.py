"""Arrays of which nobody knows how long they are, because a bound is left open: functions of a place."""

from __future__ import annotations

from collections.abc import Iterator

from insync.model.domains.domain import Domain

__all__ = ["OpenArray"]


class OpenArray(Domain):
    """One value for each of an open number of places. Its cells are those of one value, each a function of the place.

    Args:
        over: what it has a value for each of: a sort, a range, or a number of places.
        of: the bound domain of the values.
        length: the stand-in for the number of places.
        lowest: the number that stands for the first place.
    """

    def __init__(self, over: object, of: Domain, length: int, lowest: int) -> None:
        self.over, self.of, self.length, self.lowest = over, of, length, lowest
        self.width = of.width

    def shape(self) -> tuple[object, ...]:
        return (OpenArray, self.length, self.of.shape())

    def cells(self, path: str) -> Iterator[tuple[str, int]]:
        yield from self.of.cells(f"{path}[...]")

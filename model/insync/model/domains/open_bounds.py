"""Open bounds: sizes without a value, so that what is traced holds for all values (parameterized verification).

Where code of this package needs a number, as for the size of a domain, an open bound gives a stand-in, far above all
numbers that models use. `OpenGraph` turns the stand-in, and numbers near it, into a node for the bound again, so no
operation of the graph has the stand-in as an operand. The upper ends of ranges are meaningless in such a graph. The
rewrite rules may use lower ends alone, which are correct for every value of the bound. An array over an open bound is a
function of the place (`OpenArray`). See ADR 0016.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from insync.model.domains.bounds import LEAST_OPEN, BoundTerm, is_whole
from insync.model.domains.domain import Domain, Element, Part
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.lifted import LiftedGraph
from insync.runtime.errors import ModelError, user_frame

__all__ = [
    "OpenArray",
    "OpenGraph",
    "OpenMembers",
    "OpenSize",
    "open_sizes",
]


_NEAR = 2**40
"""Numbers that are added to an open bound are below this."""

_FIRST, _APART = LEAST_OPEN + _NEAR, 2**42
"""The stand-in of the first open bound, and the distance between two stand-ins."""


class OpenSize(BoundTerm):
    """The value of an open bound, plus a number; Python can decide nothing by it.

    Args:
        name: the name of the bound.
        stand_in: the stand-in of the bound.
        more: the number that is added.
    """

    __slots__ = ("_more", "_name", "_stand_in")

    def __init__(self, name: str, stand_in: int, more: int = 0) -> None:
        super().__init__(f"the bound {name}" + (f" {more:+}" if more else ""), lambda _: stand_in + more)
        self._name, self._stand_in, self._more = name, stand_in, more

    @property
    def stand_in(self) -> int:
        """The number that stands for this size."""
        return self._stand_in + self._more

    def _plus(self, number: object) -> Any:
        if not is_whole(number) or abs(self._more + number) >= _NEAR:
            return NotImplemented
        return OpenSize(self._name, self._stand_in, self._more + number)

    def __add__(self, other: object) -> Any:
        return self._plus(other)

    __radd__ = __add__

    def __sub__(self, other: object) -> Any:
        return self._plus(-other) if is_whole(other) else NotImplemented

    def __rsub__(self, other: object) -> Any:
        return NotImplemented

    __mul__ = __rmul__ = __floordiv__ = __rsub__

    def __bool__(self, *_: object) -> NoReturn:
        message = (
            f"{user_frame()}: {self!r} is left open, so Python cannot decide with it or count up to it. Compare it "
            f"with a field or a variable, and quantify over a sort or a Range: for_all(Offset, lambda offset: ...)."
        )
        raise ModelError(message)

    __index__ = __int__ = __bool__

    def _compared(self, other: object) -> Any:
        """Leave the comparison to the other operand if that is symbolic; refuse it otherwise."""
        if is_whole(other) or isinstance(other, BoundTerm):
            self.__bool__()
        return NotImplemented

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _compared  # type: ignore[assignment]
    __hash__ = BoundTerm.__hash__


def open_sizes(names: Iterable[str]) -> dict[str, OpenSize]:
    """Return an open bound for each name, with stand-ins that lie far apart."""
    return {name: OpenSize(name, _FIRST + place * _APART) for place, name in enumerate(names)}


class OpenMembers(Sequence[Any]):
    """The members of a sort or range whose size is open; only quantifiers can range over them.

    Args:
        kind: the sort or range.
        lowest: the number of the first member.
        size: the stand-in for the number of members.
    """

    def __init__(self, kind: type, lowest: int, size: int) -> None:
        self.kind, self.lowest, self.size = kind, lowest, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, place: object) -> Any:
        assert place == 0, "no other place is known to be there"
        return self.lowest

    def __iter__(self) -> Iterator[Any]:
        message = (
            f"{user_frame()}: how many members {self.kind.__name__} has is left open, so Python cannot go through "
            f"them. Write for_all({self.kind.__name__}, lambda x: ...), exists, max_of or min_of."
        )
        raise ModelError(message)


class OpenGraph(LiftedGraph):
    """A graph of a model some of whose bounds are open.

    Args:
        cell_sizes: the number of codes of each cell.
        open_bounds: the open bounds by name.

    Attributes:
        bound_cells: for each open bound the number of the cell that holds its value.
    """

    decides = False

    def __init__(self, cell_sizes: Iterable[int], open_bounds: Mapping[str, OpenSize]) -> None:
        own = tuple(cell_sizes)
        self._stand_ins = {bound.stand_in: len(own) + place for place, bound in enumerate(open_bounds.values())}
        self.bound_cells = {name: self._stand_ins[bound.stand_in] for name, bound in open_bounds.items()}
        super().__init__((*own, *[_FIRST * 4] * len(self._stand_ins)))

    def const(self, value: int) -> Node:
        """Return the node of an int constant, or of an open bound with a number added."""
        for stand_in, cell in self._stand_ins.items():
            if abs(value - stand_in) < _NEAR:
                bound = self.node(Op.CELL, arg=cell)
                more = value - stand_in
                return self.node(Op.ADD, (bound, super().const(more))) if more else bound
        if abs(value) >= _NEAR:
            raise _not_added(value)
        return super().const(value)

    def bound_of(self, size: int) -> tuple[str, int]:
        """Return the name of the open bound in a size, and the number that is added to it."""
        for name, cell in self.bound_cells.items():
            stand_in = next(number for number, its in self._stand_ins.items() if its == cell)
            if abs(size - stand_in) < _NEAR:
                return name, size - stand_in
        raise _not_added(size)


def _not_added(number: int) -> ModelError:
    message = (
        f"{user_frame()}: an open bound can have a number added, and nothing else can be calculated with it; this "
        f"gives {number} where nothing near an open bound is meant."
    )
    return ModelError(message)


# ------------------------------------------------------------------------------------------------ arrays of open length


class OpenArray(Domain):
    """An array of open length. It has the cells of one value; each is a function of the place.

    Args:
        over: the sort or range of the indexes, or a number of places.
        of: the bound domain of the values.
        length: the stand-in for the number of places.
        lowest: the index of the first place.
    """

    def __init__(self, over: object, of: Domain, length: int, lowest: int) -> None:
        self.over, self.of, self.length, self.lowest = over, of, length, lowest
        self.width = of.width

    def shape(self) -> tuple[object, ...]:
        return (OpenArray, self.length, self.of.shape())

    def parts(self) -> tuple[Part, ...]:
        return (Part(Element(0, "..."), self.of, 0),)

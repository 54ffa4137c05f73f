"""Values that may be none, as an author of a model handles them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from insync.model.domains.either import Either
from insync.model.domains.symbolic import Symbolic
from insync.model.domains.values import Bool, Nothing, Num, OneNode, condition, number, of_graph, sort_of
from insync.model.errors import ModelError, user_frame
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply, combine

if TYPE_CHECKING:
    from insync.model.domains.scalars import OptionalScalar

__all__ = ["OptionValue"]


class OptionValue(OneNode):
    """A symbolic value that may be none."""

    __slots__ = ("_domain",)
    __hash__ = Symbolic.__hash__
    compares_last = True

    def __init__(self, domain: OptionalScalar, node: Node) -> None:
        self._domain, self.node = domain, node

    def __repr__(self) -> str:
        return "this option"

    def is_none(self) -> Bool:
        """Return whether it is none."""
        return Bool(apply(Op.EQ, self.node, self.graph.const(0)))

    def is_some(self) -> Bool:
        """Return whether it has a value."""
        return ~self.is_none()

    @property
    def value(self) -> Any:
        """The value, where there is one; the first of its domain where it is none."""
        lower = apply(Op.ADD, self.node, self.graph.const(-1))
        return self._domain.of.lift(apply(Op.MAX, lower, self.graph.const(0)))

    def or_else(self, default: Num | int) -> Num:
        """Return the number, or the default where it is none."""
        graph, of = self.graph, self._domain.of
        if of.first is None:
            message = f"{user_frame()}: or_else() is for optional numbers and members; use If(x.is_some(), ...) here."
            raise ModelError(message)
        sort = of.sort if sort_of(default) is not None else None
        fallback = number(graph, default, of.sort)
        some = apply(Op.ADD, self.node, graph.const(of.first - 1))
        if fallback.op is Op.CONST and fallback.lo == of.first - 1:  # exactly what the code of none would give
            return Num(some, sort)
        none = apply(Op.EQ, self.node, graph.const(0))
        return Num(apply(Op.ITE, none, fallback, some), sort)

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        graph, of = self.graph, self._domain.of
        if isinstance(other, Nothing) or other is None:
            return self.is_none()
        if isinstance(other, OptionValue):
            if other._domain.shape() != self._domain.shape():
                sorts = of.sort, other._domain.of.sort
                cure = "compare their .value instead."
                if None not in sorts:
                    names = " and of ".join(sort.__name__ for sort in sorts if sort is not None)
                    cure = f"they may hold members of {names}, which are never the same thing."
                message = f"{user_frame()}: these options are of different domains; {cure}"
                raise ModelError(message)
            return Bool(apply(Op.EQ, self.node, of_graph(graph, other)))
        if isinstance(other, Either):
            return other == self
        if of.first is not None:
            wanted = apply(Op.ADD, number(graph, other, of.sort), graph.const(1 - of.first))
            equal = apply(Op.EQ, self.node, wanted)
            return Bool(equal if wanted.lo > 0 else combine(graph, Op.AND, [equal, self.is_some().node]))
        return self.is_some() & Bool(condition(graph, self.value == other))

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return ~(self == other)

    def _no_number(self, other: object) -> NoReturn:
        message = (
            f"{user_frame()}: this option may be none, which cannot be ordered or added to. "
            f"Write .or_else(default), or .value where it cannot be none."
        )
        raise ModelError(message)

    __lt__ = __le__ = __gt__ = __ge__ = _no_number
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _no_number

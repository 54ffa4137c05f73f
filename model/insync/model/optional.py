"""The value of one cell: from its code to what an author handles, and values that may be none."""

from __future__ import annotations

from typing import Any, NoReturn

from insync.model import domains as d
from insync.model.environment import Environment
from insync.model.errors import ModelError, user_frame
from insync.model.graph import Graph, Node, Op
from insync.model.simplify import apply, combine
from insync.model.values import Bool, Either, EnumValue, Nothing, Num, SetValue, Symbolic, condition, number, of_graph

__all__ = ["OptionValue", "from_code"]


def from_code(scalar: d.Scalar, env: Environment, code: Node) -> Any:
    """Return the symbolic value that a code of the scalar domain stands for."""
    graph = env.graph
    match scalar:
        case d.Boolean():
            return Bool(graph, apply(graph, Op.EQ, code, graph.const(1)))
        case d.Int():
            return Num(graph, apply(graph, Op.ADD, code, graph.const(scalar.lo)))
        case d.Member():
            return Num(graph, code)
        case d.Enum():
            return EnumValue(graph, code, scalar.kind)
        case d.Set():
            return SetValue(graph, code, scalar.elements())
        case d.OptionalScalar():
            return OptionValue(scalar, env, code)
    raise AssertionError(scalar)


class OptionValue(Symbolic):
    """A symbolic value that may be none."""

    __slots__ = ("_domain", "_env", "node")
    __hash__ = object.__hash__
    compares_last = True

    def __init__(self, domain: d.OptionalScalar, env: Environment, node: Node) -> None:
        self._domain, self._env, self.node = domain, env, node

    def __repr__(self) -> str:
        return "this option"

    def is_none(self) -> Bool:
        """Return whether it is none."""
        return Bool(self._env.graph, apply(self._env.graph, Op.EQ, self.node, self._env.graph.const(0)))

    def is_some(self) -> Bool:
        """Return whether it has a value."""
        return ~self.is_none()

    @property
    def graph(self) -> Graph:
        """The graph of its node."""
        return self._env.graph

    @property
    def value(self) -> Any:
        """The value, where there is one; the first of its domain where it is none."""
        graph = self._env.graph
        zero = graph.const(0)
        lower = apply(graph, Op.ADD, self.node, graph.const(-1))
        return from_code(self._domain.of, self._env, apply(graph, Op.MAX, lower, zero))

    def or_else(self, default: Num | int) -> Num:
        """Return the number, or the default where it is none."""
        graph = self._env.graph
        if not isinstance(self._domain.of, (d.Int, d.Member)):
            message = f"{user_frame()}: or_else() is for optional numbers and members; use If(x.is_some(), ...) here."
            raise ModelError(message)
        lo = self._domain.of.lo if isinstance(self._domain.of, d.Int) else 0
        some = apply(graph, Op.ADD, self.node, graph.const(lo - 1))
        fallback = number(graph, default)
        if fallback.op is Op.CONST and fallback.lo == lo - 1:  # exactly what the code of none would give
            return Num(graph, some)
        none = apply(graph, Op.EQ, self.node, graph.const(0))
        return Num(graph, apply(graph, Op.ITE, none, fallback, some))

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        graph = self._env.graph
        if isinstance(other, Nothing) or other is None:
            return self.is_none()
        if isinstance(other, OptionValue):
            if other._domain.shape() != self._domain.shape():
                message = f"{user_frame()}: these options are of different domains; compare their .value instead."
                raise ModelError(message)
            return Bool(graph, apply(graph, Op.EQ, self.node, of_graph(graph, other)))
        if isinstance(other, Either):
            return other == self
        if isinstance(self._domain.of, (d.Int, d.Member)):
            lo = self._domain.of.lo if isinstance(self._domain.of, d.Int) else 0
            wanted = apply(graph, Op.ADD, number(graph, other), graph.const(1 - lo))
            equal = apply(graph, Op.EQ, self.node, wanted)
            return Bool(graph, equal if wanted.lo > 0 else combine(graph, Op.AND, [equal, self.is_some().node]))
        same = condition(graph, self.value == other)
        return self.is_some() & Bool(graph, same)

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

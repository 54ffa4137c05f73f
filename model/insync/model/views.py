"""Views: how an author reads and assigns the fields of a state while it is traced.

`view` turns a place into the value that the author handles: a number, condition, set or option for
one cell, a live view for records and arrays. `codes_for` turns an assigned value into the codes
of a domain, with the check that it fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum as PythonEnum
from typing import Any

from insync.model import domains as d
from insync.model.environment import Environment, Place, current
from insync.model.errors import ModelError, closest, user_frame
from insync.model.graph import Node, Op
from insync.model.simplify import apply, combine
from insync.model.values import Bool, Condition, EnumValue, Nothing, Num, SetValue, Symbolic, condition, mask, number

__all__ = [
    "ArrayView",
    "OptionRecordView",
    "OptionValue",
    "RecordLiteral",
    "RecordView",
    "StateView",
    "codes_for",
    "record",
    "view",
]


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
            return SetValue(
                graph, code, tuple(str(scalar._element().readable(i)) for i in range(scalar._element().size))
            )
        case d.OptionalScalar():
            return OptionValue(scalar, env, code)
    raise AssertionError(scalar)


class OptionValue(Symbolic):
    """A symbolic value that may be none."""

    __slots__ = ("_domain", "_env", "node")
    __hash__ = object.__hash__

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
            if _shape(other._domain.of) != _shape(self._domain.of):
                message = f"{user_frame()}: these options are of different domains; compare their .value instead."
                raise ModelError(message)
            return Bool(graph, apply(graph, Op.EQ, self.node, other.node))
        if isinstance(self._domain.of, (d.Int, d.Member)):
            lo = self._domain.of.lo if isinstance(self._domain.of, d.Int) else 0
            wanted = apply(graph, Op.ADD, number(graph, other), graph.const(1 - lo))
            equal = apply(graph, Op.EQ, self.node, wanted)
            return Bool(graph, equal if wanted.lo > 0 else combine(graph, Op.AND, [equal, self.is_some().node]))
        same: Condition = self.value == other
        return self.is_some() & same

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return ~(self == other)


def _shape(scalar: d.Scalar) -> tuple[object, ...]:
    return (type(scalar), scalar.size, getattr(scalar, "lo", None), getattr(scalar, "sort", None))


class View(Symbolic):
    """A live view of a record or array in a state: reads see earlier assignments, assignments go through."""

    __slots__ = ("_domain", "_place")
    __hash__ = object.__hash__
    _domain: Any
    _place: Place

    def __init__(self, domain: d.Domain, place: Place) -> None:
        object.__setattr__(self, "_domain", domain)
        object.__setattr__(self, "_place", place)

    def __repr__(self) -> str:
        return self._place.path or "the state"

    def _codes(self) -> list[Node]:
        return [self._place.read(i) for i in range(self._domain.width)]

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        graph, mine = self._place.environment.graph, self._codes()
        theirs = codes_for(self._domain, self._place.environment, other, self._place.path)
        return Bool(
            graph, combine(graph, Op.AND, [apply(graph, Op.EQ, a, b) for a, b in zip(mine, theirs, strict=True)])
        )

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return ~(self == other)


class RecordView(View):
    """A record of the state: its fields are attributes."""

    __slots__ = ()

    def _field(self, name: str) -> tuple[d.Domain, Place]:
        domain, place = self._domain, self._place
        found = domain.fields.get(name)
        if found is None:
            message = f"{user_frame()}: {self!r} has no field {name!r}. {closest(name, domain.fields)}"
            raise ModelError(message)
        return found, place.at(domain.offsets[name], f"{place.path}.{name}" if place.path else name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return view(*self._field(name))

    def __setattr__(self, name: str, value: object) -> None:
        assign(*self._field(name), value)


class StateView(RecordView):
    """The whole state."""

    __slots__ = ()


class ArrayView(View):
    """An array of the state: its elements by place, member or symbolic number."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self._domain.labels)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def _element(self, index: object) -> tuple[d.Domain, Place]:
        domain, place = self._domain, self._place
        node = number(place.environment.graph, index)
        if node.op is not Op.CONST:
            return domain.of, place.indexed(node, len(domain.labels), domain.of.width, f"{place.path}[...]")
        if not 0 <= node.lo < len(domain.labels):
            message = f"{user_frame()}: {self!r} has no place {node.lo}; its places are 0 to {len(domain.labels) - 1}."
            raise ModelError(message)
        return domain.of, place.at(node.lo * domain.of.width, f"{place.path}[{domain.labels[node.lo]}]")

    def __getitem__(self, index: object) -> Any:
        return view(*self._element(index))

    def __setitem__(self, index: object, value: object) -> None:
        assign(*self._element(index), value)


class OptionRecordView(View):
    """A record of the state that may be absent."""

    __slots__ = ()

    def is_some(self) -> Bool:
        """Return whether the record is there."""
        graph = self._place.environment.graph
        return Bool(graph, apply(graph, Op.EQ, self._place.read(), graph.const(1)))

    def is_none(self) -> Bool:
        """Return whether the record is absent."""
        return ~self.is_some()

    @property
    def value(self) -> Any:
        """The record, where there is one; all fields the first of their domain where it is absent."""
        return RecordView(self._domain.of, self._place.at(1, self._place.path))


class Chosen(Symbolic):
    """A record, array or optional record that is no place: what `If` gives, to be assigned."""

    __slots__ = ("domain", "nodes")

    def __init__(self, domain: d.Domain, nodes: list[Node]) -> None:
        self.domain, self.nodes = domain, nodes

    def __repr__(self) -> str:
        return "this value"


def choose(test: Bool, then: object, otherwise: object) -> Any:
    """Return one of two values by a test; one of them at least is an option, a record or an array."""
    pattern = next(v for v in (then, otherwise) if isinstance(v, (OptionValue, View, Chosen)))
    domain = pattern.domain if isinstance(pattern, Chosen) else pattern._domain
    graph, target = test.graph, current.get()
    arms = []
    for value, chosen in ((then, test.node), (otherwise, apply(graph, Op.NOT, test.node))):
        aside = Environment(graph, [], writable=False)
        arms.append(codes_for(domain, aside, value, "this choice"))
        for check, message in aside.checks if target is not None else ():
            assert target is not None
            target.checks.append((combine(graph, Op.OR, [apply(graph, Op.NOT, chosen), check]), message))
    nodes = [apply(graph, Op.ITE, test.node, a, b) for a, b in zip(*arms, strict=True)]
    if isinstance(pattern, OptionValue):
        return OptionValue(domain, pattern._env, nodes[0])
    return Chosen(domain, nodes)


class RecordLiteral(dict[str, object]):
    """A record's value, to be assigned or compared."""


def record(**fields: object) -> RecordLiteral:
    """Return a record's value with these fields."""
    return RecordLiteral(fields)


def view(domain: d.Domain, place: Place) -> Any:
    """Return what an author handles for the value at a place."""
    match domain:
        case d.Scalar():
            return from_code(domain, place.environment, place.read())
        case d.State():
            return StateView(domain, place)
        case d.Record():
            return RecordView(domain, place)
        case d.Array():
            return ArrayView(domain, place)
        case d.Option():
            return OptionRecordView(domain, place)
    raise AssertionError(domain)


def assign(domain: d.Domain, place: Place, value: object) -> None:
    """Assign a value to a place.

    Raises:
        ModelError: it is of another type than the place, or can never fit.
    """
    place.write(codes_for(domain, place.environment, value, place.path))


def codes_for(domain: d.Domain, env: Environment, value: object, path: str) -> list[Node]:
    """Return the codes of a value in a domain; what may not fit becomes a check of the environment."""
    graph = env.graph
    if isinstance(domain, d.Scalar):
        code = _scalar_code(domain, env, value, path)
        fits = [apply(graph, Op.LE, graph.const(0), code), apply(graph, Op.LT, code, graph.const(domain.size))]
        env.expect(combine(graph, Op.AND, fits), f"the value assigned to {path} is not {domain.expected()}.")
        return [code]
    if (
        isinstance(value, View)
        and value._domain.width == domain.width
        and list(value._domain.cells("")) == list(domain.cells(""))
    ):
        return value._codes()
    if isinstance(value, Chosen) and list(value.domain.cells("")) == list(domain.cells("")):
        return value.nodes
    if isinstance(domain, d.Option):
        if isinstance(value, Nothing) or value is None:
            return [graph.const(0)] * domain.width
        return [graph.const(1), *codes_for(domain.of, env, value, path)]
    if isinstance(domain, d.Record) and isinstance(value, dict):
        if set(value) != set(domain.fields):
            given = ", ".join(value) or "none"
            message = f"{user_frame()}: {path} has the fields {', '.join(domain.fields)}; the record given has {given}."
            raise ModelError(message)
        return [
            c for name, field in domain.fields.items() for c in codes_for(field, env, value[name], f"{path}.{name}")
        ]
    if isinstance(domain, d.Array) and isinstance(value, (list, tuple)) and len(value) == len(domain.labels):
        parts = zip(domain.labels, value, strict=True)
        return [c for label, part in parts for c in codes_for(domain.of, env, part, f"{path}[{label}]")]
    message = f"{user_frame()}: {value!r} cannot be the value of {path}, which is a {type(domain).__name__}."
    raise ModelError(message)


def _scalar_code(domain: d.Scalar, env: Environment, value: object, path: str) -> Node:
    rule = _CODE[type(domain)]
    return rule(domain, env, value, path)


def _boolean_code(domain: d.Boolean, env: Environment, value: object, path: str) -> Node:
    graph = env.graph
    return apply(graph, Op.ITE, condition(graph, value), graph.const(1), graph.const(0))


def _int_code(domain: d.Int, env: Environment, value: object, path: str) -> Node:
    return apply(env.graph, Op.ADD, number(env.graph, value), env.graph.const(-domain.lo))


def _member_code(domain: d.Member, env: Environment, value: object, path: str) -> Node:
    return number(env.graph, value)


def _enum_code(domain: d.Enum, env: Environment, value: object, path: str) -> Node:
    if isinstance(value, EnumValue) and value.kind is domain.kind:
        return value.node
    if isinstance(value, PythonEnum) and isinstance(value, domain.kind):
        return env.graph.const(domain.names.index(value.name))
    message = f"{user_frame()}: {value!r} cannot be the value of {path}; expected a member of {domain.kind.__name__}."
    raise ModelError(message)


def _set_code(domain: d.Set, env: Environment, value: object, path: str) -> Node:
    return mask(env.graph, value)


def _optional_code(domain: d.OptionalScalar, env: Environment, value: object, path: str) -> Node:
    graph = env.graph
    if isinstance(value, Nothing) or value is None:
        return graph.const(0)
    if isinstance(value, OptionValue) and _shape(value._domain.of) == _shape(domain.of):
        return value.node
    inner = _scalar_code(domain.of, env, value, path)
    fits = [apply(graph, Op.LE, graph.const(0), inner), apply(graph, Op.LT, inner, graph.const(domain.of.size))]
    env.expect(combine(graph, Op.AND, fits), f"the value assigned to {path} is not {domain.expected()}.")
    return apply(graph, Op.ADD, inner, graph.const(1))


_CODE: dict[type[d.Scalar], Callable[[Any, Environment, object, str], Node]] = {
    d.Boolean: _boolean_code,
    d.Int: _int_code,
    d.Enum: _enum_code,
    d.Member: _member_code,
    d.Set: _set_code,
    d.OptionalScalar: _optional_code,
}

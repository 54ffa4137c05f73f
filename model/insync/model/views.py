"""Views: how an author reads and assigns the fields of a state while it is traced.

`view` turns a place into the value that the author handles: a number, condition, set or option for
one cell, a live view for records and arrays. `codes_for` turns an assigned value into the codes
of a domain, with the check that it fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum as PythonEnum
from typing import Any, NoReturn

from insync.model import domains as d
from insync.model.environment import Environment, Place, current
from insync.model.errors import ModelError, closest, user_frame
from insync.model.graph import Node, Op
from insync.model.optional import OptionValue, from_code
from insync.model.simplify import apply, combine
from insync.model.values import Bool, Either, EnumValue, Nothing, Num, Symbolic, condition, mask, number, of_graph

__all__ = [
    "ArrayView",
    "OptionRecordView",
    "RecordLiteral",
    "RecordView",
    "StateView",
    "codes_for",
    "record",
    "view",
]


class View(Symbolic):
    """A live view of a record or array in a state: reads see earlier assignments, assignments go through."""

    __slots__ = ("_domain", "_place")
    __hash__ = object.__hash__
    compares_last = True
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
        graph = self._place.environment.graph
        aside = Environment(graph, [])  # what is not of the domain is not equal; it is no error, as it is to assign it
        theirs = codes_for(self._domain, aside, other, self._place.path)
        same = [apply(graph, Op.EQ, a, b) for a, b in zip(self._codes(), theirs, strict=True)]
        return Bool(graph, combine(graph, Op.AND, [*(fits for fits, _ in aside.checks), *same]))

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

    def __getattr__(self, name: str) -> Any:
        _no_attribute(self, name, "is an array: write its index in brackets first")

    def __setattr__(self, name: str, value: object) -> None:
        _no_attribute(self, name, "is an array: write its index in brackets first")

    def _element(self, index: object) -> tuple[d.Domain, Place]:
        domain, place = self._domain, self._place
        node, length = number(place.environment.graph, index), len(domain.labels)
        if node.op is Op.CONST and 0 <= node.lo < length:
            return domain.of, place.at(node.lo * domain.of.width, f"{place.path}[{domain.labels[node.lo]}]")
        if isinstance(index, int):
            message = f"{user_frame()}: {self!r} has no place {node.lo}; its {length} places are numbered from 0."
            raise ModelError(message)
        return domain.of, place.indexed(node, length, domain.of.width, f"{place.path}[...]")

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
        return RecordView(self._domain.of, self._place.inside())

    def __getattr__(self, name: str) -> Any:
        _no_attribute(self, name, f"may be none: write .value.{name} where it cannot be")

    def __setattr__(self, name: str, value: object) -> None:
        _no_attribute(self, name, "may be none: assign a record or NONE to it, or to a field of .value")


def _no_attribute(view: View, name: str, why: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    message = f"{user_frame()}: {view!r} has no field {name!r}; it {why}."
    raise ModelError(message)


def choose(test: Bool, domain: d.Domain, then: object, otherwise: object) -> Any:
    """Return one of two values of a domain by a test."""
    target = current.get() or Environment(test.graph, [])
    codes = codes_for(domain, target, Either(test, then, otherwise), "this choice")
    return view(domain, Place(Environment(test.graph, codes), 0, "this choice"))


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
    if isinstance(value, Either):
        return _chosen_codes(domain, env, value, path)
    if isinstance(domain, d.Scalar):
        code = _scalar_code(domain, env, value, path)
        fits = [apply(graph, Op.LE, graph.const(0), code), apply(graph, Op.LT, code, graph.const(domain.size))]
        env.expect(combine(graph, Op.AND, fits), f"the value assigned to {path} is not {domain.expected()}.")
        return [code]
    if isinstance(value, View) and value._domain.shape() == domain.shape():
        return [of_graph(graph, Num(value._place.environment.graph, code)) for code in value._codes()]
    if isinstance(domain, d.Option):
        if isinstance(value, Nothing) or value is None:
            return [graph.const(0)] * domain.width
        return [graph.const(1), *codes_for(domain.of, env, value, path)]
    if isinstance(value, RecordView):  # of a like record: field by field, each checked to fit
        value = {name: getattr(value, name) for name in value._domain.fields}
    if isinstance(domain, d.Record) and isinstance(value, dict):
        if set(value) != set(domain.fields):
            given = ", ".join(value) or "none"
            message = f"{user_frame()}: {path} has the fields {', '.join(domain.fields)}; the record given has {given}."
            raise ModelError(message)
        return [
            c for name, field in domain.fields.items() for c in codes_for(field, env, value[name], f"{path}.{name}")
        ]
    if isinstance(domain, d.Array) and isinstance(value, (list, tuple, ArrayView)) and len(value) == len(domain.labels):
        parts = zip(domain.labels, value, strict=True)
        return [c for label, part in parts for c in codes_for(domain.of, env, part, f"{path}[{label}]")]
    message = f"{user_frame()}: {value!r} cannot be the value of {path}, which is a {type(domain).__name__}."
    raise ModelError(message)


def _chosen_codes(domain: d.Domain, env: Environment, choice: Either, path: str) -> list[Node]:
    """Return the codes of a choice; a value needs to fit only where it is chosen."""
    graph, test = env.graph, condition(env.graph, choice.test)
    arms = []
    for value, passed_over in ((choice.then, apply(graph, Op.NOT, test)), (choice.otherwise, test)):
        aside = Environment(graph, [])
        arms.append(codes_for(domain, aside, value, path))
        env.checks += [(combine(graph, Op.OR, [passed_over, fits]), message) for fits, message in aside.checks]
    return [apply(graph, Op.ITE, test, a, b) for a, b in zip(*arms, strict=True)]


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
        return of_graph(env.graph, value)
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
    if isinstance(value, OptionValue) and value._domain.shape() == domain.shape():
        return of_graph(graph, value)
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

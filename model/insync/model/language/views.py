"""Views of records and arrays: how an author reads and assigns the fields of a state while it is traced.

`view` turns a place into the value that the author handles: a number, condition, set or option for one cell, a live
view for records and arrays. `codes_for` turns an assigned value into the codes of a domain, with the check that it
fits. Each has a table with a rule for every domain; `sequence_views` and `set_views` add the rules of containers.
`free_codes` gives the codes of a field that is assigned `ANY`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum as PythonEnum
from typing import TYPE_CHECKING, Any, NoReturn

from insync.model.domains import composite as d
from insync.model.domains.composite import Domain
from insync.model.domains.layout import well_formed
from insync.model.domains.open_bounds import OpenArray
from insync.model.domains.sorts import Index
from insync.model.domains.symbolic import Symbolic
from insync.model.domains.values import (
    Anything,
    Bool,
    Either,
    EnumValue,
    Nothing,
    Num,
    condition,
    decided,
    number,
    of_graph,
)
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.intervals import always_holds
from insync.model.expressions.lifted import LiftedGraph, undecided_in
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.store import Environment, Nowhere, Place, current, reached, split
from insync.runtime.errors import ModelError, closest, shown, user_frame

__all__ = [
    "CODES",
    "KNOWN_INDEX",
    "VIEWS",
    "ArrayView",
    "InitialEnvironment",
    "OptionRecordView",
    "RecordView",
    "StateView",
    "ValueCells",
    "View",
    "choose",
    "codes_for",
    "name_at",
    "record",
    "refuse",
    "view",
]


if TYPE_CHECKING:

    class _Part(Any):  # type: ignore[misc]  # it is any value that is asked for
        """A part of a state: what it is made of, and what it is compared to, is known to the model alone."""

        def __getattr__(self, name: str) -> FieldValue: ...
        def __setattr__(self, name: str, value: object) -> None: ...
        def __getitem__(self, index: object) -> FieldValue: ...
        def __add__(self, other: object) -> FieldValue: ...
        def __sub__(self, other: object) -> FieldValue: ...
        def __and__(self, other: object) -> FieldValue: ...
        def __or__(self, other: object) -> FieldValue: ...
        def __eq__(self, other: object) -> AnyCondition: ...  # type: ignore[override]
        def __ne__(self, other: object) -> AnyCondition: ...  # type: ignore[override]
        def __lt__(self, other: object) -> AnyCondition: ...
        def __le__(self, other: object) -> AnyCondition: ...
        def __gt__(self, other: object) -> AnyCondition: ...
        def __ge__(self, other: object) -> AnyCondition: ...
        def __hash__(self) -> int: ...

    FieldValue = Any | _Part
    """A field to a type checker: anything. Were it `Any` alone, `mypy --strict` would refuse `return s.count < 3`."""

    AnyCondition = Any | Bool


KNOWN_INDEX = (
    "Where a bound or a parameter gives the index, decide by a Python `if` whether to write what reads it: Or(...) and "
    "And(...) read all their parts."
)
"""The advice where a plain index is outside."""


class ValueCells(Environment):
    """The store of a value that is not part of the state."""

    unwritable = "it is a value, no part of the state: change what it was read from."


class View(Symbolic):
    """A live view of a record or array in a state: reads see earlier assignments, and assignments change the state.

    In Python a name keeps the object that it had when another one is assigned to the field. A view cannot, so it is
    refused after an assignment to the whole part that it views.
    """

    __slots__ = ("_domain", "_seen", "_viewed")
    __hash__ = Symbolic.__hash__
    compares_last = True
    _domain: Any
    _viewed: Place
    _seen: int
    """The number of replacements in the store that do not concern this view."""

    def __init__(self, domain: d.Domain, place: Place) -> None:
        object.__setattr__(self, "_domain", domain)
        object.__setattr__(self, "_viewed", place)
        object.__setattr__(self, "_seen", len(place.environment.replaced))

    @property
    def _place(self) -> Place:
        """The place of the part, which no assignment has replaced since this view was read."""
        place = self._viewed
        if self._seen != len(place.environment.replaced):
            self._refuse_replaced()
        return place

    def _refuse_replaced(self) -> None:
        replaced = self._viewed.environment.replaced
        for one in replaced[self._seen :]:
            if one.has(self._domain, self._viewed):
                line = one.line.rsplit(":", 1)[1]
                message = (
                    f"{user_frame()}: {self!r} was assigned to at line {line} after it was read, so what it had is "
                    f"gone. Keep the former value by snapshot(...) where it is read, or read the new one again."
                )
                raise ModelError(message)
        object.__setattr__(self, "_seen", len(replaced))

    def __repr__(self) -> str:
        return self._viewed.path or "the state"

    def _codes(self) -> list[Node]:
        return [self._place.read(i) for i in range(self._domain.width)]

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        if isinstance(other, Anything):
            return other == self  # which is refused
        graph = self._place.environment.graph
        aside = Environment(graph, [])  # a value outside the domain is unequal here, whereas assigning it is an error
        theirs = codes_for(self._domain, aside, other, self._place.path)
        same = [apply(Op.EQ, a, b) for a, b in zip(self._codes(), theirs, strict=True)]
        return Bool(combine(graph, Op.AND, [*(expected.node for expected in aside.expected), *same]))

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

    def __getattr__(self, name: str) -> FieldValue:
        own = self._domain
        domain = own.fields.get(name)
        if type(domain) in d.SCALARS:  # the most frequent case, for speed
            place = self._place
            return domain.lift(place.environment.load(place.base + own.offsets[name], place.dimensions))
        if domain is None and name.startswith("__"):
            raise AttributeError(name)
        return view(*self._field(name))

    def __setattr__(self, name: str, value: Any) -> None:
        assign(*self._field(name), value)


class StateView(RecordView):
    """The whole state."""

    __slots__ = ()


class ArrayView(View):
    """An array of the state: its elements are read and assigned by place, member or symbolic number."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self._domain.labels)

    def __iter__(self) -> Iterator[Any]:
        return (view(*self._at(i)) for i in range(len(self)))

    def __getattr__(self, name: str) -> Any:
        _no_attribute(self, name, "is an array: write its index in brackets first")

    def __setattr__(self, name: str, value: object) -> None:
        _no_attribute(self, name, "is an array: write its index in brackets first")

    def _place_number(self, index: object) -> Node:
        """Return the number, from 0, of the place with this index."""
        domain, graph = self._domain, self._viewed.environment.graph
        over = domain.over
        if not isinstance(over, type):
            return number(graph, index)
        if issubclass(over, Index):
            return number(graph, index, over)
        if issubclass(over, PythonEnum):
            return EnumValue(graph.false, over).coded(index)
        return apply(Op.ADD, number(graph, index), graph.const(-domain.lowest))

    def _at(self, number: int) -> tuple[d.Domain, Place]:
        domain, place = self._domain, self._place
        return domain.of, place.at(number * domain.of.width, f"{place.path}[{domain.labels[number]}]")

    def _element(self, index: object) -> tuple[d.Domain, Place]:
        domain, place = self._domain, self._place
        if isinstance(index, Index) and type(index) is domain.over:
            return self._at(int(index))
        node, length = self._place_number(index), len(domain.labels)
        if node.op is Op.CONST and 0 <= node.lo < length:
            return self._at(node.lo)
        if isinstance(index, int):
            message = (
                f"{user_frame()}: {self!r} has no place {int(index)}; its {length} places are numbered from "
                f"{domain.lowest}. {KNOWN_INDEX}"
            )
            raise ModelError(message)
        name = name_at(node, domain.labels, length)
        return domain.of, place.indexed(node, length, domain.of.width, f"{place.path}[{name}]")

    def __getitem__(self, index: object) -> Any:
        return view(*self._element(index))

    def __setitem__(self, index: object, value: object) -> None:
        assign(*self._element(index), value)

    def clear_from(self, first: object) -> None:
        """Assign the first value of the domain (none, 0, the first member, empty) to all places from `first` on."""
        graph, begin = self._place.environment.graph, self._place_number(first)
        where = self._place.environment.where
        for at in range(len(self)):
            domain, place = self._at(at)
            where.append(apply(Op.LE, begin, graph.const(at)))
            replace_part(domain, place, [graph.const(0)] * domain.width)
            where.pop()


class OpenArrayView(ArrayView):
    """An array of the state with an open length: each of its cells is a function of the place."""

    __slots__ = ()

    def __len__(self) -> int:
        return self._no_end()

    def __iter__(self) -> Iterator[Any]:
        self._no_end()

    def _no_end(self) -> NoReturn:
        message = (
            f"{user_frame()}: how long {self!r} is is left open, so Python cannot go through it. Quantify over its "
            f"places: for_all(Offset, lambda offset: ...) with a sort or a Range."
        )
        raise ModelError(message)

    def _element(self, index: object) -> tuple[d.Domain, Place]:
        domain, place = self._domain, self._place
        return domain.of, place.indexed(self._place_number(index), domain.length, 0, f"{place.path}[...]")

    def clear_from(self, first: object) -> None:
        domain, place = self._element(first)
        zeros = [place.environment.graph.const(0)] * domain.width
        place.environment.assign(place.base, place.dimensions, zeros, onwards=True)


class OptionRecordView(View):
    """A record of the state that may be absent."""

    __slots__ = ()

    def is_some(self) -> Bool:
        """Return whether the record is there."""
        return Bool(apply(Op.EQ, self._place.read(), self._place.environment.graph.const(1)))

    def is_none(self) -> Bool:
        """Return whether the record is absent."""
        return ~self.is_some()

    @property
    def value(self) -> Any:
        """The record; where it is absent, every field is the first value of its domain."""
        return RecordView(self._domain.of, self._place.inside())

    def or_else(self, default: object) -> Any:
        """Return the record, or the default where it is absent."""
        return choose(self.is_some(), self._domain.of, self.value, default)

    def __getattr__(self, name: str) -> Any:
        _no_attribute(self, name, f"may be none: write .value.{name} where it cannot be")

    def __setattr__(self, name: str, value: object) -> None:
        _no_attribute(self, name, "may be none: assign a record or NONE to it, or to a field of .value")


def name_at(index: Node, labels: Sequence[str], length: int) -> str:
    """Return the name of the place with a symbolic index for messages, or the mark that stands for it.

    Args:
        index: the index, from 0.
        labels: the names of the places; empty where the number of a place is its name.
        length: the number of places.

    Raises:
        Undecided: the index depends on parameters alone, and may be outside.
    """
    graph = index.graph
    if not isinstance(graph, LiftedGraph) or not graph.decides:
        return "..."
    if (index.lo < 0 or index.hi >= length) and undecided_in(index):
        store = current.get()
        inside = [apply(Op.LE, graph.const(0), index), apply(Op.LT, index, graph.const(length))]
        if store is None or store.graph is not graph or not always_holds(store.guard, combine(graph, Op.AND, inside)):
            decided(index)
    return graph.mark(index, labels)


def _no_attribute(view: View, name: str, why: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    message = f"{user_frame()}: {view!r} has no field {name!r}; it {why}."
    raise ModelError(message)


def choose(test: Bool, domain: d.Domain, then: object, otherwise: object) -> Any:
    """Return one of two values of a domain, by a test."""
    target = current.get() or Environment(test.graph, [])
    codes = codes_for(domain, target, Either(test, then, otherwise), "this choice")
    return view(domain, Place(ValueCells(test.graph, codes), 0, "this choice"))


class RecordLiteral(dict[str, object]):
    """The value of a record, to be assigned or compared."""


def record(**fields: object) -> RecordLiteral:
    """Return the value of a record with these fields, to be assigned or compared."""
    return RecordLiteral(fields)


# ------------------------------------------------------------------------------------------------------------ reading


def view(domain: d.Domain, place: Place) -> Any:
    """Return the symbolic value or live view of the value at a place."""
    return VIEWS[type(domain)](domain, place)


def _lifted(domain: d.Scalar, place: Place) -> Any:
    return domain.lift(place.read())


def _absent(domain: d.Absent, place: Place) -> Any:
    environment = place.environment
    nowhere = Nowhere(environment.graph, domain.of.width, writable=environment.writable)
    return view(domain.of, Place(nowhere, 0, place.path))


VIEWS: dict[type[d.Domain], Callable[[Any, Place], Any]] = {
    **dict.fromkeys(d.SCALARS, _lifted),
    d.State: StateView,
    d.Record: RecordView,
    d.Array: ArrayView,
    OpenArray: OpenArrayView,
    d.Option: OptionRecordView,
    d.Absent: _absent,
}
"""How each domain is read; `sequence_views` and `set_views` add the containers."""


# ---------------------------------------------------------------------------------------------------------- assigning


def assign(domain: d.Domain, place: Place, value: object) -> None:
    """Assign a value to a place.

    Raises:
        ModelError: it is of another type than the place, or can never fit.
    """
    replace_part(domain, place, codes_for(domain, place.environment, value, place.path))


def replace_part(domain: d.Domain, place: Place, codes: list[Node]) -> None:
    """Assign the codes of a value to a place; views of what it had are refused from now on."""
    place.write(codes)
    if type(domain) not in d.SCALARS and domain.width:
        place.environment.replaced.append(Replaced(domain, place, user_frame()))


@dataclass(frozen=True, slots=True)
class Replaced:
    """An assignment to a whole part of a state.

    Attributes:
        domain, place: the part.
        line: the author's file and line.
    """

    domain: d.Domain
    place: Place
    line: str

    def has(self, domain: d.Domain, place: Place) -> bool:
        """Return whether a part of the state may be this one, or lie within it."""
        width, inner = self.domain.width, domain.width
        if inner > width or (width == inner and not any(one is domain for one in _as_wide(self.domain))):
            return False
        first = reached(place.base, split(place.dimensions)[0])
        cells = reached(self.place.base, split(self.place.dimensions)[0])
        if not any(one <= cell and cell + inner <= one + width for one in cells for cell in first):
            return False
        store = place.environment
        for mine, theirs in zip(self.place.dimensions, place.dimensions, strict=False):
            differ = apply(Op.NOT, apply(Op.EQ, mine.index, theirs.index))
            if mine.stride == theirs.stride and always_holds([*store.guard, *store.where], differ):
                return False
        return True


def _as_wide(domain: d.Domain) -> Iterator[d.Domain]:
    """Yield a domain, and the parts within it that have all of its cells."""
    yield domain
    for part in domain.parts():
        if part.domain is not None and part.domain.width == domain.width:
            yield from _as_wide(part.domain)


def codes_for(domain: d.Domain, env: Environment, value: object, path: str) -> list[Node]:
    """Return the codes of a value in a domain; the environment records the conditions under which it fits."""
    if isinstance(value, Anything):
        return free_codes(domain, env, path)
    if isinstance(value, Either):
        return _chosen_codes(domain, env, value, path)
    if isinstance(value, View) and value._domain.shape() == domain.shape():
        return [of_graph(env.graph, Num(code)) for code in value._codes()]
    return CODES[type(domain)](domain, env, value, path)


def _chosen_codes(domain: d.Domain, env: Environment, choice: Either, path: str) -> list[Node]:
    """Return the codes of a choice; each value must fit only where it is chosen."""
    graph, test = env.graph, condition(env.graph, choice.test)
    arms = []
    for value, chosen in ((choice.then, test), (choice.otherwise, apply(Op.NOT, test))):
        aside = Environment(graph, [])
        arms.append(codes_for(domain, aside, value, path))
        for one in aside.expected:
            env.expected.append(one._replace(where=(*env.where, chosen, *one.where)))
    return [apply(Op.ITE, test, a, b) for a, b in zip(*arms, strict=True)]


def _scalar_codes(domain: d.Scalar, env: Environment, value: object, path: str) -> list[Node]:
    graph, code = env.graph, domain.lower(env, value, path)
    least, beyond = graph.const(0), graph.const(domain.size)
    if code.lo < 0 or code.hi >= domain.size:
        fits = [apply(Op.LE, least, code), apply(Op.LT, code, beyond)]
        known, cure = "the value", "Widen the domain, or require(...) first that it fits."
        if type(value) in (int, str):
            known, cure = f"the value {value!r}", "Give another value, or widen the domain."
        env.expect(combine(graph, Op.AND, fits), f"{known} assigned to {path} is not {domain.expected()}. {cure}")
    return [code]


def _option_codes(domain: d.Option, env: Environment, value: object, path: str) -> list[Node]:
    if isinstance(value, Nothing) or value is None:
        return [env.graph.const(0)] * domain.width
    return [env.graph.const(1), *codes_for(domain.of, env, value, path)]


def _absent_codes(domain: d.Absent, env: Environment, value: object, path: str) -> list[Node]:
    """Return no codes; the value must be of the right type all the same."""
    codes_for(domain.of, Environment(env.graph, []), value, path)
    return []


def _record_codes(domain: d.Record, env: Environment, value: object, path: str) -> list[Node]:
    if isinstance(value, RecordView):  # of another domain: each field is checked to fit
        value = {name: getattr(value, name) for name in value._domain.fields}
    if not isinstance(value, dict):
        refuse(domain, value, path)
    if set(value) != set(domain.fields):
        given, wrong = ", ".join(value) or "none", [name for name in value if name not in domain.fields]
        near = closest(wrong[0], set(domain.fields) - set(value)) if wrong else ""
        meant = f" For {wrong[0]!r}: {near}" if near.startswith("Did") else ""
        message = (
            f"{user_frame()}: {path} has the fields {', '.join(domain.fields)}; the record given has {given}.{meant}"
        )
        raise ModelError(message)
    return [c for name, field in domain.fields.items() for c in codes_for(field, env, value[name], f"{path}.{name}")]


def _array_codes(domain: d.Array, env: Environment, value: object, path: str) -> list[Node]:
    if isinstance(value, dict):
        members = domain.members()
        if set(value) != set(members):
            labels = ", ".join(domain.labels)
            message = f"{user_frame()}: {path} has a value for each of {labels}; give a dict with these keys."
            raise ModelError(message)
        value = [value[member] for member in members]
    if not isinstance(value, (list, tuple, ArrayView)):
        refuse(domain, value, path)
    if len(value) != len(domain.labels):
        message = f"{user_frame()}: {path} has {len(domain.labels)} places; the value given has {len(value)}."
        raise ModelError(message)
    parts = zip(domain.labels, value, strict=True)
    return [c for label, part in parts for c in codes_for(domain.of, env, part, f"{path}[{label}]")]


def refuse(domain: d.Domain, value: object, path: str) -> NoReturn:
    """Raise ModelError for a value of another kind than the domain."""
    elements = ""
    if isinstance(domain, d.Seq | d.Bag | d.ListedSet):
        of = domain.of.expected() if isinstance(domain.of, d.Scalar) else d.described(domain.of)
        elements = f" Each element must be {of}."
    message = f"{user_frame()}: {shown(value)} cannot be the value of {path}, which is {d.described(domain)}.{elements}"
    raise ModelError(message)


CODES: dict[type[d.Domain], Callable[[Any, Environment, object, str], list[Node]]] = {
    **dict.fromkeys(d.SCALARS, _scalar_codes),
    d.State: _record_codes,
    d.Record: _record_codes,
    d.Array: _array_codes,
    d.Option: _option_codes,
    d.Absent: _absent_codes,
}
"""How a value becomes codes of each domain; `sequence_views` and `set_views` add the containers."""


# ------------------------------------------------------------- free cells: fields that an initial method assigns ANY to
#
# Each code is a variable of its own; assigning `ANY` twice makes two of them. Conditions keep the codes canonical, so
# that equal values have equal codes.


class InitialEnvironment(Environment):
    """The store while an initial method is traced. It has its own graph, in which a CELL is a variable.

    Args:
        codes: the codes of the state that the method begins from.

    Attributes:
        well_formed: the conditions under which the variables are codes of values.
    """

    def __init__(self, codes: tuple[int, ...]) -> None:
        graph = Graph(())
        super().__init__(graph, [graph.const(code) for code in codes], writable=True, guarded=True)
        self.well_formed: list[Node] = []

    def variable(self, size: int) -> Node:
        """Return a new variable with the values 0 .. size-1."""
        self.graph.cell_sizes = (*self.graph.cell_sizes, size)
        return self.graph.cell(len(self.graph.cell_sizes) - 1)


def free_codes(domain: Domain, target: Environment, path: str) -> list[Node]:
    """Return the codes of any value of a domain.

    Args:
        domain: the domain of the field.
        target: the store of the field.
        path: the name of the field, for messages.

    Raises:
        ModelError: no initial method is being traced.
    """
    if isinstance(target, Nowhere):
        return [target.graph.const(0)] * domain.width
    environment = current.get()
    if not isinstance(environment, InitialEnvironment):
        message = (
            f"{user_frame()}: ANY cannot be assigned to {path} here: it is for methods marked with @initial. In an "
            f"action, use a parameter."
        )
        raise ModelError(message)
    codes = [environment.variable(size) for _, size in domain.cells(path)]
    environment.well_formed += [
        condition for condition in well_formed(domain, codes) if condition is not environment.graph.true
    ]
    return codes

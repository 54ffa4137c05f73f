"""Symbolic values: what an author of a model handles while an action or property is traced.

Conditions, numbers, members of enumerations, sets and optional values wrap a node of the model's graph, and their
operators make new nodes. `Either` is a choice whose domain is not known yet, and `ANY` any value of a field. Python
that needs to decide before the model runs, such as an `if`, is an error that says what to write instead (`symbolic`).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from insync.model.domains.open_bounds import OpenSize
from insync.model.domains.sorts import Index, Subset
from insync.model.domains.symbolic import Symbolic, for_condition, for_member, for_number, mistyped
from insync.model.expressions.graph import LARGEST_SET, Graph, Node, Op
from insync.model.expressions.lifted import Undecided, undecided_in
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.store import Environment
from insync.runtime.errors import ModelError, user_frame

if TYPE_CHECKING:
    from insync.model.domains.scalars import OptionalScalar

__all__ = [
    "ANY",
    "NONE",
    "Anything",
    "Bool",
    "Condition",
    "Either",
    "EnumValue",
    "Nothing",
    "Num",
    "OptionValue",
    "SetValue",
    "condition",
    "decided",
    "domain_of",
    "mask",
    "number",
    "of_graph",
    "sort_of",
    "sort_of_sets",
]


class Divided:
    """A number that `//` and `%` divide as Python does, by a positive constant; so every expression has a value."""

    __slots__ = ()

    def _num(self, op: Op, a: object, b: object) -> Any:
        raise NotImplementedError

    def __floordiv__(self, other: int) -> Any:
        return self._num(Op.DIV, self, _divisor(other))

    def __mod__(self, other: int) -> Any:
        return self._num(Op.MOD, self, _divisor(other))

    def __divmod__(self, other: int) -> tuple[Any, Any]:
        return self // other, self % other

    def __rfloordiv__(self, other: object) -> Any:
        """Raise ModelError: the divisor is a number of the model."""
        return _divisor(self)

    __rmod__ = __rdivmod__ = __rfloordiv__

    def __truediv__(self, other: object) -> NoReturn:
        """Raise ModelError: there are whole numbers only."""
        message = f"{user_frame()}: numbers of a model are whole; write // for the quotient rounded down, not /."
        raise self._error(message) if isinstance(self, OneNode) else ModelError(message)

    __rtruediv__ = __truediv__


def _divisor(other: object) -> Any:
    if isinstance(other, int) and not isinstance(other, bool) and other > 0:
        return other
    message = (
        f"{user_frame()}: numbers of a model are divided (// and %) by whole numbers from 1 that are known while it is "
        f"traced, not by {other!r}. Where x goes round below a number n of the state, write If(x == n - 1, 0, x + 1)."
    )
    raise other._error(message) if isinstance(other, OneNode) else ModelError(message)


class Nothing:
    """The type of `NONE`, the absent value of an option."""

    cure: ClassVar[str] = "Only what is declared Option(...) can be none."

    def __repr__(self) -> str:
        return "NONE"


NONE = Nothing()


def decided(node: Node) -> None:
    """Raise Undecided if a node depends on variables alone: where they have values, Python decides on it.

    A program is traced with values of parameters, and what Python does with these is what the model means.
    """
    variables = undecided_in(node)
    if variables:
        message = f"{user_frame()}: Python decides on a parameter here, or on the variable of a quantifier."
        raise Undecided(message, variables)


class OneNode(Symbolic):
    """A symbolic value that wraps one node."""

    __slots__ = ("node",)
    node: Node

    @property
    def graph(self) -> Graph:
        """The graph of the node."""
        return self.node.graph

    def _error(self, message: str) -> ModelError:
        variables = undecided_in(self.node)
        return Undecided(message, variables) if variables else ModelError(message)

    def _undecided(self) -> None:
        decided(self.node)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        self._refuse(f".{name}")


class Bool(OneNode):
    """A symbolic condition; as a domain, `Bool` declares a field that is true or false."""

    __slots__ = ()
    __hash__ = Symbolic.__hash__

    def __init__(self, node: Node) -> None:
        self.node = node

    def __repr__(self) -> str:
        return "this condition"

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        if decides(other):
            return NotImplemented
        same = condition(self.graph, other)
        both = combine(self.graph, Op.AND, [self.node, same])
        neither = combine(self.graph, Op.AND, [apply(Op.NOT, self.node), apply(Op.NOT, same)])
        return Bool(combine(self.graph, Op.OR, [both, neither]))

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return ~(self == other)

    def __and__(self, other: Condition) -> Bool:
        return Bool(combine(self.graph, Op.AND, [self.node, condition(self.graph, other)]))

    def __or__(self, other: Condition) -> Bool:
        return Bool(combine(self.graph, Op.OR, [self.node, condition(self.graph, other)]))

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Bool:
        return Bool(apply(Op.NOT, self.node))


Condition = Bool | bool
"""A condition, symbolic or already decided."""


class Num(Divided, OneNode):
    """A symbolic whole number, or a symbolic member of a sort (its number, from 0).

    Attributes:
        sort: the sort of a member; None for a number. Arithmetic on members gives numbers.
    """

    __slots__ = ("sort",)
    __hash__ = Symbolic.__hash__

    def __init__(self, node: Node, sort: type[Index] | None = None) -> None:
        self.node, self.sort = node, sort

    def __repr__(self) -> str:
        return "this number" if self.sort is None else f"this {self.sort.__name__}"

    def _num(self, op: Op, a: object, b: object) -> Num:
        graph = self.node.graph
        return Num(apply(op, number(graph, a), number(graph, b)))

    def _test(self, op: Op, a: object, b: object) -> Bool:
        graph = self.node.graph
        return Bool(apply(op, number(graph, a, sort_of(b)), number(graph, b, sort_of(a))))

    def in_subset(self, subset: Subset) -> Bool:
        return Bool(apply(Op.TEST, self.graph.const(int(subset)), number(self.graph, self, subset.of)))

    def __add__(self, other: Num | int) -> Num:
        return self._num(Op.ADD, self, other)

    def __sub__(self, other: Num | int) -> Num:
        return self._num(Op.SUB, self, other)

    def __rsub__(self, other: Num | int) -> Num:
        return self._num(Op.SUB, other, self)

    def __mul__(self, other: Num | int) -> Num:
        return self._num(Op.MUL, self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Num:
        return self._num(Op.SUB, 0, self)

    def __abs__(self) -> Num:
        return self._num(Op.MAX, self, -self)

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        return NotImplemented if decides(other) else self._test(Op.EQ, self, other)

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return NotImplemented if decides(other) else ~self._test(Op.EQ, self, other)

    def __lt__(self, other: Num | int) -> Bool:
        return self._test(Op.LT, self, other)

    def __le__(self, other: Num | int) -> Bool:
        return self._test(Op.LE, self, other)

    def __gt__(self, other: Num | int) -> Bool:
        return self._test(Op.LT, other, self)

    def __ge__(self, other: Num | int) -> Bool:
        return self._test(Op.LE, other, self)


class EnumValue(OneNode):
    """A symbolic member of a Python enumeration; it can be compared with members of that enumeration only."""

    __slots__ = ("kind",)
    __hash__ = Symbolic.__hash__

    def __init__(self, node: Node, kind: type[Enum]) -> None:
        self.node, self.kind = node, kind

    def __repr__(self) -> str:
        return f"this {self.kind.__name__}"

    def coded(self, other: object) -> Node:
        """Return the node of a member of the same enumeration."""
        if isinstance(other, self.kind):
            return self.graph.const(list(self.kind).index(other))
        if isinstance(other, EnumValue) and other.kind is self.kind:
            return of_graph(self.graph, other)
        return mistyped(f"A member of {self.kind.__name__}", other, for_member(self.kind, other))

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        if decides(other):
            return NotImplemented
        return Bool(apply(Op.EQ, self.node, self.coded(other)))

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return ~(self == other)


class SetValue(OneNode):
    """A symbolic set of members of a sort, as a bit mask.

    Attributes:
        domain: the possible members; empty where they are not known.
        sort: the sort of the members; None where it is not known, and for a set of numbers.
    """

    __slots__ = ("domain", "sort")
    __hash__ = Symbolic.__hash__

    def __init__(self, node: Node, domain: tuple[int, ...] = (), sort: type[Index] | None = None) -> None:
        self.node, self.domain = node, domain
        self.sort = sort_of(domain[0]) if domain else sort

    def __repr__(self) -> str:
        return "this set"

    def __contains__(self, member: object) -> NoReturn:
        message = (
            f"{user_frame()}: Python's `in` needs an answer while the model is traced. Write the_set.contains(member)."
        )
        raise self._error(message)

    def __iter__(self) -> NoReturn:
        how = "Write for_all(the_set, lambda x: ...) or exists(...)."
        message = f"{user_frame()}: who is in {self!r} is known only when the model runs. {how}"
        raise self._error(message)

    def _join(self, op: Op, a: object, b: object) -> SetValue:
        node = apply(op, mask(self.graph, a, self.sort), mask(self.graph, b, self.sort))
        return SetValue(node, domain_of(a, b), sort_of_sets(a, b))

    def members(self) -> list[int]:
        """Return the possible members of the set."""
        return list(self.domain) or list(range(self.node.hi.bit_length()))

    def contains(self, member: Num | SetValue | int) -> Bool:
        """Return whether the member is in the set."""
        return Bool(apply(Op.TEST, self.node, number(self.graph, member, self.sort)))

    def in_subset(self, subset: Subset) -> Bool:
        return SetValue(self.graph.const(int(subset))).contains(self)

    def is_subset(self, other: SetValue | Iterable[int]) -> Bool:
        """Return whether every member is in the other set."""
        return (self - other).is_empty()

    def is_empty(self) -> Bool:
        """Return whether the set has no member."""
        return Bool(apply(Op.EQ, self.node, self.graph.const(0)))

    def count(self) -> Num:
        """Return the number of members of the set."""
        return Num(apply(Op.COUNT, self.node))

    length = property(count)

    def __or__(self, other: object) -> SetValue:
        return self._join(Op.BITOR, self, other)

    def __and__(self, other: object) -> SetValue:
        return self._join(Op.BITAND, self, other)

    def __sub__(self, other: object) -> SetValue:
        return self._join(Op.BITDIFF, self, other)

    def __rsub__(self, other: object) -> SetValue:
        return self._join(Op.BITDIFF, other, self)

    __ror__, __rand__ = __or__, __and__

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        if decides(other):
            return NotImplemented
        return Bool(apply(Op.EQ, self.node, mask(self.graph, other, self.sort)))

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return ~(self == other)


def domain_of(*sets: object) -> tuple[int, ...]:
    """Return the possible members of sets: those of the first set whose possible members are known."""
    return next((one.domain for one in sets if isinstance(one, SetValue) and one.domain), ())


def sort_of_sets(*sets: object) -> type[Index] | None:
    """Return the sort of the members of sets: that of the first set whose sort is known."""
    return next((one.sort for one in sets if isinstance(one, SetValue) and one.sort is not None), None)


def of_graph(graph: Graph, value: OneNode) -> Node:
    """Return the node of a symbolic value of this graph; raise ModelError if it was made by another model instance."""
    node = value.node
    if node.graph is not graph:
        message = (
            f"{user_frame()}: {value!r} was made while another model instance was traced; "
            f"read it from the state that this function is given."
        )
        raise ModelError(message)
    return node


def decides(value: object) -> bool:
    """Return whether a comparison with a value is left to the reflected method of that value."""
    return isinstance(value, Symbolic) and value.compares_last


def sort_of(value: object) -> type[Index] | None:
    """Return the sort of a member, symbolic or plain; None for any other value."""
    if isinstance(value, Num):
        return value.sort
    return type(value) if isinstance(value, Index) else None


def condition(graph: Graph, value: object, field: str = "") -> Node:
    """Return the node of a condition, symbolic or plain; messages name the field that it is assigned to."""
    if isinstance(value, Bool):
        return of_graph(graph, value)
    if isinstance(value, bool):
        return graph.boolean(value)
    return mistyped("A condition", value, for_condition(value), field)


def number(graph: Graph, value: object, sort: type[Index] | None = None, field: str = "") -> Node:
    """Return the node of a number or of a member of a sort, symbolic or plain.

    Args:
        graph: the graph of the node.
        value: the number or member.
        sort: the sort of the member, if one is needed; a number stands for the member with that number.
        field: the field that it is assigned to, for messages.
    """
    if isinstance(value, int) and type(value) in (int, sort):  # the most frequent case, for speed
        return graph.const(int(value))
    given = sort_of(value)
    if sort is not None and given is not None and not (issubclass(given, sort) or issubclass(sort, given)):
        here = f"for {field}" if field else "here"
        message = (
            f"{user_frame()}: a member of {sort.__name__} is needed {here}, but {value!r} is a member of "
            f"{given.__name__}. If its number is meant, write `+ 0` after it."
        )
        raise ModelError(message)
    if isinstance(value, SetValue) and sort is not None and issubclass(sort, Subset):
        return mask(graph, value, sort.of)  # a member of a Subset is numbered by the mask of the set
    if isinstance(value, Num):
        return of_graph(graph, value)
    if isinstance(value, int) and not isinstance(value, bool):
        return graph.const(int(value))
    if isinstance(value, OpenSize):
        return graph.const(value.stand_in)
    what = "A number" if sort is None else f"A member of {sort.__name__}"
    if isinstance(value, SetValue):
        mistyped(what, value, "It is a set: .count() is its size, .contains(member) tests for one.", field)
    if hasattr(type(value), "or_else"):
        mistyped(what, value, "It may be none: write .or_else(default), or .value where it cannot be.", field)
    return mistyped(f"{what} or a member of a sort" if sort is None else what, value, for_number(value), field)


def mask(graph: Graph, value: object, sort: type[Index] | None = None, field: str = "") -> Node:
    """Return the node of a set's bit mask: a symbolic set, a `Subset`, or a Python collection of members.

    Args:
        graph: the graph of the node.
        value: the set.
        sort: the sort of the members, if one is needed.
        field: the field that it is assigned to, for messages.
    """
    whose = value.sort if isinstance(value, SetValue) else value.of if isinstance(value, Subset) else None
    if sort is not None and whose is not None and not (issubclass(whose, sort) or issubclass(sort, whose)):
        message = (
            f"{user_frame()}: a set of members of {sort.__name__} is needed here, but {value!r} holds members of "
            f"{whose.__name__}."
        )
        raise ModelError(message)
    if isinstance(value, SetValue):
        return of_graph(graph, value)
    if isinstance(value, Subset):
        return graph.const(int(value))
    if isinstance(value, dict) and not value:
        return graph.const(0)
    if isinstance(value, (list, tuple, set, frozenset)):
        total = graph.const(0)
        for member in value:
            if isinstance(member, int) and not 0 <= member < LARGEST_SET:
                mistyped("A member of a sort", member, f"Its number must be from 0 to {LARGEST_SET - 1}.")
            node = number(graph, member, sort)
            if node.lo < 0 or node.hi >= LARGEST_SET:
                decided(node)
            total = apply(Op.BITOR, total, apply(Op.BIT, node))
        return total
    return mistyped("A set", value, "Write {member} for the set of one member, set() for the empty set.", field)


# ------------------------------------------------------------------------------------ optional values, choices, and ANY


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
        """Return whether the value is none."""
        return Bool(apply(Op.EQ, self.node, self.graph.const(0)))

    def is_some(self) -> Bool:
        """Return whether the value is not none."""
        return ~self.is_none()

    @property
    def value(self) -> Any:
        """The value, where there is one; the first of its domain where it is none."""
        lower = apply(Op.ADD, self.node, self.graph.const(-1))
        return self._domain.of.lift(apply(Op.MAX, lower, self.graph.const(0)))

    def or_else(self, default: object) -> Any:
        """Return the value, or the default where it is none."""
        graph, of = self.graph, self._domain.of
        none = apply(Op.EQ, self.node, graph.const(0))
        if of.first is None:
            code = of.lower(Environment(graph, []), default, "the default of or_else()")
            value = apply(Op.MAX, apply(Op.ADD, self.node, graph.const(-1)), graph.const(0))
            return of.lift(value if code is graph.const(0) else apply(Op.ITE, none, code, value))
        sort = of.sort if sort_of(default) is not None else None
        fallback = number(graph, default, of.sort)
        some = apply(Op.ADD, self.node, graph.const(of.first - 1))
        if fallback.op is Op.CONST and fallback.lo == of.first - 1:  # the number that the code of none gives anyway
            return Num(some, sort)
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


class Either(Symbolic):
    """The result of an `If` whose values (NONE, records, arrays) show no domain; it can be assigned or compared."""

    __slots__ = ("otherwise", "test", "then")
    __hash__ = Symbolic.__hash__
    compares_last = True

    def __init__(self, test: Bool, then: object, otherwise: object) -> None:
        self.test, self.then, self.otherwise = test, then, otherwise

    def __repr__(self) -> str:
        return "this choice"

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        yes, no = (condition(self.test.graph, _same(arm, other)) for arm in (self.then, self.otherwise))
        graph, test = self.test.graph, self.test.node
        chosen = [combine(graph, Op.AND, [test, yes]), combine(graph, Op.AND, [apply(Op.NOT, test), no])]
        return Bool(combine(graph, Op.OR, chosen))

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return ~(self == other)


def _same(arm: object, other: object) -> object:
    if decides(arm) or decides(other):
        return arm == other
    none, no_other = (value is None or isinstance(value, Nothing) for value in (arm, other))
    return none and no_other if none or no_other else arm == other


class Anything(Symbolic):
    """The type of `ANY`. It can only be assigned; the field that it is assigned to can be read."""

    __slots__ = ()
    __hash__ = Symbolic.__hash__
    compares_last: ClassVar[bool] = True

    def __repr__(self) -> str:
        return "ANY"

    def _no_value(self, *_: object) -> NoReturn:
        message = (
            f"{user_frame()}: ANY has no value of its own. Assign it to a field (s.field = ANY), then read the field "
            f"and say in require(...) which of its values are meant."
        )
        raise ModelError(message)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _no_value
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _no_value
    __or__ = __ror__ = __and__ = __rand__ = __invert__ = __bool__ = __index__ = _no_value


ANY = Anything()
"""Any value of the field that it is assigned to; for methods that are marked with `@initial`."""

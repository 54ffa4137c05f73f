"""Symbolic values: what an author of a model handles while an action or property is traced.

Each value wraps a node of the model's graph. Operators make new nodes. What cannot be decided
before the model runs, such as a Python `if` on a symbolic value, is an error that names the
author's line and the way to write it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, ClassVar, NoReturn

from insync.model.errors import ModelError, user_frame
from insync.model.graph import LARGEST_SET, Graph, Node, Op
from insync.model.simplify import apply, combine
from insync.model.sorts import Subset

__all__ = [
    "NONE",
    "Bool",
    "Condition",
    "EnumValue",
    "Nothing",
    "Num",
    "SetValue",
    "Symbolic",
    "condition",
    "mask",
    "number",
]


class Nothing:
    """The type of `NONE`, the absent value of an option."""

    def __repr__(self) -> str:
        return "NONE"


NONE = Nothing()


class Symbolic:
    """A value that is known only when the model runs: no Python `if`, `and`, `not`, `in` or `range` can use it."""

    __slots__ = ()
    compares_last: ClassVar[bool] = False
    """Whether the other side of a comparison leaves it to this one, which knows more (an option, a choice)."""

    def __bool__(self) -> NoReturn:
        message = (
            f"{user_frame()}: Python decides `if`, `and`, `or`, `not` and chains such as `a < b < c` while the model "
            f"is traced, before {self!r} has a value. Use If(condition, then, otherwise), And(...), Or(...), Not(...) "
            f"or require(...)."
        )
        raise ModelError(message)

    def __index__(self) -> NoReturn:
        message = (
            f"{user_frame()}: {self!r} has no value while the model is traced, so it cannot be an index of a Python "
            f"list or an end of range(). Index an array of the state with it, or quantify over all members and compare."
        )
        raise ModelError(message)


def _mistyped(wanted: str, found: object, fix: str) -> NoReturn:
    message = f"{user_frame()}: {wanted} is needed here, but {found!r} is of type {type(found).__name__}. {fix}"
    raise ModelError(message)


class Bool(Symbolic):
    """A symbolic condition; as a domain, `Bool` declares a field that is true or false."""

    __slots__ = ("graph", "node")
    __hash__ = object.__hash__

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph, self.node = graph, node

    def __repr__(self) -> str:
        return "this condition"

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        if _compares_last(other):
            return NotImplemented
        same = condition(self.graph, other)
        both = combine(self.graph, Op.AND, [self.node, same])
        neither = combine(self.graph, Op.AND, [apply(self.graph, Op.NOT, self.node), apply(self.graph, Op.NOT, same)])
        return Bool(self.graph, combine(self.graph, Op.OR, [both, neither]))

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return ~(self == other)

    def __and__(self, other: Condition) -> Bool:
        return Bool(self.graph, combine(self.graph, Op.AND, [self.node, condition(self.graph, other)]))

    def __or__(self, other: Condition) -> Bool:
        return Bool(self.graph, combine(self.graph, Op.OR, [self.node, condition(self.graph, other)]))

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Bool:
        return Bool(self.graph, apply(self.graph, Op.NOT, self.node))


Condition = Bool | bool
"""A condition, symbolic or already decided."""


class Num(Symbolic):
    """A symbolic whole number, or a symbolic member of a sort (its number, from 0)."""

    __slots__ = ("graph", "node")
    __hash__ = object.__hash__

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph, self.node = graph, node

    def __repr__(self) -> str:
        return "this number"

    def _num(self, op: Op, a: object, b: object) -> Num:
        return Num(self.graph, apply(self.graph, op, number(self.graph, a), number(self.graph, b)))

    def _test(self, op: Op, a: object, b: object) -> Bool:
        return Bool(self.graph, apply(self.graph, op, number(self.graph, a), number(self.graph, b)))

    def __add__(self, other: Num | int) -> Num:
        return self._num(Op.ADD, self, other)

    def __sub__(self, other: Num | int) -> Num:
        return self._num(Op.SUB, self, other)

    def __rsub__(self, other: Num | int) -> Num:
        return self._num(Op.SUB, other, self)

    def __mul__(self, other: Num | int) -> Num:
        return self._num(Op.MUL, self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        return NotImplemented if _compares_last(other) else self._test(Op.EQ, self, other)

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return NotImplemented if _compares_last(other) else ~self._test(Op.EQ, self, other)

    def __lt__(self, other: Num | int) -> Bool:
        return self._test(Op.LT, self, other)

    def __le__(self, other: Num | int) -> Bool:
        return self._test(Op.LE, self, other)

    def __gt__(self, other: Num | int) -> Bool:
        return self._test(Op.LT, other, self)

    def __ge__(self, other: Num | int) -> Bool:
        return self._test(Op.LE, other, self)


class EnumValue(Symbolic):
    """A symbolic member of a Python enumeration; it can be compared with members of that enumeration only."""

    __slots__ = ("graph", "kind", "node")
    __hash__ = object.__hash__

    def __init__(self, graph: Graph, node: Node, kind: type[Enum]) -> None:
        self.graph, self.node, self.kind = graph, node, kind

    def __repr__(self) -> str:
        return f"this {self.kind.__name__}"

    def coded(self, other: object) -> Node:
        """Return the node of a member of the same enumeration."""
        if isinstance(other, self.kind):
            return self.graph.const(list(self.kind).index(other))
        if isinstance(other, EnumValue) and other.kind is self.kind:
            return of_graph(self.graph, other)
        name = self.kind.__name__
        _mistyped(f"A member of {name}", other, f"Write {name}.{next(iter(self.kind)).name}.")

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        if _compares_last(other):
            return NotImplemented
        return Bool(self.graph, apply(self.graph, Op.EQ, self.node, self.coded(other)))

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return ~(self == other)


class SetValue(Symbolic):
    """A symbolic set of members of a sort, as a bit mask; `domain` is who can be in it, where that is known."""

    __slots__ = ("domain", "graph", "node")
    __hash__ = object.__hash__

    def __init__(self, graph: Graph, node: Node, domain: tuple[int, ...] = ()) -> None:
        self.graph, self.node, self.domain = graph, node, domain

    def __repr__(self) -> str:
        return "this set"

    def __contains__(self, member: object) -> NoReturn:
        message = (
            f"{user_frame()}: Python's `in` needs an answer while the model is traced. Write the_set.contains(member)."
        )
        raise ModelError(message)

    def __iter__(self) -> NoReturn:
        message = (
            f"{user_frame()}: who is in {self!r} is known only when the model runs. "
            f"Write for_all(the_set, lambda x: ...) or exists(...)."
        )
        raise ModelError(message)

    def _join(self, op: Op, a: object, b: object) -> SetValue:
        node = apply(self.graph, op, mask(self.graph, a), mask(self.graph, b))
        return SetValue(self.graph, node, domain_of(a, b))

    def members(self) -> list[int]:
        """Return all that can be in the set."""
        return list(self.domain) or list(range(self.node.hi.bit_length()))

    def contains(self, member: Num | SetValue | int) -> Bool:
        """Return whether the member is in the set."""
        return Bool(self.graph, apply(self.graph, Op.TEST, self.node, number(self.graph, member)))

    def is_subset(self, other: SetValue | Iterable[int]) -> Bool:
        """Return whether every member is in the other set."""
        return (self - other).is_empty()

    def is_empty(self) -> Bool:
        """Return whether the set has no member."""
        return Bool(self.graph, apply(self.graph, Op.EQ, self.node, self.graph.const(0)))

    def count(self) -> Num:
        """Return how many members the set has."""
        return Num(self.graph, apply(self.graph, Op.COUNT, self.node))

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
        if _compares_last(other):
            return NotImplemented
        return Bool(self.graph, apply(self.graph, Op.EQ, self.node, mask(self.graph, other)))

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return ~(self == other)


class Either(Symbolic):
    """What `If` gives where its two values alone do not say of which domain it is: to be assigned or compared."""

    __slots__ = ("otherwise", "test", "then")
    __hash__ = object.__hash__
    compares_last = True

    def __init__(self, test: Bool, then: object, otherwise: object) -> None:
        self.test, self.then, self.otherwise = test, then, otherwise

    def __repr__(self) -> str:
        return "this choice"

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        yes, no = (condition(self.test.graph, _same(arm, other)) for arm in (self.then, self.otherwise))
        graph, test = self.test.graph, self.test.node
        chosen = [combine(graph, Op.AND, [test, yes]), combine(graph, Op.AND, [apply(graph, Op.NOT, test), no])]
        return Bool(graph, combine(graph, Op.OR, chosen))

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return ~(self == other)


def _same(arm: object, other: object) -> object:
    if _compares_last(arm) or _compares_last(other):
        return arm == other
    none, no_other = (value is None or isinstance(value, Nothing) for value in (arm, other))
    return none and no_other if none or no_other else arm == other


def domain_of(*sets: object) -> tuple[int, ...]:
    """Return who can be in these sets: what the first of them that knows says."""
    return next((one.domain for one in sets if isinstance(one, SetValue) and one.domain), ())


def subset_contains(subset: Subset, member: object) -> Bool:
    """Return whether a symbolic member is in a set that is known while the model is traced."""
    if not isinstance(member, (Num, SetValue)):
        _mistyped("A member of a sort", member, "Where it may be none, write .or_else(default) or .value.")
    return SetValue(member.graph, member.graph.const(int(subset))).contains(member)


def of_graph(graph: Graph, value: Any) -> Node:
    """Return the node of a symbolic value of this graph.

    Raises:
        ModelError: it was made by another model instance.
    """
    if value.graph is not graph:
        message = (
            f"{user_frame()}: {value!r} was made while another model instance was traced; "
            f"read it from the state that this function is given."
        )
        raise ModelError(message)
    node: Node = value.node
    return node


def _compares_last(value: object) -> bool:
    return isinstance(value, Symbolic) and value.compares_last


def condition(graph: Graph, value: object) -> Node:
    """Return the node of a condition, symbolic or plain."""
    if isinstance(value, Bool):
        return of_graph(graph, value)
    if isinstance(value, bool):
        return graph.boolean(value)
    _mistyped("A condition", value, "Compare it with something.")


def number(graph: Graph, value: object) -> Node:
    """Return the node of a number or of a member of a sort, symbolic or plain."""
    if isinstance(value, (Num, SetValue)):  # a set is the member of a set of sets that its mask numbers
        return of_graph(graph, value)
    if isinstance(value, int) and not isinstance(value, bool):
        return graph.const(int(value))
    if hasattr(type(value), "or_else"):
        _mistyped("A number", value, "It may be none: write .or_else(default), or .value where it cannot be.")
    _mistyped("A number or a member of a sort", value, "Conditions become numbers by If(condition, 1, 0).")


def mask(graph: Graph, value: object) -> Node:
    """Return the node of a set's bit mask: a symbolic set, a `Subset`, or a Python collection of members."""
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
                _mistyped("A member of a sort", member, f"Its number must be from 0 to {LARGEST_SET - 1}.")
            total = apply(graph, Op.BITOR, total, apply(graph, Op.BIT, number(graph, member)))
        return total
    _mistyped("A set", value, "Write {member} for the set of one member, set() for the empty set.")

"""Binders: quantifiers that tracing keeps as they are written, for exports and for models with open bounds.

While a model is traced for its program, a quantifier becomes a condition for each member. Inside `keeping` its body
runs once, on a bound variable. The variable and the quantified condition are opaque to the graph: each is a cell beyond
the cells of the state. `Binders` records the range of each variable and the body of each quantifier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from insync.model.domains.open_bounds import OpenMembers, is_open
from insync.model.domains.sorts import Index, Subset, chosen_bounds, is_kind, members_of, number_of_members
from insync.model.domains.values import Bool, Condition, EnumValue, Num, SetValue, condition, number
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply
from insync.model.expressions.store import current
from insync.runtime.errors import ModelError

__all__ = ["Binders", "Opaque", "Quantified", "extreme", "keeping", "opaque_cell", "opaque_value", "wholly"]


@dataclass(frozen=True, slots=True)
class Opaque:
    """A variable or parameter that a cell beyond the cells of the state stands for.

    Attributes:
        name: its name.
        kind: the sort, range or enumeration that it ranges over, or bool; None for whole numbers.
        lo: the first number.
        size: the number of its values.
    """

    name: str
    kind: type | None
    lo: int
    size: int


@dataclass(frozen=True, slots=True)
class Quantified:
    """A quantified condition, or a number over all members.

    Attributes:
        what: `for_all`, `exists` or `count`; `max_of` or `min_of` for the extreme of a number.
        cell: the cell of the bound variable.
        inside: the mask of the set that the variable ranges over; None for all members of its kind.
        body: the condition on the variable, or the number.
    """

    what: str
    cell: int
    inside: Node | None
    body: Node


@dataclass(slots=True)
class Binders:
    """The cells beyond those of the state, and what they stand for.

    Attributes:
        graph: the graph of the cells.
        opaque: the variables and parameters, by their cells.
        quantified: the quantifiers, by the cells of their results.
        only_open: whether only quantifiers over an open number of members are kept; others are expanded.
    """

    graph: Graph
    opaque: dict[int, Opaque] = field(default_factory=dict)
    quantified: dict[int, Quantified] = field(default_factory=dict)
    only_open: bool = False


_kept: ContextVar[Binders | None] = ContextVar("_kept", default=None)


@contextmanager
def keeping(binders: Binders) -> Iterator[None]:
    """Keep the quantifiers that are traced in this context, and record them in these binders."""
    token = _kept.set(binders)
    try:
        yield
    finally:
        _kept.reset(token)


def opaque_cell(graph: Graph, size: int) -> int:
    """Return the number of a new cell with `size` codes."""
    graph.cell_sizes = (*graph.cell_sizes, size)
    return len(graph.cell_sizes) - 1


def opaque_value(binders: Binders, name: str, kind: type) -> tuple[int, Any]:
    """Return the cell of a new variable over a kind, and its symbolic value."""
    bounds = chosen_bounds.get()
    assert bounds is not None, "only what is traced has members"
    size, lo = number_of_members(kind, bounds), 0
    if not issubclass(kind, (Index, Enum)) and kind is not bool:
        lo = int(members_of(kind, bounds)[0])  # type: ignore[arg-type]
    return _noted(binders, Opaque(name, kind, lo, size))


def _noted(binders: Binders, opaque: Opaque) -> tuple[int, Any]:
    cell = opaque_cell(binders.graph, opaque.size)
    binders.opaque[cell] = opaque
    return cell, _lifted(binders.graph.node(Op.CELL, arg=cell), opaque)


def _lifted(node: Node, opaque: Opaque) -> Any:
    kind, bounds = opaque.kind, chosen_bounds.get()
    if kind is not None and issubclass(kind, Subset):
        assert bounds is not None
        return SetValue(node, tuple(kind.of.members(bounds)))
    if kind is not None and issubclass(kind, Index):
        return Num(node, kind)
    if kind is not None and issubclass(kind, Enum):
        return EnumValue(node, kind)
    if kind is bool:
        return Bool(apply(Op.EQ, node, node.graph.const(1)))
    return Num(apply(Op.ADD, node, node.graph.const(opaque.lo)))


def wholly(what: str, name: str, members: object, body: Callable[[Any], Condition]) -> Any:
    """Return the result of a quantifier that is kept as it is written.

    It is None where no quantifiers are kept, where the members are not of one kind, or where Python decides on one.
    """
    binders, found = _kept.get(), _ranged_over_kept(name, members)
    if binders is None or found is None:
        return None
    opaque, inside = found
    tracing = current.get()
    noted = len(tracing.expected) if tracing is not None else 0
    cell, value = _noted(binders, opaque)
    try:
        said = body(value)
        if not isinstance(said, Bool):
            return None
        node = condition(binders.graph, said)
    except ModelError:
        if binders.only_open:
            raise
        if tracing is not None:
            del tracing.expected[noted:]
        return None
    size = opaque.size + 1 if what == "count" else 2
    whole = opaque_cell(binders.graph, size)
    binders.quantified[whole] = Quantified(what, cell, inside, node)
    kept = binders.graph.node(Op.CELL, arg=whole)
    return Num(kept) if what == "count" else Bool(apply(Op.EQ, kept, binders.graph.const(1)))


def extreme(what: str, name: str, members: object, body: Callable[[Any], Any]) -> Num | None:
    """Return the extreme of a number over an open number of members; None where the number of members is not open."""
    binders, found = _kept.get(), _ranged_over_kept(name, members)
    if binders is None or found is None or not binders.only_open:
        return None
    cell, value = _noted(binders, found[0])
    node = number(binders.graph, body(value))
    whole = opaque_cell(binders.graph, node.hi - node.lo + 1)
    binders.quantified[whole] = Quantified(what, cell, found[1], node)
    return Num(apply(Op.ADD, binders.graph.node(Op.CELL, arg=whole), binders.graph.const(node.lo)))


def _ranged_over_kept(name: str, members: object) -> tuple[Opaque, Node | None] | None:
    """Return the variable and the set of a quantifier over members, if that quantifier is to be kept."""
    binders = _kept.get()
    found = None if binders is None else _ranged_over(name, members)
    if binders is None or found is None or found[0].size < 2 or (binders.only_open and not is_open(found[0].size)):
        return None
    return found


def _ranged_over(name: str, members: object) -> tuple[Opaque, Node | None] | None:
    """Return the variable that ranges over members, and the mask of their set; None where they are not of one kind."""
    bounds = chosen_bounds.get()
    if bounds is None:
        return None
    if is_kind(members):
        assert isinstance(members, type)
        if issubclass(members, Enum) or number_of_members(members, bounds) == 0:
            return None  # `is` decides on members of an enumeration, and a variable cannot notice that
        numbered = not issubclass(members, (Index, Enum)) and members is not bool
        lo = int(members_of(members, bounds)[0]) if numbered else 0  # type: ignore[arg-type]
        return Opaque(name, members, lo, number_of_members(members, bounds)), None
    if isinstance(members, OpenMembers):
        return _ranged_over(name, members.kind)
    if isinstance(members, SetValue):
        sort = members.sort
        if sort is not None:
            return Opaque(name, sort, 0, sort.size(bounds)), members.node
        return Opaque(name, None, 0, len(members.members())), members.node
    if isinstance(members, range) and members.step == 1:
        return Opaque(name, None, members.start, len(members)), None
    if isinstance(members, list) and members and all(type(one) is type(members[0]) for one in members):
        sort = type(members[0])
        if issubclass(sort, Index) and members == sort.members(bounds):
            return Opaque(name, sort, 0, len(members)), None
    return None

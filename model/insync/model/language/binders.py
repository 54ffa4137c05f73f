"""Kept quantifiers: those that tracing leaves as they are written, in lifted actions and in models with open bounds.

While conditions are traced for a program, a quantifier becomes a condition for each member. Inside `lifting` its body
runs once, on a bound variable, and the result is a `BIND`. Where Python decides on the variable, the quantifier is
expanded after all.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from insync.model.domains.open_bounds import OpenGraph, OpenMembers, is_open
from insync.model.domains.sorts import Index, Subset, chosen_bounds, is_kind, label_of, members_of, number_of_members
from insync.model.domains.values import Bool, Condition, EnumValue, Num, SetValue, condition, number
from insync.model.expressions.graph import Binder, Node, Op, Variable
from insync.model.expressions.lifted import LiftedGraph, Undecided, quantifiers_kept
from insync.model.expressions.simplify import apply
from insync.model.expressions.source import noted
from insync.model.expressions.store import current
from insync.runtime.errors import ModelError

__all__ = ["extreme", "value_of_variable", "variable_over", "wholly"]


def variable_over(name: str, kind: type, place: int) -> Variable:
    """Return the variable of a parameter over a kind.

    Args:
        name: the name of the parameter.
        kind: the sort, range or enumeration, or bool.
        place: its number, which distinguishes it from the other parameters.
    """
    bounds = chosen_bounds.get()
    assert bounds is not None, "only what is traced has members"
    lo = int(members_of(kind, bounds)[0]) if _numbered(kind) else 0  # type: ignore[arg-type]
    return Variable(name, kind, lo, number_of_members(kind, bounds), place)


def _numbered(kind: type) -> bool:
    """Return whether the members of a kind are plain numbers."""
    return not issubclass(kind, (Index, Enum)) and kind is not bool


def value_of_variable(graph: LiftedGraph, variable: Variable) -> Any:
    """Return the symbolic value of a variable."""
    node, kind, bounds = graph.node(Op.VAR, arg=variable), variable.kind, chosen_bounds.get()
    if kind is not None and issubclass(kind, Subset):
        assert bounds is not None
        return SetValue(node, tuple(kind.of.members(bounds)), kind.of)
    if kind is not None and issubclass(kind, Index):
        return Num(node, kind)
    if kind is not None and issubclass(kind, Enum):
        return EnumValue(node, kind)
    if kind is bool:
        return Bool(apply(Op.EQ, node, graph.const(1)))
    return Num(apply(Op.ADD, node, graph.const(variable.lo)))


def wholly(word: str, name: str, members: object, body: Callable[[Any], Condition]) -> Any:
    """Return the result of a quantifier that is kept as it is written.

    It is None where no quantifiers are kept, where the members are not of one kind, and where Python decides on one.

    Raises:
        Undecided: Python decides on a variable around this quantifier.
    """
    found = _range_kept(name, members)
    if found is None:
        return None
    graph, variable, names, inside = found
    store, notes = current.get(), noted.get()
    before = None if store is None else store.progress()
    spans = None if notes is None else notes.sizes()
    try:
        said = _body(graph, variable, body)
        node = condition(graph, said) if isinstance(said, Bool) else None
    except ModelError as error:
        outer = isinstance(error, Undecided) and error.variables and variable not in error.variables
        if isinstance(graph, OpenGraph) or outer:
            raise
        node = None
    if store is not None and store.progress() != before and not isinstance(graph, OpenGraph):
        store.forget(before)
        node = None
    if node is not None:
        kept = graph.node(Op.BIND, (node,) if inside is None else (node, inside), Binder(word, variable, names))
        if not graph.decides or graph.reads_state(kept) or graph.free(kept):
            return Bool(kept) if kept.is_bool else Num(kept)
        # It is a constant, on which Python may decide.
    if notes is not None and spans is not None:
        notes.forget(spans)
    return None


def extreme(word: str, name: str, members: object, body: Callable[[Any], Any]) -> Num | None:
    """Return the extreme of a number over an open number of members; None where the number of members is not open."""
    found = _range_kept(name, members)
    if found is None or not isinstance(found[0], OpenGraph):
        return None
    graph, variable, names, inside = found
    node = number(graph, _body(graph, variable, body))
    return Num(graph.node(Op.BIND, (node,) if inside is None else (node, inside), Binder(word, variable, names)))


def _body(graph: LiftedGraph, variable: Variable, body: Callable[[Any], Any]) -> Any:
    graph.bound += 1  # so that each quantifier has a variable of its own
    return body(value_of_variable(graph, variable))


def _range_kept(name: str, members: object) -> tuple[LiftedGraph, Variable, tuple[str, ...], Node | None] | None:
    """Return graph, variable, names of the members and mask of the set of a quantifier, if it is to be kept."""
    graph = quantifiers_kept.get()
    found = None if graph is None else _range(name, members, -1 - graph.bound)
    if graph is None or found is None or found[0].size < 2:
        return None
    if isinstance(graph, OpenGraph) and not is_open(found[0].size):
        return None
    return graph, *found


def _range(name: str, members: object, place: int) -> tuple[Variable, tuple[str, ...], Node | None] | None:
    """Return the variable that ranges over members, their names, and the mask of their set; None if of no one kind."""
    bounds = chosen_bounds.get()
    if bounds is None:
        return None
    if is_kind(members):
        assert isinstance(members, type)
        if issubclass(members, Enum) or number_of_members(members, bounds) == 0:
            return None  # `is` decides on members of an enumeration, and a variable cannot notice that
        variable = variable_over(name, members, place)
        known = () if is_open(variable.size) else tuple(map(label_of, members_of(members, bounds)))
        return variable, known, None
    if isinstance(members, OpenMembers):
        return _range(name, members.kind, place)
    if isinstance(members, SetValue):
        sort = members.sort
        possible = members.members()
        if sort is not None:
            size = sort.size(bounds)
            known = () if is_open(size) else tuple(map(label_of, possible))
            return Variable(name, sort, 0, size, place), known, members.node
        if possible != list(range(len(possible))):
            return None
        names = tuple(map(label_of, possible)) if members.domain else ()
        return Variable(name, None, 0, len(possible), place), names, members.node
    if isinstance(members, range) and members.step == 1:
        return Variable(name, None, members.start, len(members), place), tuple(map(label_of, members)), None
    if isinstance(members, list) and members and all(type(one) is type(members[0]) for one in members):
        sort = type(members[0])
        if issubclass(sort, Index) and members == sort.members(bounds):
            return Variable(name, sort, 0, len(members), place), tuple(map(label_of, members)), None
    return None

"""The vocabulary of a model besides fields and quantifiers: `require`, `when`, `If`, `And`, `Or`, `maximum` and others.

All functions take plain Python bools and ints as well as symbolic values. They return a plain value if all their
arguments are plain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum as PythonEnum
from types import NoneType
from typing import Any, TypeVar

from insync.model.domains.sorts import Subset
from insync.model.domains.symbolic import Symbolic, for_condition, refuse_argument
from insync.model.domains.values import (
    Anything,
    Bool,
    Condition,
    Either,
    EnumValue,
    Nothing,
    Num,
    OptionValue,
    SetValue,
    condition,
    decided,
    domain_of,
    mask,
    number,
    sort_of,
    sort_of_sets,
)
from insync.model.expressions.graph import Graph, Op
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.source import noted
from insync.model.expressions.store import Place, current
from insync.model.language.views import OptionRecordView, View, choose
from insync.runtime.errors import ModelError, shown, user_frame

__all__ = [
    "And",
    "If",
    "Implies",
    "Not",
    "Or",
    "maximum",
    "minimum",
    "one_of",
    "require",
    "set_of",
    "snapshot",
    "when",
]


Live = TypeVar("Live")


def _graph(values: Sequence[object]) -> Graph | None:
    for value in values:
        if isinstance(value, (Bool, Num, SetValue, EnumValue, OptionValue)):
            return value.graph
    return None


def _plain(value: object, word: str) -> bool:
    if not isinstance(value, bool):
        refuse_argument(word, "conditions", value, for_condition(value))
    return value


def And(*conditions: Condition) -> Condition:
    """Return whether all conditions hold."""
    graph = _graph(conditions)
    if graph is None:
        return all(_plain(c, "And") for c in conditions)
    return Bool(combine(graph, Op.AND, [condition(graph, c) for c in conditions]))


def Or(*conditions: Condition) -> Condition:
    """Return whether some condition holds."""
    graph = _graph(conditions)
    if graph is None:
        return any(_plain(c, "Or") for c in conditions)
    return Bool(combine(graph, Op.OR, [condition(graph, c) for c in conditions]))


def Not(negated: Condition) -> Condition:
    """Return whether the condition does not hold."""
    return ~negated if isinstance(negated, Bool) else not _plain(negated, "Not")


def Implies(premise: Condition, conclusion: Condition) -> Condition:
    """Return whether the conclusion holds wherever the premise does."""
    if (notes := noted.get()) is not None:
        notes.imply(premise.node if isinstance(premise, Bool) else premise is True)
    for part in (premise, conclusion):
        if not isinstance(part, Bool):
            _plain(part, "Implies")
    return Or(Not(premise), conclusion)


def one_of(value: Any, *choices: Any) -> Condition:
    """Return whether a value equals one of the choices; False if there are none.

    Args:
        value: a part of the state, or a plain value.
        choices: values that it can be compared with by `==`.
    """
    return Or(*(value == each for each in choices))


def If(test: Condition, then: Any, otherwise: Any) -> Any:
    """Return `then` where the test holds, else `otherwise`: two values of one kind (either may be `NONE` or plain)."""
    if isinstance(test, bool):
        return then if test else otherwise
    graph, arms = condition_graph(test), (then, otherwise)
    if (notes := noted.get()) is not None and (tracing := current.get()) is not None:
        notes.branch("If", tracing.where, test.node)
    if any(isinstance(arm, Anything) for arm in arms):
        return Either(test, then, otherwise)
    if any(isinstance(arm, (View, Either)) for arm in arms):
        decided(test.node)  # Python would return the live view, and not a copy of what it has now
    optional = any(isinstance(arm, (Nothing, NoneType, OptionValue, Either)) for arm in arms)
    if not optional and any(isinstance(arm, (Bool, bool)) for arm in arms):
        return Or(And(test, then), And(Not(test), otherwise))
    for arm in arms:
        # A choice between NONE and a record gets its domain where it is assigned or compared.
        none = any(isinstance(one, (Nothing, NoneType)) for one in arms)
        if isinstance(arm, (OptionValue, OptionRecordView)) or (isinstance(arm, View) and not none):
            return choose(test, arm._domain, then, otherwise)
    if any(isinstance(arm, (Nothing, NoneType, dict, list, tuple, Either, View)) for arm in arms):
        return Either(test, then, otherwise)
    for arm in arms:
        if isinstance(arm, (EnumValue, PythonEnum)):
            kind = arm.kind if isinstance(arm, EnumValue) else type(arm)
            codes = [EnumValue(graph.false, kind).coded(one) for one in arms]
            return EnumValue(apply(Op.ITE, test.node, *codes), kind)
    if any(isinstance(arm, (SetValue, Subset, set, frozenset)) for arm in arms):
        chosen = apply(Op.ITE, test.node, mask(graph, then), mask(graph, otherwise))
        return SetValue(chosen, domain_of(*arms), sort_of_sets(*arms))
    numbers = number(graph, then, sort_of(otherwise)), number(graph, otherwise, sort_of(then))
    return Num(apply(Op.ITE, test.node, *numbers), sort_of(then) if sort_of(otherwise) is not None else None)


def condition_graph(test: object) -> Graph:
    """Return the graph of a symbolic condition."""
    if not isinstance(test, Bool):
        refuse_argument("If", "a condition first", test, for_condition(test))
    return test.graph


def _extreme(op: Op, plain: Callable[..., int], values: tuple[Num | int, ...]) -> Any:
    graph = _graph(values)
    if not values or (graph is None and not all(isinstance(v, int) and not isinstance(v, bool) for v in values)):
        message = f"{user_frame()}: minimum() and maximum() need numbers, one by one; these are {shown(values)}."
        raise ModelError(message)
    if graph is None:
        return plain(values)
    node = number(graph, values[0])
    for value in values[1:]:
        node = apply(op, node, number(graph, value))
    sorts = {sort_of(value) for value in values}
    return Num(node, sorts.pop() if len(sorts) == 1 else None)


def minimum(*values: Num | int) -> Any:
    """Return the least of the numbers."""
    return _extreme(Op.MIN, min, values)


def maximum(*values: Num | int) -> Any:
    """Return the greatest of the numbers."""
    return _extreme(Op.MAX, max, values)


def set_of(members: Sequence[Num | int] | Any) -> Any:
    """Return the set of these members, to be assigned or compared.

    While a model is traced the result has the methods of a set of the state, even if all members are plain. Elsewhere
    it is a frozenset.
    """
    if isinstance(members, (SetValue, Subset)):
        return members
    if isinstance(members, Symbolic) or not isinstance(members, Iterable):
        message = f"{user_frame()}: set_of() needs the members in a list or another sequence, not {shown(members)}."
        raise ModelError(message)
    listed = list(members)
    traced = current.get()
    graph = _graph(listed) if traced is None else traced.graph
    return frozenset(listed) if graph is None else SetValue(mask(graph, listed))


def require(*conditions: Condition) -> None:
    """Add conditions to the guard of the action: it is enabled only where all of them hold.

    Raises:
        ModelError: it is used outside an action.
    """
    environment = current.get()
    if environment is None or not environment.guarded:
        message = (
            f"{user_frame()}: require() belongs in an action or a method marked with @initial. A property returns its "
            f"condition; the plain `initial` assigns what all initial states begin with."
        )
        raise ModelError(message)
    if environment.where:
        message = (
            f"{user_frame()}: require() inside `with when(...)` would disable the whole action, not the block alone. "
            f"Write require(Implies(condition, ...)) before the block."
        )
        raise ModelError(message)
    notes = noted.get()
    record = None if notes is None else notes.requiring()
    for place, one in enumerate(conditions):
        node = condition(environment.graph, one)
        if record is not None:
            record(place, node)
        environment.require(node)


class when:
    """A `with` block whose assignments happen only where a condition holds; elsewhere the fields keep their values.

    The condition is evaluated where the block begins. Blocks nest. Reads inside are unconditional. `require` is refused
    inside, because a guard is about the whole action.

        with when(b.leo < end):
            b.leo = end

    Args:
        test: the condition, symbolic or plain.

    Raises:
        ModelError: it is used outside actions and initial methods, or with a value that is not a condition.
    """

    def __init__(self, test: Condition) -> None:
        environment = current.get()
        if environment is None:
            message = f"{user_frame()}: when() is about assignments; use it in an action or in `initial`."
            raise ModelError(message)
        self._environment, self._test = environment, condition(environment.graph, test)
        environment.unopened[self] = user_frame()

    def __enter__(self) -> None:
        self._environment.unopened.pop(self, None)
        if (notes := noted.get()) is not None:
            notes.branch("when", self._environment.where, self._test)
        self._environment.where.append(self._test)

    def __exit__(self, *_: object) -> None:
        self._environment.where.pop()


def snapshot(live: Live) -> Live:
    """Return a copy of a record or array as it is now; later assignments change a live view, but not the copy."""
    if not isinstance(live, View):
        return live
    place = live._place
    frozen = place.environment.snapshot()
    copied: Live = type(live)(live._domain, Place(frozen, place.base, place.path, place.dimensions))
    return copied

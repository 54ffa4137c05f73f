"""The words of a model besides its fields: And, Or, Not, Implies, If, for_all, exists, minimum, maximum, require.

All of them take plain Python bools and ints as well as symbolic values, and give a plain answer
when everything they are given is plain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from insync.model.domains import Domain
from insync.model.environment import Environment, Place, Unreachable, current
from insync.model.errors import ModelError, user_frame
from insync.model.graph import Graph, Op, Quantifier
from insync.model.simplify import apply, combine
from insync.model.values import Bool, Condition, EnumValue, Num, SetValue, condition, mask, number
from insync.model.views import OptionValue, View, codes_for, view

__all__ = [
    "And",
    "If",
    "Implies",
    "Not",
    "Or",
    "exists",
    "for_all",
    "maximum",
    "minimum",
    "require",
    "set_of",
    "snapshot",
]


def _graph(values: Sequence[object]) -> Graph | None:
    for value in values:
        if isinstance(value, (Bool, Num, SetValue, EnumValue)):
            return value.graph
    return None


def _plain(value: object, word: str) -> bool:
    if not isinstance(value, bool):
        kind = type(value).__name__
        message = f"{user_frame()}: {word} needs conditions, but {value!r} is of type {kind}; use a comparison."
        raise ModelError(message)
    return value


def And(*conditions: Condition) -> Condition:
    """Return whether all conditions hold."""
    graph = _graph(conditions)
    if graph is None:
        return all(_plain(c, "And") for c in conditions)
    return Bool(graph, combine(graph, Op.AND, [condition(graph, c) for c in conditions]))


def Or(*conditions: Condition) -> Condition:
    """Return whether some condition holds."""
    graph = _graph(conditions)
    if graph is None:
        return any(_plain(c, "Or") for c in conditions)
    return Bool(graph, combine(graph, Op.OR, [condition(graph, c) for c in conditions]))


def Not(negated: Condition) -> Condition:
    """Return whether the condition does not hold."""
    return ~negated if isinstance(negated, Bool) else not _plain(negated, "Not")


def Implies(premise: Condition, conclusion: Condition) -> Condition:
    """Return whether the conclusion holds wherever the premise does."""
    return Or(Not(premise), conclusion)


def If(test: Condition, then: Any, otherwise: Any) -> Any:
    """Return `then` where the test holds, else `otherwise`: two values of one kind (either may be `NONE` or plain)."""
    if isinstance(test, bool):
        return then if test else otherwise
    graph, arms = condition_graph(test), (then, otherwise)
    if any(isinstance(arm, (Bool, bool)) for arm in arms):
        return Or(And(test, then), And(Not(test), otherwise))
    for arm in arms:
        if isinstance(arm, View):
            return _choose_codes(test, arm._domain, arm._place.environment, arms, arm._place.path)
        if isinstance(arm, OptionValue):
            return _choose_codes(test, arm._domain, arm._env, arms, "this option")
        if isinstance(arm, EnumValue):
            codes = [arm.coded(one) for one in arms]
            return EnumValue(graph, apply(graph, Op.ITE, test.node, *codes), arm.kind)
    if any(isinstance(arm, (SetValue, set, frozenset)) for arm in arms):
        labels = next((arm.labels for arm in arms if isinstance(arm, SetValue)), ())
        return SetValue(graph, apply(graph, Op.ITE, test.node, mask(graph, then), mask(graph, otherwise)), labels)
    return Num(graph, apply(graph, Op.ITE, test.node, number(graph, then), number(graph, otherwise)))


def _choose_codes(test: Bool, domain: Domain, env: Environment, arms: tuple[Any, Any], path: str) -> Any:
    yes, no = (codes_for(domain, env, arm, path) for arm in arms)
    chosen = [apply(test.graph, Op.ITE, test.node, a, b) for a, b in zip(yes, no, strict=True)]
    return view(domain, Place(Environment(test.graph, chosen, writable=False), 0, path))


def condition_graph(test: object) -> Graph:
    """Return the graph of a symbolic condition."""
    if not isinstance(test, Bool):
        kind = type(test).__name__
        message = f"{user_frame()}: If needs a condition first, but {test!r} is of type {kind}; use a comparison."
        raise ModelError(message)
    return test.graph


def _extreme(op: Op, plain: Callable[..., int], values: tuple[Num | int, ...]) -> Any:
    graph = _graph(values)
    if graph is None:
        return plain(values)
    node = number(graph, values[0])
    for value in values[1:]:
        node = apply(graph, op, node, number(graph, value))
    return Num(graph, node)


def minimum(*values: Num | int) -> Any:
    """Return the least of the numbers."""
    return _extreme(Op.MIN, min, values)


def maximum(*values: Num | int) -> Any:
    """Return the greatest of the numbers."""
    return _extreme(Op.MAX, max, values)


def set_of(members: Sequence[Num | int] | Any) -> Any:
    """Return the set of these members, to be assigned or compared."""
    listed = list(members)
    graph = _graph(listed)
    return frozenset(listed) if graph is None else SetValue(graph, mask(graph, listed))


def _quantify(op: Op, members: Any, body: Callable[[Any], Condition]) -> Condition:
    premises: list[Bool | None]
    if isinstance(members, SetValue):
        labels = list(members.labels)
        values: list[Any] = list(range(len(labels)))
        premises = [members.contains(i) for i in values]
    else:
        values = list(members)
        labels = [str(v) for v in values]
        premises = [None] * len(values)
    join = Implies if op is Op.AND else And
    parts = [body(v) if p is None else join(p, body(v)) for v, p in zip(values, premises, strict=True)]
    graph = _graph(parts)
    if graph is None:
        return all(_plain(p, "for_all") for p in parts) if op is Op.AND else any(_plain(p, "exists") for p in parts)
    variable = body.__code__.co_varnames[0] if hasattr(body, "__code__") else "member"
    return Bool(graph, combine(graph, op, [condition(graph, p) for p in parts], Quantifier(variable, tuple(labels))))


def for_all(members: Any, body: Callable[[Any], Condition]) -> Condition:
    """Return whether the body holds of every member; the name of its parameter is kept for explanations.

    Args:
        members: a Python sequence, such as `self.all(Replica)` or a range, or a symbolic set.
        body: a function of one member.
    """
    return _quantify(Op.AND, members, body)


def exists(members: Any, body: Callable[[Any], Condition]) -> Condition:
    """Return whether the body holds of some member (see `for_all`)."""
    return _quantify(Op.OR, members, body)


def require(*conditions: Condition) -> None:
    """Add conditions to the guard of the action: it is enabled only where all of them hold.

    Raises:
        ModelError: it is used outside an action.
    """
    environment = current.get()
    if environment is None:
        message = f"{user_frame()}: require() belongs in an action; a property returns its condition."
        raise ModelError(message)
    for one in conditions:
        if one is False:
            raise Unreachable
        environment.require(condition(environment.graph, one))


def snapshot(live: Any) -> Any:
    """Return a record or array as it is now; later assignments do not change it, as they do a live view."""
    if not isinstance(live, View):
        return live
    place = live._place
    frozen = place.environment.snapshot()
    return type(live)(live._domain, Place(frozen, place.base, place.path, place.dimensions))

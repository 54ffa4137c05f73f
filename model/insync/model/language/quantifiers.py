"""Quantifiers: `for_all`, `exists`, `count`, `sum_of`, `max_of`, `min_of`, `the`, `choose` and `filtered`.

They range over the members of a sort, a range or an enumeration, given by the class, or over a Python sequence, a set,
an array, a sequence or a bag of the state. Like the functions of `vocabulary` they return a plain value if all their
arguments are plain.

While conditions are traced for a program, a quantifier becomes a condition for each member. In lifted actions, and in
models with open bounds, it is kept as it is written: its body runs once, on a bound variable, and the result is a
`BIND`. Where Python decides on that variable, the quantifier is expanded after all.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import itemgetter
from types import FunctionType, MethodType
from typing import Any, TypeVar, overload

from insync.model.domains import scalars
from insync.model.domains.bounds import is_open
from insync.model.domains.open_bounds import OpenGraph, OpenMembers
from insync.model.domains.scalars import Int, OptionalScalar, Scalar, as_domain
from insync.model.domains.sorts import (
    Index,
    Subset,
    chosen_bounds,
    is_kind,
    label_of,
    members_of,
    number_of_members,
)
from insync.model.domains.symbolic import Symbolic, for_condition, mistyped, refuse_argument
from insync.model.domains.values import (
    Bool,
    Condition,
    EnumValue,
    Num,
    OneNode,
    OptionValue,
    SetValue,
    condition,
    decided,
    number,
)
from insync.model.expressions.graph import Binder, Node, Op, Quantifier, Variable
from insync.model.expressions.lifted import LiftedGraph, Undecided, quantifiers_kept
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.source import noted
from insync.model.expressions.store import current, traced_graph
from insync.model.language.container_views import Collected
from insync.model.language.views import ArrayView, View
from insync.model.language.vocabulary import And, If, Implies, Or, maximum, minimum
from insync.runtime.errors import ModelError, raised, shown, user_frame

__all__ = [
    "choose",
    "count",
    "exists",
    "filtered",
    "for_all",
    "for_all_bindings",
    "max_of",
    "min_of",
    "sum_of",
    "the",
    "value_of_variable",
    "variable_over",
]

K = TypeVar("K")

_MISSING: Any = object()

_MORE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A possible member: its value, the condition that it is a member (None if it always is), and its name."""

    value: Any
    premise: Condition | None
    label: str


# -------------------------------------------------------------------------------------------------- for all and exists


@overload
def for_all(members: type[K], body: Callable[[K], Condition], /) -> Condition: ...
@overload
def for_all(members: Any, body: Callable[[Any], Condition], /) -> Condition: ...
@overload
def for_all(first: Any, second: Any, body: Callable[[Any, Any], Condition], /) -> Condition: ...
@overload
def for_all(first: Any, second: Any, third: Any, /, *more_and_body: Any) -> Condition: ...


def for_all(*given: Any) -> Condition:
    """Return whether a condition holds for every member; explanations use the names of the function's parameters.

    >>> for_all(Worker, Ballot, lambda worker, ballot: s.promised[worker] != ballot)

    Args:
        given: one or more ranges, then a function of as many members. A range is a sort, a `Range` or an enumeration, a
            Python sequence, or a set, an array, a Seq or a Bag of the state.
    """
    members, body, names = _given("for_all", given)
    return for_all_bindings(names, members, body)


@overload
def exists(members: type[K], body: Callable[[K], Condition], /) -> Condition: ...
@overload
def exists(members: Any, body: Callable[[Any], Condition], /) -> Condition: ...
@overload
def exists(first: Any, second: Any, body: Callable[[Any, Any], Condition], /) -> Condition: ...
@overload
def exists(first: Any, second: Any, third: Any, /, *more_and_body: Any) -> Condition: ...


def exists(*given: Any) -> Condition:
    """Return whether a condition holds for some member (see `for_all`)."""
    members, body, names = _given("exists", given)
    return _quantify(Op.OR, names, members, body)


def for_all_bindings(names: Sequence[str], members: Sequence[Any], body: Callable[..., Condition]) -> Condition:
    """Return whether a condition holds for all members, with a name for each variable."""
    return _quantify(Op.AND, names, members, body)


def _quantify(op: Op, names: Sequence[str], members: Sequence[Any], body: Callable[..., Condition]) -> Condition:
    """Return the quantifier over the first range; its body is the quantifier over the other ranges."""
    if not members:
        return body()
    word, join = ("for_all", Implies) if op is Op.AND else ("exists", And)
    kept: Condition | None = _wholly(
        word, names[0], members[0], lambda one: _quantify(op, names[1:], members[1:], lambda *rest: body(one, *rest))
    )
    if kept is not None:
        return kept
    candidates = _candidates(word, members[0])
    parts: list[Condition] = []
    for one in candidates:
        found = _quantify(op, names[1:], members[1:], lambda *rest, first=one.value: body(first, *rest))
        parts.append(_condition(word, found) if one.premise is None else join(one.premise, found))
    graph = next((part.graph for part in parts if isinstance(part, Bool)), None)
    if graph is None:
        return all(parts) if op is Op.AND else any(parts)
    quantifier = Quantifier(names[0], tuple(one.label for one in candidates))
    return Bool(combine(graph, op, [condition(graph, part) for part in parts], quantifier))


# ------------------------------------------------------------------------------------------------- numbers and members


def count(*given: Any) -> Any:
    """Return the number of members for which a condition holds; the arguments are those of `for_all`."""
    members, body, names = _given("count", given)
    if len(members) == 1 and (kept := _wholly("count", names[0], members[0], body)) is not None:
        return kept
    total: Any = 0
    for values, premise in _bindings("count", members):
        total += If(_both(premise, _condition("count", body(*values))), 1, 0)
    return total


def sum_of(*given: Any) -> Any:
    """Return the sum of a number over all members; the arguments are as for `for_all`."""
    members, body, _ = _given("sum_of", given)
    total: Any = 0
    for values, premise in _bindings("sum_of", members):
        number = _number("sum_of", body(*values))
        total += number if premise is None else If(premise, number, 0)
    return total


def max_of(*given: Any, default: Any = _MISSING) -> Any:
    """Return the greatest value of a number over all members.

    Args:
        given: as for `for_all`; the function returns a number.
        default: the result where there is no member; required where that can happen.
    """
    return _extreme("max_of", given, default, maximum)


def min_of(*given: Any, default: Any = _MISSING) -> Any:
    """Return the least value of a number over all members (see `max_of`)."""
    return _extreme("min_of", given, default, minimum)


def the(members: Any, condition: Callable[[Any], Condition], /) -> Any:
    """Return the first member for which a condition holds; the first member of all where it holds for none.

    Args:
        members: as for `for_all`.
        condition: a function of one member.
    """
    _, body, _ = _given("the", (members, condition))
    if isinstance(members, Collected):
        members.in_places()
    candidates = _candidates("the", members)
    if not candidates:
        message = f"{user_frame()}: the(...) needs a member to choose, and there is none in {shown(members)}."
        raise ModelError(message)
    chosen = candidates[0].value
    for one in reversed(candidates):
        chosen = If(_both(one.premise, _condition("the", body(one.value))), one.value, chosen)
    return chosen


def choose(members: Any, holds: Callable[[Any], Condition], /) -> OptionValue:
    """Return the least member for which a condition holds, as an option: none where it holds for no member.

    Args:
        members: a sort, a range or an enumeration, a set of members, or a list of members of one sort or of numbers.
        holds: a function of one member.
    """
    _, body, _ = _given("choose", (members, holds))
    of, found = _domain_of(members), list[tuple[int, Condition]]()
    for one in _candidates("choose", members):
        number = of.names.index(one.value.name) if isinstance(of, scalars.Enum) else int(one.value) - (of.first or 0)
        found.append((number, _both(one.premise, _condition("choose", body(one.value)))))
    graph = next((part.graph for _, part in found if isinstance(part, Bool)), None) or traced_graph()
    chosen = graph.const(0)
    for number, part in sorted(found, key=itemgetter(0), reverse=True):
        chosen = apply(Op.ITE, condition(graph, part), graph.const(1 + number), chosen)
    return OptionValue(OptionalScalar(of), chosen)


def _domain_of(members: Any) -> Scalar:
    """Return the bound domain of the members that `choose` ranges over."""
    kind, bounds = members, chosen_bounds.get()
    if isinstance(members, (list, tuple, range)) and members and all(type(one) is int for one in members):
        return Int(min(members), max(members))
    if isinstance(members, (list, tuple, set, frozenset)):
        kinds = {type(one) for one in members}
        kind = kinds.pop() if len(kinds) == 1 else None
    elif isinstance(members, (SetValue, Subset)):
        kind = members.sort if isinstance(members, SetValue) else members.of
    if bounds is None or not is_kind(kind):
        message = (
            f"{user_frame()}: choose() is about the members of a sort, a range or an enumeration, or a set of members "
            f"of a sort, in an action or a property; {shown(members)} is none of these. Of a Seq write "
            f"filtered(x, condition).first."
        )
        raise ModelError(message)
    found = as_domain(kind).bind(bounds)
    assert isinstance(found, Scalar), "the values of a kind take one cell"
    return found


def filtered(sequence: Any, holds: Callable[[Any], Condition], /) -> Any:
    """Return the sequence of the elements of a sequence for which a condition holds, in their order.

    Args:
        sequence: a `Seq` of the state.
        holds: a function of one element.
    """
    _, body, _ = _given("filtered", (sequence, holds))
    if not (isinstance(sequence, Collected) and sequence.is_sequence):
        message = (
            f"{user_frame()}: filtered() takes a Seq, and {shown(sequence)} is none. For a set or a bag write count, "
            f"for_all or exists, with the condition in the function."
        )
        raise ModelError(message)
    return sequence.kept([_condition("filtered", body(one)) for one, _ in sequence.members()])


def _extreme(word: str, given: Sequence[Any], default: Any, among: Callable[..., Any]) -> Any:
    members, body, names = _given(word, given)
    if len(members) == 1 and (kept := _kept_extreme(word, names[0], members[0], body)) is not None:
        return kept
    found = [(_number(word, body(*values)), premise) for values, premise in _bindings(word, members)]
    always = [number for number, premise in found if premise is None]
    if default is _MISSING:
        if not always:
            message = (
                f"{user_frame()}: {word}(...) may have no member here; say what it is then, as in "
                f"{word}(members, number, default=0)."
            )
            raise ModelError(message)
        return among(*always, *(If(premise, number, always[0]) for number, premise in found if premise is not None))
    best: Any = _number(word, default)
    some: Condition = False
    for value, premise in found:
        there: Condition = True if premise is None else premise
        best, some = If(there, If(some, among(best, value), value), best), Or(some, there)
    return best


def _both(premise: Condition | None, holds: Condition) -> Condition:
    return holds if premise is None else And(premise, holds)


# ------------------------------------------------------------------------------------------------------------ arguments


def _given(word: str, given: Sequence[Any]) -> tuple[list[Any], Callable[..., Any], list[str]]:
    """Return a quantifier's ranges, its function, and the names of the function's parameters.

    Raises:
        ModelError: the arguments are not one or more ranges and a function of as many members.
    """
    *members, body = given or [None]
    names = _names(body, len(members)) if members and (body is bool or not is_kind(body)) else None
    if names is None:
        several = len(members) > 1
        arguments = ", ".join("abcdefgh"[: len(members)]) if several else "r"
        message = (
            f"{user_frame()}: {word} needs a function of {len(members) if several else 'one'} member{'s' * several} "
            f"after the members, such as `lambda {arguments}: ...`, not {shown(body)}."
        )
        raise ModelError(message)
    return members, body, names


def _names(body: Any, wanted: int) -> list[str] | None:
    """Return the names of a function's parameters; None if it does not take `wanted` arguments."""
    bound = type(body) is MethodType
    plain = body.__func__ if bound else body
    if type(plain) is FunctionType and not plain.__dict__:  # `inspect.signature` takes many times as long
        code, first = plain.__code__, int(bound)
        if code.co_argcount == first + wanted and not code.co_flags & _MORE and not code.co_kwonlyargcount:
            return list(code.co_varnames[first : first + wanted])
    try:
        signature = inspect.signature(body)
        signature.bind(*[None] * wanted)
    except ValueError:  # something built in, which has no signature
        return ["member"] * wanted
    except TypeError:
        return None
    return [*signature.parameters, *["member"] * wanted][:wanted]


def _candidates(word: str, members: Any) -> list[_Candidate]:
    """Return the possible members of a range."""
    if is_kind(members):
        bounds = chosen_bounds.get()
        if bounds is None:
            message = (
                f"{user_frame()}: {word}({members.__name__}, ...): the members of {members.__name__} are known while "
                f"an action or a property is traced; elsewhere write {word}(self.all({members.__name__}), ...)."
            )
            raise ModelError(message)
        return [_Candidate(value, None, label_of(value)) for value in members_of(members, bounds)]
    if isinstance(members, SetValue):
        return [_Candidate(value, members.contains(value), label_of(value)) for value in members.members()]
    if isinstance(members, Collected):
        named = zip(members.members(), members.labels(), strict=True)
        return [_Candidate(value, premise, label) for (value, premise), label in named]
    if isinstance(members, ArrayView):
        return [_Candidate(value, None, _place_name(members, at, value)) for at, value in enumerate(members)]
    if not isinstance(members, Iterable):
        message = (
            f"{user_frame()}: {shown(members)} has no members; give for_all and exists a set, a sort, a range or an "
            f"enumeration, a Python sequence such as range(n), an array, a Seq, a Bag or a SetOf."
        )
        raise ModelError(message)
    return [_Candidate(value, None, _name(value)) for value in members]


def _name(value: object) -> str:
    """Return the name of an element of a Python sequence."""
    if isinstance(value, OneNode):
        decided(value.node)
    return label_of(value)


def _place_name(array: ArrayView, at: int, value: object) -> str:
    return repr(value) if isinstance(value, View) else f"{array!r}[{array._domain.labels[at]}]"


def _bindings(word: str, members: Sequence[Any]) -> list[tuple[list[Any], Condition | None]]:
    """Return all combinations of members, each with the condition that all of them are members."""
    found = []
    for combined in itertools.product(*[_candidates(word, one) for one in members]):
        premises = [one.premise for one in combined if one.premise is not None]
        found.append(([one.value for one in combined], And(*premises) if premises else None))
    return found


def _condition(word: str, found: object) -> Condition:
    if not isinstance(found, (Bool, bool)):
        refuse_argument(word, "conditions", found, for_condition(found))
    return found


def _number(word: str, found: object) -> Any:
    if isinstance(found, Symbolic) and not isinstance(found, Num):
        hint = "It may be none: write .or_else(default)." if hasattr(type(found), "or_else") else ""
        mistyped("A number", found, hint or "Conditions become numbers by If(condition, 1, 0).")
    if not isinstance(found, (Num, int)) or isinstance(found, bool):
        refuse_argument(word, "numbers", found, "Use a field or a number, and count(...) for conditions.")
    return found


# ----------------------------------------------------------------------------------------------------- kept quantifiers


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


def _wholly(word: str, name: str, members: object, body: Callable[[Any], Condition]) -> Any:
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
    errors = raised.get()
    so_far = 0 if errors is None else len(errors)
    try:
        said = _body(graph, variable, body)
        node = condition(graph, said) if isinstance(said, Bool) else None
    except ModelError as error:
        outer = isinstance(error, Undecided) and error.variables and variable not in error.variables
        if isinstance(graph, OpenGraph) or outer:
            raise
        node = None
        if errors is not None:
            del errors[so_far:]  # the quantifier is expanded instead
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


def _kept_extreme(word: str, name: str, members: object, body: Callable[[Any], Any]) -> Num | None:
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

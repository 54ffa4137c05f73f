"""The decorators that mark methods in a class body: actions, initial methods, invariants and properties of runs.

A decorator checks the signature and stores a specification on the method: its label, place and parameters.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_VARARGS, CO_VARKEYWORDS
from types import FrameType
from typing import Any, ClassVar, TypeVar, overload
from weakref import WeakKeyDictionary

from insync.model.domains.sorts import is_kind
from insync.model.domains.values import Bool, Condition
from insync.model.given_names import given_names
from insync.runtime.errors import ModelError, UserError, shown, user_frame

__all__ = [
    "ROLE",
    "ActionSpec",
    "InitialSpec",
    "InvariantSpec",
    "TailCondition",
    "action",
    "action_specs",
    "always_eventually",
    "check_signature",
    "eventually",
    "eventually_always",
    "every_spec",
    "initial",
    "initial_specs",
    "initially_always",
    "invariant",
    "invariant_names",
    "invariant_specs",
    "leads_to",
    "marked_specs",
    "parameter_types",
    "place_of_function",
    "refuse_suspended",
    "removed_actions",
    "run_specs",
    "scopes_of",
    "sometimes",
]


F = TypeVar("F", bound=Callable[..., Any])
S = TypeVar("S")

ROLE = "__insync_role__"
"""The attribute of a marked method that holds its specification."""


class ActionSpec:
    """The specification that `@action` stores: the label, the place and the type of each parameter.

    Tracing adds the parameters that `any_of` makes, whose names are `choices`.
    """

    __slots__ = ("choices", "label", "parameters", "place")
    word: ClassVar[str] = "action"
    plural: ClassVar[str] = "actions"
    mark: ClassVar[str] = "action"
    states: ClassVar[tuple[str, ...]] = ("state",)

    def __init__(self, label: str | None, place: str, parameters: dict[str, type]) -> None:
        self.label, self.place, self.parameters = label, place, parameters
        self.choices: tuple[str, ...] = ()

    def with_choice(self, name: str, kind: type) -> ActionSpec:
        """Return the specification with one more parameter, which `any_of` makes."""
        made = ActionSpec(self.label, self.place, {**self.parameters, name: kind})
        made.choices = (*self.choices, name)
        return made


class InitialSpec(ActionSpec):
    """The specification that `@initial` stores, like that of `@action`."""

    __slots__ = ()
    word: ClassVar[str] = "initial method"
    plural: ClassVar[str] = "initial methods"
    mark: ClassVar[str] = "initial"


class InvariantSpec:
    """The specification that `@invariant` stores: the place and the type of each parameter."""

    __slots__ = ("parameters", "place")
    word: ClassVar[str] = "invariant"
    plural: ClassVar[str] = "invariants"
    mark: ClassVar[str] = "invariant"
    states: ClassVar[tuple[str, ...]] = ("state",)

    def __init__(self, place: str, parameters: dict[str, type]) -> None:
        self.place, self.parameters = place, parameters


def place_of_function(function: Callable[..., Any]) -> str:
    """Return `file:line` of a function."""
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


def check_signature(function: Callable[..., Any], kind: type[ActionSpec | InvariantSpec]) -> None:
    """Refuse to mark anything but a method of self, a state (or two), and parameters.

    Raises:
        ModelError: it is something else.
    """
    code = getattr(function, "__code__", None)
    if code is None:
        message = (
            f"{user_frame()}: @{kind.mark} belongs directly above a method (def) of the model, not on "
            f"{shown(function)}."
        )
        raise ModelError(message)
    if (other := getattr(function, ROLE, None)) is not None and type(other) is not kind:
        message = (
            f"{place_of_function(function)}: {function.__name__!r} is marked with @{other.mark} and with "
            f"@{kind.mark}; keep one of them."
        )
        raise ModelError(message)
    refuse_suspended(function, kind.word)
    unusual = code.co_kwonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) or function.__defaults__
    if code.co_argcount < 1 + len(kind.states) or unusual:
        message = (
            f"{place_of_function(function)}: the {kind.word} {function.__name__!r} must take self, the "
            f"{', the '.join(kind.states)} and then its parameters, without *, ** and defaults."
        )
        raise ModelError(message)


def refuse_suspended(function: Callable[..., Any], word: str) -> None:
    """Refuse a function whose call does not run its body: one with `async` or `yield`.

    Raises:
        ModelError: it is one.
    """
    flags = function.__code__.co_flags
    if flags & (CO_COROUTINE | CO_ASYNC_GENERATOR | CO_GENERATOR):
        why = "has `yield` in it" if flags & CO_GENERATOR else "is declared with `async`"
        message = (
            f"{place_of_function(function)}: the {word} {function.__name__!r} {why}, so calling it does nothing; "
            f"write a plain `def` without it."
        )
        raise ModelError(message)


Scopes = Sequence[Mapping[str, Any]]
"""The scopes in which names of annotations are looked up; the first that has the name decides."""


def scopes_of(function: Callable[..., Any], frame: FrameType) -> Scopes:
    """Return the scopes of a function's annotations: that of its decorator, the one around it, and the module."""
    return frame.f_locals, frame.f_back.f_locals if frame.f_back else {}, function.__globals__


def parameter_types(function: Callable[..., Any], word: str, scopes: Scopes, states: int = 1) -> dict[str, type]:
    """Return the type of each parameter after the model and its states, from its annotation.

    Raises:
        ModelError: an annotation is not a sort, a range, an enumeration or bool.
    """
    names = function.__code__.co_varnames[1 + states : function.__code__.co_argcount]
    return {name: _parameter_type(function, word, name, scopes) for name in names}


def _parameter_type(function: Callable[..., Any], word: str, name: str, scopes: Scopes) -> type:
    given = function.__annotations__.get(name)
    if isinstance(given, str):
        given = given.strip("'\"")  # an annotation in quotes, in a file where all of them are strings
        first = given.split(".")[0]
        found = next((scope[first] for scope in scopes if first in scope), bool if given == "bool" else None)
        for part in given.split(".")[1:]:
            found = getattr(found, part, None)
    else:
        found = given
    if isinstance(found, type) and is_kind(found):
        return found
    said = f"is annotated with {given!r}" if name in function.__annotations__ else "has no annotation"
    cure = "annotate it with a sort (a subclass of Index), a range (of Range), an enumeration or bool."
    if isinstance(given, str) and found is None and given.isidentifier() and not hasattr(builtins, given):
        cure = f"there is no {given} above it: define it before the {word}, or correct the name."
    message = (
        f"{place_of_function(function)}: the parameter {name!r} of the {word} {function.__name__!r} {said}; {cure}"
    )
    raise ModelError(message)


@overload
def action(function: F, /) -> F: ...
@overload
def action(*, label: str) -> Callable[[F], F]: ...


def action(function: F | None = None, /, *, label: str | None = None) -> F | Callable[[F], F]:
    """Mark a method of a model as an action: a step that may change the state.

    Args:
        function: the method: `self`, the state, then parameters annotated with sorts, ranges, enumerations or bool.
        label: the step in protocol words, a format string over the parameters, such as
            `"{follower} fetches from {leader}"`.
    """
    body = sys._getframe(1)

    def mark(marked: F) -> F:
        check_signature(marked, ActionSpec)
        types = parameter_types(marked, "action", scopes_of(marked, body))
        setattr(marked, ROLE, ActionSpec(label, place_of_function(marked), types))
        return marked

    return mark if function is None else mark(function)


@overload
def initial(function: F, /) -> F: ...
@overload
def initial(*, label: str) -> Callable[[F], F]: ...


def initial(function: F | None = None, /, *, label: str | None = None) -> F | Callable[[F], F]:
    """Mark a method of a model as an initial method: for each binding of its parameters it assigns an initial state.

    It begins from the state that the plain method `initial` assigns. A model may have several initial methods, and a
    method may have several initial states: by its parameters, and by fields that it assigns `ANY` to. A state that its
    `require` refuses is not initial.

    Args:
        function: the method: `self`, the state, then parameters as an action has them.
        label: the name of the state in a trace, a format string over the parameters, if there are several states.
    """
    body = sys._getframe(1)

    def mark(marked: F) -> F:
        check_signature(marked, InitialSpec)
        types = parameter_types(marked, InitialSpec.word, scopes_of(marked, body))
        setattr(marked, ROLE, InitialSpec(label, place_of_function(marked), types))
        return marked

    return mark if function is None else mark(function)


def invariant(function: F, /) -> F:
    """Mark a method of a model as an invariant: a condition that must hold in every state.

    With parameters after the state, annotated like those of an action, it must hold for each of their values. This
    decorator belongs in the class body. Beside the class, `@invariant(Lock)` of `insync.properties` declares a function
    of model and state.
    """
    check_signature(function, InvariantSpec)
    types = parameter_types(function, "invariant", scopes_of(function, sys._getframe(1)))
    setattr(function, ROLE, InvariantSpec(place_of_function(function), types))
    return function


# The functions below take a class, or a model: then what parts contribute that this model does not have is left out.


def action_specs(model: object) -> dict[str, ActionSpec]:
    """Return the actions of a model or its class by name.

    Those that the class lists in `action_order` come first, in that order. The others follow in order of definition,
    inherited ones first.
    """
    found = {name: spec for name, spec in _marked(model) if type(spec) is ActionSpec}
    return {name: found[name] for name in dict.fromkeys([*getattr(model, "action_order", ()), *found]) if name in found}


def removed_actions(model: type) -> frozenset[str]:
    """Return the names of actions of its bases that a model class has removed, by `name = None`."""
    inherited = {
        name
        for base in model.__mro__
        for name, member in vars(base).items()
        if type(getattr(member, ROLE, None)) is ActionSpec
    }
    return frozenset(name for name in inherited if getattr(model, name) is None)


def initial_specs(model: object) -> dict[str, InitialSpec]:
    """Return the initial methods of a model or its class by name, inherited ones first, in order of definition."""
    return {name: spec for name, spec in _marked(model) if isinstance(spec, InitialSpec)}


def invariant_specs(model: object) -> dict[str, InvariantSpec]:
    """Return the invariants of a model or its class by name, inherited ones first, in order of definition."""
    return {name: spec for name, spec in _marked(model) if type(spec) is InvariantSpec}


def invariant_names(model: object) -> list[str]:
    """Return the names of the invariants of a model or its class in order of definition."""
    return list(invariant_specs(model))


def marked_specs(model: object, kind: type[S]) -> dict[str, S]:
    """Return the specifications of one type of a model or its class by name, inherited ones first."""
    return {name: spec for name, spec in _marked(model) if isinstance(spec, kind)}


def every_spec(model: object) -> dict[str, ActionSpec | InvariantSpec]:
    """Return every specification of a class, or of an object, by name, inherited ones first."""
    return dict(_marked(model))


def _marked(model: object) -> Iterator[tuple[str, ActionSpec | InvariantSpec]]:
    for name in _marked_names(model if isinstance(model, type) else type(model)):
        spec = getattr(getattr(model, name), ROLE, None)
        if spec is not None:
            yield name, spec


_names: WeakKeyDictionary[type, tuple[list[int], list[str]]] = WeakKeyDictionary()
"""The marked names of a class, and how many attributes its bases had then."""


def _marked_names(kind: type) -> list[str]:
    sizes = [len(vars(base)) for base in kind.__mro__]
    known = _names.get(kind)
    if known is None or known[0] != sizes:
        members = ((name, member) for base in reversed(kind.__mro__) for name, member in vars(base).items())
        known = _names[kind] = sizes, list(dict.fromkeys(name for name, member in members if hasattr(member, ROLE)))
    return known[1]


# --------------------------------------------------------------------------------------------------- properties of runs
#
# `insync.properties.temporal` defines their meaning, and has decorators of these names for functions beside a class.


class RunSpec(InvariantSpec):
    """The specification that the decorators of properties of runs store.

    Args:
        says: the name of the decorator.
        weak: the weakly fair actions.
        strong: the strongly fair actions.
    """

    __slots__ = ("says", "strong", "weak")
    word: ClassVar[str] = "property of runs"
    plural: ClassVar[str] = "properties of runs"
    mark: ClassVar[str] = "sometimes, @eventually or @leads_to"  # the most common ones, for a message

    def __init__(
        self, place: str, parameters: dict[str, type], says: str, weak: tuple[str, ...], strong: tuple[str, ...]
    ) -> None:
        super().__init__(place, parameters)
        self.says, self.weak, self.strong = says, weak, strong


def sometimes(function: F, /) -> F:
    """Mark a method of a model as a condition that some reachable state meets.

    The method takes `self`, the state, and perhaps parameters, annotated like those of an action. For each of their
    values some reachable state must meet the condition, not necessarily the same one. For a single value write
    `exists(...)` in the method.
    """
    return _run_property(function, "sometimes", (), (), sys._getframe(1))


@overload
def eventually(function: F, /) -> F: ...
@overload
def eventually(*, weak: Sequence[str] = (), strong: Sequence[str] = ()) -> Callable[[F], F]: ...


def eventually(
    function: F | None = None, /, *, weak: Sequence[str] = (), strong: Sequence[str] = ()
) -> F | Callable[[F], F]:
    """Mark a method of a model as a condition that every fair run meets in some state.

    Args:
        function: the method: `self`, the state, then parameters as an action has them.
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.
    """
    return _marker(function, "eventually", weak, strong, sys._getframe(1))


@overload
def leads_to(function: F, /) -> F: ...
@overload
def leads_to(*, weak: Sequence[str] = (), strong: Sequence[str] = ()) -> Callable[[F], F]: ...


def leads_to(
    function: F | None = None, /, *, weak: Sequence[str] = (), strong: Sequence[str] = ()
) -> F | Callable[[F], F]:
    """Mark a method of a model that returns two conditions: in every fair run the first is followed by the second.

    The second may be `always_eventually(condition)` or `eventually_always(condition)`.

    Args:
        function: the method: `self`, the state, then parameters as an action has them.
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.
    """
    return _marker(function, "leads_to", weak, strong, sys._getframe(1))


@dataclass(frozen=True, slots=True)
class TailCondition:
    """A condition on the tail of a run, as the right side of a `leads_to` property.

    Attributes:
        word: `always_eventually`, for a recurrent condition, or `eventually_always`, for a persistent one (Manna &
            Pnueli 1992).
        condition: the condition on states.
    """

    word: str
    condition: Condition


@overload
def always_eventually(given: F, /) -> F: ...
@overload
def always_eventually(given: Condition, /) -> TailCondition: ...
@overload
def always_eventually(*, weak: Sequence[str] = (), strong: Sequence[str] = ()) -> Callable[[F], F]: ...


def always_eventually(
    given: F | Condition | None = None, /, *, weak: Sequence[str] = (), strong: Sequence[str] = ()
) -> F | TailCondition | Callable[[F], F]:
    """Mark a method of a model as a condition that every fair run meets again and again: `[]<>` in TLA+.

    With a condition in place of a method, return that condition as the right side of a `leads_to` property.

    Args:
        given: the method: `self`, the state, then parameters as an action has them; or a condition.
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.
    """
    if isinstance(given, (Bool, bool)):
        return TailCondition("always_eventually", given)
    return _marker(given, "always_eventually", weak, strong, sys._getframe(1))


@overload
def eventually_always(given: F, /) -> F: ...
@overload
def eventually_always(given: Condition, /) -> TailCondition: ...
@overload
def eventually_always(*, weak: Sequence[str] = (), strong: Sequence[str] = ()) -> Callable[[F], F]: ...


def eventually_always(
    given: F | Condition | None = None, /, *, weak: Sequence[str] = (), strong: Sequence[str] = ()
) -> F | TailCondition | Callable[[F], F]:
    """Mark a method of a model as a condition that holds from some state on in every fair run: `<>[]` in TLA+.

    With a condition in place of a method, return that condition as the right side of a `leads_to` property.

    Args:
        given: the method: `self`, the state, then parameters as an action has them; or a condition.
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.
    """
    if isinstance(given, (Bool, bool)):
        return TailCondition("eventually_always", given)
    return _marker(given, "eventually_always", weak, strong, sys._getframe(1))


def initially_always(function: F, /) -> F:
    """Mark a method that returns two conditions: if the first holds initially, the second always holds.

    That is `P => []Q` in TLA+. Runs that begin in other states are not restricted, and fairness has no effect, as the
    property is one of safety. The method takes `self`, the state, and perhaps parameters, annotated like those of an
    action.
    """
    return _run_property(function, "initially_always", (), (), sys._getframe(1))


def _marker(
    function: F | None, says: str, weak: Sequence[str], strong: Sequence[str], frame: FrameType
) -> F | Callable[[F], F]:
    """Return the marked method, or the decorator where it is called with arguments alone."""
    if function is not None:
        return _run_property(function, says, weak, strong, frame)
    return lambda marked: _run_property(marked, says, weak, strong, frame)


def _run_property(function: F, says: str, weak: Sequence[str], strong: Sequence[str], frame: FrameType) -> F:
    if isinstance(function, type):
        message = (
            f"{user_frame()}: @{says} of insync.model stands above a method in the body of {function.__name__}; beside "
            f"the class write @{says}({function.__name__}) of insync.properties."
        )
        raise ModelError(message)
    check_signature(function, RunSpec)
    types = parameter_types(function, f"{says} property", scopes_of(function, frame))
    place = place_of_function(function)
    try:
        fair = given_names("weak", weak), given_names("strong", strong)
    except UserError as error:
        message = f"{place}: @{says}: {error}"
        raise ModelError(message) from None
    setattr(function, ROLE, RunSpec(place, types, says, *fair))
    return function


def run_specs(model: object) -> dict[str, RunSpec]:
    """Return the properties of runs that a model or its class marks, by name, inherited ones first."""
    return marked_specs(model, RunSpec)

"""Defining a model: the `Model` class, its actions and its invariants.

What a class body declares is collected here; `tracing` turns it into a `Program`. Inherited
actions keep their place; a subclass that defines an action of the same name replaces it, and one
that sets the name to None removes it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FrameType
from typing import Any, ClassVar, TypeVar, overload

from insync.model.bounds import Bounds, BoundValues
from insync.model.domains import MOST_CELLS, Readable, ReadableState, State
from insync.model.errors import ModelError, user_frame
from insync.model.graph import Node
from insync.model.program import Program
from insync.model.sorts import Index
from insync.model.values import Condition
from insync.model.views import StateView

__all__ = ["ActionSpec", "Model", "action", "invariant"]

F = TypeVar("F", bound=Callable[..., Any])
S = TypeVar("S", bound=Index)

_ROLE = "__insync_role__"


class ActionSpec:
    """What `@action` notes of a method: its label, where it stands, and the type of each parameter."""

    __slots__ = ("label", "parameters", "place")
    word: ClassVar[str] = "action"

    def __init__(self, label: str | None, place: str, parameters: dict[str, type]) -> None:
        self.label, self.place, self.parameters = label, place, parameters


class InvariantSpec:
    """What `@invariant` notes of a method: where it stands."""

    __slots__ = ("place",)
    word: ClassVar[str] = "invariant"

    def __init__(self, place: str) -> None:
        self.place = place


def _place(function: Callable[..., Any]) -> str:
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


def _check_signature(function: Callable[..., Any], word: str, *, parameters: bool) -> None:
    code = getattr(function, "__code__", None)
    if code is None:
        message = f"{user_frame()}: @{word} belongs directly above a method (def) of the model, not on {function!r}."
        raise ModelError(message)
    unusual = code.co_kwonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) or function.__defaults__
    if code.co_argcount < 2 or unusual or (code.co_argcount > 2 and not parameters):
        after = " and then its parameters, without *, ** and defaults" if parameters else " and nothing else"
        message = f"{_place(function)}: the {word} {function.__name__!r} must take self, the state{after}."
        raise ModelError(message)


def _parameter_types(function: Callable[..., Any], body: FrameType) -> dict[str, type]:
    """Return the type of each parameter after `self` and the state, from its annotation."""
    _check_signature(function, "action", parameters=True)
    names = function.__code__.co_varnames[2 : function.__code__.co_argcount]
    scopes = (body.f_locals, body.f_back.f_locals if body.f_back else {}, function.__globals__)
    return {name: _parameter_type(function, name, scopes) for name in names}


def _parameter_type(function: Callable[..., Any], name: str, scopes: tuple[dict[str, Any], ...]) -> type:
    given = function.__annotations__.get(name)
    if isinstance(given, str):
        given = given.strip("'\"")  # an annotation in quotes, in a file where all of them are strings
        first = given.split(".")[0]
        found = next((scope[first] for scope in scopes if first in scope), bool if given == "bool" else None)
        for part in given.split(".")[1:]:
            found = getattr(found, part, None)
    else:
        found = given
    if isinstance(found, type) and (issubclass(found, (Index, Enum)) or found is bool):
        return found
    if name not in function.__annotations__:
        message = (
            f"{_place(function)}: the parameter {name!r} of the action {function.__name__!r} has no annotation; "
            f"annotate it with a sort (a subclass of Index), an enumeration or bool."
        )
        raise ModelError(message)
    message = (
        f"{_place(function)}: the parameter {name!r} of the action {function.__name__!r} is annotated with {given!r}; "
        f"annotate it with a sort (a subclass of Index), an enumeration or bool."
    )
    raise ModelError(message)


@overload
def action(function: F, /) -> F: ...
@overload
def action(*, label: str) -> Callable[[F], F]: ...


def action(function: F | None = None, /, *, label: str | None = None) -> F | Callable[[F], F]:
    """Mark a method of a model as an action: what may happen to the state in one step.

    Args:
        function: the method: `self`, the state, then parameters annotated with sorts, enumerations or bool.
        label: the step in protocol words, a format string over the parameters, such as
            `"{follower} fetches from {leader}"`.
    """
    body = sys._getframe(1)

    def mark(marked: F) -> F:
        types = _parameter_types(marked, body)
        setattr(marked, _ROLE, ActionSpec(label, _place(marked), types))
        return marked

    return mark if function is None else mark(function)


def invariant(function: F, /) -> F:
    """Mark a method of a model as an invariant: a condition on the state that must hold always.

    This one belongs in the class body. `insync.properties.invariant` declares a function beside the class:
    `@invariant(Lock)` above a function of model and state.
    """
    _check_signature(function, "invariant", parameters=False)
    setattr(function, _ROLE, InvariantSpec(_place(function)))
    return function


class _Body(dict[str, Any]):
    """The names of a class body; an action or invariant must not be defined twice under one name."""

    def __setitem__(self, name: str, value: Any) -> None:
        old, new = getattr(self.get(name), _ROLE, None), getattr(value, _ROLE, None)
        if old is not None and new is not None:
            other = old.place.rsplit(":", 1)[1]
            kind = f"two {new.word}s" if type(old) is type(new) else f"an {old.word} and an {new.word}"
            message = f"{new.place}: {kind} are named {name!r}, the other at line {other}; rename one."
            raise ModelError(message)
        if old is not None and callable(value):
            message = f"{_place_of(value)}: {name!r} is also the {old.word} at {old.place}; rename one."
            raise ModelError(message)
        super().__setitem__(name, value)


class ModelMeta(type):
    """Collects what a model's class body declares."""

    declared: Bounds

    @classmethod
    def __prepare__(mcs, name: str, bases: tuple[type, ...], /, **rest: Any) -> dict[str, Any]:
        return _Body()

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any], /) -> ModelMeta:
        members = dict(body)
        bounds = members.pop("bounds", None)
        if isinstance(bounds, Bounds):
            members["declared"] = bounds
        elif bounds is not None:
            message = f"{user_frame()}: {name}: bounds={bounds!r} must be Bounds(name=Bound(...), ...)."
            raise ModelError(message)
        _check_names(bases, members)
        members.setdefault("name", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())
        return super().__new__(mcs, name, bases, members)


def _check_names(bases: tuple[type, ...], members: dict[str, Any]) -> None:
    """Refuse an action or invariant that hides something else, or that an ordinary method hides."""
    for name, member in members.items():
        spec = getattr(member, _ROLE, None)
        if spec is not None and (name in _RESERVED or hasattr(type, name)):
            message = f"{spec.place}: an {spec.word} cannot be named {name!r}: every model has that already; rename it."
            raise ModelError(message)
        inherited = next((role for base in bases if (role := getattr(getattr(base, name, None), _ROLE, None))), None)
        if inherited is not None and spec is None and member is not None:
            message = (
                f"{_place_of(member)}: {name!r} hides the {inherited.word} at {inherited.place} and is none itself; "
                f"write @{inherited.word} above it, or {name} = None to remove the {inherited.word}."
            )
            raise ModelError(message)


def _place_of(member: object) -> str:
    return _place(member) if hasattr(member, "__code__") and callable(member) else user_frame()


class Model(metaclass=ModelMeta):
    """A deterministic state machine with finite bounds.

    Subclass it, declare `bounds`, write `declare`, and mark methods with `@action` and `@invariant`.
    An instance is the model under chosen bounds.

    Attributes:
        name: what the model is called; the class name in snake case unless the class sets it.
        headline: the properties that are checked when none is named.
        declared: the bounds that the class declares.
        bounds: in a class body the `Bounds`; on an instance the chosen values.
        b: the chosen bounds, as attributes.

    Raises:
        UserError: a bound that is unknown, of the wrong type or out of range.
        ModelError: the model cannot be traced; the message has the file and line.
    """

    name: ClassVar[str]
    declared: ClassVar[Bounds] = Bounds()
    headline: ClassVar[tuple[str, ...]] = ()
    bounds: Any
    b: BoundValues

    def __init__(self, **bounds: int | str) -> None:
        self.b = self.bounds = type(self).declared.values_for(self.name, bounds)
        self._members: dict[type[Index], list[Any]] = {}
        self._program: Program | None = None
        self._state: State | None = None
        self._invariants: dict[str, Node] | None = None

    def declare(self, b: BoundValues) -> State:
        """Return the fields of the state and their domains under these bounds."""
        message = f"The model {self.name!r} has no state; write `def declare(self, b): return State(...)`."
        raise ModelError(message)

    def initial(self, s: StateView) -> None:
        """Assign the fields that do not begin as false, lowest, first, none or empty."""

    def grid(self, state: ReadableState) -> dict[str, str]:
        """Return what the trace grid shows of a readable state: the text of each column."""
        return {name: show(value) for name, value in state.items()}

    def all(self, sort: type[S]) -> list[S]:
        """Return the members of a sort under this model's bounds."""
        if sort not in self._members:
            self._members[sort] = sort.members(self.b)
        return self._members[sort]

    @property
    def state(self) -> State:
        """The bound domain of the state."""
        if self._state is None:
            declared: object = self.declare(self.b)
            if not isinstance(declared, State):
                message = f"{_place(self.declare)}: declare returns {declared!r}; it must return State(...)."
                raise ModelError(message)
            self._state = declared.bind(self.b)
            if self._state.width > MOST_CELLS:
                message = (
                    f"{self.name}: a state under {dict(self.b)} takes {self._state.width} cells, and at most "
                    f"{MOST_CELLS} are possible. Use smaller bounds."
                )
                raise ModelError(message)
        return self._state

    @property
    def program(self) -> Program:
        """The traced model, made when first needed."""
        if self._program is None:
            from insync.model.tracing import trace_model  # here because tracing needs this class

            self._program = trace_model(self)
        return self._program

    @property
    def invariants(self) -> dict[str, Node]:
        """The condition of each invariant of the class."""
        if self._invariants is None:
            names = invariant_names(type(self))
            self._invariants = {name: self.trace_predicate(getattr(self, name)) for name in names}
        return self._invariants

    def trace_predicate(self, predicate: Callable[[StateView], Condition]) -> Node:
        """Return the node of a condition on the state."""
        from insync.model.tracing import trace_predicate

        return trace_predicate(self, predicate)

    def decode(self, codes: tuple[int, ...]) -> ReadableState:
        """Return the readable state of these codes."""
        return self.state.decode(codes, 0)

    def encode(self, readable: Readable) -> tuple[int, ...]:
        """Return the codes of a readable state.

        Raises:
            UserError: a field is missing or has a value outside its domain.
        """
        return tuple(self.state.encode(readable, ""))


_RESERVED = {name for name in vars(Model) if not name.startswith("_")} | {"b", "bounds"}


def show(value: Readable) -> str:
    """Return a readable value as short text: `-` for none, sets in braces, records as name=value."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "{" + ", ".join(map(show, value)) + "}"
    if isinstance(value, dict):
        return " ".join(f"{name}={show(part)}" for name, part in value.items())
    return str(value)


def action_specs(model: type[Model]) -> dict[str, ActionSpec]:
    """Return the actions of a model class by name, inherited ones first, in order of definition."""
    return {name: spec for name, spec in _marked(model) if isinstance(spec, ActionSpec)}


def invariant_names(model: type[Model]) -> list[str]:
    """Return the names of a model class's invariants in order of definition."""
    return [name for name, spec in _marked(model) if isinstance(spec, InvariantSpec)]


def _marked(model: type[Model]) -> Iterator[tuple[str, object]]:
    names: dict[str, None] = {}
    for base in reversed(model.__mro__):
        for name, member in vars(base).items():
            if hasattr(member, _ROLE):
                names.setdefault(name)
    for name in names:
        spec = getattr(getattr(model, name), _ROLE, None)
        if spec is not None:
            yield name, spec

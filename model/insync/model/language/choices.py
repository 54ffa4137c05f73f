"""Choices inside an action: `any_of` makes a parameter of the action where it is needed.

While an action is traced, `any_of` returns the value of a parameter that the signature does not have. Tracing finds
these parameters one by one: at a new one it ends, and begins again with the parameter (`tracing.lifting`).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextvars import ContextVar
from enum import Enum
from keyword import iskeyword
from typing import Any, TypeVar, overload

from insync.model.domains.sorts import Index, Subset, is_kind
from insync.model.domains.values import SetValue
from insync.model.expressions.store import Unreachable, current
from insync.model.language.vocabulary import one_of, require
from insync.runtime.errors import Insistent, ModelError, shown, user_frame

__all__ = ["Choices", "NewChoice", "any_of", "choosing"]

K = TypeVar("K")


class NewChoice(Insistent):
    """Tracing has reached a choice that is no parameter of the action yet."""

    def __init__(self, name: str, kind: type) -> None:
        super().__init__(name)
        self.name, self.kind = name, kind


class Choices:
    """The choices of one action while it is traced.

    Args:
        parameters: the parameters in the signature of the action, by name.
        kinds: the kind of each choice that is known.
        values: the value of each of these.

    Attributes:
        reached: the names of the choices that this tracing has reached.
    """

    def __init__(self, parameters: Mapping[str, Any], kinds: Mapping[str, type], values: Mapping[str, Any]) -> None:
        self._parameters, self._kinds, self._values = parameters, kinds, values
        self.reached: list[str] = []

    def take(self, name: str, kind: type) -> Any:
        """Return the value of a choice.

        Raises:
            NewChoice: it is not known yet.
            ModelError: its name is taken.
        """
        if name in self._parameters or name in self.reached:
            what = "a parameter" if name in self._parameters else "another choice"
            message = (
                f"{user_frame()}: {what} of this action is named {name!r} already; give this choice a name of its "
                f"own, as in any_of({kind.__name__}, {'other_' + name!r})."
            )
            raise ModelError(message)
        if name not in self._kinds:
            raise NewChoice(name, kind)
        if self._kinds[name] is not kind:
            message = (
                f"{user_frame()}: the choice {name!r} is of {kind.__name__} here and of {self._kinds[name].__name__} "
                f"for other values of the parameters; give the two different names."
            )
            raise ModelError(message)
        self.reached.append(name)
        return self._values[name]

    def __enter__(self) -> Choices:
        """Let `any_of` take these choices in this context."""
        self._token = choosing.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        choosing.reset(self._token)

    def refuse_unreached(self, place: str) -> None:
        """Raise ModelError if a choice was not reached, which is reached for other values of the parameters."""
        for name, kind in self._kinds.items():
            if name not in self.reached:
                message = (
                    f"{place}: any_of({kind.__name__}, {name!r}) is reached for some values of the action's parameters "
                    f"and not for others. Call it above the `if`, or write two actions."
                )
                raise ModelError(message)


choosing: ContextVar[Choices | None] = ContextVar("choosing", default=None)
"""The choices of the action that is being traced."""


@overload
def any_of(members: type[K], name: str = "") -> K: ...
@overload
def any_of(members: Any, name: str = "") -> Any: ...


def any_of(members: Any, name: str = "") -> Any:
    """Return any member: a parameter of the action, made where it is needed.

    Labels, traces and fairness name it like the parameters in the signature, which it follows.

    Args:
        members: a sort, a range or an enumeration, a set of members of a sort, or a list of some.
        name: the name of the parameter; by default that of the sort in lower case.

    Raises:
        ModelError: it is used outside an action, or where it might not be reached.
    """
    _refuse_elsewhere()
    kind = _kind_of(members)
    name = name or kind.__name__.lower()
    if not str(name).isidentifier() or iskeyword(name) or name.startswith("_"):
        message = f"{user_frame()}: {shown(name)} is no name of a parameter; write any_of({kind.__name__}, 'other')."
        raise ModelError(message)
    choices = choosing.get()
    assert choices is not None, "it is refused elsewhere"
    value = choices.take(name, kind)
    if isinstance(members, (SetValue, Subset)):
        require(members.contains(value))
    elif not is_kind(members):
        require(one_of(value, *members))
    return value


def _kind_of(members: Any) -> type:
    """Return the kind whose members can be chosen."""
    if is_kind(members):
        kind: type = members
        return kind
    if isinstance(members, SetValue) and members.sort is not None:
        return members.sort
    if isinstance(members, Subset):
        return members.of
    if isinstance(members, (list, tuple, set, frozenset)):
        kinds = {type(one) for one in members}
        if not kinds:
            raise Unreachable  # there is nothing to choose, so the action is not enabled
        kind = kinds.pop()
        if not kinds and issubclass(kind, (Index, Enum)):
            return kind
    message = (
        f"{user_frame()}: any_of() chooses a member of a sort, a range, an enumeration, or a set or a list of members "
        f"of one sort, and {shown(members)} is none of these. For numbers declare a Range; of a Seq or a Bag choose a "
        f"place, a Range, and require(place < x.length)."
    )
    raise ModelError(message)


def _refuse_elsewhere() -> None:
    """Refuse a choice outside actions, under a condition, and in a quantifier."""
    environment = current.get()
    if choosing.get() is None or environment is None:
        message = (
            f"{user_frame()}: any_of() is a choice of a step; use it in an action. In a property write "
            f"exists(...) or for_all(...); where a model begins, a parameter of a method marked with @initial, or ANY."
        )
        raise ModelError(message)
    if environment.where:
        message = (
            f"{user_frame()}: any_of() inside `with when(...)` would be a parameter of the whole action all the same. "
            f"Call it before the block."
        )
        raise ModelError(message)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") != "insync.model.tracing.lifting":
        if frame.f_globals.get("__name__") == "insync.model.language.quantifiers":
            message = (
                f"{user_frame()}: any_of() inside a quantifier would choose anew for each member. Call it before, or "
                f"write exists(...)."
            )
            raise ModelError(message)
        frame = frame.f_back

"""The decorator `@refines`, which declares that a model refines another one (Abadi & Lamport 1991)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from insync.model.domains.bounds import BoundValues
from insync.model.given_names import given_names
from insync.model.language.declarations import ROLE, InvariantSpec, place_of_function, refuse_suspended
from insync.runtime.errors import ModelError, UserError, shown, user_frame

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = [
    "BoundsOf",
    "RefinementSpec",
    "check_refinement",
    "other_class",
    "refines",
]

F = TypeVar("F", bound=Callable[..., Any])

BoundsOf = Callable[[BoundValues], Mapping[str, Any]]
"""Returns bounds and settings of the other model by name, from the bounds of this one."""

_STATES = ("state", "state of the other model")


class RefinementSpec(InvariantSpec):
    """The specification that `@refines` stores.

    Args:
        other: the class of the other model.
        bounds: returns its bounds and settings; None for those of the same names.
        weak: the weakly fair actions of this model.
        strong: the strongly fair actions of this model.
    """

    __slots__ = ("bounds", "other", "strong", "weak")
    word: ClassVar[str] = "refinement"
    plural: ClassVar[str] = "refinements"
    mark: ClassVar[str] = "refines"
    states: ClassVar[tuple[str, ...]] = _STATES

    def __init__(
        self, place: str, other: type[Model], bounds: BoundsOf | None, weak: tuple[str, ...], strong: tuple[str, ...]
    ) -> None:
        super().__init__(place, {})
        self.other, self.bounds, self.weak, self.strong = other, bounds, weak, strong


def refines(
    other: type[Model], *, bounds: BoundsOf | None = None, weak: Sequence[str] = (), strong: Sequence[str] = ()
) -> Callable[[F], F]:
    """Mark a method of a model as the mapping by which it refines another model: TLA+'s `INSTANCE ... WITH`.

    The method takes `self`, the state, and the state of the other model, whose fields it assigns. Every initial state
    must map to an initial state of the other model, and every step to one of its steps, or to none (stuttering).

    Args:
        other: the class of the other model.
        bounds: a function of the bounds of this model that returns bounds and settings of the other one, by name. Those
            that it does not name have the value of the bound or setting of the same name, or else their default.
        weak: actions of this model that are assumed to be weakly fair when `liveness` decides whether the fairness and
            the properties of runs of the other model hold.
        strong: those that are assumed to be strongly fair.
    """
    frame = sys._getframe(1)
    other_class(other, bounds, "@refines", frame)

    try:
        fair = given_names("weak", weak), given_names("strong", strong)
    except UserError as error:
        message = f"{frame.f_code.co_filename}:{frame.f_lineno}: @refines: {error}"
        raise ModelError(message) from None

    def mark(marked: F) -> F:
        check_refinement(marked, "self")
        setattr(marked, ROLE, RefinementSpec(place_of_function(marked), other, bounds, *fair))
        return marked

    return mark


def other_class(other: object, bounds: object, word: str, frame: FrameType) -> None:
    """Refuse anything but a model class as the model that is refined, and anything but a function as its bounds.

    Raises:
        ModelError: it is something else.
    """
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}: {word}"
    if bounds is not None and not callable(bounds):
        message = (
            f"{place}: bounds={shown(bounds)} must be a function of the bounds of this model that returns those of the "
            f'other one, such as bounds=lambda b: {{"size": b.log_size}}.'
        )
        raise ModelError(message)
    if not (isinstance(other, type) and hasattr(other, "trace_predicate")):
        message = (
            f"{place} takes the class of the other model, as in @refines(AtomicLog) above a method; {shown(other)} is "
            f"not one."
        )
        raise ModelError(message)


def check_refinement(function: Callable[..., Any], first: str) -> None:
    """Refuse anything but a function of a model and two states.

    Args:
        function: the function.
        first: the name of its first parameter, for messages.

    Raises:
        ModelError: it is something else.
    """
    code = getattr(function, "__code__", None)
    if code is None:
        message = f"{user_frame()}: @refines belongs directly above a function (def), not on {shown(function)}."
        raise ModelError(message)
    refuse_suspended(function, "refinement")
    if code.co_argcount != 3 or code.co_kwonlyargcount or function.__defaults__ or code.co_flags & 0x0C:
        message = (
            f"{place_of_function(function)}: the refinement {code.co_name!r} must take {first}, the state, and the "
            f"state of the other model, which it assigns: def {code.co_name}({first}, s, other)."
        )
        raise ModelError(message)

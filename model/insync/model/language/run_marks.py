"""Properties of runs in a class body: `@sometimes`, `@eventually` and `@leads_to` mark methods as `@invariant` does.

What they mean is said in `insync.properties`, whose decorators of these names declare functions beside the class.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, ClassVar, TypeVar, overload

from insync.model.errors import ModelError, UserError, user_frame
from insync.model.given_names import given_names
from insync.model.language.declarations import (
    ROLE,
    InvariantSpec,
    check_signature,
    marked_specs,
    parameter_types,
    place_of_function,
    scopes_of,
)

__all__ = ["RunSpec", "eventually", "leads_to", "run_specs", "sometimes"]

F = TypeVar("F", bound=Callable[..., Any])


class RunSpec(InvariantSpec):
    """What `@sometimes`, `@eventually` and `@leads_to` note of a method.

    Args:
        says: which of the three.
        weak: the actions that runs do not neglect, weakly.
        strong: those that they do not neglect, strongly.
    """

    __slots__ = ("says", "strong", "weak")
    word: ClassVar[str] = "property of runs"
    plural: ClassVar[str] = "properties of runs"
    mark: ClassVar[str] = "sometimes, @eventually or @leads_to"

    def __init__(
        self, place: str, parameters: dict[str, type], says: str, weak: tuple[str, ...], strong: tuple[str, ...]
    ) -> None:
        super().__init__(place, parameters)
        self.says, self.weak, self.strong = says, weak, strong


def sometimes(function: F, /) -> F:
    """Mark a method of a model: some reachable state is like this; it returns a condition.

    The method takes `self`, the state, and perhaps parameters, annotated like those of an action. For each of their
    values some reachable state must be like this, though not the same one; `exists(...)` in the method asks for one
    value alone.
    """
    return _marked(function, "sometimes", (), (), sys._getframe(1))


@overload
def eventually(function: F, /) -> F: ...
@overload
def eventually(*, weak: Sequence[str] = (), strong: Sequence[str] = ()) -> Callable[[F], F]: ...


def eventually(
    function: F | None = None, /, *, weak: Sequence[str] = (), strong: Sequence[str] = ()
) -> F | Callable[[F], F]:
    """Mark a method of a model: every fair run comes to a state like this; it returns a condition.

    Args:
        function: the method: `self`, the state, then parameters as an action has them.
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.
    """
    frame = sys._getframe(1)
    if function is not None:
        return _marked(function, "eventually", weak, strong, frame)
    return lambda marked: _marked(marked, "eventually", weak, strong, frame)


@overload
def leads_to(function: F, /) -> F: ...
@overload
def leads_to(*, weak: Sequence[str] = (), strong: Sequence[str] = ()) -> Callable[[F], F]: ...


def leads_to(
    function: F | None = None, /, *, weak: Sequence[str] = (), strong: Sequence[str] = ()
) -> F | Callable[[F], F]:
    """Mark a method of a model: in every fair run one thing is followed by another; it returns the two conditions.

    Args:
        function: the method: `self`, the state, then parameters as an action has them.
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.
    """
    frame = sys._getframe(1)
    if function is not None:
        return _marked(function, "leads_to", weak, strong, frame)
    return lambda marked: _marked(marked, "leads_to", weak, strong, frame)


def _marked(function: F, says: str, weak: Sequence[str], strong: Sequence[str], frame: FrameType) -> F:
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


def run_specs(model: type) -> dict[str, RunSpec]:
    """Return the properties of runs that a model class marks, by name, inherited ones first, in order of definition."""
    return marked_specs(model, RunSpec)

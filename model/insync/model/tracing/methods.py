"""Methods of a model, run on symbolic values: their bindings, the state that they are given, and their labels."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from insync.model.domains.open_bounds import is_open
from insync.model.domains.sorts import Index, Parameter, Subset, label_of, members_of, number_of_members
from insync.model.domains.symbolic import mistaken_call
from insync.model.expressions.store import Environment, Place, Unreachable, current
from insync.model.language.declarations import ActionSpec, InitialSpec
from insync.model.language.views import StateView
from insync.runtime.errors import ModelError, shown
from insync.runtime.visible_text import in_one_line

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = [
    "bindings_of",
    "label_of_action",
    "place_of",
    "refuse_mistaken_call",
    "refuse_too_many",
    "run_method",
    "state_view",
]

_MOST_BINDINGS = 20_000


def refuse_mistaken_call(error: TypeError) -> None:
    """Raise ModelError if the error is a call of a word of the language with wrong arguments."""
    message = mistaken_call(error)
    if message is not None:
        raise ModelError(message) from None


def place_of(function: Callable[..., object]) -> str:
    """Return file, line and name of a function."""
    written = inspect.unwrap(function)
    code, name = getattr(written, "__code__", None), getattr(written, "__name__", repr(function))
    return f"{code.co_filename}:{code.co_firstlineno}: {name}" if code else name


def refuse_too_many(model: Model, what: str, parameters: Mapping[str, type]) -> None:
    """Raise ModelError if parameters have too many bindings."""
    sizes = [number_of_members(kind, model.b) for kind in parameters.values()]
    bindings = math.prod(size for size in sizes if not is_open(size))
    if bindings > _MOST_BINDINGS:
        message = (
            f"{what} has {bindings} bindings of its parameters under {model.identity}; at most {_MOST_BINDINGS} are "
            f"possible. Use smaller bounds."
        )
        raise ModelError(message)


def bindings_of(model: Model, name: str, spec: ActionSpec) -> Iterator[tuple[Parameter, ...]]:
    """Yield the bindings of an action or initial method: each combination of values of its parameters."""
    refuse_too_many(model, f"{spec.place}: the {spec.word} {name!r}", spec.parameters)
    return itertools.product(*[members_of(kind, model.b) for kind in spec.parameters.values()])


def state_view(model: Model, environment: Environment) -> StateView:
    """Return the view of the whole state in a store."""
    return StateView(model.state, Place(environment, 0, ""))


def run_method(
    model: Model, environment: Environment, method: Callable[..., object], values: Sequence[Parameter], what: str
) -> bool:
    """Run a method on the state of an environment, and return whether its guard can hold at all.

    Args:
        model: the model.
        environment: the store that the method changes.
        method: an action, an initial method, or the plain `initial`.
        values: the values of its parameters.
        what: its place and name, for messages.

    Raises:
        ModelError: it returns something, or makes a `when` block that it does not open.
    """
    token = current.set(environment)
    try:
        returned = method(state_view(model, environment), *values)
    except Unreachable:
        return False
    except TypeError as error:
        refuse_mistaken_call(error)
        raise
    finally:
        current.reset(token)
    if returned is not None:
        hint = " (conditions go into require)" if environment.guarded else ""
        message = f"{what} returns {shown(returned)}; it assigns to the state and returns nothing{hint}."
        raise ModelError(message)
    for place in environment.unopened.values():
        message = f"{place}: when(...) does nothing by itself; write `with when(...):` and the assignments below it."
        raise ModelError(message)
    return True


def label_of_action(name: str, spec: ActionSpec, parameters: dict[str, Parameter]) -> str:
    """Return a step in words: the label of its action with the names of its parameters' values."""
    if spec.label is None:
        return _said(name, parameters, acting=not isinstance(spec, InitialSpec))
    try:
        return in_one_line(spec.label.format(**{name: label_of(value) for name, value in parameters.items()}))
    except (LookupError, ValueError, AttributeError, TypeError) as error:
        usable = ", ".join(parameters) or "no parameter"
        message = (
            f"{spec.place}: the label {spec.label!r} of the {spec.word} {name!r} cannot be filled ({error}); "
            f"it may use {usable}."
        )
        raise ModelError(message) from None


def _said(name: str, parameters: dict[str, Parameter], *, acting: bool) -> str:
    """Return a default label, such as `worker1: look (at seat2)`; if `acting`, a first parameter of a sort leads."""
    others, said = dict(parameters), name.replace("_", " ")
    for first, value in list(others.items())[:acting]:
        if isinstance(value, Index) and not isinstance(value, Subset):
            said = f"{others.pop(first)}: {said}"
    rest = ", ".join(f"{other.replace('_', ' ')} {label_of(value)}" for other, value in others.items())
    return in_one_line(f"{said} ({rest})" if rest else said)

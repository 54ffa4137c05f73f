"""The decorators that declare properties beside a model's class."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FrameType
from typing import Any, TypeVar, cast

from insync.model import Model
from insync.model.actions import parameter_types, refuse_suspended, scopes_of
from insync.model.errors import ModelError, UserError, shown
from insync.model.steps import STATES, refuse_swapped
from insync.properties.declared import INVARIANTS, LEMMAS, RUN_PROPERTIES, STEP_INVARIANTS, Declared
from insync.properties.every_model import DEADLOCK_FREE, TYPE_OK
from insync.properties.fairness import Fairness
from insync.properties.invariants import Because, Invariant, Predicate, invariant_beside
from insync.properties.step_invariants import PairPredicate, step_invariant_beside
from insync.properties.temporal import RunKind, run_property_beside

__all__ = ["eventually", "invariant", "leads_to", "lemma", "sometimes", "step_invariant"]

F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=Model)


def invariant(kind: type[M], *, because: Because | None = None) -> Callable[[Predicate[M]], Predicate[M]]:
    """Declare a function of model, state and parameters as an invariant of a model class, under the function's name.

    With parameters, which are annotated with sorts, ranges, enumerations or bool, it must hold for all their values.

    It stands beside the class. In the class's own body, `insync.model.invariant` marks a method of self and state.

    Args:
        kind: the model class.
        because: says why the invariant fails in a state; None for a generic sentence.
    """
    return _condition("invariant", INVARIANTS, kind, because)


def lemma(kind: type[M], *, because: Because | None = None) -> Callable[[Predicate[M]], Predicate[M]]:
    """Declare a function of model and state as a lemma candidate of a model class, under the function's name.

    Nobody asks for a lemma by itself: it is there to make a property provable. A candidate need not hold for every
    model of its class; whoever uses it finds out.

    Args:
        kind: the model class.
        because: says why the lemma fails in a state; None for a generic sentence.
    """
    return _condition("lemma", LEMMAS, kind, because)


def step_invariant(kind: type[M], *, because: Because | None = None) -> Callable[[PairPredicate[M]], PairPredicate[M]]:
    """Declare a function of model, state before, state after and parameters as a step invariant of a model class.

    Every step from a reachable state that changes the state must meet it, for all values of its parameters. It stands
    beside the class. In the class's own body, `insync.model.step_invariant` marks a method.

    Args:
        kind: the model class.
        because: says why a step breaks it, where `failing.before` and `failing.state` are the states; None for a
            generic sentence.
    """
    _check_kind("step_invariant", kind)
    frame = sys._getframe(1)
    _check_because("step_invariant", kind, because, frame)

    def declare(predicate: PairPredicate[M]) -> PairPredicate[M]:
        _check_function("step_invariant", kind, predicate, STATES)
        refuse_swapped(predicate)
        parameters = parameter_types(predicate, "step invariant", scopes_of(predicate, frame), len(STATES))
        STEP_INVARIANTS.add(kind, step_invariant_beside(kind, predicate, parameters, because))
        return predicate

    return declare


def sometimes(kind: type[Model]) -> Callable[[F], F]:
    """Declare that some reachable state is like this: a function of model, state and parameters returns a condition.

    For each value of the parameters some reachable state must be like this, though not the same one.

    Args:
        kind: the model class.
    """
    return _run("sometimes", kind, RunKind.SOMETIMES)


def eventually(kind: type[Model], *, weak: Sequence[str] = (), strong: Sequence[str] = ()) -> Callable[[F], F]:
    """Declare that every fair run comes to a state like this: the function returns a condition.

    Args:
        kind: the model class.
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.
    """
    return _run("eventually", kind, RunKind.EVENTUALLY, weak, strong)


def leads_to(kind: type[Model], *, weak: Sequence[str] = (), strong: Sequence[str] = ()) -> Callable[[F], F]:
    """Declare that in every fair run one thing is followed by another: the function returns two conditions.

    Args:
        kind: the model class.
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.
    """
    return _run("leads_to", kind, RunKind.LEADS_TO, weak, strong)


def _condition(
    word: str, declared: Declared[Invariant], kind: type[M], because: Because | None
) -> Callable[[Predicate[M]], Predicate[M]]:
    _check_kind(word, kind)
    frame = sys._getframe(2)
    _check_because(word, kind, because, frame)

    def declare(predicate: Predicate[M]) -> Predicate[M]:
        _check_function(word, kind, predicate)
        parameters = parameter_types(predicate, word, scopes_of(predicate, frame))
        declared.add(kind, invariant_beside(kind, predicate, parameters, because))
        return predicate

    return declare


def _run(
    word: str, kind: type[Model], says: RunKind, weak: Sequence[str] = (), strong: Sequence[str] = ()
) -> Callable[[F], F]:
    _check_kind(word, kind)
    frame = sys._getframe(2)
    try:
        fairness = Fairness(weak, strong)  # type: ignore[arg-type] # it makes tuples of them
    except UserError as error:
        message = f"{frame.f_code.co_filename}:{frame.f_lineno}: @{word}({kind.__name__}): {error}"
        raise ModelError(message) from None

    def declare(function: F) -> F:
        _check_function(word, kind, function)
        parameters = parameter_types(function, f"{word} property", scopes_of(function, frame))
        RUN_PROPERTIES.add(kind, run_property_beside(function, says, fairness, parameters))
        return function

    return declare


def _check_kind(word: str, kind: object) -> None:
    """Refuse anything but a model class: the function itself, where the decorator was left without one."""
    if isinstance(kind, type) and issubclass(kind, Model):
        return
    code = getattr(kind, "__code__", None)
    place = f"{code.co_filename}:{code.co_firstlineno}: " if code is not None else ""
    given = f"above {code.co_name!r} there is none" if code is not None else f"{shown(kind)} is not one"
    own = f" In the class's own body, use @{word} of insync.model." if word != "lemma" else ""
    message = f"{place}@{word} takes the model class that it is about, as in @{word}(Lock); {given}.{own}"
    raise ModelError(message)


def _check_because(word: str, kind: type[Model], because: object, frame: FrameType) -> None:
    if because is None or callable(because):
        return
    message = (
        f"{frame.f_code.co_filename}:{frame.f_lineno}: @{word}({kind.__name__}): because={shown(because)} must be a "
        f"function of a Failure that returns a sentence, such as `lambda failing: ...`."
    )
    raise ModelError(message)


def _check_function(word: str, kind: type[Model], function: object, states: Sequence[str] = ("state",)) -> None:
    code = getattr(function, "__code__", None)
    if code is None:
        message = f"@{word}({kind.__name__}) belongs directly above a function (def), not on {shown(function)}."
        raise ModelError(message)
    if code.co_name in (TYPE_OK, DEADLOCK_FREE):
        message = (
            f"{code.co_filename}:{code.co_firstlineno}: @{word}({kind.__name__}): a property cannot be named "
            f"{code.co_name!r}: every model has that already; rename it."
        )
        raise ModelError(message)
    refuse_suspended(cast("Callable[..., Any]", function), word)
    unusual = code.co_kwonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS)
    if code.co_argcount < 1 + len(states) or unusual:
        message = (
            f"{code.co_filename}:{code.co_firstlineno}: {code.co_name!r}, declared with @{word}({kind.__name__}), "
            f"must take the model, the {', the '.join(states)} and then its parameters, without * and **."
        )
        raise ModelError(message)

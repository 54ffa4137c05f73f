"""Declarations beside model classes: the decorators, and the properties that are declared of each class."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FrameType
from typing import Any, Generic, NamedTuple, TypeVar, cast, overload

from insync.model import Bool, Condition, Model, TailCondition
from insync.model.language.declarations import parameter_types, refuse_suspended, scopes_of
from insync.model.language.refinements import BoundsOf, check_refinement, other_class
from insync.model.tracing.predicates import STATES, refuse_swapped
from insync.properties.invariants import (
    DEADLOCK_FREE,
    TYPE_OK,
    Because,
    Invariant,
    PairPredicate,
    Predicate,
    StepInvariant,
    invariant_beside,
    step_invariant_beside,
)
from insync.properties.temporal import Fairness, RunKind, RunProperty, run_property_beside
from insync.runtime.errors import ModelError, UserError, shown

__all__ = [
    "HOLDERS",
    "INVARIANTS",
    "LEMMAS",
    "RUN_PROPERTIES",
    "STEP_INVARIANTS",
    "always_eventually",
    "eventually",
    "eventually_always",
    "initially_always",
    "invariant",
    "leads_to",
    "lemma",
    "refines",
    "sometimes",
    "step_invariant",
]


F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=Model)


def invariant(kind: type[M], *, because: Because | None = None) -> Callable[[Predicate[M]], Predicate[M]]:
    """Declare a function of model, state and parameters as an invariant of a model class, under the function's name.

    With parameters, which are annotated with sorts, ranges, enumerations or bool, it must hold for all their values.

    The function stands beside the class. In the class body, `insync.model.invariant` marks a method of self and state.

    Args:
        kind: the model class.
        because: a function of a `Failure` that returns a sentence on why the invariant fails; None for a generic one.
    """
    return _condition("invariant", INVARIANTS, kind, because)


def lemma(kind: type[M], *, because: Because | None = None) -> Callable[[Predicate[M]], Predicate[M]]:
    """Declare a function of model and state as a lemma candidate of a model class, under the function's name.

    A lemma makes a property provable. A candidate need not hold for every model of its class: each proof that uses it
    proves it as well.

    Args:
        kind: the model class.
        because: a function of a `Failure` that returns a sentence on why the lemma fails; None for a generic one.
    """
    return _condition("lemma", LEMMAS, kind, because)


def step_invariant(kind: type[M], *, because: Because | None = None) -> Callable[[PairPredicate[M]], PairPredicate[M]]:
    """Declare a function of model, state before, state after and parameters as a step invariant of a model class.

    Every step from a reachable state that changes the state must meet it, for all values of its parameters. The
    function stands beside the class. In the class body, `insync.model.step_invariant` marks a method.

    Args:
        kind: the model class.
        because: a function of a `Failure`, with the states as `before` and `state`, that returns a sentence on why a
            step breaks it; None for a generic one.
    """
    _check_kind("step_invariant", kind)
    frame = sys._getframe(1)
    _check_because("step_invariant", kind, because, frame)

    def declare(predicate: PairPredicate[M]) -> PairPredicate[M]:
        _check_function("step_invariant", kind, predicate, STATES)
        refuse_swapped(predicate)
        parameters = parameter_types(predicate, "step invariant", scopes_of(predicate, frame), len(STATES))
        STEP_INVARIANTS.add(kind, predicate.__module__, step_invariant_beside(kind, predicate, parameters, because))
        return predicate

    return declare


def refines(
    kind: type[Model],
    other: type[Model],
    *,
    bounds: BoundsOf | None = None,
    weak: Sequence[str] = (),
    strong: Sequence[str] = (),
) -> Callable[[F], F]:
    """Declare the mapping by which a model class refines another one: a function of model, state, and other state.

    The function assigns the fields of the other model's state. Every initial state must map to an initial state of the
    other model, and every step to one of its steps, or to none (stuttering). The function stands beside the class. In
    the class body, `insync.model.refines` marks a method.

    Args:
        kind: the model class.
        other: the class of the other model.
        bounds: a function of the bounds of the model that returns bounds and settings of the other one, by name. Those
            that it does not name have the value of the bound or setting of the same name, or else their default.
        weak: actions of the model that `liveness` assumes to be weakly fair.
        strong: those that it assumes to be strongly fair.
    """
    _check_kind("refines", kind)
    frame = sys._getframe(1)
    other_class(other, bounds, f"@refines({kind.__name__}, ...)", frame)
    fairness = _fairness("refines", kind, weak, strong, frame)

    def declare(function: F) -> F:
        _check_function("refines", kind, function)
        from insync.properties.refinement import refinement_beside

        check_refinement(function, "model")
        STEP_INVARIANTS.add(kind, function.__module__, refinement_beside(kind, function, other, bounds, fairness))
        return function

    return declare


def sometimes(kind: type[Model]) -> Callable[[F], F]:
    """Declare a condition that some reachable state meets, as a function of model, state and parameters.

    For each value of the parameters some reachable state must meet it, not necessarily the same one.

    Args:
        kind: the model class.
    """
    return _run("sometimes", kind, RunKind.SOMETIMES)


def eventually(kind: type[Model], *, weak: Sequence[str] = (), strong: Sequence[str] = ()) -> Callable[[F], F]:
    """Declare a condition that every fair run meets in some state, as a function of model, state and parameters.

    Args:
        kind: the model class.
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.
    """
    return _run("eventually", kind, RunKind.EVENTUALLY, weak, strong)


def leads_to(kind: type[Model], *, weak: Sequence[str] = (), strong: Sequence[str] = ()) -> Callable[[F], F]:
    """Declare a function that returns two conditions: in every fair run the first is followed by the second.

    The second may be `always_eventually(condition)` or `eventually_always(condition)`.

    Args:
        kind: the model class.
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.
    """
    return _run("leads_to", kind, RunKind.LEADS_TO, weak, strong)


@overload
def always_eventually(
    kind: type[Model], *, weak: Sequence[str] = (), strong: Sequence[str] = ()
) -> Callable[[F], F]: ...
@overload
def always_eventually(kind: Condition, /) -> TailCondition: ...


def always_eventually(
    kind: type[Model] | Condition, *, weak: Sequence[str] = (), strong: Sequence[str] = ()
) -> TailCondition | Callable[[F], F]:
    """Declare a condition that every fair run meets again and again, as a function of model, state and parameters.

    With a condition in place of a class, return that condition as the right side of a `leads_to` property.

    Args:
        kind: the model class, or a condition.
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.
    """
    if isinstance(kind, (Bool, bool)):
        return TailCondition("always_eventually", kind)
    return _run("always_eventually", kind, RunKind.ALWAYS_EVENTUALLY, weak, strong)


@overload
def eventually_always(
    kind: type[Model], *, weak: Sequence[str] = (), strong: Sequence[str] = ()
) -> Callable[[F], F]: ...
@overload
def eventually_always(kind: Condition, /) -> TailCondition: ...


def eventually_always(
    kind: type[Model] | Condition, *, weak: Sequence[str] = (), strong: Sequence[str] = ()
) -> TailCondition | Callable[[F], F]:
    """Declare a condition that holds from some state on in every fair run, as a function of model, state, parameters.

    With a condition in place of a class, return that condition as the right side of a `leads_to` property.

    Args:
        kind: the model class, or a condition.
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.
    """
    if isinstance(kind, (Bool, bool)):
        return TailCondition("eventually_always", kind)
    return _run("eventually_always", kind, RunKind.EVENTUALLY_ALWAYS, weak, strong)


def initially_always(kind: type[Model]) -> Callable[[F], F]:
    """Declare a function that returns two conditions: if the first holds initially, the second always holds.

    Runs that begin in other states are not restricted, and fairness has no effect, as the property is one of safety.

    Args:
        kind: the model class.
    """
    return _run("initially_always", kind, RunKind.INITIALLY_ALWAYS)


def _condition(
    word: str, declared: Declared[Invariant], kind: type[M], because: Because | None
) -> Callable[[Predicate[M]], Predicate[M]]:
    _check_kind(word, kind)
    frame = sys._getframe(2)
    _check_because(word, kind, because, frame)

    def declare(predicate: Predicate[M]) -> Predicate[M]:
        _check_function(word, kind, predicate)
        parameters = parameter_types(predicate, word, scopes_of(predicate, frame))
        declared.add(kind, predicate.__module__, invariant_beside(kind, predicate, parameters, because))
        return predicate

    return declare


def _run(
    word: str, kind: type[Model], says: RunKind, weak: Sequence[str] = (), strong: Sequence[str] = ()
) -> Callable[[F], F]:
    _check_kind(word, kind)
    frame = sys._getframe(2)
    fairness = _fairness(word, kind, weak, strong, frame)

    def declare(function: F) -> F:
        _check_function(word, kind, function)
        parameters = parameter_types(function, f"{word} property", scopes_of(function, frame))
        RUN_PROPERTIES.add(kind, function.__module__, run_property_beside(function, says, fairness, parameters))
        return function

    return declare


def _fairness(word: str, kind: type[Model], weak: Sequence[str], strong: Sequence[str], frame: FrameType) -> Fairness:
    try:
        return Fairness(weak, strong)  # type: ignore[arg-type] # it makes tuples of them
    except UserError as error:
        message = f"{frame.f_code.co_filename}:{frame.f_lineno}: @{word}({kind.__name__}): {error}"
        raise ModelError(message) from None


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


# -------------------------------------------------------------------------------------------------- declared properties
#
# Subclasses inherit the declarations of a class. A subclass may declare a property of the same name again, which then
# replaces the inherited one. The later of two declarations for one class and name replaces the earlier one.


P = TypeVar("P", Invariant, StepInvariant, RunProperty)


class Declared(Generic[P]):
    """The declared properties of one type, by model class and name.

    Args:
        holding: returns those of a class's modules that declare properties of this type.
    """

    def __init__(self, holding: Callable[[Holders], tuple[str, ...]]) -> None:
        self._holding = holding
        self._by_class: dict[type[Model], dict[str, dict[str, P]]] = {}

    def add(self, kind: type[Model], module: str, found: P) -> None:
        """Add a property to those that a module declares of a class."""
        self._by_class.setdefault(kind, {}).setdefault(module, {})[found.name] = found

    def of(self, kind: type[Model]) -> dict[str, P]:
        """Return the properties of a model class and its bases by name, the bases first.

        The modules of `insync.properties.kafka` that declare them are imported.
        """
        for base in kind.__mro__:
            for module in self._modules(base):
                importlib.import_module(module)
        bases = [base for base in reversed(kind.__mro__) if base in self._by_class]
        return {name: found for base in bases for each in self._in_order(base) for name, found in each.items()}

    def _in_order(self, kind: type[Model]) -> list[dict[str, P]]:
        """What each module declares of a class, in the same order whichever was imported first."""
        known: dict[str, dict[str, P]] = self._by_class[kind]
        return [known[module] for module in dict.fromkeys((*self._modules(kind), *known)) if module in known]

    def _modules(self, kind: type[Model]) -> list[str]:
        holders = HOLDERS.get(f"{kind.__module__}:{kind.__qualname__}")
        return [] if holders is None else [f"insync.properties.kafka.{one}" for one in self._holding(holders)]


# ---------------------------------------------------------------------------------------- modules of Kafka's properties
#
# They are imported when they are asked for. Checking a user's own model loads none of them, and listing the properties
# of a model loads neither its properties of runs nor its lemmas.


class Holders(NamedTuple):
    """The modules of `insync.properties.kafka` with the properties of one class, in the order in which they are shown.

    Attributes:
        checked: those with properties of states and of steps.
        runs: those with properties of runs.
        lemmas: those with lemmas.
    """

    checked: tuple[str, ...]
    runs: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()


HOLDERS: dict[str, Holders] = {
    "insync.kafka.published.replication:Replication": Holders(
        checked=("replication",),
        runs=("replication_runs",),
        lemmas=("lemmas_requests", "lemmas_logs", "lemmas_commitment"),
    ),
    "insync.kafka.published.async_isr:AsyncIsr": Holders(checked=("async_isr",), lemmas=("lemmas_async_isr",)),
    "insync.kafka.quorum.quorum_model:QuorumModel": Holders(checked=("quorum",)),
    "insync.kafka.quorum.kraft:Kraft": Holders(checked=("quorum_voters",), runs=("quorum_runs",)),
    "insync.kafka.groups.consumer_group:ConsumerGroup": Holders(checked=("consumer_group",)),
    "insync.kafka.cluster.model:Cluster": Holders(
        checked=(
            "cluster",
            "cluster_availability",
            "cluster_controllers",
            "cluster_producers",
            "cluster_sessions",
            "cluster_consumers",
            "cluster_truncation",
            "cluster_deletions",
            "cluster_directories",
            "cluster_order",
            "cluster_removals",
        ),
        runs=("cluster_runs",),
        lemmas=(
            "lemmas_cluster_shape",
            "lemmas_cluster_controller",
            "lemmas_cluster_logs",
            "lemmas_cluster_isr",
            "lemmas_cluster_commitment",
        ),
    ),
}
"""The modules with the properties of each class, which is named as module:name."""


INVARIANTS: Declared[Invariant] = Declared(lambda holders: holders.checked)
STEP_INVARIANTS: Declared[StepInvariant] = Declared(lambda holders: holders.checked)
RUN_PROPERTIES: Declared[RunProperty] = Declared(lambda holders: holders.runs)
LEMMAS: Declared[Invariant] = Declared(lambda holders: holders.lemmas)

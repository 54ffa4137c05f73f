"""Where properties are declared beside a model's class, and where they are found again by name.

What is declared of a class belongs to its subclasses too. A subclass may declare a property of the same name anew, and
its own counts; the later of two of one class and name counts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FrameType
from typing import Any, Generic, TypeVar, cast

from insync.model import Model
from insync.model.actions import invariant_names, parameter_types, refuse_suspended, scopes_of
from insync.model.errors import ModelError, UserError, closest
from insync.model.graph import Node
from insync.model.run_marks import run_specs
from insync.model.steps import STATES, refuse_swapped, step_invariant_specs
from insync.properties.class_names import headline_of, named_in, names_within, place_of_names
from insync.properties.every_model import DEADLOCK_FREE, TYPE_OK, TYPE_OK_SENTENCE, deadlock_free
from insync.properties.fairness import Fairness
from insync.properties.invariants import Because, Invariant, Predicate, invariant_beside, own_invariant
from insync.properties.kafka_modules import load_for
from insync.properties.runs import RunKind, RunProperty, run_property_beside
from insync.properties.step_invariants import PairPredicate, StepInvariant, own_step_invariant, step_invariant_beside

__all__ = [
    "Judged",
    "default_names",
    "eventually",
    "invariant",
    "invariants_of",
    "judge",
    "leads_to",
    "lemma",
    "lemmas_of",
    "run_properties_of",
    "select",
    "select_lemmas",
    "select_run_properties",
    "sentences_of",
    "sometimes",
    "step_invariant",
]

F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=Model)
P = TypeVar("P", Invariant, StepInvariant, RunProperty)
T = TypeVar("T")


class _Declared(Generic[P]):
    """What is declared of one sort, by model class and name."""

    def __init__(self) -> None:
        self._by_class: dict[type[Model], dict[str, P]] = {}

    def add(self, kind: type[Model], found: P) -> None:
        self._by_class.setdefault(kind, {})[found.name] = found

    def of(self, kind: type[Model]) -> dict[str, P]:
        """Return what is declared of a model class and its bases, by name, the bases first."""
        load_for(kind)
        bases = [base for base in reversed(kind.__mro__) if base in self._by_class]
        return {name: found for base in bases for name, found in self._by_class[base].items()}


_INVARIANTS: _Declared[Invariant] = _Declared()
_LEMMAS: _Declared[Invariant] = _Declared()
_STEP_INVARIANTS: _Declared[StepInvariant] = _Declared()
_RUN_PROPERTIES: _Declared[RunProperty] = _Declared()


# --------------------------------------------------------------------------------------------------------- declaring


def invariant(kind: type[M], *, because: Because | None = None) -> Callable[[Predicate[M]], Predicate[M]]:
    """Declare a function of model, state and parameters as an invariant of a model class, under the function's name.

    With parameters, which are annotated with sorts, ranges, enumerations or bool, it must hold for all their values.

    It stands beside the class. In the class's own body, `insync.model.invariant` marks a method of self and state.

    Args:
        kind: the model class.
        because: says why the invariant fails in a state; None for a generic sentence.
    """
    return _condition("invariant", _INVARIANTS, kind, because)


def lemma(kind: type[M], *, because: Because | None = None) -> Callable[[Predicate[M]], Predicate[M]]:
    """Declare a function of model and state as a lemma candidate of a model class, under the function's name.

    Nobody asks for a lemma by itself: it is there to make a property provable. A candidate need not hold for every
    model of its class; whoever uses it finds out.

    Args:
        kind: the model class.
        because: says why the lemma fails in a state; None for a generic sentence.
    """
    return _condition("lemma", _LEMMAS, kind, because)


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
        _STEP_INVARIANTS.add(kind, step_invariant_beside(kind, predicate, parameters, because))
        return predicate

    return declare


def sometimes(kind: type[Model]) -> Callable[[F], F]:
    """Declare that some reachable state is like this: a function of model, state and parameters returns a condition.

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
    word: str, declared: _Declared[Invariant], kind: type[M], because: Because | None
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
        _RUN_PROPERTIES.add(kind, run_property_beside(function, says, fairness, parameters))
        return function

    return declare


def _check_kind(word: str, kind: object) -> None:
    """Refuse anything but a model class: the function itself, where the decorator was left without one."""
    if isinstance(kind, type) and issubclass(kind, Model):
        return
    code = getattr(kind, "__code__", None)
    place = f"{code.co_filename}:{code.co_firstlineno}: " if code is not None else ""
    given = f"above {code.co_name!r} there is none" if code is not None else f"{kind!r} is not one"
    own = f" In the class's own body, use @{word} of insync.model." if word != "lemma" else ""
    message = f"{place}@{word} takes the model class that it is about, as in @{word}(Lock); {given}.{own}"
    raise ModelError(message)


def _check_because(word: str, kind: type[Model], because: object, frame: FrameType) -> None:
    if because is None or callable(because):
        return
    message = (
        f"{frame.f_code.co_filename}:{frame.f_lineno}: @{word}({kind.__name__}): because={because!r} must be a "
        f"function of a Failure that returns a sentence, such as `lambda failing: ...`."
    )
    raise ModelError(message)


def _check_function(word: str, kind: type[Model], function: object, states: Sequence[str] = ("state",)) -> None:
    code = getattr(function, "__code__", None)
    if code is None:
        message = f"@{word}({kind.__name__}) belongs directly above a function (def), not on {function!r}."
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


# ----------------------------------------------------------------------------------------------------------- finding


@dataclass(frozen=True, slots=True)
class Judged:
    """What a model is judged by.

    Attributes:
        names: what was asked for, each once and in the order given; type_ok may be among them.
        invariants: those of them that have a condition.
        nodes: the condition of each invariant.
    """

    names: tuple[str, ...]
    invariants: tuple[Invariant, ...]
    nodes: tuple[Node, ...]

    @property
    def conditions(self) -> dict[str, Node]:
        """The condition on states of each invariant, by its name."""
        return {found.name: node for found, node in zip(self.invariants, self.nodes, strict=True)}

    def written(self, model: Model) -> dict[str, Node]:
        """Return the condition of each invariant as its author wrote it, by its name."""
        return {found.name: found.as_written(model) for found in self.invariants}


def invariants_of(model: Model) -> dict[str, Invariant]:
    """Return the invariants of a model by name, of states and of steps: beside its class, its own, deadlock_free."""
    kind = type(model)
    own = {name: own_invariant(kind, name) for name in invariant_names(kind)}
    own_steps = {name: own_step_invariant(kind, name) for name in step_invariant_specs(kind)}
    beside, steps = {**_INVARIANTS.of(kind), **own}, {**_STEP_INVARIANTS.of(kind), **own_steps}
    for name in beside.keys() & steps.keys():
        message = f"{kind.__name__} has an invariant and a step invariant of the name {name!r}; rename one of them."
        raise ModelError(message)
    order = dict.fromkeys([*_INVARIANTS.of(kind), *_STEP_INVARIANTS.of(kind), *own, *own_steps])
    every: dict[str, Invariant] = {**beside, **steps}
    return {**{name: every[name] for name in order}, DEADLOCK_FREE: deadlock_free}


def lemmas_of(model: Model) -> dict[str, Invariant]:
    """Return the lemma candidates of a model by name."""
    return _LEMMAS.of(type(model))


def run_properties_of(model: Model | type[Model]) -> dict[str, RunProperty]:
    """Return the properties of runs of a model, or of a model class, by name."""
    kind = model if isinstance(model, type) else type(model)
    return {**_RUN_PROPERTIES.of(kind), **{name: _own_run_property(kind, name) for name in run_specs(kind)}}


def _own_run_property(kind: type[Model], name: str) -> RunProperty:
    spec = run_specs(kind)[name]
    fairness = Fairness(spec.weak, spec.strong)
    return run_property_beside(getattr(kind, name), RunKind(spec.says), fairness, spec.parameters)


def sentences_of(model: Model) -> dict[str, str]:
    """Return what each property of states of a model means, by name, type_ok included."""
    return {**{name: found.sentence for name, found in invariants_of(model).items()}, TYPE_OK: TYPE_OK_SENTENCE}


def default_names(model: Model) -> tuple[str, ...]:
    """Return the names of the properties that are checked when none is named.

    They are the model's headline, or where its class has none all its invariants but `deadlock_free`. What the model is
    confined to is not among them.

    Raises:
        ModelError: the headline is something else than a tuple of names.
    """
    headline, within = headline_of(model), names_within(model)
    named = [name for name in invariants_of(model) if name != DEADLOCK_FREE] if headline is None else headline
    return tuple(name for name in named if name not in within)


def select(model: Model, names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the names of properties, each once and in the order given; None names `default_names`.

    Raises:
        UserError: the model has no property of that name.
    """
    return _asked(model, names)[0]


def judge(model: Model, names: Iterable[str] | None = None) -> Judged:
    """Return what a model is judged by: the named properties of states; None names `default_names`.

    A lemma can be named as well, to search for a state in which it fails.

    Raises:
        UserError: the model has no property of that name.
    """
    asked, invariants = _asked(model, names)
    return Judged(asked, tuple(invariants), tuple(found.node(model) for found in invariants))


def select_lemmas(model: Model, names: Iterable[str]) -> list[Invariant]:
    """Return the named lemmas of a model, each once; an invariant of the model may serve as a lemma as well.

    Raises:
        UserError: the model has neither a lemma nor an invariant of that name.
    """
    every = {**invariants_of(model), **lemmas_of(model)}
    known = {name: found for name, found in every.items() if not isinstance(found, StepInvariant)}

    def unknown(name: str) -> str:
        if name in every:
            return f"{name} is about steps, and a lemma is about states. Ask for it as a property to have it proved."
        return f"{model.name} has no lemma {name!r}. {closest(name, known)}"

    return _named(known, names, unknown)


def select_run_properties(model: Model, names: Iterable[str] | None = None) -> list[RunProperty]:
    """Return the named properties of runs, each once and in the order given; None names them all.

    Raises:
        UserError: the model has no property of runs of that name.
    """
    known = run_properties_of(model)

    def unknown(name: str) -> str:
        found = invariants_of(model).get(name)
        if found is not None:
            what = "steps" if isinstance(found, StepInvariant) else "states"
            again = f"`insync check {model.name} --property {name}`"
            return f"{name} is about {what}, not about runs: {again} decides it."
        return f"{model.name} has no property of runs {name!r}. {closest(name, known)}"

    return _named(known, known if names is None else named_in("properties", names), unknown)


def _asked(model: Model, names: Iterable[str] | None) -> tuple[tuple[str, ...], list[Invariant]]:
    known = invariants_of(model)
    asked = tuple(dict.fromkeys(default_names(model) if names is None else named_in("properties", names)))

    def unknown(name: str) -> str:
        where = f"{place_of_names(type(model), 'headline')}headline names {name!r}, but " if names is None else ""
        if name in run_properties_of(model):
            again = f"`insync liveness {model.name} --property {name}`"
            return f"{where}{name} is about runs, not about states: {again} decides it."
        return f"{where}{model.name} has no property {name!r}. {closest(name, [*known, TYPE_OK])}"

    with_condition = [name for name in asked if name != TYPE_OK]
    return asked, _named({**lemmas_of(model), **known}, with_condition, unknown)


def _named(known: Mapping[str, T], names: Iterable[str], unknown: Callable[[str], str]) -> list[T]:
    """Return what is named, each once; raise UserError with the sentence for a name that is not known."""
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if name not in known:
            raise UserError(unknown(name))
    return [known[name] for name in wanted]

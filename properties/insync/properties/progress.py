"""Properties of whole runs: what can happen, what must happen in the end, and under which fairness.

- `sometimes`: some reachable state is like this; the answer is a witness.
- `eventually`: every fair run comes to a state like this.
- `leads_to`: in every fair run a state of one kind is followed by a state of another kind, every time.

A run may stay where it is for ever unless fairness forbids it, as in TLA+. A fair action is named as in the model:
`follower_fetch` is fair as a whole (TLA+: WF of the operator with its quantifiers inside), `follower_fetch(follower)`
for each follower by itself, `follower_fetch(*)` for each binding of all its parameters.
"""

from __future__ import annotations

import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from insync.model import Condition, Index, Model, StateView
from insync.model.errors import ModelError, UserError, closest, user_frame
from insync.model.graph import Node
from insync.model.program import BoundAction
from insync.model.sorts import label_of
from insync.properties.property import sentence_of

__all__ = [
    "FairSet",
    "Fairness",
    "Instance",
    "Kind",
    "Progress",
    "eventually",
    "fair_sets",
    "leads_to",
    "progress_of",
    "select_progress",
    "sometimes",
]

F = TypeVar("F", bound=Callable[..., Any])


class Kind(StrEnum):
    """What a property says of runs."""

    SOMETIMES = "sometimes"
    EVENTUALLY = "eventually"
    LEADS_TO = "leads_to"


@dataclass(frozen=True, slots=True)
class Fairness:
    """Which actions a run must not neglect.

    Attributes:
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.
    """

    weak: tuple[str, ...] = ()
    strong: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [
            f"{word} {', '.join(names)}" for word, names in (("weak", self.weak), ("strong", self.strong)) if names
        ]
        return "; ".join(parts) or "none"


@dataclass(frozen=True, slots=True)
class FairSet:
    """One demand of fairness on a model.

    Attributes:
        name: the action and what of its parameters is fixed, such as `follower_fetch(follower=b2)`.
        strong: whether it is strong.
        numbers: the bound actions, any of which meets the demand.
    """

    name: str
    strong: bool
    numbers: frozenset[int]


@dataclass(frozen=True, slots=True)
class Instance:
    """A property for one binding of its parameters, in the graph of one model.

    Attributes:
        bindings: what each parameter is called.
        when: what makes `then` due; None where it is due from the start.
        then: what must come, or what can be reached.
    """

    bindings: Mapping[str, str]
    when: Node | None
    then: Node

    def __str__(self) -> str:
        return ", ".join(f"{name} = {label}" for name, label in self.bindings.items())


@dataclass(frozen=True, slots=True)
class Progress:
    """A property of runs.

    Attributes:
        name: the name on the command line.
        sentence: what it means.
        kind: what it says.
        instances: traces it in a model's graph, once for each binding of its parameters.
        fairness: what it takes for granted.
    """

    name: str
    sentence: str
    kind: Kind
    instances: Callable[[Model], list[Instance]]
    fairness: Fairness = Fairness()


_LIBRARY: list[tuple[type[Model], Progress]] = []


def sometimes(kind: type[Model]) -> Callable[[F], F]:
    """Register a function of model, state and parameters as a `sometimes` property: it returns a condition."""
    return _register(kind, Kind.SOMETIMES, Fairness())


def eventually(kind: type[Model], *, weak: Sequence[str] = (), strong: Sequence[str] = ()) -> Callable[[F], F]:
    """Register a function of model, state and parameters as an `eventually` property: it returns a condition."""
    return _register(kind, Kind.EVENTUALLY, Fairness(tuple(weak), tuple(strong)))


def leads_to(kind: type[Model], *, weak: Sequence[str] = (), strong: Sequence[str] = ()) -> Callable[[F], F]:
    """Register a function of model, state and parameters as a `leads_to` property: it returns two conditions."""
    return _register(kind, Kind.LEADS_TO, Fairness(tuple(weak), tuple(strong)))


def _register(model: type[Model], kind: Kind, fairness: Fairness) -> Callable[[F], F]:
    frame = sys._getframe(2)

    def register(function: F) -> F:
        sorts = _sorts(function, frame.f_locals)

        def instances(made: Model) -> list[Instance]:
            members = [made.all(sort) for sort in sorts.values()]
            return [_instance(made, kind, function, list(sorts), values) for values in itertools.product(*members)]

        name = getattr(function, "__name__", "property")
        _LIBRARY.append((model, Progress(name, sentence_of(function), kind, instances, fairness)))
        return function

    return register


def _sorts(function: Callable[..., object], names: Mapping[str, object]) -> dict[str, type[Index]]:
    """Return the parameters after model and state, each with the sort that it ranges over."""
    _, _, *rest = inspect.signature(function, locals=dict(names), eval_str=True).parameters.values()
    sorts: dict[str, type[Index]] = {}
    for parameter in rest:
        if not (isinstance(parameter.annotation, type) and issubclass(parameter.annotation, Index)):
            message = (
                f"{user_frame()}: the parameter {parameter.name!r} of {getattr(function, '__name__', function)} has no "
                f"sort; write `{parameter.name}: Replica`, say, with a subclass of Index."
            )
            raise ModelError(message)
        sorts[parameter.name] = parameter.annotation
    return sorts


def _instance(
    model: Model, kind: Kind, function: Callable[..., Any], names: Sequence[str], values: tuple[Index, ...]
) -> Instance:
    bindings = {name: label_of(value) for name, value in zip(names, values, strict=True)}

    def part(number: int) -> Node:
        def predicate(s: StateView) -> Condition:
            given = function(model, s, *values)
            if kind is not Kind.LEADS_TO:
                return given  # trace_predicate says it if it is no condition
            if not isinstance(given, tuple) or len(given) != 2:
                message = (
                    f"{getattr(function, '__name__', function)} returns {given!r}; a leads_to property returns two "
                    f"conditions: what happens, and what must follow."
                )
                raise ModelError(message)
            return given[number]

        return model.trace_predicate(predicate)

    if kind is Kind.LEADS_TO:
        return Instance(bindings, part(0), part(1))
    return Instance(bindings, None, part(0))


def progress_of(model: Model | type[Model]) -> dict[str, Progress]:
    """Return the properties of runs that are registered for a model's class and its bases, by name."""
    kind = model if isinstance(model, type) else type(model)
    return {found.name: found for owner, found in _LIBRARY if issubclass(kind, owner)}


def select_progress(model: Model, names: Iterable[str] | None = None) -> list[Progress]:
    """Return the named properties of runs, each once and in the order given; None names them all.

    Raises:
        UserError: the model has no property of runs of that name.
    """
    known = progress_of(model)
    chosen = list(known if names is None else dict.fromkeys(names))
    for name in chosen:
        if name not in known:
            message = f"{model.name} has no property of runs {name!r}. {closest(name, known)}"
            raise UserError(message)
    return [known[name] for name in chosen]


# -------------------------------------------------------------------------------------------------------- fairness

_FAIR = re.compile(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*")


def fair_sets(model: Model, fairness: Fairness) -> list[FairSet]:
    """Return the demands of a fairness on a model.

    Raises:
        UserError: an action or a parameter that the model does not have.
    """
    weak = [found for text in fairness.weak for found in _demands(model, text, strong=False)]
    return weak + [found for text in fairness.strong for found in _demands(model, text, strong=True)]


def _demands(model: Model, text: str, *, strong: bool) -> list[FairSet]:
    match = _FAIR.fullmatch(text)
    program = model.program
    if match is None:
        message = f"The fairness {text!r} is not understood; write action, action(parameter, ...) or action(*)."
        raise UserError(message)
    name, inside = match[1], match[2]
    if name not in program.action_names:
        message = f"Fairness: {model.name} has no action {name!r}. {closest(name, program.action_names)}"
        raise UserError(message)
    bound = [(number, action) for number, action in enumerate(program.actions) if action.name == name]
    fixed = _fixed(model, bound[0][1], inside) if bound else ()
    groups: dict[tuple[str, ...], set[int]] = {}
    for number, action in bound:
        groups.setdefault(tuple(action.shown_parameters[key] for key in fixed), set()).add(number)
    return [FairSet(_shown(name, fixed, labels), strong, frozenset(group)) for labels, group in groups.items()]


def _fixed(model: Model, action: BoundAction, inside: str | None) -> tuple[str, ...]:
    """Return the parameters that a fairness speaks of one value at a time."""
    known = tuple(action.shown_parameters)
    if inside is None:
        return ()
    if inside.strip() == "*":
        return known
    wanted = tuple(part.strip() for part in inside.split(",") if part.strip())
    for name in wanted:
        if name not in known:
            message = f"Fairness: {model.name}: {action.name} has no parameter {name!r}. {closest(name, known)}"
            raise UserError(message)
    return wanted


def _shown(name: str, fixed: Sequence[str], labels: Sequence[str]) -> str:
    inside = ", ".join(f"{key}={label}" for key, label in zip(fixed, labels, strict=True))
    return f"{name}({inside})" if inside else name

"""Temporal properties, that is, properties of runs, and the fairness that they assume.

- `sometimes`: some reachable state meets a condition; the answer is a witness.
- `eventually`: every fair run meets a condition in some state.
- `leads_to`: in every fair run each state that meets one condition is followed by a state that meets another.
- `always_eventually`: every fair run meets a condition again and again.
- `eventually_always`: every fair run meets a condition in all states from some state on.
- `initially_always`: every run whose first state meets one condition meets another in all its states.
- `refines`: every fair run maps to a fair run of another model; see `insync.properties.refinement`.

The right side of `leads_to` may be `always_eventually` or `eventually_always` of a condition; whether a run meets these
depends on its tail alone. A property with parameters must hold for each of their bindings.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum, StrEnum
from types import MethodType
from typing import Any

from insync.model import Condition, Model, StateView, TailCondition
from insync.model.domains.sorts import Parameter, label_of, members_of
from insync.model.expressions.graph import Node
from insync.model.given_names import given_names
from insync.model.language.declarations import place_of_function, run_specs
from insync.model.tracing.program import BoundAction
from insync.properties.invariants import sentence_of
from insync.runtime.errors import ModelError, UserError, closest

__all__ = [
    "Due",
    "FairSet",
    "Fairness",
    "Instance",
    "RunKind",
    "RunProperty",
    "fair_sets",
    "fairness_without",
    "own_run_property",
    "run_property_beside",
]


class RunKind(StrEnum):
    """The kind of a property of runs."""

    SOMETIMES = "sometimes"
    EVENTUALLY = "eventually"
    LEADS_TO = "leads_to"
    ALWAYS_EVENTUALLY = "always_eventually"
    EVENTUALLY_ALWAYS = "eventually_always"
    INITIALLY_ALWAYS = "initially_always"
    REFINES = "refines"

    @property
    def needs_fairness(self) -> bool:
        """Whether the fairness of runs has an effect on the property."""
        return self not in (RunKind.SOMETIMES, RunKind.INITIALLY_ALWAYS)


class Due(Enum):
    """How a condition must be met once it is due."""

    ONCE = "once"
    RECURRENT = "again and again"
    PERSISTENT = "from some state on"
    ALWAYS = "in all states"


_DUE = {
    RunKind.SOMETIMES: Due.ONCE,
    RunKind.EVENTUALLY: Due.ONCE,
    RunKind.LEADS_TO: Due.ONCE,
    RunKind.ALWAYS_EVENTUALLY: Due.RECURRENT,
    RunKind.EVENTUALLY_ALWAYS: Due.PERSISTENT,
    RunKind.INITIALLY_ALWAYS: Due.ALWAYS,
    RunKind.REFINES: Due.RECURRENT,
}
"""How the condition of each kind is due, unless the right side of a `leads_to` property says otherwise."""
assert set(_DUE) == set(RunKind)

_TWO_CONDITIONS = {
    RunKind.LEADS_TO: "what happens, and what must follow",
    RunKind.INITIALLY_ALWAYS: "what holds initially, and what then always holds",
}


@dataclass(frozen=True, slots=True)
class Instance:
    """A property for one binding of its parameters, in the graph of one model.

    Attributes:
        bindings: the name of each parameter's value.
        when: the condition after which `then` is due; None if it is due from the initial state on. Of an
            `initially_always` property it is a condition on the initial state.
        then: the condition that must be met, or that can be reached.
        due: how `then` must be met.
        taken: for each bound action the condition on the state before that its step meets the property as well; None if
            none does. Of a `refines` property these are the steps that map to a fair action of the other model.
    """

    bindings: Mapping[str, str]
    when: Node | None
    then: Node
    due: Due = Due.ONCE
    taken: tuple[Node, ...] | None = None

    def __str__(self) -> str:
        return ", ".join(f"{name} = {label}" for name, label in self.bindings.items())


@dataclass(frozen=True, slots=True)
class RunProperty:
    """A property of runs.

    Attributes:
        name: the name on the command line.
        sentence: its meaning in words.
        kind: its kind.
        instances: traces it in a model's graph, once for each binding of its parameters.
        fairness: the fairness that it assumes.
        place: its `file:line`.
    """

    name: str
    sentence: str
    kind: RunKind
    instances: Callable[[Model], list[Instance]]
    fairness: Fairness
    place: str = ""


Bound = Callable[[Model], Callable[..., Any]]
"""Returns the function of state and parameters that a property is for a model."""


def run_property_beside(
    function: Callable[..., Any], kind: RunKind, fairness: Fairness, parameters: Mapping[str, type]
) -> RunProperty:
    """Return the property of runs of a function beside the model's class, under the function's name.

    Args:
        function: a function of model, state and parameters; it returns one condition, and two for `leads_to` and
            `initially_always`.
        kind: the kind of the property.
        fairness: the fairness that it assumes.
        parameters: the type of each parameter.
    """
    return _made(function, lambda model: MethodType(function, model), kind, fairness, parameters)


def own_run_property(kind: type[Model], name: str) -> RunProperty:
    """Return the property of runs of a marked method of the model."""
    spec = run_specs(kind)[name]
    fairness = Fairness(spec.weak, spec.strong)
    says = RunKind(spec.says)
    return _made(getattr(kind, name), lambda model: getattr(model, name), says, fairness, spec.parameters)


def _made(
    function: Callable[..., Any], bound: Bound, kind: RunKind, fairness: Fairness, parameters: Mapping[str, type]
) -> RunProperty:
    def instances(model: Model) -> list[Instance]:
        members = [members_of(each, model.b) for each in parameters.values()]
        return [
            _instance(model, kind, bound(model), list(parameters), values) for values in itertools.product(*members)
        ]

    place = place_of_function(function)
    return RunProperty(function.__name__, sentence_of(function), kind, instances, fairness, place)


def _instance(
    model: Model, kind: RunKind, function: Callable[..., Any], names: Sequence[str], values: tuple[Parameter, ...]
) -> Instance:
    bindings = {name: label_of(value) for name, value in zip(names, values, strict=True)}
    due = _DUE[kind]

    def part(number: int) -> Node:
        @functools.wraps(function)
        def predicate(s: StateView) -> Condition:
            nonlocal due
            given = function(s, *values)
            if kind in _TWO_CONDITIONS:
                given = _of_two(function, kind, given)[number]
            if kind is RunKind.LEADS_TO and number == 1 and isinstance(given, TailCondition):
                due, given = _DUE[RunKind(given.word)], given.condition
            if isinstance(given, TailCondition):
                raise ModelError(_misplaced(function, kind, given.word))
            return given  # trace_predicate reports what is not a condition

        return model.trace_predicate(predicate)

    if kind in _TWO_CONDITIONS:
        when, then = part(0), part(1)
        return Instance(bindings, when, then, due)
    return Instance(bindings, None, part(0), due)


def _of_two(function: Callable[..., Any], kind: RunKind, given: object) -> tuple[Any, Any]:
    """Return the two conditions that a function returns."""
    if not isinstance(given, tuple) or len(given) != 2:
        message = (
            f"{place_of_function(function)}: {function.__name__} returns {given!r}; {_a(kind)} property "
            f"returns two conditions: {_TWO_CONDITIONS[kind]}."
        )
        raise ModelError(message)
    return given


def _misplaced(function: Callable[..., Any], kind: RunKind, word: str) -> str:
    return (
        f"{place_of_function(function)}: {function.__name__} is {_a(kind)} property and returns {word}(...), which is "
        f"the second of the two conditions of a leads_to property; return a condition, and write @{word} above the "
        f"function if it is due from the start."
    )


def _a(kind: RunKind) -> str:
    return f"{'an' if kind[0] in 'aei' else 'a'} {kind}"


# ------------------------------------------------------------------------------------------------------------- fairness
#
# A run may stay where it is for ever unless fairness forbids it, as in TLA+. Fair actions are written as follows:
# - `follower_fetch` is fair as a whole (TLA+: WF of the operator with its quantifiers inside);
# - `follower_fetch(follower)` is fair for each follower, and `follower_fetch(*)` for each binding of all parameters;
# - `look | enter` is fair as one, so that either action is enough (TLA+: WF of the disjunction);
# - `look(worker) | enter(worker)` is the same for each worker.


@dataclass(frozen=True, slots=True)
class Fairness:
    """The actions that fair runs must not neglect.

    Attributes:
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.

    Raises:
        UserError: `weak` or `strong` is not a list of names.
    """

    weak: tuple[str, ...] = ()
    strong: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for word in ("weak", "strong"):
            object.__setattr__(self, word, given_names(word, getattr(self, word)))

    def __str__(self) -> str:
        parts = [
            f"{word} {', '.join(names)}" for word, names in (("weak", self.weak), ("strong", self.strong)) if names
        ]
        return "; ".join(parts) or "none"


@dataclass(frozen=True, slots=True)
class FairSet:
    """One fairness constraint on a model.

    Attributes:
        name: the action and its fixed parameters, such as `follower_fetch(follower=b2)`.
        strong: whether it is strong.
        numbers: the bound actions; a step of any one meets the constraint.
    """

    name: str
    strong: bool
    numbers: frozenset[int]


_FAIR = re.compile(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*")


def fairness_without(fairness: Fairness, removed: Set[str]) -> Fairness:
    """Return a fairness that demands nothing of removed actions; of `look | enter` without `enter` stays `look`."""
    return Fairness(_kept(fairness.weak, removed), _kept(fairness.strong, removed)) if removed else fairness


def _kept(texts: Sequence[str], removed: Set[str]) -> tuple[str, ...]:
    parts = [[part for part in text.split("|") if _name_in(part) not in removed] for text in texts]
    return tuple("|".join(kept).strip() for kept in parts if kept)


def _name_in(part: str) -> str | None:
    match = _FAIR.fullmatch(part)
    return None if match is None else match[1]


def fair_sets(model: Model, fairness: Fairness) -> list[FairSet]:
    """Return the fairness constraints on a model.

    Raises:
        UserError: the fairness names an action or a parameter that the model does not have.
    """
    weak = [found for text in fairness.weak for found in _demands(model, text, strong=False)]
    return weak + [found for text in fairness.strong for found in _demands(model, text, strong=True)]


def _demands(model: Model, text: str, *, strong: bool) -> list[FairSet]:
    parts = [_part(model, text, one) for one in text.split("|")]
    spoken_of = {fixed for _, fixed, numbers in parts if numbers}
    if len(spoken_of) > 1:
        message = (
            f"Fairness: {text!r} is about any of several actions, so each of them needs the same parameters in "
            f"brackets."
        )
        raise UserError(message)
    name = " | ".join(name for name, _, _ in parts)
    groups: dict[tuple[str, ...], set[int]] = {}
    for _, fixed, numbers in parts:
        for number in numbers:
            shown = model.program.actions[number].shown_parameters
            groups.setdefault(tuple(shown[key] for key in fixed), set()).add(number)
    fixed = next(iter(spoken_of), ())
    return [FairSet(_shown(name, fixed, labels), strong, frozenset(group)) for labels, group in groups.items()]


def _part(model: Model, text: str, one: str) -> tuple[str, tuple[str, ...], list[int]]:
    """Return the name of a fair action, its fixed parameters, and the numbers of its bindings."""
    match = _FAIR.fullmatch(one)
    program = model.program
    if match is None:
        message = (
            f"The fairness {text!r} is not understood; write action, action(parameter, ...) or action(*), or several "
            f"with | between."
        )
        raise UserError(message)
    name, inside = match[1], match[2]
    if name not in program.action_names:
        message = f"Fairness: {model.name} has no action {name!r}. {closest(name, program.action_names)}"
        raise UserError(message)
    numbers = [number for number, action in enumerate(program.actions) if action.name == name]
    return name, _fixed(model, program.actions[numbers[0]], inside) if numbers else (), numbers


def _fixed(model: Model, action: BoundAction, inside: str | None) -> tuple[str, ...]:
    """Return the parameters for each of whose values an action is fair."""
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

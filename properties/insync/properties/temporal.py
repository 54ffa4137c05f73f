"""What a property of runs is: what can happen, or what must happen in the end, for each binding of its parameters.

- `sometimes`: some reachable state is like this; the answer is a witness.
- `eventually`: every fair run comes to a state like this.
- `leads_to`: in every fair run a state of one kind is followed by a state of another kind, every time.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from insync.model import Condition, Model, StateView
from insync.model.actions import place_of_function
from insync.model.errors import ModelError
from insync.model.graph import Node
from insync.model.kinds import members_of
from insync.model.sorts import Parameter, label_of
from insync.properties.fairness import Fairness
from insync.properties.invariants import sentence_of

__all__ = ["Instance", "RunKind", "RunProperty", "run_property_beside"]


class RunKind(StrEnum):
    """What a property says of runs."""

    SOMETIMES = "sometimes"
    EVENTUALLY = "eventually"
    LEADS_TO = "leads_to"


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
class RunProperty:
    """A property of runs.

    Attributes:
        name: the name on the command line.
        sentence: what it means.
        kind: what it says.
        instances: traces it in a model's graph, once for each binding of its parameters.
        fairness: what it takes for granted.
        place: `file:line` of where it is written.
    """

    name: str
    sentence: str
    kind: RunKind
    instances: Callable[[Model], list[Instance]]
    fairness: Fairness
    place: str = ""


def run_property_beside(
    function: Callable[..., Any], kind: RunKind, fairness: Fairness, parameters: Mapping[str, type]
) -> RunProperty:
    """Return the property of runs that a function beside the model's class means, under the function's name.

    Args:
        function: of model, state and parameters; it returns one condition, and two for `leads_to`.
        kind: what the property says of runs.
        fairness: what it takes for granted.
        parameters: the type of each parameter.
    """

    def instances(model: Model) -> list[Instance]:
        members = [members_of(each, model.b) for each in parameters.values()]
        return [_instance(model, kind, function, list(parameters), values) for values in itertools.product(*members)]

    place = place_of_function(function)
    return RunProperty(function.__name__, sentence_of(function), kind, instances, fairness, place)


def _instance(
    model: Model, kind: RunKind, function: Callable[..., Any], names: Sequence[str], values: tuple[Parameter, ...]
) -> Instance:
    bindings = {name: label_of(value) for name, value in zip(names, values, strict=True)}

    def part(number: int) -> Node:
        @functools.wraps(function)
        def predicate(s: StateView) -> Condition:
            given = function(model, s, *values)
            if kind is not RunKind.LEADS_TO:
                return given  # trace_predicate reports what is not a condition
            if not isinstance(given, tuple) or len(given) != 2:
                message = (
                    f"{place_of_function(function)}: {function.__name__} returns {given!r}; a leads_to property "
                    f"returns two conditions: what happens, and what must follow."
                )
                raise ModelError(message)
            return given[number]

        return model.trace_predicate(predicate)

    if kind is RunKind.LEADS_TO:
        return Instance(bindings, part(0), part(1))
    return Instance(bindings, None, part(0))

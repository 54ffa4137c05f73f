"""What a property of steps is: a condition on the state before a step and the one after it, with a name and a sentence.

Every step that changes the state must meet it. As a condition on states it says that no step from the state breaks it,
so whoever checks conditions on states checks it as well. The definition is the condition on two states: what is found
is judged by that again, with the evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MethodType
from typing import Concatenate, TypeVar

from insync.model import Condition, Model, StateView
from insync.model.actions import place_of_function
from insync.model.errors import DomainError
from insync.model.evaluator import Codes, Evaluator, evaluate
from insync.model.graph import Node, Op
from insync.model.simplify import combine
from insync.model.steps import step_condition, step_invariant_specs, trace_step_predicate
from insync.properties.invariants import Because, Invariant, kept_for, sentence_of

__all__ = ["PairPredicate", "StepInvariant", "own_step_invariant", "step_invariant_beside"]

M = TypeVar("M", bound=Model)

PairPredicate = Callable[Concatenate[M, StateView, StateView, ...], Condition]
"""A condition on a step as it is written: a function of a model, the states before and after, and parameters."""


@dataclass(frozen=True, slots=True)
class StepInvariant(Invariant):
    """A condition that every step from a reachable state must meet, if it changes the state.

    Attributes:
        pair: the condition on two states, in a graph of its own; see `insync.model.steps`.
        by_action: for each bound action of a model the condition on the state before that its step meets `pair`.
    """

    pair: Callable[[Model], Node] = field(kw_only=True)
    by_action: Callable[[Model], tuple[Node, ...]] = field(kw_only=True)

    def as_written(self, model: Model) -> Node:
        return self.pair(model)

    def met(self, model: Model, before: Codes, after: Codes) -> bool:
        """Return whether a step from one state to another meets the condition."""
        return before == after or bool(evaluate(self.pair(model), (*before, *after)))

    def bad_step(self, model: Model, codes: Sequence[int]) -> tuple[int, Codes] | None:
        """Return a step from a state that does not meet the condition: the least number of an action, the state after.

        Every enabled action is taken with the evaluator; None means that all its steps meet the condition.
        """
        evaluator, before = Evaluator(model.program), tuple(codes)
        for number in evaluator.enabled(before):
            try:
                after = evaluator.step(number, before)
            except DomainError:  # no step at all: a violation of type_ok
                continue
            if not self.met(model, before, after):
                return number, after
        return None


def step_invariant_beside(
    kind: type[M], predicate: PairPredicate[M], parameters: Mapping[str, type], because: Because | None
) -> StepInvariant:
    """Return the step invariant that a function beside the model's class means, under the function's name.

    Args:
        kind: the model class.
        predicate: of model, state before, state after and parameters.
        parameters: the type of each parameter: it must hold for all their values.
        because: says why a step breaks it; None for the generic sentence.
    """

    def bound(model: Model) -> Callable[..., Condition]:
        assert isinstance(model, kind), f"{predicate.__name__} is declared of {kind.__name__}, not of {model.name}"
        return MethodType(predicate, model)

    return _made(predicate.__name__, predicate, bound, parameters, because)


def own_step_invariant(kind: type[Model], name: str) -> StepInvariant:
    """Return the step invariant that a method of the model means."""
    parameters = step_invariant_specs(kind)[name].parameters
    return _made(name, getattr(kind, name), lambda model: getattr(model, name), parameters, None)


def _made(
    name: str,
    function: Callable[..., object],
    bound: Callable[[Model], Callable[..., Condition]],
    parameters: Mapping[str, type],
    because: Because | None,
) -> StepInvariant:
    def pair(model: Model) -> Node:
        return kept_for(model, (function, "pair"), lambda: trace_step_predicate(model, bound(model), parameters))

    def by_action(model: Model) -> tuple[Node, ...]:
        def made() -> tuple[Node, ...]:
            return tuple(step_condition(model.program, pair(model), action) for action in model.program.actions)

        return kept_for(model, (function, "by action"), made)

    def node(model: Model) -> Node:
        return combine(model.program.graph, Op.AND, list(by_action(model)))

    place = place_of_function(function)
    return StepInvariant(name, sentence_of(function), node, because, place, pair=pair, by_action=by_action)

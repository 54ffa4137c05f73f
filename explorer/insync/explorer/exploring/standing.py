"""How the properties of a model stand in a state, and after the step that led there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from insync.explorer.stepping.stepper import Move, Refused, Stepper
from insync.model import Model
from insync.model.evaluator import evaluate
from insync.properties.explain import explain, explain_step
from insync.properties.invariants import TYPE_OK, TYPE_OK_SENTENCE, Invariant, StepInvariant
from insync.properties.registry import invariants_of

__all__ = ["Standing", "holds_after", "standings"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a property stands.

    Attributes:
        name: the property.
        sentence: what it means.
        of_steps: whether it is about the step that led here, and not about the state.
        watched: whether it is among those that are asked for.
        holds: whether it holds; of a property of steps, whether the last step met it. None where there was no step.
        reason: why it does not hold; empty where it does.
    """

    name: str
    sentence: str
    of_steps: bool
    watched: bool
    holds: bool | None
    reason: str


def standings(model: Model, stepper: Stepper, moves: Sequence[Move], watched: Sequence[str]) -> list[Standing]:
    """Return how each property of states and of steps stands at the end of moves: those that are watched first.

    Args:
        model: the model.
        stepper: its steps.
        moves: (None, an initial state) first.
        watched: the names of the properties that are asked for.
    """
    found = [_standing(model, one, moves, one.name in watched) for one in invariants_of(model).values()]
    refused = (outcome for _, outcome in stepper.outcomes(moves[-1][1]) if isinstance(outcome, Refused))
    first = next(refused, None)
    reason = "" if first is None else f"{model.program.actions[first.number].label}: {first}"
    found.append(Standing(TYPE_OK, TYPE_OK_SENTENCE, False, True, first is None, reason))
    order = {name: place for place, name in enumerate(watched)}
    return sorted(found, key=lambda one: (not one.watched, order.get(one.name, len(order))))


def holds_after(model: Model, found: Invariant, moves: Sequence[Move]) -> bool:
    """Return whether a property holds at the end of moves; one of steps, whether the last step met it."""
    if isinstance(found, StepInvariant):
        return len(moves) < 2 or found.met(model, moves[-2][1], moves[-1][1])
    return bool(evaluate(found.node(model), moves[-1][1]))


def _standing(model: Model, found: Invariant, moves: Sequence[Move], watched: bool) -> Standing:
    of_steps = isinstance(found, StepInvariant)
    if of_steps and len(moves) < 2:
        return Standing(found.name, found.sentence, of_steps, watched, None, "")
    holds = holds_after(model, found, moves)
    reason = None
    if not holds and isinstance(found, StepInvariant):
        reason = explain_step(model, found, moves[-2][1], moves[-1][1])
    elif not holds:
        reason = explain(model, found, moves[-1][1])
    return Standing(found.name, found.sentence, of_steps, watched, holds, reason or "")

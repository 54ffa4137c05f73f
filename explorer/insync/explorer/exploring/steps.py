"""What can be done in a state, and why an action that cannot be done there is not enabled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from insync.explorer.exploring.written_guards import WrittenGuards, WrittenPart
from insync.explorer.stepping.stepper import Refused, Stepper
from insync.model import Model
from insync.model.evaluator import Codes, evaluate_each
from insync.model.expressions.graph import Node
from insync.properties.condition_text import plain, show
from insync.properties.explain import blame, failure_of_condition
from insync.properties.invariants import kept_for

__all__ = ["GuardPart", "OfferedStep", "WhyNot", "offered_steps", "why_not"]

_TOO_LONG = "a condition too long to be shown"


@dataclass(frozen=True, slots=True)
class OfferedStep:
    """A bound action in a state.

    Attributes:
        number: of the action in the program.
        action: its name.
        parameters: the name of each parameter with what its value is called.
        label: the step in words.
        enabled: whether the guard holds.
        after: the state after the step; None where it is not enabled, or refused.
        refused: what the step would assign that its field cannot hold; None where it would not.
    """

    number: int
    action: str
    parameters: Mapping[str, str]
    label: str
    enabled: bool
    after: Codes | None = None
    refused: str | None = None


def offered_steps(stepper: Stepper, codes: Codes) -> list[OfferedStep]:
    """Return every bound action with what it does in a state: the enabled ones first, each group in their order."""
    outcomes = dict(stepper.outcomes(codes))
    steps = []
    for number, action in enumerate(stepper.actions):
        outcome = outcomes.get(number)
        steps.append(
            OfferedStep(
                number=number,
                action=action.name,
                parameters=action.shown_parameters,
                label=action.label,
                enabled=outcome is not None,
                after=None if isinstance(outcome, Refused) else outcome,
                refused=str(outcome) if isinstance(outcome, Refused) else None,
            )
        )
    return sorted(steps, key=lambda step: not step.enabled)


@dataclass(frozen=True, slots=True)
class GuardPart:
    """One of the conditions that must hold for an action to be enabled.

    Attributes:
        text: the condition in the names of the fields; as it is written where that would be too long.
        holds: whether it does.
        written: how it stands in the model's source; None where nobody asked, and of what the model is confined to.
    """

    text: str
    holds: bool
    written: WrittenPart | None


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why an action is not enabled in a state, or that it is.

    Attributes:
        number: of the action in the program.
        label: the step in words.
        guard: its conditions, in the order in which the model requires them.
        first: the place in `guard` of the first that does not hold; None where the action is enabled.
        bindings: what each quantified variable stands for where that one fails first.
        culprit: the part of it that is to blame, where that is not the whole.
        values: the value of each field that the part reads, by the field's path.
        reason: all of that as one sentence.
    """

    number: int
    label: str
    guard: tuple[GuardPart, ...]
    first: int | None
    bindings: Mapping[str, str]
    culprit: str
    values: Mapping[str, str]
    reason: str


def why_not(model: Model, codes: Codes, number: int, written: WrittenGuards | None = None) -> WhyNot:
    """Return why an action is not enabled in a state.

    Args:
        model: the model.
        codes: the state.
        number: of the action in the program.
        written: how the guards are written, where somebody wants to know.
    """
    said = {} if written is None else written[number]
    action = model.program.actions[number]
    holds = [bool(value) for value in evaluate_each(action.guard, codes)]
    parts = tuple(_part(model, node, held, said.get(node)) for node, held in zip(action.guard, holds, strict=True))
    if all(holds):
        return WhyNot(number, action.label, parts, None, {}, "", {}, f"{action.label}: it is enabled here.")
    first = holds.index(False)
    failing = failure_of_condition(model, action.guard[first], codes)
    assert failing is not None, f"{action.guard[first]} is false in {codes}, and the explanation says that it holds"
    where = "".join(f"for {variable} = {label}, " for variable, label in failing.bindings.items())
    whole = failing.conjunct if failing.must_hold else f"not {failing.conjunct}"
    culprit = "" if whole == parts[first].text else failing.conjunct
    return WhyNot(
        number=number,
        label=action.label,
        guard=parts,
        first=first,
        bindings=dict(failing.bindings),
        culprit=culprit,
        values={path: plain(value) for path, value in failing.fields.items()},
        reason=f"{action.label}: {_within(model, action.guard[first])}{where}{blame(failing)}.",
    )


def _within(model: Model, node: Node) -> str:
    """What to say first where it is not the action but its confinement that forbids the step."""
    if node not in model.program.within:
        return ""
    return "the search takes no step from a state outside of what it is confined to; "


def _part(model: Model, node: Node, holds: bool, written: WrittenPart | None) -> GuardPart:
    text = kept_for(model, ("as text", node), lambda: show(model, node))
    return GuardPart(text or (_TOO_LONG if written is None else written.text), holds, written)

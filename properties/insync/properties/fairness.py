"""Fairness: which actions a run must not neglect.

A run may stay where it is for ever unless fairness forbids it, as in TLA+. A fair action is named as in the model:
`follower_fetch` is fair as a whole (TLA+: WF of the operator with its quantifiers inside), `follower_fetch(follower)`
for each follower by itself, `follower_fetch(*)` for each binding of all its parameters. `look | enter` is fair as one:
any of these will do (TLA+: WF of the disjunction), `look(worker) | enter(worker)` for each worker by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from insync.model import Model
from insync.model.errors import UserError, closest
from insync.model.given_names import given_names
from insync.model.program import BoundAction

__all__ = ["FairSet", "Fairness", "fair_sets"]


@dataclass(frozen=True, slots=True)
class Fairness:
    """Which actions a run must not neglect.

    Attributes:
        weak: actions that are taken again and again, or are disabled again and again.
        strong: actions that are taken again and again if they are enabled again and again.

    Raises:
        UserError: something else than names of actions.
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
    """One demand of fairness on a model.

    Attributes:
        name: the action and what of its parameters is fixed, such as `follower_fetch(follower=b2)`.
        strong: whether it is strong.
        numbers: the bound actions, any of which meets the demand.
    """

    name: str
    strong: bool
    numbers: frozenset[int]


_FAIR = re.compile(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*")


def fair_sets(model: Model, fairness: Fairness) -> list[FairSet]:
    """Return the demands of a fairness on a model.

    Raises:
        UserError: an action or a parameter that the model does not have.
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
    """Return the name of an action, the parameters that a fairness speaks of, and the numbers of its bindings."""
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

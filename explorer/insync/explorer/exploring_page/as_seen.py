"""What the page is told of an exploration, as JSON takes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from insync.explorer.exploring.conditions import WORDS, ConditionNames
from insync.explorer.exploring.session import Exploration
from insync.explorer.exploring.steps import OfferedStep, WhyNot
from insync.explorer.exploring_page.drawn_state import StateDrawing
from insync.model import Model
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import invariants_of

__all__ = ["model_as_seen", "seen", "why_as_seen"]

_MOST_VISITED = 2_000
"""A tree of more states is not told to the page; the way to the present one is."""


def model_as_seen(model: Model) -> dict[str, Any]:
    """Return what the page is told of a model once."""
    names = ConditionNames(model)
    return {
        "name": model.name,
        "settings": [[name, str(value)] for name, value in model.identity.items()],
        "fields": list(names.fields),
        "members": list(names.members),
        "kinds": names.used,
        "words": ["and", "or", "not", "in", *WORDS, "NONE"],
        "properties": list(names.invariants),
        "violable": [*invariants_of(model), TYPE_OK],
    }


def seen(exploration: Exploration, drawing: StateDrawing, known: int = 0) -> dict[str, Any]:
    """Return what the page shows of where an exploration is.

    Args:
        exploration: the exploration.
        drawing: draws its states.
        known: how many states of the tree the page has already.
    """
    here, visited = exploration.here, exploration.visited
    states = visited.states
    begin = min(known, len(states))
    tree = [[one.before, _label(exploration, one.action)] for one in states[begin:]]
    return {
        "number": here.number,
        "depth": here.depth,
        "label": exploration.step.label,
        "address": exploration.address,
        "state": drawing.html(exploration),
        "steps": _steps(exploration),
        "properties": [
            {
                "name": one.name,
                "says": one.sentence,
                "watched": one.watched,
                "ofSteps": one.of_steps,
                "holds": one.holds,
                "reason": one.reason,
            }
            for one in exploration.standings
        ],
        "notShown": exploration.not_shown,
        "path": [one.number for one in visited.path] if len(states) <= _MOST_VISITED else None,
        "tree": {"from": begin, "states": tree, "total": len(states)} if len(states) <= _MOST_VISITED else None,
        "ahead": visited.ahead is not None,
        "undo": visited.can_undo,
        "starts": exploration.starts,
    }


def _steps(exploration: Exploration) -> list[dict[str, Any]]:
    taken = {one.action: one.number for one in exploration.visited.after(exploration.here.number)}
    return [_step(exploration, step, taken.get(step.number)) for step in exploration.steps]


def _step(exploration: Exploration, step: OfferedStep, visited: int | None) -> dict[str, Any]:
    told: dict[str, Any] = {"number": step.number, "label": step.label, "enabled": step.enabled}
    if step.refused is not None:
        told["refused"] = step.refused
    elif step.enabled and step.after == exploration.here.codes:
        told["same"] = True
    if visited is not None:
        told["visited"] = visited
    return told


def why_as_seen(reasons: Sequence[WhyNot]) -> list[dict[str, Any]]:
    """Return what the page is told of why steps are not enabled."""
    return [
        {
            "number": why.number,
            "reason": why.reason.removeprefix(f"{why.label}: "),
            "guard": [
                [part.text, part.holds, f"{part.written.text}   {part.written.place}" if part.written else ""]
                for part in why.guard
            ],
            "first": why.first,
            "bindings": [f"{name} = {label}" for name, label in why.bindings.items()],
            "culprit": why.culprit,
            "values": [[path, value] for path, value in why.values.items()],
        }
        for why in reasons
    ]


def _label(exploration: Exploration, action: int | None) -> str:
    return "start" if action is None else exploration.stepper.actions[action].label

"""The other model beside a trace that breaks a refinement: the state that each state maps to, and its step."""

from __future__ import annotations

from collections.abc import Mapping

from insync.explorer.traces.trace import Trace
from insync.model import GridCell, Model
from insync.model.language.presentation import checked_grid
from insync.properties.registry import refinement_behind

__all__ = ["other_level"]


def other_level(trace: Trace, model: Model) -> list[Mapping[str, GridCell]]:
    """Return for each step of a trace the cells of the other model by column, the step of the other model first.

    They are empty for a trace of another property.
    """
    found = refinement_behind(model, trace.property)
    if found is None:
        return [{} for _ in trace.steps]
    other = found.mapped(model).other
    rows: list[Mapping[str, GridCell]] = []
    for number, move in enumerate(found.moves(model, [model.encode(dict(step.state)) for step in trace.steps])):
        label = "no step" if move.label is None else move.label or "nothing"
        grid = {"state": "none"} if move.state is None else checked_grid(other, move.state)
        cells = {f"{other.name}: {column}": cell for column, cell in grid.items()}
        rows.append({f"{other.name} step": label if number else "", **cells})
    return rows

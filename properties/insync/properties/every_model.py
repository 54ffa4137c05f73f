"""What every model has without saying so: the invariant deadlock_free, and type_ok."""

from __future__ import annotations

from insync.model import Model
from insync.model.graph import Node, Op
from insync.model.simplify import combine
from insync.properties.invariants import Invariant

__all__ = ["DEADLOCK_FREE", "TYPE_OK", "TYPE_OK_SENTENCE", "deadlock_free"]

DEADLOCK_FREE = "deadlock_free"
"""The invariant that every model has; it is checked when it is asked for."""

TYPE_OK = "type_ok"
"""The name of what every engine checks by itself, asked or not. It is about steps, not a condition on states."""

TYPE_OK_SENTENCE = "Every step assigns values that their fields can hold, at places that their arrays have."


def _some_action_is_enabled(model: Model) -> Node:
    graph = model.program.graph
    guards = [combine(graph, Op.AND, list(action.guard)) for action in model.program.actions]
    return combine(graph, Op.OR, [model.program.outside, *guards])


deadlock_free = Invariant(
    DEADLOCK_FREE,
    "Some action is enabled. Bounds stop most models some time, so look at where they stop.",
    _some_action_is_enabled,
    lambda _: "No action is enabled in this state: nothing happens any more.",
)

"""What every model has without saying so: the invariant deadlock_free, and type_ok."""

from __future__ import annotations

from insync.model import Model
from insync.model.define import DEADLOCK_FREE, TYPE_OK
from insync.model.graph import Node, Op
from insync.model.simplify import combine
from insync.properties.invariants import Invariant, kept_for

__all__ = ["DEADLOCK_FREE", "TYPE_OK", "TYPE_OK_SENTENCE", "deadlock_free"]

TYPE_OK_SENTENCE = "Every step assigns values that their fields can hold, at places that their arrays have."


def _some_action_is_enabled(model: Model) -> Node:
    def made() -> Node:
        graph = model.program.graph
        guards = [combine(graph, Op.AND, list(action.guard)) for action in model.program.actions]
        return combine(graph, Op.OR, [model.program.outside, *guards])

    return kept_for(model, DEADLOCK_FREE, made)


deadlock_free = Invariant(
    DEADLOCK_FREE,
    "Some action is enabled. Bounds stop most models some time, so look at where they stop.",
    _some_action_is_enabled,
    lambda _: "No action is enabled in this state: nothing happens any more.",
)

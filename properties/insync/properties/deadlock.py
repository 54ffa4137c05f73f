"""Deadlock as a property of states: in every reachable state some action is enabled."""

from __future__ import annotations

from insync.model import Model
from insync.model.graph import Node, Op
from insync.model.simplify import combine

__all__ = ["DEADLOCK_FREE", "DEADLOCK_SENTENCE", "no_deadlock"]

DEADLOCK_FREE = "deadlock_free"
"""The property that every model has; it is checked when it is asked for."""

DEADLOCK_SENTENCE = "Some action is enabled. Bounds stop most models some time, so look at where they stop."


def no_deadlock(model: Model) -> Node:
    """Return the condition that some action is enabled."""
    graph = model.program.graph
    guards = [combine(graph, Op.AND, list(action.guard)) for action in model.program.actions]
    return combine(graph, Op.OR, guards)

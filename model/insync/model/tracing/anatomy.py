"""Source spans of the parts of an action: its requirements, branches and assignments.

A program keeps the simplified conditions alone, so the actions are traced again. That happens in the graph of the
program, so the conditions are the same nodes as in the program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.model.domains.sorts import Parameter, under
from insync.model.expressions.source import Assigning, Branch, Required, noting
from insync.model.expressions.store import Environment
from insync.model.language.declarations import action_specs
from insync.model.tracing.methods import bindings_of, run_method
from insync.model.tracing.program import BoundAction, whole_of
from insync.model.tracing.tracer import traced

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = ["Anatomy", "anatomies"]


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The parts of an action with its parameters bound.

    Attributes:
        name: the action's name.
        parameters: the value of each parameter.
        bound: the action of the program; None where the bounds and settings alone rule it out.
        required: the conditions of its guard as they were written; of an action that is ruled out, up to the false one.
        branches: the conditions of its `If` and `when`.
        assigned: its assignments.
    """

    name: str
    parameters: tuple[Parameter, ...]
    bound: BoundAction | None
    required: tuple[Required, ...]
    branches: tuple[Branch, ...]
    assigned: tuple[Assigning, ...]


def anatomies(model: Model, go_on: Callable[[], None] = lambda: None) -> list[Anatomy]:
    """Return the parts of each action of a model for each binding of its parameters, in the order of the program.

    Args:
        model: the model.
        go_on: called again and again; an exception that it raises ends the tracing.
    """
    program = traced(model, go_on)
    actions = iter(program.actions)
    found = []
    whole = whole_of(model)
    for name, spec in action_specs(type(whole)).items():
        for values in bindings_of(whole, name, spec):
            go_on()
            store = Environment(program.graph, program.graph.cells(), writable=True, guarded=True)
            with noting() as notes, under(whole.b):
                possible = run_method(whole, store, getattr(whole, name), values, f"{spec.place}: {name!r}")
            bound = next(actions) if possible else None
            parts = tuple(notes.required), tuple(notes.branches), tuple(notes.assigned)
            found.append(Anatomy(name, values, bound, *parts))
    return found

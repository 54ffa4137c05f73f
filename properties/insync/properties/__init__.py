"""Public: declare properties beside a model's class, of its reachable states, its steps or its runs.

    from insync.properties import invariant

    @invariant(Lock)
    def one_inside(model: Lock, s: StateView) -> Condition: ...

These are the names to declare with; the modules of this package are internal. `declare` has the decorators and keeps
the declarations. `invariants` defines properties of states and of steps, `temporal` properties of runs and fairness,
`refinement` the claim that a model implements another one.
`registry` finds properties by name and confines models. `explain` finds why an invariant fails, and `condition_text`
writes a condition in the names of the model. `kafka` holds the properties of Kafka's models.
"""

from __future__ import annotations

from insync.properties.declare import (
    always_eventually,
    eventually,
    eventually_always,
    initially_always,
    invariant,
    leads_to,
    lemma,
    refines,
    sometimes,
    step_invariant,
)
from insync.properties.invariants import Failure, offset_in, said
from insync.properties.temporal import Fairness

__all__ = [
    "Failure",
    "Fairness",
    "always_eventually",
    "eventually",
    "eventually_always",
    "initially_always",
    "invariant",
    "leads_to",
    "lemma",
    "offset_in",
    "refines",
    "said",
    "sometimes",
    "step_invariant",
]

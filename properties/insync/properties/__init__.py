"""Public: declare beside a model's class what must hold, in every reachable state or in its runs.

    from insync.properties import invariant

    @invariant(Lock)
    def one_inside(model: Lock, s: StateView) -> Condition: ...

These are the names to declare with; the modules of this package are internal. `declaring` has the decorators,
`declared` keeps what they are given, `registry` finds it by name, `invariants` and `runs` say what a property is,
`fairness` what a run must not neglect, `explain` and `show` why an invariant fails. What is declared of Kafka's models
is in `kafka`; `kafka_modules` says in which module.
"""

from __future__ import annotations

from insync.properties.declare import eventually, invariant, leads_to, lemma, sometimes, step_invariant
from insync.properties.invariants import Failure
from insync.properties.temporal import Fairness

__all__ = ["Failure", "Fairness", "eventually", "invariant", "leads_to", "lemma", "sometimes", "step_invariant"]

"""The instances of `cluster` whose proof the tests ask for, and how they ask."""

from __future__ import annotations

from dataclasses import replace

from insync.kafka.cluster.model import Cluster
from insync.model import Model
from insync.model.catalogue import find_model
from insync.properties.invariants import Invariant
from insync.properties.registry import judge, lemmas_of

__all__ = ["WITHOUT_FAILURES", "Repaired", "cluster", "with_lemmas"]

WITHOUT_FAILURES = {"power_failures": 0, "fencings": 0, "isr_shrinks": 0}
"""The default budgets, set to nothing."""


def cluster(**chosen: int | str) -> Model:
    """Return the model with the finding N-01 fixed, for whose proof the lemmas are, without a budget that is not given.

    A defect may be given in its place.
    """
    fixed = {} if "defect" in chosen else {"defect": "N-01", "fixed": "on"}
    return find_model("cluster")(**{**WITHOUT_FAILURES, **fixed, **chosen})


def with_lemmas(model: Model) -> list[Invariant]:
    """Return the headline properties and all lemmas of the library."""
    return [*judge(model).invariants, *lemmas_of(model).values()]


class Repaired(Cluster):
    """`cluster` with the finding N-01 fixed beside the defect that is switched on, whatever that is."""

    name = "repaired"

    def __init__(self, **chosen: int | str) -> None:
        super().__init__(**chosen)
        self.fixes = replace(self.fixes, forget_isr_when_re_elected=True)

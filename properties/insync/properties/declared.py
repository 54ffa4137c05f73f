"""What is declared beside model classes: invariants, lemmas, step invariants and properties of runs.

What is declared of a class belongs to its subclasses too. A subclass may declare a property of the same name anew, and
its own counts; the later of two of one class and name counts.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from insync.model import Model
from insync.properties.invariants import Invariant
from insync.properties.kafka_modules import load_for
from insync.properties.step_invariants import StepInvariant
from insync.properties.temporal import RunProperty

__all__ = ["INVARIANTS", "LEMMAS", "RUN_PROPERTIES", "STEP_INVARIANTS", "Declared"]

P = TypeVar("P", Invariant, StepInvariant, RunProperty)


class Declared(Generic[P]):
    """What is declared of one sort, by model class and name."""

    def __init__(self) -> None:
        self._by_class: dict[type[Model], dict[str, P]] = {}

    def add(self, kind: type[Model], found: P) -> None:
        """Note what is declared of a class."""
        self._by_class.setdefault(kind, {})[found.name] = found

    def of(self, kind: type[Model]) -> dict[str, P]:
        """Return what is declared of a model class and its bases, by name, the bases first."""
        load_for(kind)
        bases = [base for base in reversed(kind.__mro__) if base in self._by_class]
        return {name: found for base in bases for name, found in self._by_class[base].items()}


INVARIANTS: Declared[Invariant] = Declared()
LEMMAS: Declared[Invariant] = Declared()
STEP_INVARIANTS: Declared[StepInvariant] = Declared()
RUN_PROPERTIES: Declared[RunProperty] = Declared()

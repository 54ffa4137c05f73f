"""Walking through a model by the labels of its steps, as a trace shows them."""

from __future__ import annotations

from functools import cache

from insync.explorer.stepping import stepper
from insync.kafka.cluster.model import Cluster
from insync.model import Model, ReadableState
from insync.model.evaluator import Codes
from insync.model.language.presentation import cell_text
from insync.runtime.errors import closest

__all__ = ["Walk", "shared_cluster"]

shared_cluster = cache(Cluster)
"""The cluster under these bounds and settings, which is traced once for all tests of a process."""


class Walk:
    """The state after the steps with these labels, from the initial state.

    Raises:
        GuardError: a step that is not enabled.
    """

    def __init__(self, model: Model, *labels: str) -> None:
        self.model, self._walk = model, stepper.Walk(stepper.Stepper(model))
        self.take(*labels)

    def take(self, *labels: str) -> Walk:
        """Take more steps, of several with the same label the first of the program."""
        numbers: dict[str, int] = {}
        for number, action in enumerate(self.model.program.actions):
            numbers.setdefault(action.label, number)
        for label in labels:
            assert label in numbers, f"{label!r} is no step of {self.model.name}. {closest(label, numbers)}"
            self._walk.step(numbers[label])
        return self

    @property
    def codes(self) -> Codes:
        """The codes of the state."""
        return self._walk.codes

    @property
    def enabled(self) -> set[str]:
        """The labels of the steps that are possible now."""
        actions = self.model.program.actions
        return {actions[number].label for numbers in self._walk.enabled.values() for number in numbers}

    @property
    def state(self) -> ReadableState:
        """The readable state."""
        return self.model.decode(self.codes)

    @property
    def cells(self) -> dict[str, str]:
        """What the grid shows of the state."""
        return {name: cell_text(cell) for name, cell in self.model.grid(self.state).items()}

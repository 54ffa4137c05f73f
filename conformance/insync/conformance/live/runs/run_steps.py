"""The steps of the model beside a run, with the brokers by their names in the model."""

from __future__ import annotations

from insync.conformance.live.runs.run_events import BrokerRun
from insync.explorer.stepping.stepper import Refused, Stepper
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState
from insync.model.evaluator import Codes

__all__ = ["RunSteps"]


class RunSteps:
    """Takes steps of the model of a run.

    Args:
        run: the run.
        model: its model.

    Attributes:
        stepper: of the model.
        names: what the model calls the brokers.
    """

    def __init__(self, run: BrokerRun, model: Cluster) -> None:
        self._model, self.stepper = model, Stepper(model)
        self.names = {broker: f"b{place}" for place, broker in enumerate((*run.replicas, *run.spares), 1)}
        self._ids = {name: broker for broker, name in self.names.items()}
        self._read: dict[Codes, ReadableState] = {}

    def state(self, codes: Codes) -> ReadableState:
        """Return a state in words."""
        if codes not in self._read:
            self._read[codes] = self._model.decode(codes)
        return self._read[codes]

    def broker(self, number: int, parameter: str) -> int:
        """Return the broker that an action's parameter names."""
        return self._ids[str(self.stepper.values(number)[parameter])]

    def id_of(self, name: str) -> int:
        """Return the broker that the model calls so."""
        return self._ids[name]

    def number(self, action: str, parameters: dict[str, str], codes: Codes) -> int | None:
        """Return the number of an action with these parameters, if it is enabled."""
        numbers = self.stepper.enabled(codes).get(action, ())
        return next((number for number in numbers if self.stepper.values(number) == parameters), None)

    def after(self, codes: Codes, number: int) -> Codes | None:
        """Return the state after an action; None where the model refuses the step."""
        after = self.stepper.attempt(codes, number)
        return None if isinstance(after, Refused) else after

    def taken(self, action: str, parameters: dict[str, str], codes: Codes) -> Codes | None:
        """Return the state after an action with these parameters, if it is enabled."""
        number = self.number(action, parameters, codes)
        return None if number is None else self.after(codes, number)

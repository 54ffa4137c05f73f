"""Stepping through a model with the evaluator: what is enabled, the step to the next state, the trace of the walk."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from enum import Enum
from typing import TypeVar

from insync.explorer.evaluator.claims import Claim
from insync.explorer.traces.trace import START, RefusedStep, Trace, TraceStep
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.errors import DomainError, GuardError
from insync.model.evaluator import Evaluator
from insync.model.sorts import Parameter

__all__ = ["Codes", "Refused", "Stepper", "Value", "Walk", "readable_parameter"]

Codes = tuple[int, ...]
"""A state: the code of each cell."""

Value = str | bool
"""A parameter as a reader of traces knows it: a member's label, an enumeration's name, true or false."""

_REMEMBERED = 20_000

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def readable_parameter(value: Parameter) -> Value:
    """Return what a parameter's value is called; a truth value stays one."""
    if isinstance(value, bool):
        return value
    return value.name if isinstance(value, Enum) else str(value)


class Refused(Exception):
    """A step that is enabled and would assign what its field cannot hold: the failure of type_ok."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number, self.message = number, message


class Stepper:
    """The states and steps of a model, as far as walks have seen them; shared by many walks.

    Args:
        model: the model.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.actions = model.program.actions
        self._evaluator = Evaluator(model.program)
        self._values = [{n: readable_parameter(v) for n, v in action.parameters} for action in self.actions]
        self._enabled: OrderedDict[Codes, Mapping[str, list[int]]] = OrderedDict()
        self._steps: OrderedDict[tuple[Codes, int], Codes] = OrderedDict()
        self._holds: OrderedDict[tuple[str, Codes], bool] = OrderedDict()

    def values(self, number: int) -> Mapping[str, Value]:
        """Return the parameters of the action with this number."""
        return self._values[number]

    def enabled(self, codes: Codes) -> Mapping[str, list[int]]:
        """Return the numbers of the enabled actions by name, in order."""
        return _remembered(self._enabled, codes, lambda: self._by_name(codes))

    def step(self, codes: Codes, number: int) -> Codes:
        """Return the state after an enabled action.

        Raises:
            Refused: the step assigns what its field cannot hold.
        """
        try:
            return _remembered(self._steps, (codes, number), lambda: self._evaluator.step(number, codes))
        except DomainError as error:
            raise Refused(number, str(error.args[0])) from None

    def holds(self, claim: Claim, codes: Codes) -> bool:
        """Return whether a claim, which no other has the name of, holds in a state; it is asked once per state."""
        return _remembered(self._holds, (claim.name, codes), lambda: claim.holds(codes))

    def _by_name(self, codes: Codes) -> Mapping[str, list[int]]:
        names: dict[str, list[int]] = {}
        for number in self._evaluator.enabled(codes):
            names.setdefault(self.actions[number].name, []).append(number)
        return names


def _remembered(memory: OrderedDict[K, T], key: K, find: Callable[[], T]) -> T:
    """Return what is remembered under a key, found anew if need be; the oldest is forgotten."""
    if key not in memory:
        memory[key] = find()
        if len(memory) > _REMEMBERED:
            memory.popitem(last=False)
    return memory[key]


class Walk:
    """A sequence of steps from the initial state.

    Args:
        stepper: the model's states.

    Attributes:
        codes: the state that the walk is in.
        moves: the numbers of the actions so far and the state after each; the first is (None, initial state).
    """

    def __init__(self, stepper: Stepper) -> None:
        self.stepper = stepper
        self.codes: Codes = stepper.model.program.initial
        self.moves: list[tuple[int | None, Codes]] = [(None, self.codes)]

    @property
    def enabled(self) -> Mapping[str, list[int]]:
        """The numbers of the actions that are enabled here, by name."""
        return self.stepper.enabled(self.codes)

    def number_of(self, action: str, parameters: Mapping[str, Value]) -> int:
        """Return the number of the enabled action with these parameters.

        Raises:
            GuardError: it is not enabled here.
        """
        for number in self.enabled.get(action, ()):
            if self.stepper.values(number) == parameters:
                return number
        given = ", ".join(f"{name}={value}" for name, value in parameters.items())
        message = f"{action}({given}) is not enabled after {len(self.moves) - 1} steps of this walk."
        raise GuardError(message)

    def step(self, number: int) -> None:
        """Take an enabled action; a step that is refused leaves the walk where it is.

        Raises:
            Refused: the step assigns what its field cannot hold.
        """
        self.codes = self.stepper.step(self.codes, number)
        self.moves.append((number, self.codes))

    def trace(self, name: str, reason: str, refused: Refused | None = None) -> Trace:
        """Return the walk as the trace of a property that fails at its end."""
        model = self.stepper.model
        steps = []
        for number, codes in self.moves:
            if number is None:
                steps.append(TraceStep(None, {}, model.decode(codes), START))
            else:
                action = self.stepper.actions[number]
                steps.append(TraceStep(action.name, action.shown_parameters, model.decode(codes), action.label))
        last = None
        if refused is not None:
            action = self.stepper.actions[refused.number]
            last = RefusedStep(action.name, action.shown_parameters, action.label, refused.message)
        return Trace(model_reference(model), model.identity, name, tuple(steps), reason, last)

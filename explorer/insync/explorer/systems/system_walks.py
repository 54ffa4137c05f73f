"""Walks through a state graph on new systems of a user, up to the first failure."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress

from insync.explorer.runs.state_graph import StateGraph
from insync.explorer.runs.transition_tour import Tour
from insync.explorer.stepping.stepper import ParameterValue, Stepper, remembered
from insync.explorer.systems.adapter import OBSERVE, Adapter, Call, Output, SideBySide, adapter_name, check_driver
from insync.explorer.systems.attended_calls import CallHung, CallRaised
from insync.explorer.systems.failures import FailedWalk, FailureKind
from insync.model import ReadableState

__all__ = ["SystemWalk", "Systems"]

PATIENCE = 0.2
"""How long the first system that differs may take to show what the model has: it is then unstable."""


class Systems:
    """Walks of new systems beside the graph.

    Args:
        graph: the space.
        plan: its steps.
        adapter: makes the system.
        outputs: the expected outputs.

    Attributes:
        name: the name of the adapter.
        patience: the seconds after which a system that differs is looked at again.
        compared: whether a field of the state was compared, or no system has a method that shows some.
    """

    def __init__(self, graph: StateGraph, plan: Tour, adapter: Adapter, outputs: Mapping[str, Output]) -> None:
        self.graph, self.plan, self.outputs, self.name = graph, plan, outputs, adapter_name(adapter)
        self.patience, self.compared = PATIENCE, False
        self._adapter, self._stepper = adapter, Stepper(graph.model)
        self._checked = isinstance(adapter, type)
        self._states: OrderedDict[int, ReadableState] = OrderedDict()

    def open(self, call: Call) -> SideBySide:
        """Return a new system; the first one that a function makes is checked."""
        pair = SideBySide(self._adapter, self.outputs, call, self.graph.model.state)
        if not self._checked:
            check_driver(self.graph.model, pair.driver, pair.name, self.outputs)
            self._checked = True
        return pair

    def label(self, step: int) -> str:
        """Return a step in words."""
        return self.graph.actions[self.plan.action[step]].label

    def named(self, step: int) -> tuple[str, Mapping[str, ParameterValue]]:
        """Return the name of the action of a step, and its parameters."""
        number = self.plan.action[step]
        return self.graph.actions[number].name, self._stepper.values(number)

    def state(self, number: int) -> ReadableState:
        """Return a state for a comparison, which changes nothing of it."""
        return remembered(self._states, number, lambda: self.graph.readable(number))


class SystemWalk:
    """A walk of a new system.

    Args:
        systems: makes it.
        call: calls it.
        start: the number of the initial state.

    Attributes:
        state: the state of the model.
        steps: the steps so far, by number; the last one may be under way.
        failure: how the walk failed; None if it has not.
    """

    def __init__(self, systems: Systems, call: Call, start: int) -> None:
        self._systems, self._call, self._start = systems, call, start
        self.state = start
        self.steps: list[int] = []
        self.failure: FailedWalk | None = None
        self._pair: SideBySide | None = None
        self._closing = False

    def begin(self) -> FailedWalk | None:
        """Make the system and compare the initial state."""
        several = self._systems.graph.initial > 1

        def began() -> FailedWalk | None:
            self._pair = self._systems.open(self._call)
            if several:
                self._pair.begin_in(self._systems.graph.readable(self._start))
            return self._compared(self._pair)

        return self._watched(began)

    def take(self, step: int) -> FailedWalk | None:
        """Take a step on the system and compare."""
        self.steps.append(step)
        return self._watched(lambda: self._taken(step))

    def close(self) -> FailedWalk | None:
        """End the walk."""
        self._closing = True
        return None if self._pair is None else self._watched(self._pair.close)

    def abandon(self) -> None:
        """Close the system of a walk that is over already, whatever comes of it."""
        if self._pair is not None and not self._closing:
            self._closing = True
            with suppress(Exception):  # the walk has failed, or no caller waits for it
                self._pair.close()

    def hung(self, call: CallHung) -> FailedWalk:
        """Return the failure of a walk with a call that hangs, or its earlier failure if it has one."""
        said = f"{call.name} did not return within {call.seconds:g} seconds{self._when()}."
        return self.failure or self._failed(FailureKind.HUNG, said, call.name)

    def _taken(self, step: int) -> FailedWalk | None:
        pair, systems = self._pair, self._systems
        assert pair is not None
        before, self.state = self.state, systems.plan.target[step]
        action, parameters = systems.named(step)
        states: tuple[ReadableState, ReadableState] = ({}, {})
        if action in systems.outputs:  # fresh ones, as functions of the user may change them
            states = systems.graph.readable(before), systems.graph.readable(self.state)
        wrong = pair.output(action, parameters, *states)
        return self._compared(pair) if wrong is None else self._differs(wrong)

    def _compared(self, pair: SideBySide) -> FailedWalk | None:
        right = self._systems.state(self.state)
        found = pair.difference(right)
        self._systems.compared |= pair.compared > 0 or not hasattr(pair.driver, OBSERVE)
        if found is None:
            return None
        time.sleep(self._systems.patience)
        again = pair.difference(right)
        if again == found:
            return self._differs(found)
        reason = (
            f"{self._after()} {pair.name}.observe shows two things with no step in between: {found} A moment later "
            f"{again or 'it shows what the model has.'} A method must not return before the system has settled."
        )
        return self._failed(FailureKind.UNSTABLE, reason)

    def _differs(self, found: str) -> FailedWalk:
        return self._failed(FailureKind.DIFFERENCE, f"{self._after()} system and model disagree: {found}")

    def _watched(self, work: Callable[[], FailedWalk | None]) -> FailedWalk | None:
        try:
            return work()
        except CallRaised as raised:
            said = str(raised.error).strip().partition("\n")[0].removesuffix(".")
            reason = f"{raised.name} raised {type(raised.error).__name__}{self._when()}{said and ': '}{said}."
            return self._failed(FailureKind.RAISED, reason, raised.name, raised.error)

    def _failed(
        self, kind: FailureKind, reason: str, called: str = "", error: BaseException | None = None
    ) -> FailedWalk:
        actions = [self._systems.plan.action[step] for step in self.steps]
        self.failure = FailedWalk(kind, reason, self._start, list(self.steps), actions, called, error)
        return self.failure

    def _after(self) -> str:
        return f"After `{self._systems.label(self.steps[-1])}`" if self.steps else "In the initial state"

    def _when(self) -> str:
        if self._closing:
            return " at the end of the walk"
        return " in the last step" if self.steps else " before the first step"

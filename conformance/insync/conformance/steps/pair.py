"""The model and Kafka's classes side by side: each step is taken on both, and both are compared after it."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from typing import ClassVar

from insync.conformance.classes.observation import Observation
from insync.conformance.classes.subject import Argument, Subject
from insync.conformance.steps.comparison import StepComparison
from insync.conformance.steps.gaps import (
    NotSchedulable,
    require_ascending_order,
    require_news_of_follower,
)
from insync.conformance.steps.isr_expansions import FETCHES, unlike_in_asking
from insync.conformance.steps.likeness import Difference, kafka_state
from insync.conformance.steps.schedule import Schedule, Unlike
from insync.conformance.steps.session_gaps import require_fencing_known_to_leader, require_return_known_to_leader
from insync.explorer.stepping.stepper import Move, Stepper, Walk
from insync.explorer.traces.trace import TraceStep, trace_step
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState
from insync.model.evaluator import Codes
from insync.runtime.errors import GuardError

__all__ = ["Named", "Pair"]

Named = tuple[str, dict[str, str]]
"""An action with its parameters, as traces have them."""


class Pair:
    """The model and a cluster of Kafka's classes, which are in the same state until they differ.

    Args:
        stepper: of a model `cluster`.
        subject: who takes the commands.
        start: the initial state; None is the first.

    Attributes:
        walk: of the model.
        taken: the steps so far, with the model's states; the first is the start.
        own: the numbers of the steps that Kafka took by itself.
        ahead: what Kafka has taken by itself, as actions with their parameters.
        compared: how many facts were compared after the last step.
        spoilt: whether Kafka has got commands of a step that turned out not to be schedulable.
    """

    always: ClassVar[Collection[str]] = ("fetch", "receive", "write", "apply_metadata", "accept_isr", "register")
    """The actions without which little happens."""

    def __init__(self, stepper: Stepper, subject: Subject, start: Codes | None = None) -> None:
        assert isinstance(stepper.model, Cluster)
        self.model = stepper.model
        self.walk = Walk(stepper, start)
        self.taken: list[TraceStep] = [trace_step(self.model, self.walk.moves[-1])]
        self.own: list[int] = []
        self.ahead: list[Named] = []
        self.compared, self.spoilt = 0, False
        self._last: tuple[Codes, ReadableState] | None = None
        self._comparison = StepComparison()
        self._schedule = Schedule(subject, self.model)

    def open(self) -> list[Difference]:
        """Make the cluster, and return on what both differ at the start."""
        self._schedule.open()
        return self.differences()

    @property
    def moves(self) -> list[Move]:
        """The moves of the model so far."""
        return self.walk.moves

    def take(self, number: int) -> list[Difference]:
        """Take an enabled action on both, and return on what they differ after it.

        Raises:
            NotSchedulable: it cannot be brought about on Kafka; the model has not taken it either.
        """
        action, was = self.walk.stepper.actions[number], self.seen
        after = self._readable(self.walk.stepper.step(self.walk.codes, number))
        try:
            self._schedule.take(action.name, action.shown_parameters, self.taken[-1].state, after)
        except Unlike as unlike:
            self._step(number)
            return [Difference(unlike.what, unlike.model, unlike.kafka)]
        except NotSchedulable:
            self.spoilt = self._schedule.given > 0
            raise
        return self._beside(number, was)

    @property
    def seen(self) -> Observation:
        """Kafka's state after the last command."""
        return self._schedule.seen

    def probe(self, command: str, **arguments: Argument) -> str:
        """Give Kafka a command that is no step, and return its answer, or the exception that it throws."""
        return self._schedule.probe(command, **arguments)

    def kafka_state(self) -> ReadableState:
        """Return the state as Kafka has it."""
        return kafka_state(self.taken[-1].state, self._schedule.seen, self._schedule.acknowledged)

    def differences(self) -> list[Difference]:
        """Return the facts that differ."""
        state, schedule = self.taken[-1].state, self._schedule
        self.compared, found = self._comparison.of(state, schedule.seen, schedule.acknowledged)
        return found

    def _beside(self, number: int, was: Observation) -> list[Difference]:
        """Take a step on the model that Kafka has taken, with what Kafka has done by itself.

        Within a fetch Kafka's leader asks for a larger ISR before it moves the high watermark, so that step of the
        model may have to come first. Where no order agrees, the first one is what is shown.
        """
        place, before = (len(self.taken), len(self.own), len(self.ahead)), self.taken[-1].state
        found: list[Difference] = []
        for own_first in (False, True, False):
            self._go_back(*place)
            if own_first:
                self._follow(self._schedule.seen)
            if number not in chain.from_iterable(self.walk.enabled.values()):
                continue
            self._step(number)
            self._follow(self._schedule.seen)
            found = self.differences()
            if not found:
                return self._unlike_in_asking(number, before)
        try:
            if "places" not in before["controller"]:
                require_ascending_order(self._schedule.order, before, self.taken[-1].state, self._schedule.seen)
            action = self.walk.stepper.actions[number]
            if action.name in FETCHES and found:
                fetch, registered = action.shown_parameters, self._schedule.registered
                require_news_of_follower(fetch, before, was, found)
                require_return_known_to_leader(fetch, before, was, self.seen, found, registered)
                require_fencing_known_to_leader(fetch, before, was, self.seen, found, registered)
        except NotSchedulable:
            self.spoilt = True
            self._go_back(*place)
            raise
        return found

    def _unlike_in_asking(self, number: int, before: ReadableState) -> list[Difference]:
        """Return what differs after a step that agrees otherwise: Kafka's leader must ask within a fetch."""
        action = self.walk.stepper.actions[number]
        if action.name not in FETCHES:
            return []
        fetch, after, registered = action.shown_parameters, self.taken[-1].state, self._schedule.registered
        possible = self._is_possible("expand_isr", fetch)
        return unlike_in_asking(fetch, before, after, self.seen, registered, possible=possible)

    def _is_possible(self, action: str, given: dict[str, str]) -> bool:
        try:
            self.walk.number_of(action, given)
        except GuardError:
            return False
        return True

    def _go_back(self, taken: int, own: int, ahead: int) -> None:
        """Forget the steps after so many."""
        del self.walk.moves[taken:], self.taken[taken:], self.own[own:], self.ahead[ahead:]
        self.walk.codes = self.walk.moves[-1][1]

    def _step(self, number: int) -> None:
        self.walk.step(number)
        self.taken.append(trace_step(self.model, self.walk.moves[-1], self._readable(self.walk.codes)))

    def _readable(self, codes: Codes) -> ReadableState:
        """Return a state in plain Python; what is as in the last one is not decoded again."""
        if self._last is None:
            self._last = codes, self.model.decode(codes)
        elif self._last[0] != codes:
            self._last = codes, self.model.decode_after(codes, *self._last)
        return self._last[1]

    def _follow(self, seen: Observation) -> None:
        """Let the model take the steps that Kafka has taken by itself.

        A leader has asked for a larger ISR; a copy that got the last record has taken the place of the log.
        """
        for name, broker in seen.brokers.items():
            leader, state = f"b{name}", self.taken[-1].state
            copied = state["broker"][leader].get("copied")
            if copied is not None and broker.directory is not None and broker.directory.copied is None:
                self._follow_in("swap_log", {"replica": leader})
            if broker.leading is None or state["broker"][leader]["pending"]:
                continue
            for follower in set(broker.leading.proposed) - set(broker.leading.isr):
                self._follow_in("expand_isr", {"leader": leader, "follower": f"b{follower}"})

    def _follow_in(self, action: str, given: dict[str, str]) -> None:
        """Let the model take a step that Kafka has taken by itself; where it cannot, the states will differ."""
        try:
            number = self.walk.number_of(action, given)
        except GuardError:
            return
        self.ahead.append((action, given))
        self.own.append(len(self.taken))
        self._step(number)

"""How `cluster` corresponds to a cluster of Kafka's classes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import ClassVar

from insync.conformance.classes.observation import Observation
from insync.conformance.classes.subject import Argument, Subject
from insync.conformance.correspondence.correspondence import Named
from insync.conformance.correspondence.facts import Difference
from insync.conformance.correspondence.known_differences import KnownDifference, Step
from insync.conformance.steps.comparison import StepComparison
from insync.conformance.steps.isr_expansions import FETCHES, unlike_in_asking
from insync.conformance.steps.known_after import KNOWN_AFTER_A_STEP, ClusterCompared
from insync.conformance.steps.likeness import kafka_state
from insync.conformance.steps.schedule import Schedule
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState

__all__ = ["ClusterCorrespondence"]


class ClusterCorrespondence:
    """What is a step of `cluster` on Kafka's classes, and what is compared after it.

    Args:
        model: the model.
        subject: who takes the commands.
    """

    always: ClassVar[Collection[str]] = (
        "fetch",
        "receive",
        "write",
        "apply_metadata",
        "accept_alter_partition",
        "register",
    )
    differences: ClassVar[Sequence[KnownDifference[ClusterCompared]]] = KNOWN_AFTER_A_STEP
    own_may_come_first: ClassVar[bool] = True

    def __init__(self, model: Cluster, subject: Subject) -> None:
        self._schedule, self._comparison = Schedule(subject, model), StepComparison()
        self._was: Observation

    @property
    def seen(self) -> Observation:
        """Kafka's state after the last command."""
        return self._schedule.seen

    @property
    def given(self) -> int:
        """How many commands the last step took."""
        return self._schedule.given

    def open(self) -> None:
        """Make the cluster."""
        self._schedule.open()

    def probe(self, command: str, **arguments: Argument) -> str:
        """Give Kafka a command that is no step, and return its answer, or the exception that it throws."""
        return self._schedule.probe(command, **arguments)

    def take(self, step: Step) -> None:
        """Give Kafka the commands of a step; raises NotSchedulable and Unlike."""
        self._was = self.seen
        self._schedule.take(step.action, step.given, step.before, step.after)

    def own_steps(self, state: ReadableState) -> Iterator[Named]:
        """Yield what Kafka has done by itself.

        A leader has asked for a larger ISR; a copy that got the last record has taken the place of the log.
        """
        for name, broker in self.seen.brokers.items():
            leader = f"b{name}"
            copied = state["broker"][leader].get("future_leo")
            if copied is not None and broker.directory is not None and broker.directory.copied is None:
                yield "swap_log", {"replica": leader}
            if broker.leading is None or state["broker"][leader]["pending_isr"]:
                continue
            for follower in set(broker.leading.proposed) - set(broker.leading.isr):
                yield "expand_isr", {"leader": leader, "follower": f"b{follower}"}

    def compare(self, state: ReadableState) -> tuple[int, list[Difference]]:
        """Return how many facts both have, and those that differ."""
        return self._comparison.of(state, self.seen, self._schedule.acknowledged)

    def compared(self, step: Step, state: ReadableState, found: Sequence[Difference]) -> ClusterCompared:
        """Return what known differences are looked for in."""
        schedule = self._schedule
        return ClusterCompared(step, state, found, self._was, self.seen, schedule.order, schedule.registered)

    def unlike_after(self, step: Step, state: ReadableState, possible: Callable[[Named], bool]) -> list[Difference]:
        """Return what differs after a step that agrees otherwise: Kafka's leader must ask within a fetch."""
        if step.action not in FETCHES:
            return []
        return unlike_in_asking(
            step.given,
            step.before,
            state,
            self.seen,
            self._schedule.registered,
            possible=possible(("expand_isr", dict(step.given))),
        )

    def kafka_state(self, state: ReadableState) -> ReadableState:
        """Return a state of the model with what Kafka has in the place of it."""
        return kafka_state(state, self.seen, self._schedule.acknowledged)

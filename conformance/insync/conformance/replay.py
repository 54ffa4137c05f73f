"""Take the steps of a trace of `cluster` on Kafka's classes, and compare both after each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain

from insync.conformance.classes.observation import Observation
from insync.conformance.classes.subject import Subject
from insync.conformance.likeness import Difference, differences, kafka_state
from insync.conformance.schedule import NotSchedulable, Schedule, Unlike
from insync.explorer.evaluator.stepping import Stepper, Walk
from insync.explorer.replay import ReplayError
from insync.explorer.replay import replay as replay_on_model
from insync.explorer.traces.counterexample import first_codes, trace_step
from insync.explorer.traces.trace import Trace, TraceStep
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState
from insync.model.errors import GuardError

__all__ = ["KafkaReplay", "KafkaVerdict", "replay_on_kafka"]


_NOT_ASKED = ("watermark_never_goes_back",)
"""Properties of what a leader answers to clients that ask for its high watermark, which Kafka is not asked here."""


class KafkaVerdict(Enum):
    """What came of a trace on Kafka's classes."""

    REPRODUCED = "reproduced"
    AGREES = "agrees"
    DIVERGES = "diverges"
    NOT_SCHEDULABLE = "not_schedulable"


@dataclass(frozen=True, slots=True)
class KafkaReplay:
    """What came of a trace.

    Attributes:
        verdict: reproduced: Kafka has come to the state that breaks the property; agrees: to the same state, of a
            trace that is no counterexample, or of a property of which Kafka is not asked; diverges: to another one; or
            a step was not schedulable.
        kafka: the release.
        trace: the steps that were taken, with the model's states; what Kafka does by itself is among them. The
            last is the one that diverges.
        own: the numbers of the steps that Kafka took by itself.
        state: the state after the last step as Kafka has it.
        differences: the facts that differ there.
        reason: why the step after the last is not schedulable; None if all were.
        step: that step in words.
    """

    verdict: KafkaVerdict
    kafka: str
    trace: Trace
    own: tuple[int, ...]
    state: ReadableState
    differences: tuple[Difference, ...] = ()
    reason: str | None = None
    step: str | None = None

    @property
    def steps(self) -> int:
        """How many steps were taken, the diverging one included."""
        return self.trace.length - 1


def replay_on_kafka(trace: Trace, model: Cluster, subject: Subject) -> KafkaReplay:
    """Take the steps of a trace on Kafka's classes.

    Args:
        trace: the trace, which its model confirms.
        model: its model.
        subject: who takes the commands.
    """
    return _KafkaRun(trace, model, subject).run()


class _KafkaRun:
    """A run of the model and of Kafka beside each other."""

    def __init__(self, trace: Trace, model: Cluster, subject: Subject) -> None:
        self.claim, self.model, self.version = trace, model, subject.version
        self.schedule = Schedule(subject, model)
        self.walk = Walk(Stepper(model), first_codes(model, trace))
        self.taken = [trace_step(model, self.walk.moves[-1])]
        self.own: list[int] = []
        self.ahead: list[tuple[str | None, dict[str, str]]] = []  # what Kafka has done before its turn

    def run(self) -> KafkaReplay:
        self.schedule.open()
        found = self._differences()
        for step in self.claim.steps[1:]:
            if found:
                break
            named = (step.action, dict(step.parameters))
            if named in self.ahead:
                self.ahead.remove(named)
                continue
            try:
                found = self._step(step)
            except NotSchedulable as fault:
                return self._ended(KafkaVerdict.NOT_SCHEDULABLE, reason=str(fault), step=step.label)
        return self._ended(KafkaVerdict.DIVERGES, found) if found else self._came_to_the_end()

    def _step(self, step: TraceStep) -> list[Difference]:
        """Take a step on both; a step that was not taken on Kafka is not taken on the model either."""
        try:
            number = self.walk.number_of(step.action or "", step.parameters)
        except GuardError as fault:
            message = "what Kafka has done by itself before makes it impossible"
            raise NotSchedulable(message) from fault
        before, after = self.walk.codes, self.walk.stepper.step(self.walk.codes, number)
        try:
            self.schedule.take(step, self.model.decode(before), self.model.decode(after))
        except Unlike as unlike:
            self._take(number)
            return [Difference(unlike.what, unlike.model, unlike.kafka)]
        return self._beside(number)

    def _beside(self, number: int) -> list[Difference]:
        """Take a step on the model that Kafka has taken, with what Kafka has done by itself.

        Within a fetch Kafka's leader asks for a larger ISR before it moves the high watermark, so that step of the
        model may have to come first. Where no order agrees, the first one is what is shown.
        """
        place = (len(self.taken), len(self.own), len(self.ahead))
        found: list[Difference] = []
        for own_first in (False, True, False):
            self._go_back(*place)
            if own_first:
                self._follow(self.schedule.seen)
            if number not in chain.from_iterable(self.walk.enabled.values()):
                continue
            self._take(number)
            self._follow(self.schedule.seen)
            found = self._differences()
            if not found:
                break
        return found

    def _go_back(self, taken: int, own: int, ahead: int) -> None:
        """Forget the steps after so many."""
        del self.walk.moves[taken:], self.taken[taken:], self.own[own:], self.ahead[ahead:]
        self.walk.codes = self.walk.moves[-1][1]

    def _take(self, number: int) -> None:
        self.walk.step(number)
        self.taken.append(trace_step(self.model, self.walk.moves[-1]))

    def _follow(self, seen: Observation) -> None:
        """Let the model take the steps that Kafka has taken by itself: a leader has asked for a larger ISR."""
        for name, broker in seen.brokers.items():
            leader, state = f"b{name}", self.taken[-1].state
            if broker.leading is None or state["broker"][leader]["pending"]:
                continue
            for follower in set(broker.leading.proposed) - set(broker.leading.isr):
                step = {"leader": leader, "follower": f"b{follower}"}
                try:
                    number = self.walk.number_of("expand_isr", step)
                except GuardError:
                    continue  # the states will differ
                self.ahead.append(("expand_isr", step))
                self.own.append(len(self.taken))
                self._take(number)

    def _kafka_state(self) -> ReadableState:
        return kafka_state(self.taken[-1].state, self.schedule.seen, self.schedule.acknowledged)

    def _differences(self) -> list[Difference]:
        return differences(self.taken[-1].state, self._kafka_state())

    def _came_to_the_end(self) -> KafkaReplay:
        claim = self.claim
        if claim.witness or claim.loop is not None or claim.refused is not None:
            return self._ended(KafkaVerdict.AGREES)
        if claim.property in _NOT_ASKED:
            return self._ended(KafkaVerdict.AGREES)
        ended = self._ended(KafkaVerdict.REPRODUCED)
        if not self.own:
            return ended
        try:
            return replace(ended, trace=replay_on_model(ended.trace, model=self.model))
        except ReplayError:
            message = f"with what Kafka does by itself, {claim.property} is not broken at the end"
            return replace(ended, verdict=KafkaVerdict.NOT_SCHEDULABLE, reason=message, step="the end of the trace")

    def _ended(
        self,
        verdict: KafkaVerdict,
        found: Sequence[Difference] = (),
        reason: str | None = None,
        step: str | None = None,
    ) -> KafkaReplay:
        trace = replace(self.claim, steps=tuple(self.taken), refused=None, loop=None, fairness=None)
        own, state = tuple(self.own), self._kafka_state()
        return KafkaReplay(verdict, self.version, trace, own, state, tuple(found), reason, step)

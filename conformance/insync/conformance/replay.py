"""Take the steps of a trace of `cluster` on Kafka's classes, and compare both after each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from insync.conformance.classes.observation import Observation
from insync.conformance.classes.subject import Subject
from insync.conformance.correspondence.correspondence import Named
from insync.conformance.correspondence.facts import Difference
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.steps.going_round import ForEver, goes_round, stays
from insync.conformance.steps.pair import Pair
from insync.explorer.replay import ReplayError
from insync.explorer.replay import replay as replay_on_model
from insync.explorer.stepping.stepper import Stepper
from insync.explorer.traces.trace import WITHOUT_PROPERTY, Trace, TraceStep, first_codes
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState
from insync.runtime.errors import GuardError

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
        verdict: reproduced: Kafka came to the state that breaks the property, and went on as the trace does if that is
            a run that never ends. Agrees: Kafka came to the same state, but the trace is no counterexample, Kafka does
            not show its property, or Kafka was not seen to go on. Diverges: Kafka came to another state.
            Not schedulable: a step could not be taken.
        kafka: the release.
        trace: the steps that were taken, with the model's states; what Kafka does by itself is among them. The
            last is the one that diverges.
        own: the numbers of the steps that Kafka took by itself.
        state: the state after the last step as Kafka has it.
        differences: the facts that differ there.
        reason: why the step after the last is not schedulable; None if all were.
        step: that step in words.
        for_ever: of a run that never ends, whether Kafka was seen to go on so, once all steps of it were taken.
    """

    verdict: KafkaVerdict
    kafka: str
    trace: Trace
    own: tuple[int, ...]
    state: ReadableState
    differences: tuple[Difference, ...] = ()
    reason: str | None = None
    step: str | None = None
    for_ever: ForEver | None = None

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
        self.pair = Pair(Stepper(model), subject, first_codes(model, trace))
        self.due: tuple[Named, str, str] | None = None  # what Kafka must do by itself in the next step
        self.begun: Observation | None = None  # Kafka where the loop begins

    def run(self) -> KafkaReplay:
        found, steps = self.pair.open(), self.claim.steps[1:]
        for number, step in enumerate(steps):
            if found:
                break
            if number == self.claim.loop:
                self.begun = self.pair.seen
            named = _named(step)
            if self._done_by_kafka(named):
                continue
            try:
                found = self._step(named)
            except NotSchedulable as fault:
                if not _belongs_to(named, steps[number + 1 : number + 2]):
                    return self._ended(KafkaVerdict.NOT_SCHEDULABLE, reason=str(fault), step=step.label)
                self.due = named, str(fault), step.label or ""
                continue
            if self.due is not None and not found and not self._done_by_kafka(self.due[0]):
                return self._ended(KafkaVerdict.NOT_SCHEDULABLE, reason=self.due[1], step=self.due[2])
            self.due = None
        if found:
            return self._ended(KafkaVerdict.DIVERGES, found)
        return self._came_to_the_end()

    def _done_by_kafka(self, named: Named) -> bool:
        """Return whether Kafka has taken a step by itself, which is then not waited for any more."""
        if named not in self.pair.ahead:
            return False
        self.pair.ahead.remove(named)
        return True

    def _step(self, named: Named) -> list[Difference]:
        """Take a step on both; a step that was not taken on Kafka is not taken on the model either."""
        try:
            number = self.pair.walk.number_of(*named)
        except GuardError as fault:
            message = "what Kafka has done by itself before makes it impossible"
            raise NotSchedulable(message) from fault
        return self.pair.take(number)

    def _came_to_the_end(self) -> KafkaReplay:
        claim = self.claim
        if claim.loop is not None:
            return self._went_round()
        if claim.witness or claim.refused is not None:
            return self._ended(KafkaVerdict.AGREES)
        if claim.property in (*WITHOUT_PROPERTY, *_NOT_ASKED):
            return self._ended(KafkaVerdict.AGREES)
        ended = self._ended(KafkaVerdict.REPRODUCED)
        if not self.pair.own:
            return ended
        try:
            return replace(ended, trace=replay_on_model(ended.trace, model=self.model))
        except ReplayError:
            message = f"with what Kafka does by itself, {claim.property} is not broken at the end"
            return replace(ended, verdict=KafkaVerdict.NOT_SCHEDULABLE, reason=message, step="the end of the trace")

    def _went_round(self) -> KafkaReplay:
        """What came of a run that never ends, once the steps up to the end of its loop were taken."""
        ended = self._ended(KafkaVerdict.AGREES)
        for_ever = stays(self.pair, self.claim) if self.begun is None else goes_round(self.begun, self.pair.seen)
        if for_ever.shown:
            return replace(ended, verdict=KafkaVerdict.REPRODUCED, for_ever=for_ever)
        if not for_ever.differences:
            return replace(ended, for_ever=for_ever)
        asked = replace(ended.trace.steps[-1], label=f"{for_ever.asked}, which changes nothing in the model")
        return replace(
            self._ended(KafkaVerdict.DIVERGES, for_ever.differences),
            trace=replace(ended.trace, steps=(*ended.trace.steps, asked)),
            own=ended.own,
            for_ever=for_ever,
        )

    def _ended(
        self,
        verdict: KafkaVerdict,
        found: Sequence[Difference] = (),
        reason: str | None = None,
        step: str | None = None,
    ) -> KafkaReplay:
        pair = self.pair
        trace = replace(self.claim, steps=tuple(pair.taken), refused=None, loop=None, fairness=None)
        own = tuple(pair.own)
        return KafkaReplay(verdict, self.version, trace, own, pair.kafka_state(), tuple(found), reason, step)


def _named(step: TraceStep) -> Named:
    return step.action or "", dict(step.parameters)


def _belongs_to(named: Named, following: Sequence[TraceStep]) -> bool:
    """Return whether a step is one that Kafka takes within the fetch that follows: it asks for the one who fetches."""
    action, given = named
    return action == "expand_isr" and [_named(step) for step in following] == [("fetch", given)]

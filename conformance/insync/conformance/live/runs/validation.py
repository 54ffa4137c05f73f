"""Whether a run is a behaviour of the model: a set of states is carried along what was seen.

What nobody could see may happen at any time between: a broker applies metadata that it has been sent, a follower takes
in an answer that it has got, a leader appends a record that was sent to it, or asks for the ISR that it is seen to ask
for next. A run is explained if a state is left after its last event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

from insync.conformance.live.metadata_log import Decision
from insync.conformance.live.runs.decision_steps import apart, same_decision, steps_of
from insync.conformance.live.runs.fetches import Fetches
from insync.conformance.live.runs.moving import DirectoryMoves, registers
from insync.conformance.live.runs.run_events import (
    Acting,
    Applied,
    BrokerRun,
    Decided,
    Delivered,
    Done,
    FetchAnswered,
    FetchAsked,
    IsrAsked,
    RunEvent,
)
from insync.conformance.live.runs.run_model import commits_in, unsure_in, written_in
from insync.conformance.live.runs.run_steps import RunSteps
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState
from insync.model.evaluator import Codes
from insync.runtime.errors import UserError

__all__ = ["Validation", "validate"]

_MOST_STATES = 200_000
_FREE = ("receive", "apply_repeated_metadata", "find_older_checkpoint")
_FREE_UNSEEN = (
    "fetch",
    "receive_alter_partition_response",
    "apply_metadata",
    "expand_isr",
    "shrink_isr",
    "shrink_isr_by_several",
)
"""What may happen at any time besides, where nobody has seen frames."""
_OF_DIRECTORIES = {"lose": "lose_directory", "move": "start_move"}
"""What operators do to directories, and the actions that are that."""
_ISR_STEPS = ("expand_isr", "shrink_isr", "shrink_isr_by_several")

_Marked: TypeAlias = tuple[Codes, frozenset[int]]
"""A state, and the frames that were made by then and are not seen yet, by their numbers."""


@dataclass(frozen=True, slots=True)
class Validation:
    """What came of a run beside the model.

    Attributes:
        explained: whether it is a behaviour of the model.
        events: how many events it has.
        stuck: the number of the first event that no state explains, from 0; None if all are explained.
        event: that event in words.
        before: a state in which the model was before it, or in which it is in the end.
        states: how many states there were at once, at most.
    """

    explained: bool
    events: int
    stuck: int | None
    event: str | None
    before: ReadableState
    states: int


def validate(run: BrokerRun, model: Cluster) -> Validation:
    """Return whether a run is a behaviour of a model.

    Raises:
        UserError: more states explain it than can be kept.
    """
    unsure, furthest = unsure_in(run), None
    for size in range(len(unsure) + 1):
        for assumed in combinations(unsure, size):
            result = _Search(run, model, written_in(run, assumed)).search()
            if result.stuck is None:
                return result
            if furthest is None or furthest.stuck is None or result.stuck > furthest.stuck:
                furthest = result
    assert furthest is not None
    return furthest


class _Search:
    """The states in which the model may be after the events so far."""

    def __init__(self, run: BrokerRun, model: Cluster, written: list[tuple[str, int]]) -> None:
        self._run, self._model, self._steps = run, model, RunSteps(run, model)
        self._stepper, self._names, self._state = self._steps.stepper, self._steps.names, self._steps.state
        self._written, self._moves = written, DirectoryMoves(run, model, self._stepper)
        self._numbers = {record: number for number, (record, _) in enumerate(self._written)}
        self._fetches = Fetches(self._steps, self._numbers)
        # Of a cluster that others run there are logs alone.
        self._seen = any(isinstance(event, (FetchAsked, Done)) for event in run.events)
        self._returning: set[int] = set()
        self._sent = 0
        self._delivered: dict[int, int] = {}
        self._acts_below: dict[int, int] = {}
        self._counting = commits_in(run)
        self._commits: list[int] = []  # the places in the metadata log of what brokers learn of, the newest last
        self._killed: set[int] = set()
        self._next_isr: dict[int, frozenset[str]] = {}

    def search(self) -> Validation:
        """Carry the states along the events."""
        states: set[_Marked] = {(self._model.program.initials[0], frozenset())}
        most = 1
        events = self._run.events
        for number, event in enumerate(events):
            self._look_ahead(number)
            before = self._closed(states)
            most = max(most, len(before))
            states = {
                (after, marks) for codes, marks in before for after in self._seen_in(event, codes, number in marks)
            }
            if not states:
                first = min(codes for codes, _ in before)
                return Validation(False, len(events), number, str(event), self._state(first), most)
            self._note(event)
        return Validation(True, len(events), None, None, self._state(min(codes for codes, _ in states)), most)

    def _seen_in(self, event: RunEvent, codes: Codes, made_before: bool) -> Iterator[Codes]:
        """Yield the states after an event is seen in a state; none if that cannot be."""
        match event:
            case FetchAsked():
                yield from self._fetches.asked(event, codes, made_before=made_before)
            case FetchAnswered():
                # The model begins when all act on the topic, and a leader may not have learned of it yet.
                unheard = self._acts_below.get(event.leader, 0) <= self._commits[0]
                yield from self._fetches.answered(event, codes, made_before=made_before or unheard)
            case Delivered():
                yield codes
            case IsrAsked():
                yield from self._isr_asked(event, codes)
            case Decided():
                yield from self._decided(event, codes)
            case Applied():
                yield from self._applied(event, codes)
            case Acting():
                yield from self._acting(event, codes)
            case Done():
                yield from self._done(event, codes)

    # ---------------------------------------------------------------------------------------------- what nobody can see

    def _look_ahead(self, number: int) -> None:
        """Which ISR each leader is seen to ask for next, and which brokers are seen to start again."""
        self._next_isr = {}
        self._fetches.look_ahead(self._run.events[number:], number)
        later = [event for event in self._run.events[number:] if isinstance(event, Decided)]
        self._returning = {
            broker for broker in self._names if any(registers(event.decision, broker) for event in later)
        }
        for event in reversed(self._run.events[number:]):
            if isinstance(event, IsrAsked):
                self._next_isr[event.leader] = frozenset(self._names[one] for one in event.isr)

    def _closed(self, states: set[_Marked]) -> set[_Marked]:
        """The states, and all to which steps lead that nobody sees, each with the frames that were made by then."""
        found = {(codes, self._fetches.marks(codes, marks)) for codes, marks in states}
        todo = list(found)
        while todo:
            codes, marks = todo.pop()
            for number in self._hidden(codes):
                after = self._steps.after(codes, number)
                if after is None:
                    continue
                marked = (after, self._fetches.marks(after, marks))
                if marked not in found:
                    found.add(marked)
                    todo.append(marked)
            if len(found) > _MOST_STATES:
                message = f"More than {_MOST_STATES} states explain the run so far. Record a shorter one."
                raise UserError(message)
        return found

    def _hidden(self, codes: Codes) -> Iterator[int]:
        enabled = self._stepper.enabled(codes)
        for name in _FREE:
            yield from enabled.get(name, ())
        state = self._state(codes)
        yield from self._endings(enabled, state)
        yield from self._moves.hidden(codes)
        if not self._seen:
            for name in _FREE_UNSEEN:
                yield from enabled.get(name, ())
            return
        for name in ("apply_metadata", "receive_alter_partition_response"):
            for number in enabled.get(name, ()):
                if name == "receive_alter_partition_response" or self._has_been_sent(number):
                    yield number
        for number in enabled.get("write", ()):
            place = state["written"]
            if place < self._sent and self._steps.broker(number, "leader") == self._written[place][1]:
                yield number
        for name in _ISR_STEPS:
            for number in enabled.get(name, ()):
                yield from self._if_asked_for(codes, number)

    def _has_been_sent(self, number: int) -> bool:
        """Whether a broker that applies metadata can have it."""
        values = self._stepper.values(number)
        place = len(self._commits) - 1 - int(values["place"])
        return place < 0 or self._commits[place] < self._delivered.get(self._steps.broker(number, "replica"), 0)

    def _if_asked_for(self, codes: Codes, number: int) -> Iterator[int]:
        leader = str(self._stepper.values(number)["leader"])
        wanted = self._next_isr.get(self._steps.id_of(leader))
        after = self._steps.after(codes, number)
        if wanted is not None and after is not None:
            asks = self._state(after)["broker"][leader]["pending_isr"]
            yield from [number] if frozenset(asks) == wanted else []

    def _endings(self, enabled: Any, state: ReadableState) -> Iterator[int]:
        """Brokers end that were told to, with all that they have written."""
        yield from enabled.get("stop", ())
        for number in enabled.get("crash", ()):
            values = self._stepper.values(number)
            broker = state["broker"][values["replica"]]
            may_end = self._killed if self._seen else self._returning
            if int(values["spared"]) == broker["leo"] and self._steps.broker(number, "replica") in may_end:
                yield number

    def _note(self, event: RunEvent) -> None:
        """Take over what an event says of what may happen unseen after it."""
        if isinstance(event, Delivered):
            self._delivered[event.broker] = event.below
        elif isinstance(event, Applied):
            self._acts_below[event.broker] = event.below
        elif isinstance(event, Decided):
            self._commits += [event.decision.offset] * self._counting[event.decision.offset]
            for broker in self._names:
                if registers(event.decision, broker):
                    self._killed.discard(broker)
        elif isinstance(event, Done) and event.what == "send":
            self._sent += event.record in self._numbers
        elif isinstance(event, Done) and event.what == "kill":
            self._killed.add(event.broker)

    # ----------------------------------------------------------------------------------------------------- what is seen

    def _decided(self, event: Decided, codes: Codes) -> Iterator[Codes]:
        if not self._commits:  # the first one has made the partition
            yield codes
            return
        for after in self._decided_to(event.decision, codes):
            emptied = self._moves.empties_elr(event.decision)
            if same_decision(
                event.decision, self._state(after), self._names, elr=self._model.features.elr, emptied=emptied
            ):
                yield after

    def _decided_to(self, decision: Decision, codes: Codes) -> Iterator[Codes]:
        """Yield the states to which a decision may lead, whatever they are."""
        named = self._moves.told.get(decision.offset, set())
        states = [codes]
        if not named or any(registers(decision, broker) for broker in named):
            states += self._after_steps_of(decision, codes)
            first, *rest = apart(decision)
            for second in rest:
                states += [
                    after for one in self._after_steps_of(first, codes) for after in self._after_steps_of(second, one)
                ]
        if not named:
            yield from states
        for state in states:
            for broker in named:
                for number in self._moves.told_by(self._names[broker], state):
                    after = self._steps.after(state, number)
                    if after is not None:
                        yield after

    def _after_steps_of(self, decision: Decision, codes: Codes) -> list[Codes]:
        steps = steps_of(decision, self._stepper, codes, self._names)
        return [after for number in steps if (after := self._steps.after(codes, number)) is not None]

    def _isr_asked(self, event: IsrAsked, codes: Codes) -> Iterator[Codes]:
        """A leader asks until it is answered, so it may have thought better of it."""
        state, leader = self._state(codes), self._names[event.leader]
        broker = state["broker"][leader]
        view, wanted = state["registrations"][broker["image_lag"]], {self._names[one] for one in event.isr}
        stale = view["epoch"] != str(event.epoch) or (not broker["pending_isr"] and set(view["isr"]) == wanted)
        if set(broker["pending_isr"]) == wanted or stale:
            yield codes

    def _applied(self, event: Applied, codes: Codes) -> Iterator[Codes]:
        """A heartbeat tells what all of the broker has acted on. Source: MetadataLoader.lastAppliedOffset."""
        broker = self._state(codes)["broker"][self._names[event.broker]]
        if not broker["running"] or broker["image_lag"] <= self._made_since(event.below):
            yield codes

    def _acting(self, event: Acting, codes: Codes) -> Iterator[Codes]:
        """One that starts may begin before the controller has registered it. Source: Partition.makeLeader."""
        broker = self._state(codes)["broker"][self._names[event.broker]]
        if not broker["running"] or broker["image_lag"] == self._made_since(event.below):
            yield codes

    def _made_since(self, below: int) -> int:
        return sum(place >= below for place in self._commits)

    def _done(self, event: Done, codes: Codes) -> Iterator[Codes]:
        if event.what in _OF_DIRECTORIES:
            after = self._steps.taken(_OF_DIRECTORIES[event.what], {"replica": self._names[event.broker]}, codes)
            yield from () if after is None else (after,)
            return
        unseen = event.what != "acknowledged" or not self._run.acks
        if unseen or f"r{self._numbers[event.record]}" in self._state(codes)["acked"]:
            yield codes

"""Whether a run is a behaviour of the model: a set of states is carried along what was seen.

What nobody could see may happen at any time between: a broker applies metadata that it has been sent, a follower takes
in an answer that it has got, a leader appends a record that was sent to it, or asks for the ISR that it is seen to ask
for next. A run is explained if a state is left after its last event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from insync.conformance.live.runs.decision_steps import same_decision, steps_of
from insync.conformance.live.runs.moving import DirectoryMoves
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
from insync.explorer.evaluator.stepping import Refused, Stepper
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState
from insync.model.errors import UserError
from insync.model.evaluator import Codes

__all__ = ["Validation", "validate"]

_MOST_STATES = 200_000
_OUT_OF_RANGE = 1
_FREE = ("receive", "apply_known_metadata", "find_older_checkpoint")
_FREE_UNSEEN = ("fetch", "receive_isr", "apply_metadata", "expand_isr", "shrink_isr", "shrink_isr_by_several")
"""What may happen at any time besides, where nobody has seen frames."""
_OF_DIRECTORIES = {"lose": "lose_directory", "move": "start_move"}
"""What operators do to directories, and the actions that are that."""
_ISR_STEPS = ("expand_isr", "shrink_isr", "shrink_isr_by_several")


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
        self._run, self._model, self._stepper = run, model, Stepper(model)
        self._names = {broker: f"b{place}" for place, broker in enumerate((*run.replicas, *run.spares), 1)}
        self._ids = {name: broker for broker, name in self._names.items()}
        self._written, self._moves = written, DirectoryMoves(run, model, self._stepper)
        self._numbers = {record: number for number, (record, _) in enumerate(self._written)}
        self._read: dict[Codes, ReadableState] = {}
        # Of a cluster that others run there are logs alone.
        self._seen = any(isinstance(event, (FetchAsked, Done)) for event in run.events)
        self._returning: set[int] = set()
        self._sent = 0
        self._delivered: dict[int, int] = {}
        self._acts_below: dict[int, int] = {}
        self._counting = commits_in(run)
        self._commits: list[int] = []  # the places in the metadata log of what brokers hear of, the newest last
        self._killed: set[int] = set()
        self._next_isr: dict[int, frozenset[str]] = {}

    def search(self) -> Validation:
        """Carry the states along the events."""
        states: set[Codes] = {self._model.program.initials[0]}
        most = 1
        events = self._run.events
        take: dict[type[RunEvent], Callable[[Any, Codes], Iterator[Codes]]] = {
            FetchAsked: self._asked,
            FetchAnswered: self._answered,
            IsrAsked: self._isr_asked,
            Decided: self._decided,
            Applied: self._applied,
            Acting: self._acting,
            Done: self._done,
        }
        for number, event in enumerate(events):
            self._look_ahead(number)
            before = self._closed(states)
            most = max(most, len(before))
            if isinstance(event, Delivered):
                states = before
            else:
                states = {after for codes in before for after in take[type(event)](event, codes)}
            if not states:
                return Validation(False, len(events), number, str(event), self._state(min(before)), most)
            self._note(event)
        return Validation(True, len(events), None, None, self._state(min(states)), most)

    def _state(self, codes: Codes) -> ReadableState:
        if codes not in self._read:
            self._read[codes] = self._model.decode(codes)
        return self._read[codes]

    # ---------------------------------------------------------------------------------------------- what nobody can see

    def _look_ahead(self, number: int) -> None:
        """Which ISR each leader is seen to ask for next, and which brokers are seen to start again."""
        self._next_isr = {}
        later = [event for event in self._run.events[number:] if isinstance(event, Decided)]
        self._returning = {
            broker for broker in self._names if any(f"registered {broker}" in event.decision.kinds for event in later)
        }
        for event in reversed(self._run.events[number:]):
            if isinstance(event, IsrAsked):
                self._next_isr[event.leader] = frozenset(self._names[one] for one in event.isr)

    def _closed(self, states: set[Codes]) -> set[Codes]:
        """The states, and all to which steps lead that nobody sees."""
        found, todo = set(states), list(states)
        while todo:
            codes = todo.pop()
            for number in self._hidden(codes):
                after = self._after(codes, number)
                if after is not None and after not in found:
                    found.add(after)
                    todo.append(after)
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
        for name in ("apply_metadata", "receive_isr"):
            for number in enabled.get(name, ()):
                if name == "receive_isr" or self._has_been_sent(number):
                    yield number
        for number in enabled.get("write", ()):
            place = state["written"]
            if place < self._sent and self._broker(number, "leader") == self._written[place][1]:
                yield number
        for name in _ISR_STEPS:
            for number in enabled.get(name, ()):
                yield from self._if_asked_for(codes, number)

    def _has_been_sent(self, number: int) -> bool:
        """Whether a broker that applies metadata can have it."""
        values = self._stepper.values(number)
        place = len(self._commits) - 1 - int(values["place"])
        return place < 0 or self._commits[place] < self._delivered.get(self._broker(number, "replica"), 0)

    def _if_asked_for(self, codes: Codes, number: int) -> Iterator[int]:
        leader = str(self._stepper.values(number)["leader"])
        wanted = self._next_isr.get(self._ids[leader])
        after = self._after(codes, number)
        if wanted is not None and after is not None:
            asks = self._state(after)["broker"][leader]["pending"]
            yield from [number] if frozenset(asks) == wanted else []

    def _endings(self, enabled: Any, state: ReadableState) -> Iterator[int]:
        """Brokers end that were told to, with all that they have written."""
        yield from enabled.get("stop", ())
        for number in enabled.get("crash", ()):
            values = self._stepper.values(number)
            broker = state["broker"][values["replica"]]
            may_end = self._killed if self._seen else self._returning
            if int(values["spared"]) == broker["leo"] and self._ids[str(values["replica"])] in may_end:
                yield number

    def _broker(self, number: int, parameter: str) -> int:
        return self._ids[str(self._stepper.values(number)[parameter])]

    def _note(self, event: RunEvent) -> None:
        """Take over what an event says of what may happen unseen after it."""
        if isinstance(event, Delivered):
            self._delivered[event.broker] = event.below
        elif isinstance(event, Applied):
            self._acts_below[event.broker] = event.below
        elif isinstance(event, Decided):
            if event.decision.offset in self._counting:
                self._commits.append(event.decision.offset)
            for broker in self._names:
                if f"registered {broker}" in event.decision.kinds:
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
        moved = self._moves.told.get(event.decision.offset, ())
        steps: list[int | None] = [number for one in moved for number in self._moves.told_by(self._names[one], codes)]
        if not moved:
            steps = [None, *steps_of(event.decision, self._stepper, codes, self._names)]
        for number in steps:
            after = codes if number is None else self._after(codes, number)
            if after is not None and same_decision(event.decision, self._state(after), self._names, self._model.elr):
                yield after

    def _asked(self, event: FetchAsked, codes: Codes) -> Iterator[Codes]:
        """The leader counts a fetch when it comes, and answers later if it has nothing."""
        state = self._state(codes)
        follower = state["broker"][self._names[event.follower]]
        if not self._follows(event, state) or follower["reply"]["waiting"] or follower["leo"] != event.offset:
            return
        yield codes
        for after in self._fetched(event, codes):
            reply = self._reply(event, after)
            if reply["record"] is None and not reply["diverging"]:
                yield after

    def _answered(self, event: FetchAnswered, codes: Codes) -> Iterator[Codes]:
        state = self._state(codes)
        waiting = state["broker"][self._names[event.follower]]["reply"]["waiting"]
        stale = not self._follows(event, state)  # the follower will not use it
        if event.error not in (0, _OUT_OF_RANGE):
            refused = not self._leads(event, state) if waiting else not any(self._fetched(event, codes))
            # The model begins when all act on the topic, and a leader may not have heard of it yet.
            if stale or refused or self._acts_below.get(event.leader, 0) <= self._commits[0]:
                yield codes
            return
        if stale:
            yield codes
        elif waiting:
            if self._is_answer(event, codes):
                yield codes
        else:
            yield from self._with_records(event, codes)

    def _with_records(self, event: FetchAnswered, codes: Codes) -> Iterator[Codes]:
        """An answer has any number of records, and the model's has one: it is as many fetches."""
        for after in self._fetched(event, codes):
            if not self._is_answer(event, after):
                continue
            rest = event.records[1:]
            if not rest:
                yield after
                continue
            follower = self._names[event.follower]
            number = self._number("receive", {"follower": follower}, after)
            taken = None if number is None else self._after(after, number)
            if taken is not None:
                watermark = max(event.watermark, self._state(taken)["broker"][self._names[event.leader]]["hw"])
                next_ = FetchAnswered(
                    event.at, event.follower, event.leader, event.epoch, 0, watermark, rest, event.end
                )
                yield from self._with_records(next_, taken)

    def _is_answer(self, event: FetchAnswered, codes: Codes) -> bool:
        reply = self._reply(event, codes)
        if event.error == _OUT_OF_RANGE:
            return bool(reply["diverging"])
        if event.end is not None:
            return bool(reply["diverging"]) and reply["end"] == event.end
        first = event.records[0] if event.records else None
        if reply["diverging"] or reply["hw"] != event.watermark:
            return False
        if first is None:
            return reply["record"] is None
        return bool(reply["offset"] == first[0] and reply["record"] == f"r{self._numbers.get(first[1], -1)}")

    def _isr_asked(self, event: IsrAsked, codes: Codes) -> Iterator[Codes]:
        """A leader asks until it is answered, so it may have thought better of it."""
        state, leader = self._state(codes), self._names[event.leader]
        broker = state["broker"][leader]
        view, wanted = state["changes"][broker["lag"]], {self._names[one] for one in event.isr}
        stale = view["epoch"] != str(event.epoch) or (not broker["pending"] and set(view["isr"]) == wanted)
        if set(broker["pending"]) == wanted or stale:
            yield codes

    def _applied(self, event: Applied, codes: Codes) -> Iterator[Codes]:
        """A heartbeat tells what all of the broker has acted on. Source: MetadataLoader.lastAppliedOffset."""
        broker = self._state(codes)["broker"][self._names[event.broker]]
        if not broker["running"] or broker["lag"] <= self._made_since(event.below):
            yield codes

    def _acting(self, event: Acting, codes: Codes) -> Iterator[Codes]:
        """One that starts may begin before the controller has registered it. Source: Partition.makeLeader."""
        broker = self._state(codes)["broker"][self._names[event.broker]]
        if not broker["running"] or broker["lag"] == self._made_since(event.below):
            yield codes

    def _made_since(self, below: int) -> int:
        return sum(place >= below for place in self._commits)

    def _done(self, event: Done, codes: Codes) -> Iterator[Codes]:
        if event.what in _OF_DIRECTORIES:
            number = self._number(_OF_DIRECTORIES[event.what], {"replica": self._names[event.broker]}, codes)
            after = None if number is None else self._after(codes, number)
            yield from () if after is None else (after,)
            return
        unseen = event.what != "acknowledged" or not self._run.acks
        if unseen or f"r{self._numbers[event.record]}" in self._state(codes)["acked"]:
            yield codes

    # ----------------------------------------------------------------------------------------------------- single steps

    def _follows(self, event: FetchAsked | FetchAnswered, state: ReadableState) -> bool:
        """Whether the follower runs and is in the epoch in which it has asked, with the same leader."""
        broker = state["broker"][self._names[event.follower]]
        view = state["changes"][broker["lag"]]
        return bool(
            broker["running"] and view["leader"] == self._names[event.leader] and view["epoch"] == str(event.epoch)
        )

    def _leads(self, event: FetchAnswered, state: ReadableState) -> bool:
        """Whether the leader runs and is in the epoch in which the follower has asked."""
        leader = self._names[event.leader]
        broker = state["broker"][leader]
        view = state["changes"][broker["lag"]]
        return bool(broker["running"] and view["leader"] == leader and view["epoch"] == str(event.epoch))

    def _fetched(self, event: FetchAsked | FetchAnswered, codes: Codes) -> Iterator[Codes]:
        parameters = {"follower": self._names[event.follower], "leader": self._names[event.leader]}
        number = self._number("fetch", parameters, codes)
        after = None if number is None else self._after(codes, number)
        if after is not None:
            yield after

    def _reply(self, event: FetchAsked | FetchAnswered, codes: Codes) -> Any:
        return self._state(codes)["broker"][self._names[event.follower]]["reply"]

    def _number(self, action: str, parameters: dict[str, str], codes: Codes) -> int | None:
        numbers = self._stepper.enabled(codes).get(action, ())
        return next((number for number in numbers if self._stepper.values(number) == parameters), None)

    def _after(self, codes: Codes, number: int) -> Codes | None:
        after = self._stepper.attempt(codes, number)
        return None if isinstance(after, Refused) else after

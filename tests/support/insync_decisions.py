"""What the quorum's active server decides and what is committed of it, watched beside `kraft`.

This is the abstraction that `cluster` has with `controller_failovers`, as a monitor: `decided` are the decisions in
their order, of which the first `committed` are committed; `active` is the epoch of the server that decides, 0 where
none does. A step that is none of the following sets `broken`.

- decide: the active server decides one thing more;
- commit: more of what it has decided is committed;
- lose: nobody is active;
- claim: a server of a later epoch is active, some beginning of what was decided is committed, which has all that was
  committed before, and the rest is lost.

Whoever is deposed may write what it likes: none of that counts. And no server takes for committed what is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from insync.kafka.quorum.fetching import Fetching
from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.sorts import FIRST_EPOCH, FetchEpoch, LastEpoch, LogOffset, Value, Voter, VoterState
from insync.model import (
    And,
    Array,
    Bool,
    BoundValues,
    Condition,
    If,
    Implies,
    Int,
    Not,
    Num,
    Or,
    RecordView,
    State,
    StateView,
    action,
    maximum,
    part,
    require,
    snapshot,
    when,
)
from insync.properties import invariant

__all__ = ["WatchedQuorum", "all_steps_are_of_the_abstraction", "no_decision_is_lost", "no_decision_outlives_its_maker"]


class WatchedFetching(Fetching):
    """Clients that ask an active server alone; also one that is deposed and does not know it."""

    quorum: WatchedQuorum

    @action(label="client sends {value} to {i}")
    def client_request(self, s: Any, i: Voter, value: Value) -> None:
        """An active server decides. Kafka: QuorumController."""
        require(self.quorum.has_claimed(s.server[i]))
        super().client_request(s, i, value)
        self.quorum.watch(s)

    @action(label="{i} answers {follower}'s fetch of epoch {epoch} from {fetch_offset}@{last_fetched_epoch}")
    def handle_fetch(
        self,
        s: Any,
        i: Voter,
        follower: Voter,
        epoch: FetchEpoch,
        fetch_offset: LogOffset,
        last_fetched_epoch: LastEpoch,
    ) -> None:
        """A leader may commit what it has decided. Kafka: QuorumController."""
        super().handle_fetch(s, i, follower, epoch, fetch_offset, last_fetched_epoch)
        self.quorum.watch(s)


class WatchedQuorum(Kraft):
    """The quorum, and what its steps are as steps of the abstraction; a server decides once it may, as Kafka's does.

    Kafka's controller becomes active when its server has committed the record with which its epoch begins
    (KafkaRaftClient.maybeFireLeaderChange).
    """

    name = "watched_quorum"
    fetching = part(WatchedFetching)

    def declare(self, b: BoundValues) -> State:
        """Lay out the servers, their messages, and the monitor."""
        watch = {
            "decided": Array(b.records, Value),
            "length": Int(0, b.records),
            "committed": Int(0, b.records),
            "active": Int(0, b.elections + FIRST_EPOCH),
            "latest": Int(0, b.elections + FIRST_EPOCH),
            "broken": Bool,
            "lost": Bool,
            "survived": Bool,
        }
        return State(**super().declare(b).fields, **watch)

    def settle(self, s: Any, i: Voter) -> None:
        """What ends all other steps but the sending of a fetch, of which the monitor knows nothing."""
        super().settle(s, i)
        self.watch(s)

    # ---------------------------------------------------------------------------------------------------- the monitor

    def has_claimed(self, me: RecordView) -> Condition:
        """Whether a server leads, and has committed a record of its own epoch."""
        begun = [
            And(me.high_watermark == end, me.log[end - 1].epoch == me.epoch) for end in range(1, self.capacity + 1)
        ]
        return And(me.state == VoterState.LEADER, Or(*begun))

    def watch(self, s: StateView) -> None:
        """Take the step that this is in the abstraction."""
        servers, before = [s.server[i] for i in self.all(Voter)], snapshot(s)
        logs = [_Decisions.of(me, self.capacity) for me in servers]
        claims = [And(self.has_claimed(me), me.epoch >= before.latest) for me in servers]
        active = maximum(*[If(claim, me.epoch, 0) for claim, me in zip(claims, servers, strict=True)])
        s.active = active
        for me, log, claim in zip(servers, logs, claims, strict=True):
            is_active = And(claim, me.epoch == active)
            with when(And(is_active, active == before.active)):
                self._go_on(s, before, log)
            with when(And(is_active, active != before.active)):
                self._claim(s, before, me, log)
        for log in logs:
            with when(Not(And(log.agree(s.decided, s.length, committed=True), log.committed <= s.committed))):
                s.broken = True

    def _go_on(self, s: StateView, before: Any, log: _Decisions) -> None:
        """The active server goes on: it has all that it has decided, and one thing more at most."""
        kept = [Implies(before.length > at, log.has(before.decided[at], at)) for at in range(self.b.records)]
        with when(Not(And(*kept, log.whole <= before.length + 1, log.whole >= before.length))):
            s.broken = True
        self._take_log(s, log)
        s.committed = maximum(before.committed, log.committed)

    def _claim(self, s: StateView, before: Any, me: RecordView, log: _Decisions) -> None:
        """A server becomes active, in a later epoch, with a beginning of what was decided, and all of it committed."""
        begins = And(log.agree(before.decided, before.length, committed=False), before.committed <= log.whole)
        with when(Not(And(me.epoch > before.latest, begins, log.whole == log.committed))):
            s.broken = True
        s.lost = Or(before.lost, log.whole < before.length)
        s.survived = Or(before.survived, before.committed < log.whole)
        self._take_log(s, log)
        s.committed = log.committed
        s.latest = me.epoch

    def _take_log(self, s: StateView, log: _Decisions) -> None:
        """What is decided is what the active server's log has."""
        s.length = log.whole
        for place in range(self.b.records):
            s.decided[place] = 0
            for value in self.all(Value):
                with when(log.has(value, place)):
                    s.decided[place] = value


@dataclass(frozen=True, slots=True)
class _Decisions:
    """The decisions in a log, which are its records but for those with which leaders begin.

    Attributes:
        places: of each offset whether it has one, whether it is committed, how many are below it, and which it is.
        whole: how many there are.
        committed: how many of them are below the high watermark.
    """

    places: list[tuple[Condition, Condition, Num | int, Any]]
    whole: Num | int
    committed: Num | int

    @classmethod
    def of(cls, me: RecordView, capacity: int) -> _Decisions:
        whole: Num | int = 0
        committed: Num | int = 0
        places: list[tuple[Condition, Condition, Num | int, Any]] = []
        for at in range(capacity):
            value = me.log[at].value
            there, hears = And(at < me.end, value.is_some()), And(at < me.high_watermark, value.is_some())
            places.append((there, hears, whole, value))
            whole, committed = whole + If(there, 1, 0), committed + If(hears, 1, 0)
        return cls(places, whole, committed)

    def has(self, value: Any, place: int) -> Condition:
        """Whether a decision is the one at a place."""
        return Or(*[And(there, before == place, mine == value) for there, _, before, mine in self.places])

    def agree(self, decided: Any, length: Num, *, committed: bool) -> Condition:
        """Whether all of these, or those that are committed, are the first of some others."""
        same: list[Condition] = []
        for there, hears, before, mine in self.places:
            places = range(min(len(self.places), len(decided)))
            found = [And(before == at, length > at, mine == decided[at]) for at in places]
            same.append(Implies(hears if committed else there, Or(*found)))
        return And(*same)


@invariant(WatchedQuorum)
def all_steps_are_of_the_abstraction(model: WatchedQuorum, s: StateView) -> Condition:
    """Each step of the quorum is to decide, to commit, to lose the leadership, to claim it, or nothing of that."""
    return Not(s.broken)


@invariant(WatchedQuorum)
def no_decision_is_lost(model: WatchedQuorum, s: StateView) -> Condition:
    """Whoever becomes active has all that was decided: it need not be so."""
    return Not(s.lost)


@invariant(WatchedQuorum)
def no_decision_outlives_its_maker(model: WatchedQuorum, s: StateView) -> Condition:
    """Whoever becomes active commits nothing that was not committed before: it need not be so."""
    return Not(s.survived)

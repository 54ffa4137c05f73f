"""Kafka's protocols and Raft as what they are for: a log about which everybody agrees.

`AgreedLog` is the specification: a record is decided, and stays. Three protocols refine it, each with a history
variable that keeps what leaders have committed (Abadi and Lamport 1991): states of the protocol forget it, as a new
leader need not know up to where the one before it had committed. Each has a twin that does not.

    insync check examples/one_truth.py:TruthOfKip320 --property agrees
    insync check examples/one_truth.py:TruthOfKip101 --property agrees
"""

from __future__ import annotations

from typing import Any, get_type_hints

from insync.model import (
    And,
    Array,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Int,
    Model,
    Num,
    Option,
    Or,
    Range,
    SetOf,
    State,
    StateView,
    action,
    bound,
    find_model,
    refines,
    require,
    when,
)
from raft import Raft, Server

Kip101: Any = find_model("kip101")
Kip320: Any = find_model("kip320")
Kraft: Any = find_model("kraft_published")
Replica: Any = get_type_hints(Kip320.leader_write)["leader"]  # the sorts of these models


class Entry(Range):
    """The number of a record."""

    lo, hi = 0, bound("entries") - 1


class AgreedLog(Model):
    """A log to which records are appended, one at a time or two, each once."""

    bounds = Bounds(size=Bound(2, 1, 4, "records that fit"), entries=Bound(2, 1, 4, "records that there are"))

    def declare(self, b: BoundValues) -> State:
        return State(decided=Array(b.size, Option(Int(0, b.entries - 1))))

    def is_next(self, s: StateView, place: int) -> Condition:
        before = [s.decided[other].is_some() for other in range(place)]
        return And(*before, *(s.decided[other].is_none() for other in range(place, self.b.size)))

    def is_new(self, s: StateView, entry: int) -> Condition:
        return And(*(s.decided[place] != entry for place in range(self.b.size)))

    @action(label="{entry} is decided")
    def decide(self, s: StateView, entry: Entry) -> None:
        require(self.is_new(s, entry))
        self.append(s, entry)

    @action(label="{first} and {second} are decided")
    def decide_two(self, s: StateView, first: Entry, second: Entry) -> None:
        require(first != second, self.is_new(s, first), self.is_new(s, second))
        self.append(s, first, second)

    def append(self, s: StateView, *entries: int) -> None:
        free = [(place, self.is_next(s, place)) for place in range(self.b.size - len(entries) + 1)]
        require(Or(*(here for _, here in free)))
        for place, here in free:
            with when(here):
                for more, entry in enumerate(entries):
                    s.decided[place + more] = entry


class Consensus(Model):
    """One value is chosen, for good: the TLA+ module Consensus, by Leslie Lamport."""

    bounds = Bounds(entries=Bound(2, 1, 4, "values that may be chosen"))

    def declare(self, b: BoundValues) -> State:
        return State(chosen=SetOf(Int(0, b.entries - 1), 1))

    @action(label="{entry} is chosen")
    def choose(self, s: StateView, entry: Entry) -> None:
        require(s.chosen.is_empty())
        s.chosen.add(entry)


# ------------------------------------------------------------------------------------------------ Kafka's replication


def with_history(fields: State, size: int, entries: int) -> State:
    """Return the fields of a protocol, and the history variable: at each offset the record that is committed there."""
    return State(**fields.fields, decided=Array(size, Option(Int(0, entries - 1))))


def note(s: StateView, leader: Replica) -> None:
    """Keep the record that a leader commits."""
    me = s.replica[leader]
    s.decided[me.hw] = me.log[me.hw].value.id + 0


class TruthOfKip320(Kip320):
    """KIP-320 and its history."""

    headline = ("agrees",)

    def declare(self, b: BoundValues) -> State:
        return with_history(super().declare(b), b.log_size, b.max_records)

    @action(label="{leader} advances its HW")
    def leader_advance_high_watermark(self, s: StateView, leader: Replica) -> None:
        note(s, leader)
        super().leader_advance_high_watermark(s, leader)

    @refines(AgreedLog, bounds=lambda b: {"size": b.log_size, "entries": b.max_records})
    def agrees(self, s: StateView, other: StateView) -> None:
        """What leaders commit is one log, to which records are appended."""
        other.decided = s.decided


class TruthOfKip101(Kip101):
    """KIP-101 and its history: it does not refine a log about which everybody agrees."""

    headline = ("agrees",)
    agrees = TruthOfKip320.agrees

    def declare(self, b: BoundValues) -> State:
        return with_history(super().declare(b), b.log_size, b.max_records)

    @action(label="{leader} advances its HW")
    def leader_advance_high_watermark(self, s: StateView, leader: Replica) -> None:
        note(s, leader)
        super().leader_advance_high_watermark(s, leader)


# --------------------------------------------------------------------------------------------------------- the quorum


class TruthOfKraft(Kraft):
    """The quorum as it was published, and its history."""

    headline = ("agrees",)

    def declare(self, b: BoundValues) -> State:
        return with_history(super().declare(b), self.capacity, max(1, b.records))

    def commit(self, s: StateView, i: Any) -> None:
        before = s.server[i].high_watermark
        super().commit(s, i)
        for place in range(self.capacity):
            with when(And(before <= place, place < s.server[i].high_watermark)):
                s.decided[place] = s.server[i].log[place].value.value + 0

    @refines(AgreedLog, bounds=lambda b: {"size": max(1, b.records), "entries": max(1, b.records)})
    def agrees(self, s: StateView, other: StateView) -> None:
        """What leaders of the quorum commit is one log, to which records are appended."""
        other.decided = s.decided


# --------------------------------------------------------------------------------------------------------------- Raft


class TruthOfRaft(Raft):
    """Raft and its history."""

    headline = ("agrees", "reaches_consensus")

    def declare(self, b: BoundValues) -> State:
        return with_history(super().declare(b), b.records, b.records)

    @action(label="{i} commits")
    def advance_commit_index(self, s: StateView, i: Server) -> None:
        before = s.server[i].committed
        super().advance_commit_index(s, i)
        for place in range(self.b.records):
            with when(And(before <= place, place < s.server[i].committed)):
                s.decided[place] = s.server[i].log[place].value.value + 0

    @refines(AgreedLog, bounds=lambda b: {"size": b.records, "entries": b.records})
    def agrees(self, s: StateView, other: StateView) -> None:
        """What leaders commit is one log, to which values are appended."""
        other.decided = s.decided

    @refines(Consensus, bounds=lambda b: {"entries": b.records})
    def reaches_consensus(self, s: StateView, other: StateView) -> None:
        """Of the first place of the log one value is chosen."""
        with when(s.decided[0].is_some()):
            other.chosen.add(s.decided[0].value)


class HalfOfRaft(TruthOfRaft):
    """Raft in which half of the servers count as a majority."""

    def is_majority(self, servers: Num | int) -> Condition:
        return 2 * servers >= self.b.servers

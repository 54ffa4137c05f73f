"""A replicated log, its model, and an adapter that drives the log: the example of docs/guide/hypothesis.md.

InMemoryLog has a defect: after a change of leader, followers keep records that were never committed.
"""

from __future__ import annotations

from insync.model import (
    NONE,
    Array,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Implies,
    Index,
    Int,
    Model,
    Option,
    ReadableState,
    State,
    StateView,
    action,
    for_all,
    invariant,
    minimum,
    require,
    when,
)


class Broker(Index):
    """Somebody who keeps a copy of the log."""

    label = "b"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """As many as the bound says."""
        return bounds.brokers


class ReplicatedLog(Model):
    """A leader appends records, followers copy them, and what all have is committed."""

    bounds = Bounds(brokers=Bound(3, 2, 4, "copies of the log"), records=Bound(3, 1, 5, "records that are written"))
    headline = ("committed_records_are_everywhere",)

    def declare(self, b: BoundValues) -> State:
        """Say what a state consists of."""
        return State(
            leader=Broker,
            log=Array(Broker, Array(b.records, Option(Int(0, b.records - 1)))),
            end=Array(Broker, Int(0, b.records)),
            committed=Int(0, b.records),
            written=Int(0, b.records),
        )

    @action(label="{leader} appends a record")
    def append(self, s: StateView, leader: Broker) -> None:
        """The leader writes the next record."""
        require(s.leader == leader, s.written < self.b.records, s.end[leader] < self.b.records)
        s.log[leader][s.end[leader]] = s.written
        s.end[leader] += 1
        s.written += 1

    @action(label="{follower} copies a record")
    def copy(self, s: StateView, follower: Broker) -> None:
        """A follower takes the leader's next record."""
        require(s.end[follower] < s.end[s.leader])
        s.log[follower][s.end[follower]] = s.log[s.leader][s.end[follower]]
        s.end[follower] += 1

    @action(label="the leader commits")
    def commit(self, s: StateView) -> None:
        """What all brokers have counts from now on."""
        everywhere = minimum(*(s.end[broker] for broker in self.all(Broker)))
        require(s.committed < everywhere)
        s.committed = everywhere

    @action(label="{leader} takes over")
    def take_over(self, s: StateView, leader: Broker) -> None:
        """Another broker leads, and everybody drops what is not committed."""
        require(s.leader != leader)
        s.leader = leader
        for broker in self.all(Broker):
            for offset in range(self.b.records):
                with when(offset >= s.committed):
                    s.log[broker][offset] = NONE
            s.end[broker] = s.committed

    @invariant
    def committed_records_are_everywhere(self, s: StateView) -> Condition:
        """Every broker has every committed record."""
        return for_all(
            self.all(Broker),
            lambda broker: for_all(
                range(self.b.records),
                lambda offset: Implies(offset < s.committed, s.log[broker][offset].is_some()),
            ),
        )


class InMemoryLog:
    """The system: one list of records per broker."""

    def __init__(self, brokers: list[str]) -> None:
        self.logs: dict[str, list[int]] = {broker: [] for broker in brokers}
        self.leader = brokers[0]
        self.committed = 0
        self.written = 0

    def append(self) -> int:
        """Write the next record at the leader, and return its offset."""
        log = self.logs[self.leader]
        log.append(self.written)
        self.written += 1
        return len(log) - 1

    def copy(self, follower: str) -> None:
        """Give a follower the leader's next record."""
        log = self.logs[follower]
        log.append(self.logs[self.leader][len(log)])

    def commit(self) -> None:
        """Commit what all brokers have."""
        self.committed = min(map(len, self.logs.values()))

    def take_over(self, leader: str) -> None:
        """Make another broker the leader."""
        self.leader = leader
        end = self.end_after_change()
        for log in self.logs.values():
            del log[end:]

    def end_after_change(self) -> int:
        """Return where logs are cut when the leader changes."""
        return len(self.logs[self.leader])  # the defect: records beyond self.committed stay


class FixedLog(InMemoryLog):
    """The log without the defect."""

    def end_after_change(self) -> int:
        """Return where logs are cut when the leader changes."""
        return self.committed


class LogAdapter:
    """Takes the model's steps on the system: one method per action, and what can be seen of the state."""

    system: type[InMemoryLog] = InMemoryLog

    def __init__(self) -> None:
        self.log = self.system(["b1", "b2", "b3"])

    def append(self, leader: str) -> int:
        """Return what the system returns, to be compared."""
        return self.log.append()

    def copy(self, follower: str) -> None:
        """Pass it on."""
        self.log.copy(follower)

    def commit(self) -> None:
        """Pass it on."""
        self.log.commit()

    def take_over(self, leader: str) -> None:
        """Pass it on."""
        self.log.take_over(leader)

    def observe(self) -> ReadableState:
        """Return what the system shows, in the words of the model's state."""
        padded = {broker: [*log, *[None] * (3 - len(log))] for broker, log in self.log.logs.items()}
        return {"leader": self.log.leader, "log": padded, "committed": self.log.committed}


class FixedAdapter(LogAdapter):
    """Drives the log without the defect."""

    system = FixedLog


def offset_appended(before: ReadableState, after: ReadableState, leader: str) -> int:
    """What `append` must return by the model: the offset at which the record is."""
    end: int = before["end"][leader]
    return end

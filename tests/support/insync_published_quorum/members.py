"""What a server of the quorum knows since KIP-853 (reconfiguration): also who is a voter, which its log says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, ClassVar

from insync.kafka.published.quorum.voter import Value, Voter, Written
from insync.kafka.quorum.grid import LEGEND
from insync.kafka.quorum.sorts import FIRST_EPOCH
from insync.model import (
    NONE,
    And,
    Array,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    If,
    Int,
    Not,
    Num,
    Option,
    Or,
    Range,
    Record,
    RecordView,
    Set,
    SetValue,
    StateView,
    bound,
    count,
    record,
    set_of,
    when,
)
from insync_published_quorum.actor import PublishedActor

__all__ = [
    "HeardEpoch",
    "MemberPlace",
    "MemberState",
    "Members",
    "Role",
    "changes_voters",
]


class HeardEpoch(Range):
    """An epoch that a server can be in, or a message can name; 0 is that of one that has heard of none."""

    lo, hi = 0, bound("epochs")


class MemberPlace(Range):
    """The offset of a record, the end of a log, or a high watermark; see `Members.capacity`."""

    lo = 0
    hi = bound("records") + bound("epochs") + bound("additions") + bound("removals")
    hi += bound("restarts") * bound("removals") // 2


class MemberState(Enum):
    """What a server is in its epoch; ABSENT is one that is not started yet, DEAD one that has lost its disk.

    PROSPECTIVE is there with pre-votes alone.
    """

    ABSENT = "Absent"
    UNATTACHED = "Unattached"
    FOLLOWER = "Follower"
    CANDIDATE = "Candidate"
    LEADER = "Leader"
    VOTED = "Voted"
    ILLEGAL = "Illegal"
    RESIGNED = "Resigned"
    DEAD = "DeadNoState"
    PROSPECTIVE = "Prospective"


class Role(Enum):
    """Whether a server is in the last configuration of its log."""

    NONE = "none"
    VOTER = "Voter"
    OBSERVER = "Observer"


class Members(PublishedActor):
    """The servers: at first one leads, the other voters follow it, and spares are not started yet.

    A record has a client's value, or says which server is added to the voters or removed from them, or has none of
    these: then it is the first one, with the first voters, or that of a new leader.
    """

    bounds: ClassVar[Bounds] = Bounds(
        servers=Bound(2, 1, 5, "servers that are ever started (MaxSpawnedServers)"),
        spares=Bound(1, 0, 2, "of these, servers that are started later (the others are InitClusterSize)"),
        records=Bound(1, 0, 4, "values that clients write, each once"),
        records_per_epoch=Bound(4, 0, 4, "of these, in each epoch (MaxValuesPerEpoch)"),
        epochs=Bound(1, 1, 3, "epochs that can have a leader (MaxEpoch)"),
        additions=Bound(1, 0, 2, "voters that are added (MaxAddReconfigs)"),
        removals=Bound(0, 0, 2, "voters that are removed (MaxRemoveReconfigs)"),
        fewest=Bound(1, 1, 5, "voters that are left at least (MinClusterSize)"),
        most=Bound(5, 1, 5, "voters at most (MaxClusterSize)"),
        restarts=Bound(0, 0, 4, "restarts of servers in all"),
        crashes=Bound(0, 0, 2, "servers that lose their disk for good (MaxCrashes)"),
    )
    tells_apart: ClassVar[str] = "the first server leads at first, and servers are started in their order"
    legend: ClassVar[Mapping[str, str]] = {
        **LEGEND,
        "P#": "asks in epoch # whether it would be elected",
        "D": "has lost its disk",
        "-": "is not started yet",
        "o": "is an observer",
        "+n#@#": "a record that adds a voter",
        "-n#@#": "a record that removes one",
    }

    def voters(self, b: BoundValues) -> dict[str, Any]:
        """Lay out what servers and clients know; the messages are the model's own."""
        more = {
            "role": Role,
            "members": Set(Voter),  # the configuration: that of the last record that changes it
            "committed": Bool,  # whether that is known to be committed
            "unanswered": Set(Value),  # values whose clients it owes an answer (TLA+: pending_ack)
        }
        return {
            "server": Array(Voter, self.voter(b.epochs, MemberState, HeardEpoch, **more)),
            "founders": Set(Voter),
            "written": Array(Value, Written),
            "restarts": Int(0, b.restarts),
            "crashes": Int(0, b.crashes),
            "additions": Int(0, b.additions),
            "removals": Int(0, b.removals),
        }

    def entry(self, highest: int) -> Record:
        """Lay out a record."""
        return Record(epoch=Int(0, highest), value=Option(Value), added=Option(Voter), removed=Option(Voter))

    @property
    def capacity(self) -> int:
        """How many records a log can have: the first, the clients' values, one for each later leader, the changes.

        With pre-votes an epoch can have another leader for each restart of the only voter, once two were removed.
        """
        again = self.b.restarts * self.b.removals // 2
        return self.b.records + self.b.epochs + self.b.additions + self.b.removals + again

    def initial(self, s: StateView) -> None:
        """Start in epoch 1: the first server leads, the other voters follow it, and all have the first record.

        TLA+: Init.
        """
        first, *_ = servers = self.all(Voter)
        founders = servers[: self.b.servers - self.b.spares]
        s.founders = set_of(founders)
        for i in founders:
            me = s.server[i]
            me.epoch, me.leader = FIRST_EPOCH, first
            me.state = MemberState.LEADER if i == first else MemberState.FOLLOWER
            me.role, me.members, me.committed = Role.VOTER, set_of(founders), True
            me.end, me.high_watermark = 1, 1
            me.log[0] = record(epoch=FIRST_EPOCH, value=NONE, added=NONE, removed=NONE)
            for j in founders:
                me.fetched[j] = 1

    def leads(self, me: RecordView) -> Condition:
        """Whether a server leads its epoch."""
        return me.state == MemberState.LEADER

    def is_illegal(self, me: RecordView) -> Condition:
        """Whether a server made a transition that Kafka refuses."""
        return me.state == MemberState.ILLEGAL

    def is_started(self, me: RecordView) -> Condition:
        """Whether a server runs."""
        return And(me.state != MemberState.ABSENT, me.state != MemberState.DEAD)

    def majority_has(self, me: RecordView, has: Callable[[Voter], Condition]) -> Condition:
        """Whether a majority of the voters that a server knows is so."""
        return 2 * count(self.all(Voter), lambda j: And(me.members.contains(j), has(j))) > me.members.count()

    def append(self, me: RecordView, value: Any = NONE, added: Any = NONE, removed: Any = NONE) -> None:
        """A leader writes a record of its epoch."""
        me.log[me.end] = record(epoch=me.epoch, value=value, added=added, removed=removed)
        me.end += 1

    def cut(self, me: RecordView, end: Num | int) -> None:
        """Cut a log back (TLA+: TruncateLog)."""
        for offset, entry in enumerate(me.log, start=1):
            with when(offset > end):
                entry.epoch, entry.value, entry.added, entry.removed = 0, NONE, NONE, NONE
        me.end = end

    def configuration(self, founders: SetValue, me: RecordView) -> tuple[Any, Num | int]:
        """The voters that a log says, and the offset of the record that says so (TLA+: MostRecentReconfigEntry)."""
        members: Any = set_of([])
        for j in self.all(Voter):
            *_, there = self.memberships(founders, me, j)
            members = If(there, members | {j}, members)
        said: Num | int = 1
        for offset, entry in enumerate(me.log, start=1):
            said = If(changes_voters(entry), offset, said)
        return members, said

    def memberships(self, founders: SetValue, me: RecordView, i: Voter) -> list[Condition]:
        """Whether a server is a voter by what a log says up to each offset."""
        is_voter: Condition = founders.contains(i)
        found: list[Condition] = []
        for entry in me.log:
            is_voter = Or(entry.added == i, And(is_voter, Not(entry.removed == i)))
            found.append(is_voter)
        return found

    def track_anew(self, me: RecordView, members: Any) -> None:
        """Know nothing of the log ends of these voters (TLA+: ResetFollowerEndOffsetMap)."""
        me.fetched = dict.fromkeys(self.all(Voter), 0)

    def track(self, me: RecordView) -> None:
        """Keep what a server knows of the log ends of its voters alone (TLA+: UpdateFollowerEndOffsetMap)."""
        for j in self.all(Voter):
            with when(Not(me.members.contains(j))):
                me.fetched[j] = 0


def changes_voters(entry: RecordView) -> Condition:
    """Whether a record adds a voter or removes one."""
    return Or(entry.added.is_some(), entry.removed.is_some())

"""Kafka's replication of one partition: the state, the actions, and the published variants, which differ in rules.

The semantics are those of the TLA+ module KafkaReplication of hachikuji/kafka-specification and of the modules that
extend it. Every action names its operator there and, where there is one, the method of Kafka that it abstracts. A
variant is a subclass that overrides rules (`follows`, `caught_up`, `may_join_isr`, `may_fetch`, `may_truncate`,
`truncation_offset`). `TruncateToHighWatermark` is Kafka up to 0.10, `Kip101` 0.11, `Kip279` 2.0 and `Kip320` 2.1;
`Kip320FirstTry` was never shipped.

What the modules do and the code does not (all variants):

- A change of the quorum is seen at once by the leader that makes it. There is no version to compare and no message.
- A request without a leader is never processed: a follower quantifies over replicas, and "none" is not one.
- The controller may drop the last member of a partition without leader, and the ISR then stays empty.
- A crash is not modelled: a replica that the controller drops may go on at once, or never act again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from insync.kafka.replica import Peer as Replica
from insync.model import (
    NONE,
    And,
    Array,
    Arrow,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Drawn,
    GridCell,
    If,
    Index,
    Int,
    LogCell,
    LogRecord,
    Mark,
    MarkKind,
    Model,
    Not,
    Num,
    Option,
    Or,
    Range,
    ReadableState,
    Record,
    Set,
    SetValue,
    State,
    StateView,
    Taken,
    action,
    bound,
    for_all,
    max_of,
    maximum,
    minimum,
    record,
    require,
    set_of,
)

__all__ = [
    "CONTROLLER",
    "Epoch",
    "Kip101",
    "Kip279",
    "Kip320",
    "Kip320FirstTry",
    "RecordId",
    "RecordOffset",
    "Replica",
    "Replication",
    "TruncateToHighWatermark",
    "isr_text",
]

CONTROLLER = "controller"
"""The lifeline and the column of the controller. A leader wrote the ISR to ZooKeeper; it stands for both."""


class Epoch(Index):
    """A leader epoch: the controller's count of its decisions about this partition."""

    label = ""
    first = 0

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """Epochs start with 0."""
        return bounds.max_leader_epoch + 1


class RecordId(Index):
    """A record that a producer writes: each write is of a new one, so two records are never mistaken for each other."""

    label = "r"
    first = 0

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """As many as the bound says."""
        return bounds.max_records


class RecordOffset(Range):
    """A place in a log."""

    lo, hi = 0, bound("log_size") - 1


class Replication(Model):
    """One partition, its replicas, and a controller that writes leader and ISR atomically."""

    bounds = Bounds(
        replicas=Bound(3, 1, 7, "replicas of the partition"),
        log_size=Bound(2, 1, 8, "records that fit in a log"),
        max_records=Bound(2, 1, 8, "records that producers write in all"),
        max_leader_epoch=Bound(2, 0, 8, "highest leader epoch; the first is 0"),
    )
    headline = ("weak_isr", "strong_isr")
    unbounded = ("log_size", "max_records", "max_leader_epoch")
    legend: ClassVar[Mapping[str, str]] = {
        "L#": "believes it leads, epoch #",
        "F#": "follows, epoch #",
        "-": "knows no leader",
    }

    def declare(self, b: BoundValues) -> State:
        """Lay out the state; a log is empty beyond its end offset `leo`, and `hw` is exclusive like `leo`."""
        entry = Record(id=RecordId, epoch=Epoch)
        return State(
            replica=Array(
                Replica,
                Record(
                    log=Array(b.log_size, Option(entry)),
                    leo=Int(0, b.log_size),
                    hw=Int(0, b.log_size),
                    epoch=Option(Epoch),
                    leader=Option(Replica),
                    isr=Set(Replica),
                ),
            ),
            # The controller's epoch is always next_epoch - 1, so it needs no field of its own.
            quorum=Record(leader=Option(Replica), isr=Set(Replica)),
            next_record=Int(0, b.max_records),
            next_epoch=Int(0, b.max_leader_epoch + 1),
            # Every LeaderAndIsr request has an epoch of its own, which names it. It was sent iff epoch < next_epoch.
            requests=Array(Epoch, Record(leader=Option(Replica), isr=Set(Replica))),
        )

    def initial(self, s: StateView) -> None:
        """Start with no leader, empty logs, and every replica in the ISR (TLA+: Init)."""
        s.quorum.isr = set_of(self.all(Replica))

    # ------------------------------------------------------------------------------------------------------- actions

    @action(label="elect {leader}")
    def controller_elect_leader(self, s: StateView, leader: Replica) -> None:
        """The controller makes another member of the ISR the leader, at any time and for any reason.

        TLA+: ControllerElectLeader. Kafka: PartitionChangeBuilder.tryElection.
        """
        require(Not(s.quorum.leader == leader), s.quorum.isr.contains(leader))
        self.send_leader_and_isr(s, leader, s.quorum.isr)

    @action(label="controller drops {replica}")
    def controller_shrink_isr(self, s: StateView, replica: Replica) -> None:
        """The controller takes a failed replica that does not lead out of the ISR.

        Where nobody leads, this may be the last member, which Kafka keeps unless there are eligible leader replicas.
        TLA+: ControllerShrinkIsr. Kafka: ReplicationControlManager.handleBrokerFenced.
        """
        quorum = s.quorum
        require(Not(quorum.leader == replica), quorum.isr.contains(replica))
        self.send_leader_and_isr(s, quorum.leader, quorum.isr - {replica})

    @action(label="controller drops leader {leader}")
    def controller_drop_leader(self, s: StateView, leader: Replica) -> None:
        """The controller deposes a failed leader, and takes it out of the ISR unless it is the last member.

        The partition then has no leader until the next election.
        TLA+: ControllerShrinkIsr. Kafka: ReplicationControlManager.handleBrokerFenced.
        """
        isr = s.quorum.isr
        require(s.quorum.leader == leader)
        self.send_leader_and_isr(s, NONE, If(isr == {leader}, isr, isr - {leader}))

    @action(label="{leader} becomes leader @{epoch}")
    def become_leader(self, s: StateView, leader: Replica, epoch: Epoch) -> None:
        """A replica learns that it leads, from a request newer than all that it knows; its high watermark stays.

        TLA+: BecomeLeader. Kafka: Partition.makeLeader.
        """
        require(s.requests[epoch].leader == leader, self.is_newer(s, leader, epoch))
        self.adopt(s, leader, leader, epoch)

    @action(label="{leader} adds {follower} to the ISR")
    def leader_expand_isr(self, s: StateView, leader: Replica, follower: Replica) -> None:
        """The true leader takes a follower that has caught up into the ISR.

        TLA+: LeaderExpandIsr; in Kip320FirstTry LeaderExpandIsrBetterFencing, in Kip320 FencedLeaderExpandIsr.
        Kafka: Partition.maybeExpandIsr.
        """
        l = s.replica[leader]
        require(leader != follower)  # a leader is always in its own ISR
        require(self.is_true_leader(s, leader), Not(l.isr.contains(follower)), self.may_join_isr(s, leader, follower))
        self.write_isr(s, leader, l.isr | {follower})

    @action(label="{leader} drops {follower} from the ISR")
    def leader_shrink_isr(self, s: StateView, leader: Replica, follower: Replica) -> None:
        """The true leader takes a member that has not caught up with the end of its log out of the ISR.

        TLA+: LeaderShrinkIsr; in Kip320FirstTry LeaderShrinkIsrBetterFencing, in Kip320 FencedLeaderShrinkIsr.
        Kafka: Partition.maybeShrinkIsr.
        """
        l = s.replica[leader]
        require(leader != follower, self.is_true_leader(s, leader), l.isr.contains(follower))
        require(Not(self.caught_up(s, leader, follower, l.leo)))
        self.write_isr(s, leader, l.isr - {follower})

    @action(label="{leader} writes {new}")
    def leader_write(self, s: StateView, leader: Replica, new: RecordId) -> None:
        """A replica that believes it leads appends a producer's record, stamped with its epoch.

        TLA+: LeaderWrite. Kafka: Partition.appendRecordsToLeader.
        """
        l = s.replica[leader]
        require(s.next_record == new, self.believes_it_leads(s, leader), l.leo < self.b.log_size)
        l.log[l.leo] = record(id=new, epoch=l.epoch.value)
        l.leo += 1
        s.next_record += 1

    @action(label="{leader} advances its HW")
    def leader_advance_high_watermark(self, s: StateView, leader: Replica) -> None:
        """A replica that believes it leads commits the next record, if all of the ISR that it knows have that record.

        Fetches are not modelled as messages: members that follow the leader could fetch, so it counts as if they had.
        The first modules leave the leader's own log to its membership in the ISR; a leader is always a member.
        TLA+: LeaderIncHighWatermark; in Kip320FirstTry ImprovedLeaderIncHighWatermark, in Kip320
        FencedLeaderIncHighWatermark. Kafka: Partition.maybeIncrementLeaderHW.
        """
        l = s.replica[leader]
        require(self.believes_it_leads(s, leader), l.hw < l.leo)
        require(for_all(l.isr, lambda member: self.caught_up(s, leader, member, l.hw + 1)))
        l.hw += 1

    @action(label="{follower} becomes follower of {leader} @{epoch}")
    def become_follower(self, s: StateView, follower: Replica, leader: Replica, epoch: Epoch) -> None:
        """A replica learns of a new leader and at once cuts its log back to where the variant's rule says.

        TLA+: BecomeFollowerTruncateToHighWatermark, BecomeFollowerTruncateKip101, BecomeFollowerTruncateKip279 and, in
        Kip320, FencedBecomeFollowerAndTruncate. Kafka: Partition.makeFollower, AbstractFetcherThread.maybeTruncate.
        """
        require(follower != leader, s.requests[epoch].leader == leader, self.is_newer(s, follower, epoch))
        require(self.may_truncate(s, leader, epoch))
        self.truncate(s, follower, self.truncation_offset(s, leader, follower))
        self.adopt(s, follower, leader, epoch)

    @action(label="{follower} fetches from {leader}")
    def follower_fetch(self, s: StateView, follower: Replica, leader: Replica) -> None:
        """A follower appends the leader's next record and takes over its high watermark, which may fall.

        TLA+: FollowerReplicate; in Kip320FirstTry FollowerFetch, in Kip320 FencedFollowerFetch.
        Kafka: Partition.fetchRecords and ReplicaFetcherThread.processPartitionData.
        """
        f, l = s.replica[follower], s.replica[leader]
        require(follower != leader, self.believes_it_leads(s, leader), f.leo < l.leo)
        require(self.may_fetch(s, leader, follower))
        f.log[f.leo] = l.log[f.leo]
        f.leo += 1
        f.hw = minimum(l.hw, f.leo)

    # ---------------------------------------------------------------------- rules: what the variants differ in

    def follows(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        """Whether the leader may count on the follower: it names this leader, in whatever epoch."""
        return s.replica[follower].leader == leader

    def caught_up(self, s: StateView, leader: Replica, follower: Replica, end: Num) -> Condition:
        """Whether a follower counts as having all of the leader's records below `end`."""
        return And(
            self.follows(s, leader, follower),
            end <= s.replica[leader].leo,
            end <= s.replica[follower].leo,
        )

    def may_join_isr(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        """Whether a follower has enough of the log to be added to the ISR: all that the leader has committed."""
        return self.caught_up(s, leader, follower, s.replica[leader].hw)

    def may_fetch(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        """Whether the leader serves this follower's fetch."""
        return self.follows(s, leader, follower)

    def may_truncate(self, s: StateView, leader: Replica, epoch: Epoch) -> Condition:
        """Whether the named leader can be asked for the truncation point: any replica answers, leader or not."""
        return True

    def truncation_offset(self, s: StateView, leader: Replica, follower: Replica) -> Num | int:
        """The offset to which a new follower cuts its log: a rule requires that it is not beyond the log's end."""
        message = f"{type(self).__name__} defines no truncation_offset"
        raise NotImplementedError(message)

    # ----------------------------------------------------------------------------------------- what all of them share

    def believes_it_leads(self, s: StateView, replica: Replica) -> Condition:
        """Whether the replica believes that it leads (TLA+: ReplicaPresumesLeadership)."""
        return s.replica[replica].leader == replica

    def is_true_leader(self, s: StateView, leader: Replica) -> Condition:
        """Whether controller and replica agree that it leads, in the controller's epoch (TLA+: IsTrueLeader)."""
        l = s.replica[leader]
        return And(s.quorum.leader == leader, l.leader == leader, l.epoch == s.next_epoch - 1)

    def is_newer(self, s: StateView, replica: Replica, epoch: Epoch) -> Condition:
        """Whether a request's epoch is above the one that a replica knows; knowing none is below all."""
        return s.replica[replica].epoch.or_else(-1) < epoch

    def send_leader_and_isr(self, s: StateView, leader: object, isr: SetValue) -> None:
        """Decide leader and ISR, in the next epoch, and send the request (TLA+: ControllerUpdateIsr)."""
        require(s.next_epoch <= self.b.max_leader_epoch)
        s.quorum = record(leader=leader, isr=isr)
        s.requests[s.next_epoch] = record(leader=leader, isr=isr)
        s.next_epoch += 1

    def write_isr(self, s: StateView, leader: Replica, isr: SetValue) -> None:
        """The leader writes the ISR to the quorum, within its epoch (TLA+: QuorumUpdateLeaderAndIsr)."""
        s.quorum.isr = isr
        s.replica[leader].isr = isr

    def epoch_at(self, s: StateView, replica: Replica, offset: Num | int) -> Num:
        """The leader epoch of the record at this offset of a log; 0 where there is none, so ask for `leo` as well."""
        return s.replica[replica].log[offset].value.epoch

    def has_committed_own_epoch(self, s: StateView, leader: Replica) -> Condition:
        """Whether a leader's high watermark is at its log end or at a record of its own epoch.

        TLA+: HasHighWatermarkReachedCurrentEpoch. The code compares with the start offset of the leader's epoch.
        """
        l = s.replica[leader]
        return Or(l.hw == l.leo, And(l.hw < l.leo, l.epoch == self.epoch_at(s, leader, l.hw)))

    def same_record(self, s: StateView, one: Replica, other: Replica, offset: int) -> Condition:
        """Whether both logs reach beyond the offset and have the identical record there."""
        a, b = s.replica[one], s.replica[other]
        return And(offset < a.leo, offset < b.leo, a.log[offset] == b.log[offset])

    def truncate(self, s: StateView, replica: Replica, end: Num | int) -> None:
        """Cut a log back to `end`, which does not lie beyond it, and the high watermark with it (TLA+: TruncateTo)."""
        r = s.replica[replica]
        r.log.clear_from(end)
        r.leo = end
        r.hw = minimum(r.hw, end)

    def adopt(self, s: StateView, replica: Replica, leader: Replica, epoch: Epoch) -> None:
        """Take over what the request of this epoch says, which is that this leader leads."""
        r = s.replica[replica]
        r.epoch = epoch
        r.leader = leader
        r.isr = s.requests[epoch].isr

    def abstraction(self, s: StateView) -> Mapping[str, object]:
        """The controller's leader and ISR, who believes that it leads, and each lag behind the longest log."""
        replicas = self.all(Replica)
        longest = maximum(*(s.replica[r].leo for r in replicas))
        return {
            "leader": s.quorum.leader,
            "ISR": s.quorum.isr,
            "leads": [self.believes_it_leads(s, r) for r in replicas],
            "lag": [longest - s.replica[r].leo for r in replicas],
        }

    # ------------------------------------------------------------------------------------------------------- a trace

    def grid(self, state: ReadableState) -> dict[str, GridCell]:
        """One column per replica, and one for the controller.

        A replica's cell reads `L3 [r0@3 | r1@3]`: it leads in epoch 3 (F: it follows; -: it knows no leader yet), and
        its log has the records r0 and r1 of epoch 3. The bar is the high watermark, which has passed the first one.
        """
        replicas = cast(dict[str, dict[str, object]], state["replica"])
        cells: dict[str, GridCell] = {name: _replica_cell(name, replica) for name, replica in replicas.items()}
        quorum = cast(dict[str, object], state["quorum"])
        epoch = cast(int, state["next_epoch"]) - 1
        leader = quorum["leader"] or "no leader"
        decided = f"{leader} @{epoch}" if epoch >= 0 else str(leader)
        cells[CONTROLLER] = f"{decided}  {isr_text(quorum['isr'])}"
        return cells

    def lifelines(self) -> tuple[str, ...]:
        """The replicas, and the controller."""
        return *map(str, self.all(Replica)), CONTROLLER

    def step_drawing(self, steps: Sequence[Taken], label: str) -> tuple[Drawn, ...]:
        """Fetches, and what the controller is told and tells."""
        old, step = steps[-2].state, steps[-1]
        action, named, new = step.action or "", step.parameters, step.state
        leader, follower = named.get("leader", ""), named.get("follower", "")
        if action == "controller_elect_leader":
            return (Mark(CONTROLLER, f"elects {leader} @{new['next_epoch'] - 1}", MarkKind.LEADS),)
        if action in ("controller_shrink_isr", "controller_drop_leader"):
            return (Mark(CONTROLLER, f"drops {named.get('replica', leader)}"),)
        if action in ("become_leader", "become_follower"):
            role = "lead" if action == "become_leader" else f"follow {leader}"
            return (Arrow(CONTROLLER, follower or leader, f"{role} @{named['epoch']}"),)
        if action in ("leader_expand_isr", "leader_shrink_isr"):
            return (Arrow(leader, CONTROLLER, isr_text(new["quorum"]["isr"])),)
        if action == "leader_write":
            return (Mark(leader, f"writes {named['new']}"),)
        if action == "leader_advance_high_watermark":
            return (Mark(leader, f"HW {new['replica'][leader]['hw']}"),)
        if action == "follower_fetch":
            brought = _fetched(old["replica"][follower], self.grid(new)[follower])
            return (Arrow(follower, leader, "fetch"), Arrow(leader, follower, brought, reply=True))
        if action == "follower_truncate":
            end = f"cut to {new['replica'][follower]['leo']}"
            return (Arrow(follower, leader, "where to cut?"), Arrow(leader, follower, end, reply=True))
        return (Mark(follower or leader, action.replace("_", " ")),)


def isr_text(members: object) -> str:
    """Return an ISR of a readable state as text."""
    return f"ISR {' '.join(cast(list[str], members)) or 'empty'}"


def _replica_cell(name: str, replica: dict[str, object]) -> LogCell:
    """Return the log of a replica with its role; the high watermark may lie beyond the end: `[r0@3 - |]`."""
    epoch, high_watermark = replica["epoch"], cast(int, replica["hw"])
    role = "- " if epoch is None else f"{'L' if replica['leader'] == name else 'F'}{epoch}"
    log = cast(list[dict[str, str] | None], replica["log"])
    records = [LogRecord(entry["id"], entry["epoch"]) if entry else LogRecord("-") for entry in log]
    while len(records) > high_watermark and records[-1].text == "-":
        records.pop()
    return LogCell(tuple(records), high_watermark, role)


def _fetched(old: Mapping[str, Any], cell: object) -> str:
    """Return what a fetch has brought: the new record, else the high watermark."""
    assert isinstance(cell, LogCell)
    new = [str(record) for record in cell.records[old["leo"] :] if record.text != "-"]
    return " ".join(new) or f"HW {cell.watermark}"


# ------------------------------------------------------------------------------------------------- published variants


class TruncateToHighWatermark(Replication):
    """Before KIP-101 (0.8 to 0.10): a new follower truncates to its own high watermark, whatever log the leader has.

    That watermark lags behind the leader's by a fetch, so a follower may drop records that are committed.
    """

    def truncation_offset(self, s: StateView, leader: Replica, follower: Replica) -> Num:
        """The follower's high watermark."""
        f = s.replica[follower]
        require(f.hw <= f.leo)
        return f.hw


class Kip101(Replication):
    """KIP-101: records carry the leader epoch, and a new follower truncates to where its last epoch ends at the leader.

    Unlike the code, which takes the lesser of the two, the module does not let a replica become follower while
    the leader's answer lies beyond the follower's own log end. Any replica answers, even one that does not lead.
    """

    def truncation_offset(self, s: StateView, leader: Replica, follower: Replica) -> Num:
        """The leader's answer for the epoch of the follower's last record (TLA+: LookupOffsetForEpoch).

        That is the leader's log end if its last record has that epoch, else the first of its offsets with a larger
        epoch, else the follower's high watermark. An empty follower stays empty.
        """
        f, l = s.replica[follower], s.replica[leader]
        asked = self.epoch_at(s, follower, f.leo - 1)
        later = [And(offset < l.leo, self.epoch_at(s, leader, offset) > asked) for offset in range(self.b.log_size)]
        first_later = minimum(*[If(is_later, offset, self.b.log_size) for offset, is_later in enumerate(later)])
        ends_with_asked = And(l.leo > 0, self.epoch_at(s, leader, l.leo - 1) == asked)
        answer = If(ends_with_asked, l.leo, If(Or(*later), first_later, f.hw))
        end = If(f.leo == 0, 0, answer)
        require(end <= f.leo)
        return end


class Kip279(Replication):
    """KIP-279: a new follower truncates to just after the last record that it shares with the leader.

    The code gets there by asking again with an older epoch each time; the module compares both logs at once.
    """

    def truncation_offset(self, s: StateView, leader: Replica, follower: Replica) -> Num:
        """One more than the last offset at which both logs have the same record, or 0 where there is none.

        TLA+: FirstNonMatchingOffsetFromTail.
        """
        return max_of(RecordOffset, lambda offset: If(self.same_record(s, leader, follower, offset), offset + 1, 0))


class Kip320FirstTry(Kip279):
    """KIP-320, first try: a fetch carries the epoch of the last record fetched, and the leader compares it.

    Leader and follower need not be in the same leader epoch, and that is the hole: a follower of an older epoch
    may count for the high watermark, and truncate what it counted for when it catches up.
    """

    @action(label="{follower} becomes follower of {leader} @{epoch}")
    def become_follower(self, s: StateView, follower: Replica, leader: Replica, epoch: Epoch) -> None:
        """A replica learns of a new leader and keeps its log as it is.

        TLA+: BecomeFollower. Kafka: Partition.makeFollower.
        """
        require(follower != leader, s.requests[epoch].leader == leader)
        require(self.is_newer(s, follower, epoch))
        self.adopt(s, follower, leader, epoch)

    @action(label="{follower} truncates to match {leader}")
    def follower_truncate(self, s: StateView, follower: Replica, leader: Replica) -> None:
        """A follower that is ahead of the leader, or whose last record has another epoch there, cuts its log back.

        TLA+: FollowerTruncate. Kafka: AbstractFetcherThread.truncateOnFetchResponse.
        """
        require(follower != leader, self.believes_it_leads(s, leader), self.follows(s, leader, follower))
        require(self.needs_truncation(s, leader, follower))
        self.truncate(s, follower, self.truncation_offset(s, leader, follower))

    def caught_up(self, s: StateView, leader: Replica, follower: Replica, end: Num) -> Condition:
        """As before, and the last of these records has the same epoch in both logs; the leader must believe it leads.

        TLA+: IsFollowerCaughtUpToLeaderEpoch.
        """
        return And(
            self.believes_it_leads(s, leader),
            super().caught_up(s, leader, follower, end),
            Or(end == 0, self.epoch_at(s, leader, end - 1) == self.epoch_at(s, follower, end - 1)),
        )

    def may_join_isr(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        """As before, and the leader's high watermark has reached its own epoch."""
        return And(super().may_join_isr(s, leader, follower), self.has_committed_own_epoch(s, leader))

    def may_fetch(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        """The leader serves a follower whose last record it has with the same epoch."""
        return self.caught_up(s, leader, follower, s.replica[follower].leo)

    def needs_truncation(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        """Whether a fetch would show the follower that its log is not a prefix (TLA+: FollowerNeedsTruncation)."""
        f, l = s.replica[follower], s.replica[leader]
        last = f.leo - 1
        differs = And(f.leo > 0, last < l.leo, Not(self.epoch_at(s, leader, last) == self.epoch_at(s, follower, last)))
        return Or(f.leo > l.leo, differs)


class Kip320(Kip279):
    """KIP-320: leader and follower deal with each other only while both are in the same leader epoch.

    1. A follower truncates whenever its epoch changes, before it fetches.
    2. It truncates against a leader that is in that very epoch.
    3. Only members that follow the leader in its epoch count for the high watermark.
    4. Who joins the ISR must have reached the records of the leader's own epoch.
    """

    def follows(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        """The follower names this leader and is in its epoch (TLA+: IsFollowingLeaderEpoch)."""
        f, l = s.replica[follower], s.replica[leader]
        return And(f.leader == leader, f.epoch == l.epoch, self.believes_it_leads(s, leader))

    def may_join_isr(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        """As before, and the leader's high watermark has reached its own epoch."""
        return And(super().may_join_isr(s, leader, follower), self.has_committed_own_epoch(s, leader))

    def may_truncate(self, s: StateView, leader: Replica, epoch: Epoch) -> Condition:
        """The leader must believe that it leads, in the epoch of the request."""
        return And(self.believes_it_leads(s, leader), s.replica[leader].epoch == epoch)

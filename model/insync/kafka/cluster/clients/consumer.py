"""A consumer with a position, where `consumer` says that there is one: it reads on, asks new leaders, and is reset.

It begins at offset 0 and remembers the epoch of the record before its position. Its position is nowhere else: it does
not commit offsets or start again, and there are no groups. Kafka: AbstractFetch, OffsetFetcher, SubscriptionState.

A read may race with an append, where `reads_end_at_watermark` says that it may go beyond the high watermark. The
reader looks twice at how large the log's file is: whether it is to read to the end, and where that is. What is appended
between is then read too (KAFKA-9835; FileRecords.slice, before 2.5.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.kafka.cluster.configuration import OffsetReset
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import CLIENTS, Coded, Moment, Never, race, step
from insync.kafka.replica import Replica
from insync.model import And, Arrow, Condition, Drawn, If, Not, Num, Or, maximum, minimum, require, when

__all__ = ["Consumer"]

_NO_CONSUMER = Never("no consumer is held at a position here, whose steps could be let pass one by one")


def _draw_read(moment: Moment) -> Sequence[Drawn]:
    at = moment.before["consumer"]["position"]
    return _read(moment, moment.after["consumer"]["got"][at])


def _draw_read_of_two(moment: Moment) -> Sequence[Drawn]:
    at = moment.before["consumer"]["position"]
    return _read(moment, " ".join(moment.after["consumer"]["got"][at : at + 2]))


def _read(moment: Moment, got: str) -> Sequence[Drawn]:
    replica, at = moment.given["replica"], moment.before["consumer"]["position"]
    return [Arrow(CLIENTS, replica, f"read at {at}"), Arrow(replica, CLIENTS, got, reply=True)]


def _draw_validation(moment: Moment) -> Sequence[Drawn]:
    leader, answer = moment.given["leader"], f"position {moment.after['consumer']['position']}"
    return [Arrow(CLIENTS, leader, "epoch end?"), Arrow(leader, CLIENTS, answer, reply=True)]


def _draw_reset(moment: Moment) -> Sequence[Drawn]:
    return [Arrow(moment.given["leader"], CLIENTS, f"reset to {moment.after['consumer']['position']}", reply=True)]


class Consumer(Part):
    """What a consumer reads, and where it is put."""

    @step(
        "the consumer reads from {replica}",
        drawn=_draw_read,
        by_view=True,
        classes=Coded(
            "the broker's `fetchMessages` for a consumer; the first record from the position on is taken, "
            "as `FetchCollector` does"
        ),
        brokers=_NO_CONSUMER,
        on=lambda f: f.consumes,
    )
    def consume(self, s: ClusterState, replica: Replica) -> None:
        """The consumer gets the record at its position, which is below the high watermark of who gives it.

        That is noted if the same log has other records at offsets that it has read without a reset since.
        Kafka: Partition.fetchRecords, FetchCollector.handleInitializeSuccess.
        """
        c, r = s.consumer, s.broker[replica]
        require(self.serves_consumer(s, replica), r.log_start <= c.position, c.position < r.hw)
        self.take_record(s, replica)

    @step(
        "the consumer asks {leader} where the epoch of its last record ends",
        drawn=_draw_validation,
        by_view=True,
        classes=Coded(
            "`SubscriptionState.maybeValidatePositionForCurrentLeader`, "
            "`Partition.lastOffsetForLeaderEpoch`, `SubscriptionState.maybeCompleteValidation`"
        ),
        brokers=_NO_CONSUMER,
        on=lambda f: f.consumes,
    )
    def validate_position(self, s: ClusterState, leader: Replica) -> None:
        """The consumer learns of a newer epoch, and asks its leader, before it reads on, where its logs part.

        With `auto_offset_reset` none it gets LogTruncationException if they do, and reads nothing more. Otherwise it
        goes back to where they part by the answer, or is reset if the leader does not know. It looks at the end that is
        answered, not at its epoch, and has no epoch but that of its last record. Who has read nothing since a reset
        does not ask. It learns of an epoch from any broker; that it learns of one and cannot ask yet is no step.
        Kafka: SubscriptionState.maybeValidatePositionForCurrentLeader, maybeCompleteValidation (KIP-320).
        """
        cluster = self.cluster
        require(self.rules.consumer_checks_epoch)
        c, l = s.consumer, s.broker[leader]
        epoch = cluster.image.registration_of(s, leader).epoch
        require(cluster.image.leads(s, leader), epoch > c.leader_epoch)
        floor, end = cluster.log.floor_epoch(s, leader, c.last_epoch), cluster.log.end_of_epoch(s, leader, c.last_epoch)
        asks = c.last_epoch >= 0
        unknown = And(asks, c.last_epoch > l.latest_epoch)
        if self.fixes.consumer_compares_epoch:
            unknown = Or(unknown, And(asks, floor >= 0, floor < c.last_epoch))
        parted = And(asks, Not(unknown), end < c.position)
        if cluster.auto_offset_reset is OffsetReset.NONE:
            require(Not(Or(unknown, parted)))
        else:
            with when(unknown):
                self.move_position(s, self.reset_offset(s, leader))
            with when(parted):
                self.go_back(s, end, If(floor < 0, c.last_epoch, floor))
        c.leader_epoch = epoch

    @step(
        "the consumer is reset by {leader}",
        drawn=_draw_reset,
        by_view=True,
        classes=Coded("`Partition.fetchOffsetForTimestamp`, `SubscriptionState.maybeSeekUnvalidated`"),
        brokers=_NO_CONSUMER,
        on=lambda f: f.consumes,
    )
    def reset_position(self, s: ClusterState, leader: Replica) -> None:
        """The consumer's position is outside the leader's log, and it goes where `auto.offset.reset` says.

        With none it gets OffsetOutOfRangeException and reads nothing more, which is no step. A leader that is silent
        about its high watermark (KIP-207) does not say where the latest is.
        Kafka: FetchCollector.handleInitializeErrors, OffsetFetcher.resetPositionsIfNeeded,
        Partition.fetchOffsetForTimestamp.
        """
        cluster = self.cluster
        require(cluster.auto_offset_reset is not OffsetReset.NONE)
        c, l = s.consumer, s.broker[leader]
        require(
            cluster.image.leads(s, leader),
            self.knows_epoch_of(s, leader),
            Or(c.position > l.leo, c.position < l.log_start),
        )
        if cluster.auto_offset_reset is OffsetReset.LATEST and self.rules.hide_stale_watermark:
            require(l.hw >= l.leader_epoch_start)
        self.move_position(s, self.reset_offset(s, leader))

    def take_record(self, s: ClusterState, replica: Replica) -> None:
        """Get the record at the position from a broker's log, and note what that log has of the ones before."""
        c, r = s.consumer, s.broker[replica]
        read = r.log[minimum(c.position, self.b.records - 1)]
        others = [
            And(c.begin <= at, c.position > at, self.cluster.log.holds(s, replica, at), Not(c.got[at] == r.log[at]))
            for at in range(self.b.records)
        ]
        c.misled = Or(c.misled, *others)
        for at in range(self.b.records):
            with when(c.position == at):
                c.got[at] = read
        c.last_epoch = s.epoch_of[read]
        c.position += 1

    def knows_epoch_of(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether the consumer and a broker are in the same epoch, where it says in which it is (KAFKA-7440)."""
        if not self.rules.consumer_checks_epoch:
            return True
        return self.cluster.image.registration_of(s, replica).epoch == s.consumer.leader_epoch

    def serves_consumer(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether the consumer may read from a broker: the leader, or a member of the ISR that it names (KIP-392).

        The leader names one that has what is at the position, by its last fetch. The consumer goes to it at once: that
        it stays with it for a while (metadata.max.age.ms) is not modelled.
        Kafka: ReplicaManager.findPreferredReadReplica.
        """
        cluster = self.cluster
        leads = cluster.image.leads(s, replica)
        if not self.features.reads_followers:
            return And(leads, self.knows_epoch_of(s, replica))
        named = [
            And(
                is_other,
                cluster.image.leads(s, leader),
                cluster.image.registration_of(s, leader).epoch == cluster.image.registration_of(s, replica).epoch,
                cluster.image.registration_of(s, leader).isr.contains(replica),
                s.broker[leader].remote_replicas[replica].leo.or_else(-1) >= s.consumer.position,
            )
            for leader, is_other in self.beside(replica)
        ]
        return And(cluster.image.is_online(s, replica), self.knows_epoch_of(s, replica), Or(leads, *named))

    def reset_offset(self, s: ClusterState, leader: Replica) -> Num:
        """Where `auto.offset.reset` puts the consumer (ListOffsets)."""
        l = s.broker[leader]
        return l.hw if self.cluster.auto_offset_reset is OffsetReset.LATEST else maximum(l.log_start, 0)

    def move_position(self, s: ClusterState, offset: Num) -> None:
        """Begin anew at an offset; nobody is asked about the epoch before it (OffsetFetcherUtils.resetPosition)."""
        c = s.consumer
        for at in range(self.b.records):
            c.got[at] = 0
        c.position = offset
        c.begin = offset
        c.last_epoch = -1

    def go_back(self, s: ClusterState, offset: Num, epoch: Num) -> None:
        """Give up what was read from an offset on (SubscriptionState.seekValidated)."""
        c = s.consumer
        for at in range(self.b.records):
            with when(offset <= at):
                c.got[at] = 0
        c.position = offset
        c.begin = minimum(c.begin, offset)
        c.last_epoch = epoch

    @step(
        "the consumer reads from {replica} what is appended meanwhile",
        needs=race("{replica} appends while FileRecords.slice looks twice at how large the file is"),
        drawn=_draw_read_of_two,
        by_view=True,
        never=Never("Kafka looks once at how large the file is that it reads since 2.5.1"),
        on=lambda f: f.consumes,
    )
    def consume_beyond(self, s: ClusterState, replica: Replica) -> None:
        """The consumer gets the last record below the high watermark, and the one that was appended as it was read.

        When it began to read, the log ended at the high watermark. Kafka: LogSegment.read, FileRecords.slice.
        """
        require(not self.rules.reads_end_at_watermark)
        c, r = s.consumer, s.broker[replica]
        require(self.serves_consumer(s, replica), r.log_start <= c.position, c.position + 1 == r.hw, r.hw + 1 == r.leo)
        self.take_record(s, replica)
        self.take_record(s, replica)

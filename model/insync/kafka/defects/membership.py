"""Defects of ISR membership: R-11 to R-18, R-52, and N-01, N-03, N-06 and N-20, which are new."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.finding import FindingStatus, KafkaFinding
from insync.kafka.defects.truncation import CALM, FORGETS
from insync.kafka.releases import Counting, MinimumChange, StrictMinimum

__all__ = ["MEMBERSHIP"]

MEMBERSHIP = (
    Defect(
        name="R-11",
        title="A pending expansion does not count",
        ticket="KIP-497",
        affected="none: it is why the maximal ISR exists",
        story="A leader has asked for a follower to join. The controller has agreed and may elect it, but the leader "
        "commits a record without it.",
        fix="wait for the members of the proposed ISR as well (KIP-497)",
        breaks="electable_replicas_are_complete",
        length=10,
        bounds={**CALM, "isr_shrinks": 1, "records": 1},
        rules={"counting": Counting.COMMITTED},
    ),
    Defect(
        name="R-12",
        title="A pending shrink counts already",
        ticket="KIP-497",
        affected="none: it is why the maximal ISR exists",
        story="A leader has asked to drop a slow follower and commits without it at once. The request is lost or "
        "refused, the follower is still in the controller's ISR, and is elected.",
        fix="keep waiting for the members of the committed ISR (KIP-497)",
        breaks="electable_replicas_are_complete",
        length=5,
        bounds={**CALM, "isr_shrinks": 1, "fencings": 1, "records": 1},
        rules={"counting": Counting.PROPOSED},
    ),
    Defect(
        name="R-13",
        title="A delayed change of the ISR overwrites a newer one",
        ticket="KIP-497, KAFKA-12367 (R-14)",
        affected="2.8 in early access; R-14: the version existed but was not sent",
        story="A leader's proposal is late. Meanwhile the controller drops a member that the proposal still has; the "
        "leader learns of it and commits a record without it. Then the proposal is accepted, and the member is "
        "back without the record.",
        fix="compare the partition epoch (KIP-497, KAFKA-12367)",
        breaks="electable_replicas_are_complete",
        length=9,
        bounds={**CALM, "isr_shrinks": 1, "fencings": 1, "records": 1},
        rules={"compare_partition_epoch": False},
    ),
    Defect(
        name="R-15",
        title="A fenced broker comes back into the ISR",
        ticket="KIP-841, KAFKA-13916",
        affected="KRaft before 3.3",
        story="The controller fences a follower and drops it. The leader still knows it as caught up, proposes it "
        "again, and the controller accepts a member that it may not elect.",
        fix="refuse fenced members (KIP-841)",
        breaks="isr_and_elr_are_sound",
        length=6,
        bounds={**CALM, "fencings": 1, "records": 1},
        rules={"isr_needs_unfenced": False},
    ),
    Defect(
        name="R-16",
        title="A restarted follower joins the ISR by what it had before",
        ticket="KIP-903, KAFKA-14139",
        affected="before 3.5",
        story="A follower that has caught up crashes, loses its log and registers again. The leader's proposal still "
        "speaks of the follower as it was, and the controller cannot tell.",
        fix="name the broker epoch of every member (KIP-903)",
        breaks="electable_replicas_are_complete",
        length=12,
        bounds={**CALM, "isr_shrinks": 1, "power_failures": 1, "records": 1},
        rules={"isr_needs_broker_epoch": False},
    ),
    Defect(
        name="R-17",
        title="Log end and broker epoch of two different fetches",
        ticket="KAFKA-15221",
        affected="3.5 and 3.6",
        story="The leader reads that a follower has caught up, from a fetch of its former life; then the first fetch "
        "of its new life arrives, and the leader reads the broker epoch from that. The controller sees a "
        "current epoch.",
        fix="read both from one snapshot (KAFKA-15221)",
        breaks="electable_replicas_are_complete",
        length=15,
        bounds={**CALM, "fencings": 1, "power_failures": 1, "records": 2},
        rules={"join_reads_one_snapshot": False},
    ),
    Defect(
        name="R-18",
        title="A replica is removed and added again, and the leader has not noticed",
        ticket="mutant (Vanlightly's CHECK, M3)",
        affected="none: a fetch in the new epoch is what an expansion starts from",
        story="One reassignment removes a follower, which deletes its log; another brings it back. The leader learns "
        "of both in one batch, still knows the log end of before, and adds the empty replica to the ISR.",
        fix="forget followers outside the ISR in every new epoch",
        breaks="electable_replicas_are_complete",
        length=10,
        bounds={**CALM, "replicas": 2, "reassignments": 2, "records": 1},
        rules={"forget_followers": False},
        base=FORGETS,
    ),
    Defect(
        name="N-03",
        title="A leader acts on a new ISR with the min.insync.replicas of before",
        ticket="no ticket known; BrokerMetadataPublisher.onMetadataUpdate",
        affected="3.7.0 to 4.4.0, KRaft: topics are applied before configurations",
        story="min.insync.replicas is raised from 1 to 2. The follower is fenced, and as the ISR is too small now, it "
        "stays electable. The leader gets both in one batch, and a broker applies the topics of a batch before the "
        "configurations. Alone in the ISR, with a minimum of 1, it commits and acknowledges a record that the "
        "electable follower does not have.",
        fix="apply the configurations of a batch before its topics",
        breaks="electable_replicas_are_complete",
        length=7,
        bounds={
            **CALM,
            "min_insync_replicas": 2,
            "replicas": 2,
            "records": 1,
            "config_changes": 2,
            "fencings": 2,
            "metadata_lag": 3,
        },
        rules={"minimum_change": MinimumChange.AFTER_TOPICS},
        base={"minimum_change": MinimumChange.BEFORE_TOPICS},
        finding=KafkaFinding(
            title="Topics are applied before configs: a leader counts a new ISR by the old min.insync.replicas",
            status=FindingStatus.NOT_REPORTED,
            affects="3.7.0 to 4.4.0",
            harm="whether the order has a reason; very rare",
            read="3.7.0, 3.9.2, 4.1.2 and 4.3.1",
            related="KAFKA-16540",
            entries=("N-20",),
            discuss=True,
            workaround="raise min.insync.replicas while the ISR is whole and no broker is late.",
            rank=120,
        ),
    ),
    Defect(
        name="N-20",
        title="A response brings a leader its ISR before the min.insync.replicas from before that",
        ticket="no ticket known; Partition.handleAlterPartitionUpdate, found with this model",
        affected="KRaft, 3.6 and later with eligible leader replicas (4.0)",
        story="min.insync.replicas is 2, is set to 1 and back, and the leader drops its follower from the ISR. The "
        "response to that AlterPartition tells it that it is alone in the ISR, before its metadata brings it both "
        "changes, which the controller has made before it answered. It applies the first of them: a minimum of one is "
        "enough for it, so it commits and acknowledges a record that the follower, which is eligible to lead, does not "
        "have.",
        fix="wait with the response until the metadata has come as far as the controller had when it answered",
        breaks="no_acknowledged_record_is_lost",
        length=11,
        bounds={
            **CALM,
            "min_insync_replicas": 2,
            "replicas": 2,
            "records": 1,
            "config_changes": 2,
            "fencings": 1,
            "isr_shrinks": 1,
            "metadata_lag": 3,
            "late_alter_partition_responses": "on",
        },
        rules={"reply_waits_for_configuration": False},
        base={
            "reply_waits_for_configuration": True,
            "minimum_change": MinimumChange.BEFORE_TOPICS,
            "metadata_keeps_proposal": True,
        },
    ),
    Defect(
        name="N-01",
        title="A leader elected again counts what ISR members had in an epoch before",
        ticket="no ticket known; Partition.makeLeader, found with this model",
        affected="3.0.0 to 4.4.0, KRaft",
        story="A leader is deposed and elected again, and learns of both in one batch, so it never stops to lead in "
        "its own eyes. It keeps the log ends of ISR members, one of which has meanwhile followed the other "
        "leader and truncated. It commits a record that this member no longer has.",
        fix="forget the log ends of all followers in every new epoch, as a new leader does; the model was searched "
        "with this rule alone, while N-01.patch forgets them only if the epoch has grown by more than one",
        breaks="electable_replicas_are_complete",
        length=14,
        bounds={**CALM, "preferred_elections": 2, "records": 1},
        rules={"forget_isr_when_re_elected": False},
        base=FORGETS,
        finding=KafkaFinding(
            title="Re-elected leader uses follower offsets of an earlier leader epoch: acknowledged records are lost",
            status=FindingStatus.NOT_REPORTED,
            affects="3.0.0 to 4.4.0",
            harm="acknowledged records, silently",
            read="3.0.0, 3.3.0, 3.6.2, 3.9.2, 4.1.2 and 4.3.1",
            by_reading="3.0.0 to 3.6.2",
            related="KAFKA-7164 KAFKA-13790 KAFKA-20554",
            workaround="none that prevents it; auto.leader.rebalance.enable=false makes it much rarer.",
            rank=40,
        ),
    ),
    Defect(
        name="N-06",
        title="A leader forgets a proposal when metadata tells it what a response has told it before",
        ticket="no ticket known; Partition.makeLeader, found with this model",
        affected="3.3.0 to 4.4.0, KRaft",
        story="The response to an AlterPartition brings a leader its new ISR, and it proposes to add a follower. Then "
        "the metadata of the first change arrives. It has the leader's own partition epoch, which is not passed "
        "over, and the leader takes its ISR as committed, though the second proposal is on its way. It commits "
        "and acknowledges a record without the follower, and the controller takes the follower, which lacks the "
        "record, into the ISR. In Kafka that follower must be at the high watermark and not caught up, or the "
        "leader waits for it anyway.",
        fix="pass over metadata with the partition epoch that the leader has, or keep the proposal then",
        breaks="electable_replicas_are_complete",
        length=11,
        bounds={
            **CALM,
            "min_insync_replicas": 2,
            "isr_shrinks": 1,
            "records": 1,
            "late_alter_partition_responses": "on",
        },
        rules={"metadata_keeps_proposal": False},
        base={"metadata_keeps_proposal": True},
        finding=KafkaFinding(
            title="Partition.makeLeader drops an ISR change in flight when metadata repeats the epoch that it has",
            status=FindingStatus.NOT_REPORTED,
            affects="3.3.0 to 4.4.0",
            harm="an acknowledged record, rarely",
            read="3.3.0, 3.6.2 and 4.3.1",
            by_reading="3.3.0 to 3.6.2",
            related="KAFKA-12686 KAFKA-13790",
            workaround="none known.",
            rank=80,
        ),
    ),
    Defect(
        name="R-52",
        title="A write that is refused after it was appended is read all the same",
        ticket="KAFKA-15583",
        affected="before 3.7 (2.0.1, 2.8.0 and 3.5.0 were read)",
        story="A leader appends a record while the ISR is large enough. Then a follower leaves the ISR, and the high "
        "watermark passes the record. The producer is told NOT_ENOUGH_REPLICAS_AFTER_APPEND, which says that it should "
        "try again, and consumers read the record.",
        fix="stop the high watermark below min.insync.replicas (KAFKA-15583): the producer waits, or times out",
        breaks="refused_writes_are_not_read",
        length=5,
        bounds={**CALM, "min_insync_replicas": 2, "replicas": 2, "records": 1, "isr_shrinks": 1},
        rules={"strict_minimum": StrictMinimum.NO},
    ),
)
"""The entries, by number."""

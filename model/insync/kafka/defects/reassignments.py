"""Defects that take a reassignment: R-40, R-42, R-43, R-46, R-70, N-02, N-05, N-07, N-09, C-15; R-18: the ISR's."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.finding import FindingStatus, KafkaFinding
from insync.kafka.defects.truncation import CALM, FORGETS
from insync.kafka.releases import ReassignmentEnd

__all__ = ["REASSIGNMENT"]

REASSIGNMENT = (
    Defect(
        name="R-40",
        title="A reassignment ends with a replica outside the ISR",
        ticket="KAFKA-15665",
        affected="KRaft before 3.8; in part again from 4.3 on (R-46)",
        story="A follower that is to stay is out of the ISR. As soon as the replica that is to come is in, the others "
        "go, and the new replica is alone in the ISR (which is R-41: the leader, the only one that had the log so far, "
        "was removed). Fewer than min.insync.replicas replicas have what was acknowledged.",
        fix="end a reassignment only when all replicas that stay are in the ISR (KAFKA-15665)",
        breaks="reassignments_keep_redundancy",
        length=8,
        bounds={**CALM, "min_insync_replicas": 2, "spares": 1, "reassignments": 1, "fencings": 1, "records": 1},
        rules={"reassignment_ends": ReassignmentEnd.ADDED},
    ),
    Defect(
        name="R-42",
        title="A replica that was removed joins the ISR again",
        ticket="KAFKA-1097, KAFKA-1170, KAFKA-9672",
        affected="before 0.8.1; a part of it before 3.0",
        story="A broker has not learned that its replica is removed, and goes on fetching. The leader serves it and "
        "adds it to the ISR, which then has a member that is not a replica. Since fetches are fenced by epoch, and a "
        "removal bumps the epoch, this is impossible; so the older protocol without the fence is around it.",
        fix="serve and add replicas of the assignment alone",
        breaks="isr_and_elr_are_sound",
        length=6,
        bounds={**CALM, "reassignments": 1, "records": 1},
        rules={"isr_within_replicas": False},
        base={"fence_fetch": False, **FORGETS},
    ),
    Defect(
        name="R-43",
        title="A cancelled reassignment makes the first replica the leader, whether it is in sync or not",
        ticket="PartitionReassignmentRevert.unclean",
        affected="KRaft since 3.9 with unclean.leader.election.enable=true; here without it, for this election alone",
        story="All members of the ISR are replicas that were to be added. The reassignment is cancelled, they are out, "
        "and the first of the old replicas is put into the ISR without a look at its log.",
        fix="refuse to cancel while the ISR has none of the old replicas, as Kafka does without unclean elections",
        breaks="no_acknowledged_record_is_lost",
        length=15,
        bounds={**CALM, "spares": 2, "reassignments": 2, "fencings": 1, "records": 1},
        rules={"cancel_needs_member": False},
        base=FORGETS,
    ),
    Defect(
        name="R-46",
        title="A swap of replicas ends with one that stays outside the ISR",
        ticket="KAFKA-19975",
        affected="3.7.0 to 3.7.2, 4.3.0 to 4.4.0; before 3.8 as a part of R-40",
        story="As in R-40, but only where no fewer replicas are added than removed. The ISR is as large as before, but "
        "fewer replicas have what was acknowledged: b2 is out of the ISR, b3 comes and b1 goes with its log. With "
        "eligible leader replicas b1 stays electable all the same (N-02).",
        fix="end a reassignment only when all replicas that stay are in the ISR, as from 3.8 to 4.2",
        breaks="reassignments_keep_redundancy",
        length=8,
        bounds={**CALM, "min_insync_replicas": 2, "spares": 1, "reassignments": 1, "fencings": 1, "records": 1},
        rules={"reassignment_ends": ReassignmentEnd.ADDED_UNLESS_FEWER},
        base={"reassignment_ends": ReassignmentEnd.TARGETS},
        finding=KafkaFinding(
            title="A swap of replicas ends while a replica that stays is out of the ISR",
            status=FindingStatus.BY_DESIGN,
            affects="3.7.0 to 3.7.2, 4.3.0 to 4.4.0",
            harm="by design of KAFKA-19975; a comment there",
            read="4.1.2 and 4.3.1",
            related="KAFKA-15665 KAFKA-16218 KAFKA-19975",
            ticket="KAFKA-19975",
            discuss=True,
            workaround="swap replicas only where the ISR is whole.",
            rank=150,
        ),
    ),
    Defect(
        name="R-70",
        title="A broker that catches up by a snapshot is not told that it has no replica any more",
        ticket="KAFKA-16892",
        affected="3.7.0 to 4.4.0, and by its code every release with KRaft",
        story="A leader is cut off from the controllers, or stands still, and is removed from the partition. When it "
        "is back the metadata that it lacks is deleted, and it gets a snapshot. Each topic of a snapshot is compared "
        "with an empty one, so nothing says that it was a replica, and it leads on in its former epoch: it "
        "acknowledges writes with acks=1, and is read, until it is started again.",
        fix="compare a topic of a snapshot with what the broker has of it (pull request 16206, which was not merged)",
        breaks="removed_brokers_serve_nobody",
        length=4,
        bounds={
            **CALM,
            "replicas": 2,
            "min_insync_replicas": 1,
            "reassignments": 1,
            "snapshots": 1,
            "records": 1,
            "acks": "1",
        },
        rules={"snapshot_tells_removals": False},
        base={"snapshot_tells_removals": True},
        finding=KafkaFinding(
            title="A removed replica that catches up by a metadata snapshot is not stopped, and goes on leading",
            status=FindingStatus.KNOWN,
            affects="3.7.0 to 4.4.0",
            harm="none; open since 2024",
            read="3.9.2, 4.0.2, 4.1.2, 4.2.1 and 4.3.1",
            related="KAFKA-16892",
            ticket="KAFKA-16892",
            workaround=(
                "restart a broker that was cut off from the controllers for longer than metadata is kept. "
                "Let producers use acks=all."
            ),
            rank=170,
        ),
    ),
    Defect(
        name="N-02",
        title="A replica that was removed stays eligible",
        ticket="no ticket known; PartitionChangeBuilder.maybePopulateTargetElr, found with this model",
        affected="4.0.0 to 4.4.0, with eligible leader replicas; 3.7.0 to 3.9.2 have these too, not for production",
        story="A reassignment leaves fewer replicas than min.insync.replicas. The ISR is smaller than that, so who is "
        "removed goes into the ELR, and deletes its log. The replica that is left is fenced before anything else "
        "clears the ELR. A reassignment brings the removed one back while it is fenced as well; it is unfenced "
        "first, and is elected without a record, with unclean elections off.",
        fix="keep only replicas of the assignment in the ELR",
        breaks="no_acknowledged_record_is_lost",
        length=11,
        bounds={**CALM, "min_insync_replicas": 2, "replicas": 2, "reassignments": 2, "fencings": 2, "records": 1},
        rules={"elr_within_replicas": False},
        base={"elr_within_replicas": True},
        finding=KafkaFinding(
            title="ELR keeps replicas that a reassignment removed: data loss, or a partition that stays leaderless",
            status=FindingStatus.NOT_REPORTED,
            affects="4.0.0 to 4.4.0",
            harm="a whole partition, or its leader for good",
            read="3.9.2, 4.1.2 and 4.3.1",
            related="KAFKA-15581 KAFKA-15584",
            entries=("N-05", "N-07"),
            workaround="lower min.insync.replicas before you reassign. If nobody leads: elect uncleanly.",
            rank=30,
        ),
    ),
    Defect(
        name="N-05",
        title="The controller takes min.insync.replicas by the replicas of partition 0",
        ticket="no ticket known; ReplicationControlManager.getTopicEffectiveMinIsr",
        affected="4.0.0 to 4.4.0, with eligible leader replicas; 3.7.0 to 3.9.2 have these too, not for production",
        story="N-02 for a partition with fewer replicas than partition 0 of its topic. The leader that is left alone "
        "commits with an ISR of one, which is all replicas of its partition. To the controller, which looks at "
        "partition 0, an ISR of one is too small, so nothing empties the ELR of those that were removed. One crash "
        "without loss is enough: the partition is given back to a removed broker, which is elected with an empty log.",
        fix="take the partition's own replicas, as the broker does (Partition.effectiveMinIsr), as they are after the "
        "change; or what fixes N-02, or as many replicas for each partition of a topic",
        breaks="no_acknowledged_record_is_lost",
        length=9,
        bounds={
            **CALM,
            "min_insync_replicas": 2,
            "replicas": 2,
            "reassignments": 2,
            "crashes": 1,
            "records": 1,
            "partition_zero_replicas": 2,
        },
        rules={"minimum_by_own_partition": False},
        base={"minimum_by_own_partition": True},
    ),
    Defect(
        name="N-07",
        title="A partition stays without a leader after a reassignment below min.insync.replicas",
        ticket="no ticket known; the second face of N-02",
        affected="4.0.0 to 4.4.0, with eligible leader replicas",
        story="A reassignment leaves one replica, and those that are removed stay in the ELR (N-02). The replica "
        "crashes, its log whole, and registers again: after an unclean stop it leaves the ELR. The members that "
        "stay are replicas no more and cannot be elected, and the last known leader is tried only where the ELR is "
        "empty. Nothing that heals brings a leader.",
        fix="keep only replicas of the assignment in the ELR",
        breaks="running_replicas_have_a_leader",
        length=5,
        bounds={**CALM, "min_insync_replicas": 2, "reassignments": 1, "crashes": 1, "records": 1},
        rules={"elr_within_replicas": False},
        base={"elr_within_replicas": True},
    ),
    Defect(
        name="N-09",
        title="A reassignment that is put back never ends",
        ticket="no ticket known; ReplicationControlManager.changePartitionReassignment, with KAFKA-19975",
        affected="3.7.0 to 4.4.0; that it never ends, as here, in 3.7 and since 4.3.0",
        story="Before a reassignment has ended an operator asks for the old replicas again, not by cancelling but by "
        "another reassignment. That adds nobody, and so Kafka keeps what the first one adds: a replica that is to "
        "come and to go. Since KAFKA-19975 the end waits for it in an ISR without it.",
        fix="let the second reassignment say what is added and removed, also where that is nothing; an operator may "
        "cancel the reassignment instead",
        breaks="reassignments_can_end",
        length=3,
        bounds={**CALM, "min_insync_replicas": 1, "spares": 1, "reassignments": 2, "records": 1},
        rules={"reassignment_forgets_former": False},
        base={"reassignment_forgets_former": True, "reassignment_ends": ReassignmentEnd.ADDED_UNLESS_FEWER},
        finding=KafkaFinding(
            title="A reassignment that replaces one under way never ends, or keeps the replicas of the first",
            status=FindingStatus.NOT_REPORTED,
            affects="3.7.0 to 4.4.0",
            harm="no record; a reassignment that never ends",
            read="4.1.2 and 4.3.1",
            related="KAFKA-10779 KAFKA-12803 KAFKA-19975",
            workaround="--cancel the first one, also where it is stuck; then ask for the second.",
            rank=50,
        ),
    ),
    Defect(
        name="C-15",
        title="A cancelled reassignment leaves fewer than min.insync.replicas",
        ticket="PartitionReassignmentRevert",
        affected="KRaft; the trace is one of the rules up to 4.2, as since 4.3 this reassignment ends before it is "
        "cancelled (R-46)",
        story="One of the old replicas is out of the ISR, a replica that was to be added is in. The reassignment is "
        "cancelled, the added replica goes with its copy, and one copy is left of what two had acknowledged.",
        fix="cancel only while min.insync.replicas of the old replicas are in the ISR; Kafka does not ask",
        breaks="reassignments_keep_redundancy",
        length=10,
        bounds={**CALM, "min_insync_replicas": 2, "spares": 1, "reassignments": 2, "fencings": 1, "records": 1},
        rules={"cancel_keeps_minimum": False},
        base={"cancel_keeps_minimum": True},
    ),
)
"""The entries, by number."""

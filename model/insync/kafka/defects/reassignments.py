"""Defects that take a reassignment: R-40, R-42, R-43, N-02, C-15; R-18 is among those of the ISR."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.truncation import CALM, FORGETS

__all__ = ["REASSIGNMENT"]

REASSIGNMENT = (
    Defect(
        name="R-40",
        title="A reassignment ends with a replica outside the ISR",
        ticket="KAFKA-15665",
        affected="KRaft before 3.8",
        story="A follower that is to stay is out of the ISR. As soon as the replica that is to come is in, the others "
        "go, and the new replica is alone in the ISR (which is R-41: the leader, the only one that had the log so far, "
        "was removed). Fewer than min.insync.replicas replicas have what was acknowledged.",
        fix="end a reassignment only when all replicas that stay are in the ISR (KAFKA-15665)",
        breaks="reassignments_keep_redundancy",
        length=8,
        bounds={**CALM, "min_insync": 2, "spares": 1, "reassignments": 1, "fencings": 1, "records": 1},
        rules={"reassignment_needs_targets": False},
    ),
    Defect(
        name="R-42",
        title="A replica that was removed joins the ISR again",
        ticket="KAFKA-1097, KAFKA-1170, KAFKA-9672",
        affected="before 0.8.1; a part of it before 3.0",
        story="A broker has not heard that its replica is removed, and goes on fetching. The leader serves it and adds "
        "it to the ISR, which then has a member that is not a replica. Since fetches are fenced by epoch, and a "
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
        title="A cancelled reassignment makes a leader of whoever is first",
        ticket="PartitionReassignmentRevert.unclean",
        affected="KRaft with unclean.leader.election.enable=true; here without that, to see this election alone",
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
        name="N-02",
        title="A replica that was removed stays eligible",
        ticket="no ticket known; PartitionChangeBuilder.maybePopulateTargetElr, found with this model",
        affected="4.0 to 4.4 with eligible leader replicas, replayed on their classes (insync kafka replay N-02)",
        story="A reassignment leaves fewer replicas than min.insync.replicas. The ISR is smaller than that, so who is "
        "removed goes into the ELR, and deletes its log. The replica that is left is fenced before anything else "
        "clears the ELR. A reassignment brings the removed one back while it is fenced as well; it is unfenced "
        "first, and is elected without a record, with unclean elections off.",
        fix="keep only replicas of the assignment in the ELR",
        breaks="no_acknowledged_record_is_lost",
        length=11,
        bounds={**CALM, "min_insync": 2, "replicas": 2, "reassignments": 2, "fencings": 2, "records": 1},
        rules={"elr_within_replicas": False},
        base={"elr_within_replicas": True},
    ),
    Defect(
        name="C-15",
        title="A cancelled reassignment leaves fewer than min.insync.replicas",
        ticket="PartitionReassignmentRevert",
        affected="every KRaft release",
        story="One of the old replicas is out of the ISR, a replica that was to be added is in. The reassignment is "
        "cancelled, the added replica goes with its copy, and one copy is left of what two had acknowledged.",
        fix="cancel only while min.insync.replicas of the old replicas are in the ISR; Kafka does not ask",
        breaks="reassignments_keep_redundancy",
        length=10,
        bounds={**CALM, "min_insync": 2, "spares": 1, "reassignments": 2, "fencings": 1, "records": 1},
        rules={"cancel_keeps_minimum": False},
        base={"cancel_keeps_minimum": True, "elr_within_replicas": True, **FORGETS},
    ),
)
"""The entries, by number."""

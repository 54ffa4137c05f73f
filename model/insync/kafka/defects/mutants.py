"""Guards that no release has left out: what would happen without them."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.failures import DELETED
from insync.kafka.defects.hazards import HAUNTED
from insync.kafka.defects.truncation import CALM, FORGETS

__all__ = ["MUTANTS"]

MUTANTS = (
    Defect(
        name="M-5",
        title="A follower joins the ISR below the high watermark",
        ticket="mutant (Vanlightly's CHECK, M5)",
        affected="none",
        story="A follower that has fetched at all in the leader's epoch, and is beyond its start, joins the ISR "
        "while it lacks what the leader has committed in that epoch.",
        fix="join only from the high watermark on",
        breaks="electable_replicas_are_complete",
        length=10,
        bounds={**CALM, "isr_shrinks": 1, "records": 1},
        rules={"join_needs_watermark": False},
        base=FORGETS,
    ),
    Defect(
        name="M-11",
        title="A log is replaced by a copy that is not finished",
        ticket="mutant of KIP-113",
        affected="none",
        story="A replica's log is moved to another directory. The copy takes its place before it has every record.",
        fix="replace the log only when the copy ends where it does",
        breaks="electable_replicas_are_complete",
        length=6,
        bounds={**CALM, "replicas": 2, "records": 1, "log_dir_moves": 1},
        rules={"swap_needs_whole_copy": False},
    ),
    Defect(
        name="M-12",
        title="A fetch session goes on after a response that was lost",
        ticket="mutant of KIP-227",
        affected="none",
        story="The leader tells a session its high watermark, and the response is lost. It takes the follower to know "
        "it, and leaves it out from then on, until it moves or something is written.",
        fix="begin another session after a response that was lost (FetchSessionHandler.handleError), and refuse a "
        "fetch with the wrong number (INVALID_FETCH_SESSION_EPOCH)",
        breaks="replies_leave_out_what_is_known",
        length=5,
        bounds={**CALM, "replicas": 2, "records": 1, "fetch_sessions": "on", "lost_fetch_responses": 1},
        rules={"lost_reply_ends_session": False},
        base={"named_is_answered": True},
    ),
    Defect(
        name="M-15",
        title="A leader takes any other producer epoch for a new one",
        ticket="mutant of KIP-98",
        affected="none",
        story="A producer starts anew, with the next producer epoch, and its first record is appended. A record of the "
        "former one comes late. Its number is the first of its epoch, and that is another epoch than the last in the "
        "log, so it is appended.",
        fix="refuse a lower producer epoch than the last in the log (ProducerAppendInfo.checkProducerEpoch)",
        breaks="zombies_are_fenced",
        length=5,
        bounds=HAUNTED,
        rules={"old_producers_are_fenced": False},
    ),
    Defect(
        name="M-16",
        title="A request for an ISR that comes again is taken for a new one",
        ticket="mutant of KIP-497",
        affected="none",
        story="The controller accepts an ISR with a follower, and its answer is lost. It fences the follower. The "
        "leader learns of that, and sends the request again with the newest partition epoch. The follower is unfenced, "
        "so it is in the ISR once more, and the leader commits a record without it.",
        fix="send the partition epoch of the first time (DefaultAlterPartitionManager), and compare it (KIP-497)",
        breaks="electable_replicas_are_complete",
        length=13,
        bounds={
            **CALM,
            "replicas": 2,
            "records": 1,
            "isr_shrinks": 1,
            "fencings": 1,
            "lost_alter_partition_responses": 1,
        },
        rules={"retry_keeps_partition_epoch": False},
    ),
    Defect(
        name="M-17",
        title="A deletion is answered when the ISR has done it",
        ticket="mutant of KIP-107",
        affected="none",
        story="A replica outside the ISR runs and has a record that an operator deletes. The leader waits for the log "
        "starts of the ISR alone, and answers that the record is gone.",
        fix="wait for all replicas that are alive (Partition.lowWatermarkIfLeader, KIP-107)",
        breaks="answered_deletions_are_done",
        length=7,
        bounds={**CALM, "replicas": 2, "records": 1, "isr_shrinks": 1, **DELETED},
        rules={"low_watermark_counts_live": False},
    ),
    Defect(
        name="M-22",
        title="The elected replica is not the first in the order that an operator has chosen",
        ticket="mutant of PartitionReassignmentReplicas",
        affected="none",
        story="An operator puts another replica first, so that it is preferred. The leader is fenced, and the next one "
        "by number leads in its place.",
        fix="elect the first who may lead in the order of the assignment (PartitionChangeBuilder.electAnyLeader)",
        breaks="elections_go_by_order",
        length=3,
        bounds={**CALM, "records": 1, "fencings": 1, "replica_order_changes": 1},
        rules={"elects_in_order": False},
    ),
)
"""The entries, by number. M2 is R-05, M3 is R-18, M6 is R-06, M8 is R-20, M9 is R-16, M10 is R-13."""

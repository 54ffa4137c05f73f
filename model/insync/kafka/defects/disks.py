"""Defects of brokers with several directories: R-50, R-51, N-12 to N-14, N-17 to N-19."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.finding import FindingStatus, KafkaFinding
from insync.kafka.defects.truncation import CALM

__all__ = ["DISKS"]

FAILING: dict[str, int | str] = {**CALM, "replicas": 2, "records": 1, "log_dir_failures": 1}
"""Nothing fails but a directory."""
MOVING: dict[str, int | str] = {**FAILING, "log_dir_moves": 1}
NAMED: dict[str, object] = {"named_directory_keeps_elr": True}
"""Without what N-17 says, which would be found in place of another defect, as N-04 would in place of N-12."""

DISKS = (
    Defect(
        name="R-50",
        title="Nobody tells the controller of a directory that has failed",
        ticket="KIP-858, KAFKA-14127",
        affected="3.3 to 3.6 with KRaft, which takes several directories without supporting them; by reading 3.3.0 "
        "and 3.6.0",
        story="The directory with the leader's log fails. The broker runs on without it and has nobody to tell, so its "
        "session goes on, and it stays the leader of a partition that it cannot serve.",
        fix="name directories that have failed in the heartbeat (KIP-858, 3.7)",
        breaks="failed_directories_are_noticed",
        length=2,
        bounds=FAILING,
        rules={"failed_directory_is_told": False},
    ),
    Defect(
        name="R-51",
        title="A directory fails, and the controller takes the log to be in that of its copy",
        ticket="KAFKA-16297",
        affected="3.7.0, which does not take a dropped copy back; 3.7.1 and later have the fix",
        story="A log is copied to another directory, and the controller has accepted that. Before the copy takes the "
        "log's place the log's directory fails and the copy is dropped. To the controller the partition is no longer "
        "in the directory that the heartbeat names, so nobody else is elected.",
        fix="tell the controller of the log's directory again when an accepted copy is dropped (KAFKA-16297)",
        breaks="failed_directories_are_noticed",
        length=4,
        bounds=MOVING,
        rules={"dropped_copy_is_taken_back": False},
        base={**NAMED, "accepted_copy_stays_accepted": True},
    ),
    Defect(
        name="N-12",
        title="A broker that starts takes a copy for its log that lacks records",
        ticket="no ticket known; LogManager.recoverAbandonedFutureLogs, with KAFKA-16082",
        affected="3.7.1 to 4.4.0; in 3.9 where eligible leader replicas are off, as by default",
        story="The copy of a log has caught up, and the controller has accepted it. A record is appended and "
        "acknowledged, and the broker is stopped cleanly before the copy has it. At the start the copy takes the "
        "place of the log, because the controller names its directory; nobody compares the two, and the log is "
        "deleted. The broker is in the ELR and is elected without the record.",
        fix="take the copy only if there is no log, or if it ends where the log does; Kafka does not look",
        breaks="no_acknowledged_record_is_lost",
        length=12,
        bounds={**MOVING, "min_insync_replicas": 2, "controlled_shutdowns": 1, "fencings": 1},
        rules={"start_needs_whole_copy": False},
        base={**NAMED, "start_needs_whole_copy": True, "clean_stop_names_directories": True},
        finding=KafkaFinding(
            title="A broker that restarts replaces its log by a future replica that lacks acknowledged records",
            status=FindingStatus.NOT_REPORTED,
            affects="3.7.1 to 4.4.0",
            harm="acknowledged records, silently",
            read="4.3.1",
            related="KAFKA-16082 KAFKA-16234 KAFKA-20961",
            entries=("N-13",),
            workaround="stop no broker while a log moves (kafka-log-dirs.sh --describe, isFuture).",
            rank=70,
        ),
    ),
    Defect(
        name="N-13",
        title="The controller is told that a log has not moved, and then it moves",
        ticket="no ticket known; ReplicaManager.maybeUpdateTopicAssignment",
        affected="3.7 and later",
        story="The controller accepts the copy of a log. The metadata that says so reaches the broker before the copy "
        "has taken the log's place, and the broker answers with the directory in which the log still is. It learns "
        "that this counts, and only then makes the copy the log. Nothing tells the controller; when the "
        "new directory fails, nobody else is elected.",
        fix="do not answer while an accepted copy is about to take the log's place; Kafka does not look",
        breaks="failed_directories_are_noticed",
        length=6,
        bounds=MOVING,
        rules={"accepted_copy_stays_accepted": False},
        base={**NAMED, "accepted_copy_stays_accepted": True},
    ),
    Defect(
        name="N-14",
        title="A replica whose directory has failed is taken into the ISR",
        ticket="no ticket known; ReplicationControlManager.ineligibleReplicasForIsr",
        affected="3.7.0 to 4.4.0",
        story="A follower that has been out of the ISR catches up, and the leader asks for it. Its directory fails, "
        "and the controller learns of that first. It accepts the ISR all the same, as it checks fenced brokers alone. "
        "The follower may not be elected. If the leader fails now, nobody leads until the follower's broker is started "
        "again, though the leader is back with all records; with eligible leader replicas before 4.1.1 for good.",
        fix="refuse members whose directory is known to have failed; Kafka does not look",
        breaks="isr_members_have_directories",
        length=9,
        bounds={**FAILING, "fencings": 1},
        rules={"isr_needs_directory": False},
        base={"isr_needs_directory": True},
        finding=KafkaFinding(
            title="KIP-858: a partition stays without a leader after a log directory fails, with the log there",
            status=FindingStatus.NOT_REPORTED,
            affects="3.7.0 to 4.4.0",
            harm="the leader, until a broker restarts",
            read="4.3.1",
            related="KAFKA-15649 KAFKA-16583 KAFKA-19289 KIP-858",
            entries=("N-19",),
            workaround=(
                "restart the broker with the failed directory, or elect the replica with the log "
                "uncleanly, which loses nothing."
            ),
            rank=110,
        ),
    ),
    Defect(
        name="N-17",
        title="A broker names another directory, and the controller forgets who may lead",
        ticket="no ticket known; ReplicationControlManager.handleAssignReplicasToDirs; mended by PR 20716 (4.3), "
        "which does not say so",
        affected="4.0.0 to 4.2.1, with eligible leader replicas",
        story="A follower is fenced and is eligible to lead. The leader's log is moved to another directory of its "
        "broker; the controller writes that, and an empty ELR with it. The leader dies with what it has not flushed. "
        "Nobody is eligible any more, so the last known leader is elected when it is back, without the record that "
        "the follower has.",
        fix="keep the ELR where a directory is written, as all other changes do (4.3)",
        breaks="no_acknowledged_record_is_lost",
        length=11,
        bounds={
            **CALM,
            "replicas": 2,
            "records": 1,
            "min_insync_replicas": 2,
            "fencings": 1,
            "power_failures": 1,
            "log_dir_moves": 1,
        },
        rules={"named_directory_keeps_elr": False},
        base=NAMED,
        finding=KafkaFinding(
            title="A broker names another directory, and the controller clears the ELR",
            status=FindingStatus.FIXED,
            affects="4.0.0 to 4.2.1",
            harm="4.3.0 (PR 20716); a backport is asked for",
            read="4.0.2, 4.1.2 and 4.3.1",
            ticket="PR 20716",
            fixed_in="4.3.0",
            workaround="upgrade to 4.3; until then, move logs only while the ISR is whole.",
            rank=180,
        ),
    ),
    Defect(
        name="N-18",
        title="The log directory of an added replica stays unknown, and its failure unnoticed",
        ticket="no ticket known; TopicDelta.localChanges",
        affected="3.7.1 to 4.4.0 (KIP-858)",
        story="A reassignment adds a replica on a broker with several directories. The controller does not know in "
        "which one it is, and the broker does not say before a later change lists the directories of the replicas "
        "anew: the end of a removal, another order, a directory that another broker names. When the directory fails "
        "meanwhile, the controller does not relate the broker's report to the replica: it stays in the ISR, or the "
        "leader.",
        fix="let the broker name the directory of a replica that it gets; Kafka's does so when it starts",
        breaks="failed_directories_are_noticed",
        length=4,
        bounds={**FAILING, "spares": 1, "reassignments": 1},
        rules={"added_replica_names_directory": False},
        base={"added_replica_names_directory": True},
        finding=KafkaFinding(
            title="KIP-858: the log directory of an added replica stays unknown, and its failure unnoticed",
            status=FindingStatus.NOT_REPORTED,
            affects="3.7.1 to 4.4.0",
            harm="the leader, until a broker restarts or the replicas are reordered",
            read="4.1.2 and 4.3.1",
            related="KAFKA-15365 KAFKA-16583 KAFKA-16886 KIP-858",
            workaround=(
                "after such a reassignment reorder the replicas (any other order), or restart the broker: "
                "either makes it report the directory."
            ),
            rank=160,
        ),
    ),
    Defect(
        name="N-19",
        title="The directory of a copy fails, and nobody leads though the log is there",
        ticket="no ticket known; ReplicationControlManager.handleAssignReplicasToDirs",
        affected="3.7 and later",
        story="The leader, alone in the ISR, copies its log to another directory, and the controller has accepted that "
        "when the directory of the copy fails. A heartbeat tells of the failure first: the controller takes the log to "
        "be there, and nobody leads. Then the broker tells in which directory the log still is. In that change the "
        "controller looks who may lead by the directory that it knew before, and makes nobody the leader; nothing "
        "makes it look again until a broker is fenced or started.",
        fix="elect by the directory that is named, if nobody leads; Kafka does not look",
        breaks="running_replicas_have_a_leader",
        length=9,
        bounds={**MOVING, "fencings": 1, "elr": "off"},
        rules={"named_directory_may_lead": False},
        base={"named_directory_may_lead": True, "accepted_copy_stays_accepted": True},
    ),
)
"""The entries."""

"""Settings that do not keep what they seem to promise, with correct code: C-2 to C-10, C-16 to C-21."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.truncation import CALM

__all__ = ["HAUNTED", "HAZARDS"]

HAUNTED: dict[str, int | str] = {
    **CALM, "replicas": 2, "records": 3, "retries": 1, "preferred_elections": 1, "fencings": 1, "producer_restarts": 1
}  # fmt: skip
"""A producer that starts anew, and one record of the former one that comes late."""

HAZARDS = (
    Defect(
        name="C-2",
        title="acks=1 and a leader that fails",
        ticket="setting",
        affected="every release",
        story="The leader acknowledges a record before anybody has copied it, and is replaced.",
        fix="acks=all",
        breaks="no_acknowledged_record_is_lost",
        length=4,
        bounds={**CALM, "replicas": 2, "records": 1, "fencings": 1, "acks": "1"},
        fixed={"acks": "all"},
    ),
    Defect(
        name="C-3",
        title="acks=all with min.insync.replicas=1",
        ticket="setting",
        affected="every release",
        story="The ISR has shrunk to the leader, which acknowledges alone and then loses the record in a crash.",
        fix="min.insync.replicas=2",
        breaks="no_acknowledged_record_is_lost",
        length=10,
        bounds={**CALM, "records": 1, "fencings": 1, "isr_shrinks": 1, "power_failures": 1},
        fixed={"min_insync_replicas": 2},
    ),
    Defect(
        name="C-6",
        title="Unclean leader election",
        ticket="setting",
        affected="every release but KRaft before 3.9, which ignores the setting (KAFKA-12670)",
        story="The ISR is gone for a while, and a replica that is behind is made leader. Nothing was lost until then.",
        fix="unclean.leader.election.enable=false",
        breaks="no_acknowledged_record_is_lost",
        length=12,
        bounds={
            **CALM,
            "min_insync_replicas": 2,
            "records": 1,
            "fencings": 1,
            "crashes": 2,
            "unclean_leader_election": "on",
            "elr": "off",
        },
        fixed={"unclean_leader_election": "off"},
    ),
    Defect(
        name="C-7",
        title="The whole ISR loses its page cache",
        ticket="setting",
        affected="every release",
        story="Every replica crashes, as in a power failure, before one of them has flushed an acknowledged record.",
        fix="log.flush.interval.messages=1, or replicas that do not fail together",
        breaks="no_acknowledged_record_is_lost",
        length=10,
        bounds={**CALM, "min_insync_replicas": 2, "replicas": 2, "records": 1, "power_failures": 2},
        fixed={"flush": "always"},
    ),
    Defect(
        name="C-10",
        title="One replica",
        ticket="setting",
        affected="every release",
        story="The only replica loses a record in a crash.",
        fix="three replicas and min.insync.replicas=2",
        breaks="no_acknowledged_record_is_lost",
        length=6,
        bounds={**CALM, "replicas": 1, "records": 1, "power_failures": 1},
        fixed={"replicas": 3, "min_insync_replicas": 2},
    ),
    Defect(
        name="C-16",
        title="A producer that sends again without idempotence",
        ticket="setting; enable.idempotence is on by default since 3.0.1 and 3.1.1 (KIP-679, KAFKA-13598)",
        affected="every release with enable.idempotence=false or acks=1",
        story="A producer has no answer and sends its record again. The leader has it already, and appends it again.",
        fix="enable.idempotence=true and acks=all: a leader knows the numbers of what it has (KIP-98, 0.11)",
        breaks="records_are_stored_once",
        length=3,
        bounds={
            **CALM,
            "replicas": 2,
            "records": 3,
            "retries": 1,
            "preferred_elections": 1,
            "fencings": 1,
            "idempotence": "off",
        },
        fixed={"idempotence": "on"},
    ),
    Defect(
        name="C-17",
        title="A producer that starts anew without transactional.id",
        ticket="setting; KIP-98",
        affected="every release with idempotence and without transactional.id",
        story="A producer sends a record and has no answer. It is started anew, as its host seems to be dead, and what "
        "it sends now goes to a leader without that record. Then the former one, which has not ended, sends it again "
        "there. To the leader that is another producer, of which it knows nothing, so it appends an old record behind "
        "newer ones.",
        fix="transactional.id: the producer keeps its id, and leaders refuse its earlier epochs (KIP-98, 0.11)",
        breaks="zombies_are_fenced",
        length=7,
        bounds=HAUNTED,
        rules={"producer_keeps_id": False},
    ),
    Defect(
        name="C-18",
        title="A deletion that was answered is forgotten in a crash",
        ticket="setting; KIP-107, log.flush.start.offset.checkpoint.interval.ms",
        affected="every release since 0.11; a comment in UnifiedLog.maybeIncrementLogStartOffset says so (4.3.1)",
        story="An operator is told that a record is deleted. Its broker dies before it writes the log start to disk, "
        "and finds the former one when it starts. The record is in its file still, and consumers may read it.",
        fix="write the log start to disk before the answer; no release does",
        breaks="deleted_records_stay_away",
        length=8,
        bounds={
            **CALM,
            "replicas": 1,
            "records": 1,
            "crashes": 1,
            "delete_records": 1,
            "stale_checkpoints": "on",
        },
        fixed={"stale_checkpoints": "off"},
    ),
    Defect(
        name="C-19",
        title="acks=1 and a leader that is replaced as planned",
        ticket="KAFKA-20554",
        affected="every release",
        story="The leader acknowledges a record before anybody has copied it. Nothing fails: the preferred leader is "
        "elected, and does not have the record. A reassignment without the leader, or a clean stop of its broker, does "
        "the same.",
        fix="acks=all",
        breaks="no_acknowledged_record_is_lost",
        length=4,
        bounds={**CALM, "replicas": 2, "records": 1, "preferred_elections": 1, "acks": "1"},
        fixed={"acks": "all"},
    ),
    Defect(
        name="C-20",
        title="An unclean election that takes the longest log",
        ticket="KAFKA-15580, KIP-966 part 2",
        affected="no release: unclean recovery is specified, and not written",
        story="A record is acknowledged by the two members of the ISR, and the sessions of both expire. The controller "
        "asks the replicas that it reaches for the ends of their logs, and elects the longest. Those with the record "
        "are cut off, so the longest log that it finds lacks it.",
        fix="unclean.leader.election.enable=false, or wait for the answers of all",
        breaks="no_acknowledged_record_is_lost",
        length=10,
        bounds={**CALM, "records": 1, "min_insync_replicas": 2, "fencings": 3, "unclean_leader_election": "on"},
        base={"unclean_elects_longest_log": True},
        fixed={"unclean_leader_election": "off"},
    ),
    Defect(
        name="C-21",
        title="An unclean recovery that does not wait for the last known leader",
        ticket="KIP-966 part 2, unclean.recovery.strategy",
        affected="no release: unclean recovery is specified, and not written",
        story="As in C-20 the two who have the record are cut off, and the longest log of those who answer is elected. "
        "With the strategy Balanced the controller waits for the eligible leader replicas and the last known leader.",
        fix="unclean.recovery.strategy=Balanced, or unclean.leader.election.enable=false",
        breaks="no_acknowledged_record_is_lost",
        length=10,
        bounds={**CALM, "records": 1, "min_insync_replicas": 2, "fencings": 3, "unclean_leader_election": "on"},
        base={"unclean_elects_longest_log": True, "unclean_recovery_waits": True},
        rules={"unclean_recovery_waits": False},
    ),
)
"""The entries, by number. C-1 (acks=0) promises nothing; C-5, C-9 and C-14 cost availability, not records."""

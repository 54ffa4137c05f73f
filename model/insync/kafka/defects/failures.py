"""Defects that take a crash or an eligible leader replica: R-25 to R-33, R-39, R-53, N-04, N-08, N-15."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.finding import FindingStatus, KafkaFinding
from insync.kafka.defects.truncation import CALM
from insync.kafka.releases import StrictMinimum

__all__ = ["DELETED", "FAILURES"]

ENOUGH: dict[str, int | str] = {**CALM, "min_insync_replicas": 2}
"""Nothing fails, and two replicas are needed for an acknowledgement."""

DELETED: dict[str, int | str] = {"delete_records": 1}
"""An operator deletes a record, and is told when it is gone."""

FAILURES = (
    Defect(
        name="R-25",
        title="Last replica standing",
        ticket="KIP-966",
        affected="every release without eligible leader replicas",
        story="All others leave the ISR; its last member crashes, loses what it had not flushed, comes back and is "
        "elected, because it is the ISR. The others, which still have the record, truncate it.",
        fix="eligible leader replicas (KIP-966)",
        breaks="electable_replicas_are_complete",
        length=10,
        bounds={**ENOUGH, "power_failures": 1, "fencings": 1, "isr_shrinks": 1, "records": 1, "elr": "off"},
        fixed={"elr": "on"},
    ),
    Defect(
        name="R-26",
        title="A leader restarts before it is fenced, in the same epoch with a shorter log",
        ticket="KAFKA-18106",
        affected="3.3 to 3.9 with KRaft, up to 3.9.2",
        story="A leader crashes, loses a record, and registers again before the controller has fenced it. Nothing "
        "about the partition changes: it leads on in the same epoch, without the record, and no epoch tells "
        "the difference.",
        fix="take a broker that registers again out of the ISR (KAFKA-18106, 4.0)",
        breaks="no_acknowledged_record_is_lost",
        length=6,
        bounds={**ENOUGH, "replicas": 2, "power_failures": 1, "elr": "off"},
        rules={"register_leaves_isr": False},
    ),
    Defect(
        name="R-27",
        title="Eligible leader replicas without a strict high watermark",
        ticket="KIP-966",
        affected="none: KAFKA-15583 came first, in 3.7",
        story="The ISR is smaller than min.insync.replicas, and the high watermark moves with it for acks=1. A "
        "replica in the ELR lacks what consumers have read, and is elected.",
        fix="stop the high watermark below min.insync.replicas (KAFKA-15583)",
        breaks="electable_replicas_are_complete",
        length=5,
        bounds={**ENOUGH, "fencings": 2, "acks": "1", "records": 1},
        rules={"strict_minimum": StrictMinimum.NO},
    ),
    Defect(
        name="R-28",
        title="The strict high watermark counts the maximal ISR",
        ticket="KIP-966",
        affected="none: a rule that was considered",
        story="The ISR is too small, but a pending expansion makes the maximal ISR large enough. The "
        "leader commits; the controller does not know of the expansion and elects from the ELR.",
        fix="count the committed ISR (KAFKA-15583)",
        breaks="electable_replicas_are_complete",
        length=8,
        bounds={**ENOUGH, "fencings": 2, "isr_shrinks": 1, "records": 1},
        rules={"strict_minimum": StrictMinimum.MAXIMAL},
    ),
    Defect(
        name="R-29",
        title="Controller and broker disagree about min.insync.replicas",
        ticket="KAFKA-16540",
        affected="3.7 to 3.9 with eligible leader replicas, which no production metadata version has there",
        story="A replica is in the ELR because the ISR was too small. min.insync.replicas is lowered, so the leader "
        "commits alone; the ELR still has the replica, which lacks the record.",
        fix="empty the ELR when min.insync.replicas changes (KAFKA-16540, 4.0)",
        breaks="electable_replicas_are_complete",
        length=7,
        bounds={**ENOUGH, "fencings": 2, "config_changes": 1, "records": 1},
        rules={"minimum_change_clears_elr": False},
    ),
    Defect(
        name="R-30",
        title="A replica that has lost its log stays eligible",
        ticket="KAFKA-15586, KAFKA-18635",
        affected="3.7 with eligible leader replicas, which no production metadata version has there",
        story="A member of the ELR crashes, loses its log and registers again. It stays in the ELR and is elected.",
        fix="take a broker that registers after an unclean stop out of the ELR (KAFKA-15586)",
        breaks="electable_replicas_are_complete",
        length=8,
        bounds={**ENOUGH, "power_failures": 1, "fencings": 2, "records": 1},
        rules={"unclean_leaves_elr": False},
    ),
    Defect(
        name="R-31",
        title="The last known leader is elected though it is fenced",
        ticket="KAFKA-19522",
        affected="4.0, 4.0.1 included, with eligible leader replicas; 3.7 to 3.9 with an unstable metadata version",
        story="ISR and ELR are empty. Any event makes the last known leader the leader again; whether it is alive is "
        "checked, but only logged.",
        fix="elect it only if it is not fenced (KAFKA-19522)",
        breaks="leader_is_eligible",
        length=6,
        bounds={**ENOUGH, "replicas": 2, "power_failures": 2, "fencings": 1, "records": 1},
        rules={"last_leader_must_live": False},
    ),
    Defect(
        name="R-32",
        title="The last known leader wins, whatever its log has",
        ticket="KIP-966, part 1",
        affected="4.0 and later: a limit of the design",
        story="All replicas crash; one of them has lost a record, the other has it. Both registered after an unclean "
        "stop, so the ELR is empty, and the last known leader is elected without a look at the logs, also with "
        "unclean elections switched off.",
        fix="fewer crashes at a time than min.insync.replicas; part 2 of KIP-966 would compare the logs",
        breaks="no_acknowledged_record_is_lost",
        length=10,
        bounds={**ENOUGH, "replicas": 2, "power_failures": 1, "crashes": 1, "records": 1},
        fixed={"crashes": 0},
    ),
    Defect(
        name="R-33",
        title="An unclean election does not wait for a clean candidate",
        ticket="no ticket: reading of PartitionChangeBuilder.electAnyLeader",
        affected="every release with eligible leader replicas",
        story="The only member of the ELR is rebooting, its log is whole. With unclean elections allowed the "
        "controller takes the first broker that lives instead, which lacks a committed record, and the ELR is "
        "gone.",
        fix="unclean.leader.election.enable=false",
        breaks="electable_replicas_are_complete",
        length=7,
        bounds={**CALM, "replicas": 2, "fencings": 1, "crashes": 1, "records": 1, "unclean_leader_election": "on"},
        fixed={"unclean_leader_election": "off"},
    ),
    Defect(
        name="N-04",
        title="A clean stop counts although the directory with the log is gone",
        ticket="no ticket known; LogManager.readBrokerEpochFromCleanShutdownFiles",
        affected="4.0.0 to 4.4.0, with eligible leader replicas",
        story="A broker that is in the ELR stops cleanly. Its directory is taken out of log.dirs, and it starts again. "
        "The directories that are left say that the stop was clean, so it stays in the ELR, and begins an empty log. "
        "The leader is fenced; the broker is elected without a record, with unclean elections off.",
        fix="a stop is clean only if all directories are there that were there before; Kafka does not ask",
        breaks="no_acknowledged_record_is_lost",
        length=13,
        bounds={
            **CALM,
            "min_insync_replicas": 2,
            "replicas": 2,
            "controlled_shutdowns": 1,
            "fencings": 1,
            "log_dir_failures": 1,
            "records": 1,
        },
        rules={"clean_stop_names_directories": False},
        base={"named_directory_keeps_elr": True, "clean_stop_names_directories": True},
        finding=KafkaFinding(
            title="ELR: a clean shutdown counts although the log directory of the replica is gone",
            status=FindingStatus.NOT_REPORTED,
            affects="4.0.0 to 4.4.0",
            harm="a whole partition, silently",
            read="4.1.2 and 4.3.1",
            related="KAFKA-10471 KAFKA-15375 KAFKA-15582 KAFKA-15586 KAFKA-19774 KIP-1066",
            workaround=(
                "delete .kafka_cleanshutdown in one of the remaining directories before the start, or put "
                "an empty formatted directory in the place of the missing one."
            ),
            rank=60,
        ),
    ),
    Defect(
        name="N-08",
        title="A change of min.insync.replicas takes the last candidates of a partition without a leader",
        ticket="no ticket known; ReplicationControlManager.removeTopicElrs (with KAFKA-16540)",
        affected="4.0.0 to 4.4.0, with eligible leader replicas",
        story="All replicas are fenced for a while, so the ISR is empty, and only ELR and last known leader say "
        "who may lead. An operator changes min.insync.replicas, maybe to help: that empties both. All brokers come "
        "back with their whole logs, and none is elected, until somebody asks for an unclean election.",
        fix="leave the ELR as it is while the partition has no leader; Kafka does not look",
        breaks="running_replicas_have_a_leader",
        length=7,
        bounds={**CALM, "min_insync_replicas": 2, "replicas": 2, "fencings": 2, "config_changes": 1, "records": 1},
        rules={"minimum_change_needs_leader": False},
        base={"minimum_change_needs_leader": True},
        finding=KafkaFinding(
            title="A change of min.insync.replicas clears the ELR of a partition without a leader",
            status=FindingStatus.BY_DESIGN,
            affects="4.0.0 to 4.4.0",
            harm="documented, so an improvement (KAFKA-16540)",
            read="4.3.1",
            related="KAFKA-16540",
            ticket="KAFKA-16540",
            discuss=True,
            workaround="change min.insync.replicas only if --unavailable-partitions shows nothing.",
            rank=130,
        ),
    ),
    Defect(
        name="R-53",
        title="Nobody is elected uncleanly though the topic allows it",
        ticket="KAFKA-12670",
        affected="3.3 to 3.8 with KRaft: ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic says no to "
        "every topic (3.3.0, 3.5.0, 3.6.0, 3.7.0 and 3.8.0 were read)",
        story="The ISR has shrunk to the leader, whose broker dies. The topic allows an unclean election, so that it "
        "can be written to again as long as any replica lives. The controller does not look at that, and the partition "
        "has no leader until the broker is back, or somebody asks for an unclean election.",
        fix="look at unclean.leader.election.enable of the topic (KAFKA-12670, 3.9)",
        breaks="a_leader_is_there",
        length=5,
        bounds={
            **CALM,
            "replicas": 2,
            "records": 1,
            "isr_shrinks": 1,
            "crashes": 1,
            "unclean_leader_election": "on",
            "elr": "off",
        },
        rules={"unclean_is_honoured": False},
    ),
    Defect(
        name="R-39",
        title="Two brokers fenced at once, and one of them is back",
        ticket="KAFKA-13173",
        affected="KRaft in 2.8, an early access; 3.0.0 has BrokerHeartbeatManager.findOneStaleBroker",
        story="Two sessions expire in one event. Both changes are computed from the same ISR, so the second one brings "
        "the first broker back, which is dead.",
        fix="fence one broker in each event (KAFKA-13173, 3.0)",
        breaks="isr_and_elr_are_sound",
        length=4,
        bounds={**CALM, "crashes": 2, "records": 1},
        rules={"fence_one_at_a_time": False},
    ),
    Defect(
        name="N-15",
        title="A record comes back of which an operator was told that it is deleted",
        ticket="no ticket known; KIP-107 and KIP-966, Partition.lowWatermarkIfLeader",
        affected="3.7.0 to 4.4.0, with eligible leader replicas",
        story="A follower is fenced and in the ELR. An operator deletes a record, and the leader, which waits for no "
        "replica that is fenced, answers that it is gone. The leader fails, and the follower, unfenced again, is "
        "elected from the ELR. It has the record, and consumers may read it.",
        fix="answer when the members of ISR and ELR have deleted it too; and take nobody into the ISR whose log starts "
        "earlier, which both sides have here",
        breaks="deleted_records_stay_away",
        length=11,
        bounds={**ENOUGH, "replicas": 2, "records": 1, "fencings": 1, "crashes": 1, **DELETED},
        rules={"low_watermark_counts_electable": False},
        base={"low_watermark_counts_electable": True, "join_needs_log_start": True},
        finding=KafkaFinding(
            title="Deleted records come back when an eligible replica that was offline is elected",
            status=FindingStatus.BY_DESIGN,
            affects="3.7.0 to 4.4.0",
            harm="by design of KIP-107; a question for KIP-966",
            read="4.3.1",
            related="KAFKA-4586 KAFKA-6975 KIP-107 KIP-966",
            ticket="KIP-107",
            discuss=True,
            workaround="delete while all replicas are in the ISR; or delete once more, when they are.",
            rank=140,
        ),
    ),
)
"""The entries, by number."""

"""Where an option means less than it says: a sentence for each one that does nothing under the others."""

from __future__ import annotations

from insync.kafka.cluster.configuration import (
    BOUNDS,
    BUDGETS,
    ISR_ASKED_SINCE,
    Acks,
    Consumer,
    Elr,
    Idempotence,
    OffsetReset,
    rules_of,
)
from insync.kafka.cluster.features import Features
from insync.kafka.releases import IsrWrite, Release
from insync.model import BoundValues

__all__ = ["setting_remarks"]


def setting_remarks(b: BoundValues) -> list[str]:
    """Return a sentence for each setting that does not exist in the release, or means less than it says."""
    rules, features = rules_of(b).release, Features(b)
    release, acks, replicas = b.settings.release.value, b.settings.acks, b.replicas - b.spares
    remarks = []
    if not any(b[name] for name in BUDGETS):
        remarks.append("Every budget is 0, so nothing fails and nobody operates: give one, or a preset.")
    if b.settings.release.same_since is not b.settings.release:
        same = b.settings.release.same_since.value
        said = f"Kafka {release} has the rules of {same} as far as this model goes, so the answer is that of {same}."
        remarks.append(f"{said} {b.settings.release.unread}".strip())
    if b.settings.elr is Elr.ON and b.settings.release.is_before(Release.V4_0):
        remarks.append(
            f"Kafka {release} has no eligible leader replicas, which can be used from 4.0 on (KIP-966); the answer is "
            f"for {release} as if it had them."
        )
    if b.settings.unclean_leader_election and not rules.unclean_is_honoured:
        remarks.append(
            f"Kafka {release} ignores unclean.leader.election.enable in KRaft (KAFKA-12670, 3.9), so no "
            "unclean election takes place."
        )
    if b.min_insync_replicas > replicas and acks is Acks.ALL:
        lesser = f"takes the lesser (KAFKA-15583), so {_plural(replicas, 'copy', 'copies')} at most can be promised"
        refuses = "refuses every write with acks=all then, as nothing caps it before KAFKA-15583 (3.7)"
        remarks.append(
            f"min.insync.replicas {b.min_insync_replicas} is more than the {_plural(replicas, 'replica')}: "
            f"Kafka {release} {lesser if rules.minimum_is_capped else refuses}."
        )
    if b.partition_zero_replicas and not features.elr:
        remarks.append("partition_zero_replicas is looked at only where eligible leader replicas are kept.")
    if acks is Acks.NONE:
        remarks.append("With acks=0 nothing is promised of acknowledged records, as no record is acknowledged.")
    if acks is Acks.NONE and b.retries:
        remarks.append("With acks=0 a producer awaits no answer and sends nothing again, so retries do nothing.")
    if acks is not Acks.ALL and b.min_insync_replicas != BOUNDS["min_insync_replicas"].default:
        remarks.append(f"min.insync.replicas says nothing about records written with acks={acks.value}.")
    if b.settings.late_alter_partition_responses and rules.controller_in_zookeeper:
        remarks.append(
            f"A response and metadata that both tell of an ISR come with KRaft; with {release} there is one alone."
        )
    remarks += _idempotence_remarks(b)
    remarks += _failover_remarks(b)
    if b.lost_alter_partition_responses and rules.isr_write is IsrWrite.DIRECT:
        remarks.append(
            f"In Kafka {release} leaders write the ISR to ZooKeeper; lost_alter_partition_responses begin with "
            f"{ISR_ASKED_SINCE.value} (KIP-497)."
        )
    if b.config_changes and b.min_insync_replicas == 1:
        remarks.append("min.insync.replicas is 1, so config_changes, to 1 and back, change nothing.")
    if b.settings.fetch_sessions and not rules.fetches_in_sessions:
        remarks.append(f"Kafka {release} has no fetch sessions, which came with 1.1 (KIP-227).")
    if b.lost_fetch_responses and not b.settings.fetch_sessions:
        remarks.append("lost_fetch_responses is looked at only with fetch_sessions=on.")
    if b.producer_restarts and not b.retries:
        remarks.append("producer_restarts is looked at only with retries, as nothing comes late without them.")
    remarks += _snapshot_remarks(b)
    if b.log_dir_failures and not rules.directories_fail_alone:
        remarks.append(
            f"With Kafka {release} a broker ends when a directory fails; a directory may be gone when a broker starts."
        )
    if b.settings.consumer is Consumer.FOLLOWER and not rules.followers_are_read:
        remarks.append(f"Consumers of Kafka {release} read from the leader alone; from followers since 2.4 (KIP-392).")
    if b.settings.consumer is Consumer.OFF and b.settings.auto_offset_reset is not OffsetReset.LATEST:
        remarks.append("auto_offset_reset is looked at only with consumer=leader or follower.")
    if rules.isr_write is IsrWrite.DIRECT and b.reassignments:
        since = ISR_ASKED_SINCE.value
        remarks.append(f"Reassignments are modelled from {since} on; with {release} none happens.")
    if rules.isr_write is IsrWrite.DIRECT and b.replica_order_changes:
        since = ISR_ASKED_SINCE.value
        remarks.append(f"Another order of replicas is modelled from {since} on; with {release} it stays as it is.")
    return remarks


def _idempotence_remarks(b: BoundValues) -> list[str]:
    release, acks, asked = b.settings.release, b.settings.acks, b.settings.idempotence
    if asked is Idempotence.RELEASE:
        return []
    if not b.retries:
        return ["idempotence is looked at only with retries, as nothing is sent again without them."]
    if asked is Idempotence.ON and acks is not Acks.ALL:
        refused = "Kafka's producer refuses idempotence unless acks is all (ConfigException)"
        return [f"{refused}; the answer for acks={acks.value} is that of idempotence=off."]
    if asked is Idempotence.ON and release.is_before(Release.V0_11):
        since = Release.V0_11.value
        return [f"Producers of Kafka {release.value} are not idempotent, which came with {since} (KIP-98)."]
    return []


def _failover_remarks(b: BoundValues) -> list[str]:
    if not b.controller_failovers:
        return []
    if rules_of(b).release.controller_in_zookeeper:
        stale = "A stale controller's decisions reach brokers only with metadata_lag 2 or more."
        return [stale] if b.metadata_lag < 2 else []
    if b.metadata_lag:
        return []
    return [
        "With metadata_lag 0 brokers learn of a change as it is made, so nothing waits for a quorum of controllers."
    ]


def _snapshot_remarks(b: BoundValues) -> list[str]:
    if not b.snapshots:
        return []
    release, rules = b.settings.release.value, rules_of(b).release
    if rules.controller_in_zookeeper:
        return [f"Kafka {release} keeps its metadata in ZooKeeper; brokers load snapshots with KRaft, from 3.3 on."]
    if not b.metadata_lag:
        return ["With metadata_lag 0 no broker is late, so none loads a snapshot."]
    directories = (
        "snapshots are looked at only without log_dir_failures: what a snapshot tells of directories is not modelled."
    )
    return [directories] if b.log_dir_failures and rules.controller_knows_directories else []


def _plural(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"

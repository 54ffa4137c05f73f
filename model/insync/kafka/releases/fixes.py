"""What no release does: the fixes of findings and of open tickets, which an entry of the catalogue turns on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

__all__ = ["Fixes"]


@dataclass(frozen=True, slots=True)
class Fixes:
    """The rules that no release has."""

    named_is_answered: Annotated[
        bool,
        "A response leaves out only what its request has left out; Kafka looks at what the session has told, in all "
        "releases.",
    ] = False
    join_needs_log_start: Annotated[
        bool,
        "A follower joins the ISR only once its log starts where the leader's does, which counts with "
        "delete_records; Kafka does not look.",
    ] = False
    join_below_minimum_needs_end: Annotated[
        bool,
        "A follower joins an ISR below min.insync.replicas only once it has all that the leader has: KAFKA-19996, "
        "open.",
    ] = False
    forget_isr_when_re_elected: Annotated[
        bool,
        "A leader that was elected again forgets the log ends of ISR members too; Kafka keeps them, in all releases.",
    ] = False
    metadata_keeps_proposal: Annotated[
        bool, "A leader keeps its proposal when metadata brings what a response has told it; no release does."
    ] = False
    snapshot_tells_removals: Annotated[
        bool,
        "A broker that catches up by a snapshot of the metadata is told that it has no replica any more; in Kafka a "
        "topic of a snapshot is compared with an empty one: KAFKA-16892, open.",
    ] = False
    reply_waits_for_configuration: Annotated[
        bool,
        "A leader acts on the response to its AlterPartition once it has learned of the configuration from before; "
        "Kafka does not wait.",
    ] = False
    cancel_keeps_minimum: Annotated[
        bool, "A reassignment is not taken back if the ISR is below min.insync.replicas then; Kafka does not ask."
    ] = False
    reassignment_forgets_former: Annotated[
        bool,
        "What a reassignment adds and removes takes the place of what the one before it does; "
        "Kafka keeps the former's where the new one has nothing.",
    ] = False
    minimum_by_own_partition: Annotated[
        bool,
        "The ELR is emptied by an ISR of all replicas after the change too; Kafka goes by those of partition 0, or of "
        "before.",
    ] = False
    elr_within_replicas: Annotated[
        bool,
        "A replica that is removed leaves the ELR; PartitionChangeBuilder keeps it there, up to 4.4.",
    ] = False
    unclean_elects_longest_log: Annotated[
        bool,
        "An unclean election asks who is there for the ends of their logs, and takes the longest of the last epoch: "
        "KIP-966, part 2 (KAFKA-15580); no release does.",
    ] = False
    unclean_recovery_waits: Annotated[
        bool,
        "An unclean election by log ends waits for the last known leader, and for all eligible leader replicas: the "
        "strategy Balanced of KIP-966 part 2, not written yet.",
    ] = False
    consumer_compares_epoch: Annotated[
        bool,
        "A consumer is reset, or told, if the leader answers with an earlier epoch than it has asked for; Kafka's "
        "looks at the end alone.",
    ] = False
    low_watermark_counts_electable: Annotated[
        bool, "It is answered when all members of ISR and ELR have done it as well; Kafka does not look at the ELR."
    ] = False
    isr_needs_directory: Annotated[
        bool, "The controller refuses members of the ISR whose directory it knows to have failed; Kafka does not look."
    ] = False
    start_needs_whole_copy: Annotated[
        bool, "It does so only if the copy ends where the log does; Kafka does not look."
    ] = False
    accepted_copy_stays_accepted: Annotated[
        bool,
        "Metadata that says that a copy is accepted is no reason to tell the controller where the log still is; "
        "ReplicaManager.maybeUpdateTopicAssignment does not look for copies.",
    ] = False
    added_replica_names_directory: Annotated[
        bool,
        "A broker says in which directory a replica is that a reassignment adds; TopicDelta.localChanges leaves it out "
        "where the broker had none before.",
    ] = False
    named_directory_may_lead: Annotated[
        bool,
        "A replica that names the directory of its log may be elected by that, where nobody leads; Kafka goes by the "
        "directory that it knew before.",
    ] = False
    clean_stop_names_directories: Annotated[
        bool, "A stop is clean only if the directories that were there are there at the start; Kafka does not ask."
    ] = False
    minimum_change_needs_leader: Annotated[
        bool, "It empties the ELR only while the partition has a leader; Kafka does not look."
    ] = False

"""The rules that differ between releases: each is named once, with the KIP or ticket that changed it.

A rule is plain Python while a model is traced, so a rule that is off costs nothing when the model runs. A rule that has
more than two ways is an enumeration, each way a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

__all__ = [
    "ControllerFence",
    "IsrWrite",
    "MinimumChange",
    "ReassignmentEnd",
    "ReleaseRules",
    "StaleReply",
    "StrictMinimum",
    "Truncation",
]


class Truncation(Enum):
    """How a follower finds the end of what it shares with a new leader."""

    HIGH_WATERMARK = "it cuts its log back to its own high watermark (before KIP-101)"
    EPOCH_OFFSET = "it asks for the end of its last epoch and gets an offset (KIP-101, 0.11)"
    EPOCH_PAIR = "it gets the largest epoch up to its own with its end, and may ask again (KIP-279, 2.0)"
    ON_FETCH = "the fetch carries its last epoch, and the leader answers where they diverge (KAFKA-10554, 2.8)"

    @property
    def asks_first(self) -> bool:
        """Whether a follower asks for the end of an epoch before it fetches (OffsetsForLeaderEpoch)."""
        return self in (Truncation.EPOCH_OFFSET, Truncation.EPOCH_PAIR)


class IsrWrite(Enum):
    """How a leader changes the ISR."""

    DIRECT = "it writes to ZooKeeper itself, by compare-and-set, and knows the outcome at once"
    PROPOSED = "it sends AlterPartition to the controller and goes on meanwhile (KIP-497, 2.7)"


class StrictMinimum(Enum):
    """Whether the high watermark stands still while the ISR is smaller than min.insync.replicas."""

    NO = "it moves with any ISR"
    COMMITTED = "it needs min.insync.replicas members of the committed ISR (KAFKA-15583, 3.7)"
    MAXIMAL = "it needs min.insync.replicas members of the maximal ISR"


class ControllerFence(Enum):
    """What keeps a deposed controller from writing: KafkaZkClient.updateLeaderAndIsr; with KRaft the log's epoch."""

    EPOCH = "each write is refused once there is another controller epoch (KAFKA-6082, 2.1)"
    VERSION = "a write is refused if the state has changed since it was read, or a newer controller has written it"
    NOTHING = "a write replaces what is there; no release does"


class ReassignmentEnd(Enum):
    """What a reassignment waits for before it removes anybody (PartitionReassignmentReplicas)."""

    ADDED = "all replicas that are added are in the ISR (3.0 to 3.7)"
    TARGETS = "all replicas that stay are in the ISR (KAFKA-15665, 3.8 to 4.2)"
    ADDED_UNLESS_FEWER = (
        "all replicas that are added are in the ISR, and where fewer are added than removed all that stay "
        "(KAFKA-19975, 4.3)"
    )


class MinimumChange(Enum):
    """How a change of min.insync.replicas reaches a broker; BrokerMetadataPublisher.onMetadataUpdate."""

    PARTITION = "as a change of the partition, which makes proposals of the ISR stale: a simplification before KRaft"
    BEFORE_TOPICS = "as configuration, which the broker takes before the topics of the same batch; no release does"
    AFTER_TOPICS = "as configuration, which the broker takes after the topics of the same batch (KRaft)"


class StaleReply(Enum):
    """Which replies to a fetch are dropped as too late; AbstractFetcherThread.processFetchRequest."""

    OTHER_LEADER_RECORDS = "as below, but for one that says where logs diverge: it truncates whatever the follower does"
    OTHER_LEADER = "those of a broker that the follower no longer follows (KAFKA-13207, 2.8.1)"
    OTHER_EPOCH = "those to a fetch in an earlier leader epoch (with KAFKA-18723, 3.9.1, 4.0.1, 4.1)"


@dataclass(frozen=True, slots=True)
class ReleaseRules:
    """What a release does its own way; the defaults are those of the newest."""

    truncation: Annotated[Truncation, "How a follower truncates: KIP-101 (0.11), KIP-279 (2.0), on fetch (2.8)."] = (
        Truncation.ON_FETCH
    )
    cache_epoch_on_election: Annotated[
        bool, "A new leader notes its epoch and log end before it appends: KAFKA-7415 (2.0.1)."
    ] = True
    truncate_on_every_epoch: Annotated[
        bool, "A follower truncates whenever the epoch moves, even if the leader stays the same: KAFKA-7164 (2.0.1)."
    ] = True
    truncation_drops_empty_epochs: Annotated[
        bool,
        "A follower that is to truncate at its log's end loses the epochs that begin there: KAFKA-10706 (2.6.1).",
    ] = True
    fence_fetch: Annotated[
        bool, "A fetch is served only if follower and leader are in the same epoch: KIP-320 (2.1)."
    ] = True
    fence_truncation: Annotated[
        bool, "A question about an epoch's end is answered only if both are in the same epoch: KIP-320 (2.1)."
    ] = True
    fetches_in_sessions: Annotated[
        bool, "Responses leave out what a session has told before, which counts with fetch_sessions: KIP-227 (1.1)."
    ] = True
    session_keeps_epoch: Annotated[
        bool, "The epoch is checked in every fetch of a session, not in its first one alone: KAFKA-9338 (2.5)."
    ] = True
    join_needs_epoch_start: Annotated[
        bool, "A follower joins the ISR only once it has reached the start of the leader's epoch: KAFKA-7128 (2.0.1)."
    ] = True
    hide_stale_watermark: Annotated[
        bool, "A new leader tells clients no high watermark below the start of its epoch: KIP-207 (2.2)."
    ] = True
    isr_write: Annotated[IsrWrite, "Who writes the ISR: KIP-497 (2.7)."] = IsrWrite.PROPOSED
    watermark_after_isr_reply: Annotated[
        bool,
        "A leader tries to raise its high watermark when its new ISR is accepted: KAFKA-13091 (3.1).",
    ] = True
    unsent_ask_is_dropped: Annotated[
        bool,
        "A leader with an AlterPartition in flight, also one that newer metadata has made obsolete, sends no other and "
        "does not wait for the follower that it would add: OPERATION_NOT_ATTEMPTED (executed since 3.7).",
    ] = True
    isr_needs_unfenced: Annotated[
        bool, "The controller refuses fenced members of the ISR: KIP-841, KAFKA-13916 (3.3)."
    ] = True
    isr_needs_broker_epoch: Annotated[
        bool,
        "The controller refuses members of the ISR whose proposal speaks of an earlier incarnation: KIP-903 (3.5).",
    ] = True
    isr_within_replicas: Annotated[
        bool, "Only replicas of the present assignment are served and join the ISR: KAFKA-1097, KAFKA-9672 (3.0)."
    ] = True
    reassignment_ends: Annotated[
        ReassignmentEnd, "What a reassignment waits for in the ISR: KAFKA-15665 (3.8), KAFKA-19975 (4.3)."
    ] = ReassignmentEnd.ADDED_UNLESS_FEWER
    join_reads_one_snapshot: Annotated[
        bool, "Log end and broker epoch of a joining follower come from the same fetch: KAFKA-15221 (3.7)."
    ] = True
    ignore_diverging_fetch: Annotated[
        bool,
        "A fetch that is answered with a divergence does not move the follower's known log end: KAFKA-13141 (2.8.1).",
    ] = True
    empty_reply_keeps_epoch: Annotated[
        bool, "A fetch after an empty response still names the follower's last epoch: KAFKA-15510, in all but 3.6."
    ] = True
    drop_stale_reply: Annotated[
        StaleReply, "Which responses are dropped as too late: KAFKA-13207 (2.8.1), by epoch since 3.9.1, 4.0.1, 4.1."
    ] = StaleReply.OTHER_EPOCH
    skip_later_epochs: Annotated[
        bool, "A follower does not append records of a later epoch than that of its fetch: KAFKA-18723 (3.9.1, 4.0.1)."
    ] = True
    watermark_after_truncation: Annotated[
        bool, "A diverging response does not move the follower's high watermark: KAFKA-14704 (3.4.1)."
    ] = True
    shrink_keeps_epoch: Annotated[bool, "A smaller ISR alone does not bump the leader epoch: KAFKA-15021 (3.6)."] = True
    strict_minimum: Annotated[StrictMinimum, "The high watermark needs min.insync.replicas: KAFKA-15583 (3.7)."] = (
        StrictMinimum.COMMITTED
    )
    minimum_is_capped: Annotated[
        bool, "A broker asks for no more than all replicas if min.insync.replicas is higher: KAFKA-15583 (3.7)."
    ] = True
    elr_by_default: Annotated[
        bool, "Eligible leader replicas are on unless switched off: KIP-966, on for new clusters since 4.1."
    ] = True
    unclean_leaves_elr: Annotated[
        bool, "A broker that registers after an unclean stop leaves the ELR: KAFKA-15586 (3.8)."
    ] = True
    clean_stop_is_noticed: Annotated[
        bool,
        "A broker that was stopped cleanly stays in the ELR when it registers; 3.9 takes each registration for one "
        "after an unclean stop.",
    ] = True
    register_leaves_isr: Annotated[
        bool, "A broker that registers after an unclean stop leaves the ISR, fenced before or not: KAFKA-18106 (4.0)."
    ] = True
    controller_in_zookeeper: Annotated[
        bool,
        "The controller is a broker that ZooKeeper knows as such, and may be deposed unawares: before KRaft (3.3).",
    ] = False
    controller_fence: Annotated[
        ControllerFence, "What keeps a deposed controller from writing to ZooKeeper: KAFKA-6082 (2.1)."
    ] = ControllerFence.EPOCH
    register_needs_fenced: Annotated[
        bool, "A broker registers again only once the controller has noticed its end: before KRaft."
    ] = False
    unclean_is_honoured: Annotated[
        bool, "The controller looks at unclean.leader.election.enable: KRaft ignored it before KAFKA-12670 (3.9)."
    ] = True
    idempotent_by_default: Annotated[
        bool, "Producers with acks=all number what they send unless told not to: KIP-679, KAFKA-13598 (3.0.1, 3.1.1)."
    ] = True
    consumer_checks_epoch: Annotated[
        bool,
        "A consumer says in which epoch it is, and asks a new leader where the epoch of its last record ends: KIP-320, "
        "KAFKA-7747 (2.3).",
    ] = True
    reads_end_at_watermark: Annotated[
        bool,
        "A read ends at the high watermark, whatever is appended meanwhile: KAFKA-9835, missing in 2.0 to 2.5.0.",
    ] = True
    followers_are_read: Annotated[bool, "Consumers may read from followers: KIP-392 (2.4)."] = True
    directories_fail_alone: Annotated[
        bool, "A directory that fails takes its logs with it, and not the broker: KIP-112 (1.0)."
    ] = True
    failed_directory_is_told: Annotated[
        bool,
        "A broker tells of a directory that fails, and others lead what was in it: KIP-112 (1.0), with KRaft KIP-858 "
        "(3.7), before which nobody tells the controller.",
    ] = True
    controller_knows_directories: Annotated[
        bool, "The controller is asked to accept a copy of a log before that takes the log's place: KIP-858 (3.7)."
    ] = True
    dropped_copy_is_taken_back: Annotated[
        bool,
        "A copy that the controller has accepted and that is dropped is taken back there: KAFKA-16297 (3.7.1, 3.8).",
    ] = True
    start_takes_accepted_copy: Annotated[
        bool,
        "A broker that starts takes a copy for the log if the controller has accepted it: KAFKA-16082 (3.7.1, 3.8).",
    ] = True
    named_directory_keeps_elr: Annotated[
        bool,
        "The controller keeps the ELR when a broker names the directory of its log; before 4.3 it empties it.",
    ] = True
    last_leader_must_live: Annotated[
        bool, "The last known leader is elected only if it is not fenced: KAFKA-19522 (4.1)."
    ] = True
    last_leader_when_leaderless: Annotated[
        bool,
        "The last leader is known as soon as nobody leads; before 4.1.1 only if the ISR becomes empty at that moment.",
    ] = True
    minimum_change: Annotated[
        MinimumChange, "How brokers learn of a change of min.insync.replicas: as configuration, with KRaft (3.3)."
    ] = MinimumChange.AFTER_TOPICS
    minimum_change_clears_elr: Annotated[
        bool, "A change of min.insync.replicas empties the ELR: KAFKA-16540 (4.0)."
    ] = True

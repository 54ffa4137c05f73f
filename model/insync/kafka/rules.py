"""The rules of Kafka's replication that releases differ in: each is named once, with the KIP or ticket that changed it.

A rule is plain Python while a model is traced, so a rule that is off costs nothing when the model runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, get_type_hints

from insync.kafka.rule_values import (
    ControllerFence,
    Counting,
    IsrWrite,
    MinimumChange,
    ReassignmentEnd,
    StaleReply,
    StrictMinimum,
    Truncation,
)

__all__ = [
    "ControllerFence",
    "Counting",
    "IsrWrite",
    "MinimumChange",
    "ReassignmentEnd",
    "Rules",
    "StaleReply",
    "StrictMinimum",
    "Truncation",
    "rule_documentation",
]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a release; the defaults are those of the newest."""

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
        bool, "Replies leave out what a session has told before, which counts with fetch_sessions: KIP-227 (1.1)."
    ] = True
    lost_reply_ends_session: Annotated[
        bool, "A follower that has missed a reply begins another session, and is answered in full: KIP-227."
    ] = True
    named_is_answered: Annotated[
        bool,
        "A reply leaves out only what its request has left out; Kafka looks at what the session has told, in all "
        "releases.",
    ] = False
    session_keeps_epoch: Annotated[
        bool, "The epoch is checked in every fetch of a session, not in its first one alone: KAFKA-9338 (2.5)."
    ] = True
    join_needs_fetch: Annotated[
        bool, "A follower joins the ISR only once it has fetched in the leader's epoch (Vanlightly's CHECK, M4)."
    ] = True
    join_needs_watermark: Annotated[
        bool, "A follower joins the ISR only once it has reached the high watermark (Vanlightly's CHECK, M5)."
    ] = True
    join_needs_epoch_start: Annotated[
        bool, "A follower joins the ISR only once it has reached the start of the leader's epoch: KAFKA-7128 (2.0.1)."
    ] = True
    join_needs_log_start: Annotated[
        bool,
        "A follower joins the ISR only once its log starts where the leader's does, which counts with "
        "deletion_answers; Kafka does not look.",
    ] = False
    join_below_minimum_needs_end: Annotated[
        bool,
        "A follower joins an ISR below min.insync.replicas only once it has all that the leader has: KAFKA-19996, "
        "open.",
    ] = False
    slowness_has_a_budget: Annotated[
        bool,
        "A follower is too slow as often as shrinks says; without, again and again, as a run takes that never ends.",
    ] = True
    forget_followers: Annotated[
        bool, "A leader in a new epoch forgets what it knew of followers outside the ISR (Vanlightly's CHECK, R-18)."
    ] = True
    forget_isr_when_re_elected: Annotated[
        bool,
        "A leader that was elected again forgets the log ends of ISR members too; Kafka keeps them, in all releases.",
    ] = False
    hide_stale_watermark: Annotated[
        bool, "A new leader tells clients no high watermark below the start of its epoch: KIP-207 (2.2)."
    ] = True
    isr_write: Annotated[IsrWrite, "Who writes the ISR: KIP-497 (2.7)."] = IsrWrite.PROPOSED
    counting: Annotated[Counting, "Which ISR the high watermark waits for: KIP-497 (2.7)."] = Counting.MAXIMAL
    watermark_after_isr_reply: Annotated[
        bool,
        "A leader tries to raise its high watermark when its new ISR is accepted: KAFKA-13091 (3.1).",
    ] = True
    compare_partition_epoch: Annotated[
        bool, "A change of the ISR is refused if the partition has changed meanwhile: KIP-497, KAFKA-12367 (3.0)."
    ] = True
    retry_keeps_partition_epoch: Annotated[
        bool, "A request for an ISR that is sent again names the partition epoch with which it was made: KIP-497."
    ] = True
    unsent_ask_is_dropped: Annotated[
        bool,
        "A leader whose last request for an ISR is under way, also if metadata has made it forget that, or may come "
        "again, does not wait for a follower that it cannot ask for yet: OPERATION_NOT_ATTEMPTED (executed since 3.7).",
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
    metadata_keeps_proposal: Annotated[
        bool, "A leader keeps its proposal when metadata brings what a reply has told it; no release does."
    ] = False
    snapshot_tells_removals: Annotated[
        bool,
        "A broker that catches up by a snapshot of the metadata is told that it has no replica any more; in Kafka a "
        "topic of a snapshot is compared with an empty one: KAFKA-16892, open.",
    ] = False
    reply_waits_for_configuration: Annotated[
        bool,
        "A leader acts on the reply to its AlterPartition once it has heard of the configuration from before; Kafka "
        "does not wait.",
    ] = False
    cancel_needs_member: Annotated[
        bool, "A reassignment may be taken back only if the ISR has one of the old replicas, or with unclean elections."
    ] = True
    cancel_keeps_minimum: Annotated[
        bool, "A reassignment is not taken back if the ISR is below min.insync.replicas then; Kafka does not ask."
    ] = False
    elects_in_order: Annotated[
        bool, "Where several may lead, the first in the order of replicas does, which counts with reorderings."
    ] = True
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
        "Who is removed leaves the ELR; PartitionChangeBuilder keeps it there, up to 4.4.",
    ] = False
    join_reads_one_snapshot: Annotated[
        bool, "Log end and broker epoch of a joining follower come from the same fetch: KAFKA-15221 (3.7)."
    ] = True
    ignore_diverging_fetch: Annotated[
        bool,
        "A fetch that is answered with a divergence does not move the follower's known log end: KAFKA-13141 (2.8.1).",
    ] = True
    fetcher_begins_at_log_end: Annotated[
        bool,
        "A fetcher begins where the log ends when the one before it has stopped: KAFKA-13266 (fixed before 3.0).",
    ] = True
    reply_matches_offset: Annotated[
        bool, "A reply is used only if the log still ends where it was fetched (Vanlightly's CHECK, M7)."
    ] = True
    empty_reply_keeps_epoch: Annotated[
        bool, "A fetch after an empty reply still names the follower's last epoch: KAFKA-15510, missing in 3.6 alone."
    ] = True
    drop_stale_reply: Annotated[
        StaleReply, "Which replies are dropped as too late: KAFKA-13207 (2.8.1), by epoch since 3.9.1, 4.0.1, 4.1."
    ] = StaleReply.OTHER_EPOCH
    skip_later_epochs: Annotated[
        bool, "A follower does not append records of a later epoch than that of its fetch: KAFKA-18723 (3.9.1, 4.0.1)."
    ] = True
    watermark_after_truncation: Annotated[
        bool, "A diverging reply does not move the follower's high watermark: KAFKA-14704 (3.4.1)."
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
    waiting_writes_need_leader: Annotated[
        bool,
        "Who waits for a high watermark is answered by a leader alone, as producers are; a group coordinator looked at "
        "offsets, whoever led: KAFKA-20634.",
    ] = True
    fence_one_at_a_time: Annotated[
        bool, "The controller fences one broker in each event: KAFKA-13173 (3.0; not in the early access of 2.8)."
    ] = True
    unclean_leaves_elr: Annotated[bool, "Who registers after an unclean stop leaves the ELR: KAFKA-15586 (3.8)."] = True
    clean_stop_is_noticed: Annotated[
        bool,
        "Who was stopped cleanly stays in the ELR when it registers; 3.9 takes each registration for one after an "
        "unclean stop.",
    ] = True
    register_leaves_isr: Annotated[
        bool, "Who registers after an unclean stop leaves the ISR, fenced before or not: KAFKA-18106 (4.0)."
    ] = True
    controller_in_zookeeper: Annotated[
        bool,
        "The controller is a broker that ZooKeeper knows as such, and may be deposed unawares: before KRaft (3.3).",
    ] = False
    controller_fence: Annotated[
        ControllerFence, "What keeps a deposed controller from writing to ZooKeeper: KAFKA-6082 (2.1)."
    ] = ControllerFence.EPOCH
    brokers_refuse_deposed: Annotated[
        bool, "A broker refuses requests with a lower controller epoch than it knows (STALE_CONTROLLER_EPOCH)."
    ] = True
    brokers_hear_committed: Annotated[
        bool, "Brokers hear of a decision when a majority of the controllers has it: KIP-595, KIP-631."
    ] = True
    answers_wait_for_commit: Annotated[
        bool, "A controller answers when a majority has what it has decided: ControllerWriteEvent, DeferredEventQueue."
    ] = True
    lost_decisions_are_undone: Annotated[
        bool, "A controller that loses its leadership forgets what is not committed: OffsetControlManager.deactivate."
    ] = True
    controller_watches_all: Annotated[
        bool,
        "A controller that becomes active watches the sessions of all brokers, also of those that it never hears of: "
        "KAFKA-18138, missing in no release.",
    ] = True
    same_incarnation_keeps_epoch: Annotated[
        bool,
        "A broker that registers once more while it runs keeps its broker epoch: KAFKA-16952 (3.9); without this rule "
        "brokers do so, as KIP-858 has them do after an upgrade.",
    ] = True
    register_needs_fenced: Annotated[
        bool, "A broker registers again only once the controller has noticed its end: before KRaft."
    ] = False
    unclean_is_honoured: Annotated[
        bool, "The controller looks at unclean.leader.election.enable: KRaft ignored it before KAFKA-12670 (3.9)."
    ] = True
    unclean_elects_longest_log: Annotated[
        bool,
        "An unclean election asks who is there for the ends of their logs, and takes the longest of the last epoch: "
        "KIP-966, part 2 (KAFKA-15580); no release does.",
    ] = False
    throttle_spares_isr: Annotated[bool, "A quota holds back replicas outside the ISR alone: KIP-73 (0.10.1)."] = True
    swap_needs_whole_copy: Annotated[
        bool, "A log is replaced by its copy in another directory only once the copy has all of it: KIP-113 (1.1)."
    ] = True
    idempotent_by_default: Annotated[
        bool, "Producers with acks=all number what they send unless told not to: KIP-679, KAFKA-13598 (3.0.1, 3.1.1)."
    ] = True
    producer_keeps_id: Annotated[
        bool, "A producer that starts anew keeps its id and gets the next epoch, as with transactional.id: KIP-98."
    ] = True
    old_producers_are_fenced: Annotated[
        bool, "A leader refuses a lower epoch of a producer than its log has last: ProducerAppendInfo, KIP-98."
    ] = True
    consumer_checks_epoch: Annotated[
        bool,
        "A consumer says in which epoch it is, and asks a new leader where the epoch of its last record ends: KIP-320, "
        "KAFKA-7747 (2.3).",
    ] = True
    consumer_compares_epoch: Annotated[
        bool,
        "A consumer is reset, or told, if the leader answers with an earlier epoch than it has asked for; Kafka's "
        "looks at the end alone.",
    ] = False
    reads_end_at_watermark: Annotated[
        bool,
        "A read ends at the high watermark, whatever is appended meanwhile: KAFKA-9835, missing in 2.0 to 2.5.0.",
    ] = True
    followers_are_read: Annotated[bool, "Consumers may read from followers: KIP-392 (2.4)."] = True
    low_watermark_counts_live: Annotated[
        bool, "A deletion is answered when all replicas that are not fenced have done it, in the ISR or not: KIP-107."
    ] = True
    low_watermark_counts_electable: Annotated[
        bool, "It is answered when all members of ISR and ELR have done it as well; Kafka does not look at the ELR."
    ] = False
    directories_fail_alone: Annotated[
        bool, "A directory that fails takes its logs with it, and not the broker: KIP-112 (1.0)."
    ] = True
    failed_directory_is_told: Annotated[
        bool,
        "A broker tells of a directory that fails, and others lead what was in it: KIP-112 (1.0), with KRaft KIP-858 "
        "(3.7), before which nobody tells the controller.",
    ] = True
    failed_directory_report_arrives: Annotated[
        bool, "What a broker tells of a directory that has failed arrives some time; by KAFKA-19289 it may never do so."
    ] = True
    isr_needs_directory: Annotated[
        bool, "The controller refuses members of the ISR whose directory it knows to have failed; Kafka does not look."
    ] = False
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
        "Who names the directory of its log may be elected by that, where nobody leads; Kafka goes by the directory "
        "that it knew before.",
    ] = False
    named_directory_keeps_elr: Annotated[
        bool,
        "The controller keeps the ELR when a broker names the directory of its log; before 4.3 it empties it.",
    ] = True
    clean_stop_names_directories: Annotated[
        bool, "A stop is clean only if the directories that were there are there at the start; Kafka does not ask."
    ] = False
    last_leader_must_live: Annotated[
        bool, "The last known leader is elected only if it is not fenced: KAFKA-19522 (4.1)."
    ] = True
    last_leader_when_leaderless: Annotated[
        bool,
        "Who led last is known as soon as nobody leads; before 4.1.1 only if the ISR becomes empty at that moment.",
    ] = True
    minimum_change: Annotated[
        MinimumChange, "How brokers hear of a change of min.insync.replicas: as configuration, with KRaft (3.3)."
    ] = MinimumChange.AFTER_TOPICS
    minimum_change_clears_elr: Annotated[
        bool, "A change of min.insync.replicas empties the ELR: KAFKA-16540 (4.0)."
    ] = True
    minimum_change_needs_leader: Annotated[
        bool, "It empties the ELR only while the partition has a leader; Kafka does not look."
    ] = False


def rule_documentation(name: str) -> str:
    """Return the sentence about a rule."""
    annotated = get_type_hints(Rules, include_extras=True)[name]
    return str(annotated.__metadata__[0])

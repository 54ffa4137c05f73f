"""What is in force in a cluster: each feature is decided here, by settings, budgets and rules, and nowhere else.

A feature is a property with its sentence. What one rule alone decides may depend on that rule, without a feature. Both
are asked for when a model is made and traced, so what is off costs nothing when the model runs.
`insync.kafka.live_rules` finds which settings, budgets and rules decided a feature.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from insync.kafka.cluster.configuration import Acks, Consumer, Elr, Flushing, Idempotence, rules_of
from insync.kafka.releases import (
    ControllerFence,
    IsrWrite,
    MinimumChange,
    Release,
    Rules,
)
from insync.model import BoundValues

__all__ = ["Features", "When", "always"]


class Features:
    """What is in force under bounds, settings and rules.

    Args:
        b: bounds and settings.
        rules: the rules that hold with them; by default those that they say.

    Attributes:
        rules: the rules of the release. A field or a step that needs one rule alone depends on that, without a feature.
        fixes: what no release does.
        guards: what all releases do.
    """

    def __init__(self, b: BoundValues, rules: Rules | None = None) -> None:
        self._b = b
        rules = rules_of(b) if rules is None else rules
        self.rules, self.fixes, self.guards = rules.release, rules.fixes, rules.guards

    # ------------------------------------------------------------------------------------------------ the controller

    @cached_property
    def elr(self) -> bool:
        """The controller keeps eligible leader replicas (KIP-966)."""
        asked: Elr = self._b.settings.elr
        return self.rules.elr_by_default if asked is Elr.RELEASE else asked is Elr.ON

    @cached_property
    def unclean_leader_election(self) -> bool:
        """Who may lack records is elected where nobody else can be."""
        return bool(self._b.settings.unclean_leader_election) and self.rules.unclean_is_honoured

    @cached_property
    def metadata_is_late(self) -> bool:
        """A broker may learn of a change after the step that makes it."""
        return self._b.metadata_lag > 0

    @cached_property
    def quorum_decides(self) -> bool:
        """A quorum of controllers commits each decision, and one of them fails; brokers learn of decisions later."""
        fails = self._b.controller_failovers > 0 and self.metadata_is_late
        return fails and not self.rules.controller_in_zookeeper

    @cached_property
    def applies_uncommitted(self) -> bool:
        """Brokers learn of what no quorum has committed."""
        waits = self.guards.brokers_hear_committed and self.guards.answers_wait_for_commit
        return self.quorum_decides and not waits

    @cached_property
    def forgets_sessions(self) -> bool:
        """A controller that becomes active watches only sessions of brokers that send it heartbeats (KAFKA-18138)."""
        return not self.guards.controller_watches_all

    @cached_property
    def fails_over(self) -> bool:
        """A controller of the ZooKeeper era may be stale: another one is elected, and it goes on."""
        return self._b.controller_failovers > 0 and self.rules.controller_in_zookeeper

    @cached_property
    def stale_controller_may_write(self) -> bool:
        """A controller that is deposed may go on and decide."""
        return self.counts_failovers and self.rules.controller_fence is not ControllerFence.EPOCH

    @cached_property
    def stale_controller_writes_blindly(self) -> bool:
        """A controller that is deposed goes by what it has read before."""
        return self.stale_controller_may_write and self.rules.controller_fence is ControllerFence.NOTHING

    @cached_property
    def counts_failovers(self) -> bool:
        """A controller may fail."""
        return self.fails_over or self.quorum_decides

    @cached_property
    def loads_snapshots(self) -> bool:
        """A broker may catch up by a snapshot of the metadata, and not by the changes that led to it."""
        has_snapshots = self._b.snapshots > 0 and self.metadata_is_late and not self.rules.controller_in_zookeeper
        return has_snapshots and not self.names_directories

    @cached_property
    def forgets_removals(self) -> bool:
        """A broker that loads a snapshot does not learn that it has lost its replica (KAFKA-16892)."""
        return self.loads_snapshots and self.reassigns and not self.fixes.snapshot_tells_removals

    # --------------------------------------------------------------------------------------- the replicas of the topic

    @cached_property
    def reassigns(self) -> bool:
        """There is a budget for reassignments, so the state has the replicas."""
        return self._b.reassignments > 0

    @cached_property
    def can_reassign(self) -> bool:
        """An operator may give the partition to other brokers."""
        return self.reassigns and self.rules.isr_write is IsrWrite.PROPOSED

    @cached_property
    def can_reorder(self) -> bool:
        """An operator may put another replica first, so that it is preferred."""
        return self._b.replica_order_changes > 0 and self.rules.isr_write is IsrWrite.PROPOSED

    @cached_property
    def may_leave_twice(self) -> bool:
        """The controller may find one in the ISR whom it has taken out as one that stops, and act on it again.

        A reassignment that is taken back may put it there. Without eligible leader replicas the last member stays, and
        somebody may have become fit to lead since then, by a directory that it has named.
        """
        return self.reassigns or self.names_directories

    # ------------------------------------------------------------------------------- min.insync.replicas, as it changes

    @cached_property
    def changes_minimum(self) -> bool:
        """min.insync.replicas is changed, to 1 and back."""
        return self._b.config_changes > 0

    @cached_property
    def configures(self) -> bool:
        """A change of min.insync.replicas is configuration, and not a change of the partition."""
        return self.changes_minimum and self.rules.minimum_change is not MinimumChange.PARTITION

    @cached_property
    def minimum_may_be_late(self) -> bool:
        """A leader may learn of configuration after the ISR that was decided later."""
        learns_from_response = self.late_alter_partition_responses and not self.fixes.reply_waits_for_configuration
        return self.configures and learns_from_response and not self.applies_uncommitted and self._b.metadata_lag > 1

    # ------------------------------------------------------------------------------------- requests and their responses

    @cached_property
    def late_fetch_responses(self) -> bool:
        """A fetch's response may arrive late, after other steps."""
        return bool(self._b.settings.late_fetch_responses)

    @cached_property
    def late_fetchers(self) -> bool:
        """A fetcher may begin where the log ended when another one was still at work (KAFKA-13266)."""
        return self.late_fetch_responses and not self.guards.fetcher_begins_at_log_end

    @cached_property
    def loses_fetched_epoch(self) -> bool:
        """A fetch after an empty response does not name the follower's last epoch (KAFKA-15510)."""
        return not self.rules.empty_reply_keeps_epoch

    @cached_property
    def asks_before_fetching(self) -> bool:
        """A follower asks where to truncate before it fetches in a new epoch (before KAFKA-10554)."""
        return self.rules.truncation.asks_first

    @cached_property
    def looks_twice(self) -> bool:
        """A leader looks twice at a follower that may join the ISR (KAFKA-15221)."""
        return not self.rules.join_reads_one_snapshot

    @cached_property
    def late_alter_partition_responses(self) -> bool:
        """A leader may learn of an accepted ISR from the response to its AlterPartition, before metadata brings it."""
        return bool(self._b.settings.late_alter_partition_responses) and not self.rules.controller_in_zookeeper

    @cached_property
    def forgets_requests(self) -> bool:
        """A leader that metadata tells what a response has told it forgets what it has asked for since."""
        return self.late_alter_partition_responses and not self.fixes.metadata_keeps_proposal

    @cached_property
    def notes_responses(self) -> bool:
        """It is noted which changes answer an AlterPartition."""
        return self.late_alter_partition_responses or self.forgets_removals

    @cached_property
    def asks_again(self) -> bool:
        """An AlterPartition comes again, as the answer to it is lost."""
        return self._b.lost_alter_partition_responses > 0

    @cached_property
    def sessions(self) -> bool:
        """Fetches are in sessions, whose responses leave out what was told before (KIP-227)."""
        return bool(self._b.settings.fetch_sessions) and self.rules.fetches_in_sessions

    @cached_property
    def notes_sessions(self) -> bool:
        """It counts whether a fetch is the first of its session."""
        return self.sessions or (self.rules.fence_fetch and not self.rules.session_keeps_epoch)

    @cached_property
    def answers_what_is_named(self) -> bool:
        """A response leaves out only what its request has left out (N-10)."""
        return self.sessions and self.fixes.named_is_answered

    # ---------------------------------------------------------------------------------------------- what a broker does

    @cached_property
    def controlled_shutdowns(self) -> bool:
        """Brokers are stopped cleanly."""
        return self._b.controlled_shutdowns > 0

    @cached_property
    def fetch_failures(self) -> bool:
        """A follower's fetcher may fail, until its partition is tried again."""
        return self._b.fetch_failures > 0

    @cached_property
    def throttles(self) -> bool:
        """A replication quota may hold a follower back."""
        return self._b.throttles > 0

    @cached_property
    def flushes_sometimes(self) -> bool:
        """How much of a log is flushed is part of the state."""
        return self._b.settings.flush is Flushing.SOMETIMES

    @cached_property
    def stale_checkpoints(self) -> bool:
        """A crashed broker may find an older high watermark or log start on disk."""
        return bool(self._b.settings.stale_checkpoints)

    # -------------------------------------------------------------------------------------------------- log directories

    @cached_property
    def log_dir_moves(self) -> bool:
        """A log may be moved to another directory of its broker (KIP-113)."""
        return self._b.log_dir_moves > 0

    @cached_property
    def directories_fail(self) -> bool:
        """A directory with the log may fail while its broker runs on (KIP-112)."""
        return self._b.log_dir_failures > 0 and self.rules.directories_fail_alone

    @cached_property
    def copies_may_fail(self) -> bool:
        """The directory of a log's copy may fail."""
        return self.directories_fail and self.log_dir_moves

    @cached_property
    def directories_are_assigned(self) -> bool:
        """The controller is asked to accept the directory of a copy before that takes the log's place (KIP-858)."""
        return self.copies_may_fail and self.rules.controller_knows_directories

    @cached_property
    def names_directories(self) -> bool:
        """Brokers tell the controller where a log is: one that began anew, or whose copy was dropped (KIP-858)."""
        return self._b.log_dir_failures > 0 and self.rules.controller_knows_directories

    @cached_property
    def leaves_unassigned(self) -> bool:
        """The controller does not know the directory of a replica that a reassignment adds (N-18)."""
        knows = self.directories_fail and self.rules.controller_knows_directories
        return knows and self.reassigns and not self.fixes.added_replica_names_directory

    @cached_property
    def directory_may_be_another(self) -> bool:
        """The controller may take a log to be in another directory than it is, or in none."""
        return self.directories_are_assigned or self.leaves_unassigned

    @cached_property
    def notes_offline(self) -> bool:
        """The controller notes who is in a directory that has failed, or is not there."""
        return self.directories_fail or self.names_directories

    @cached_property
    def naming_clears_elr(self) -> bool:
        """The controller forgets the eligible leader replicas when a broker names a directory (N-17)."""
        return self._names_with_elr and not self.rules.named_directory_keeps_elr

    @cached_property
    def named_elr_differs(self) -> bool:
        """The eligible leader replicas may be others after a broker has named a directory."""
        goes_stale = self.reassigns or self.changes_minimum
        return self.naming_clears_elr or (self._names_with_elr and goes_stale)

    @cached_property
    def _names_with_elr(self) -> bool:
        knows = self.elr and self.rules.controller_knows_directories
        return knows and (self.log_dir_moves or self.names_directories)

    # ---------------------------------------------------------------------------------------------------------- clients

    @cached_property
    def sends_again(self) -> bool:
        """A producer sends a record again, as it has no answer."""
        return self._b.retries > 0

    @cached_property
    def is_idempotent(self) -> bool:
        """Producers number what they send, so that a leader takes each record once and in order (KIP-98).

        With another acks than all none do: by default they do without, and where it is set Kafka's producer refuses to
        start. Source: ProducerConfig.postProcessAndValidateIdempotenceConfigs, KIP-679.
        """
        if self._b.settings.acks is not Acks.ALL or self._b.settings.release.is_before(Release.V0_11):
            return False
        asked: Idempotence = self._b.settings.idempotence
        return self.rules.idempotent_by_default if asked is Idempotence.RELEASE else asked is Idempotence.ON

    @cached_property
    def restarts_producer(self) -> bool:
        """The producer may start anew while requests of the former one may come."""
        return self.sends_again and self._b.producer_restarts > 0

    @cached_property
    def keeps_writes_waiting(self) -> bool:
        """Who has appended records may answer for them although its broker leads no more (KAFKA-20634)."""
        return not self.guards.waiting_writes_need_leader

    @cached_property
    def consumes(self) -> bool:
        """A consumer reads."""
        return self._b.settings.consumer is not Consumer.OFF

    @cached_property
    def reads_followers(self) -> bool:
        """A consumer reads from followers too (KIP-392)."""
        return self._b.settings.consumer is Consumer.FOLLOWER and self.rules.followers_are_read

    @cached_property
    def validates_positions(self) -> bool:
        """A consumer asks a new leader where the epoch of its last record ends (KIP-320)."""
        return self.rules.consumer_checks_epoch

    @cached_property
    def deletes(self) -> bool:
        """Records are deleted at the start of a log, and operators are told when all have deleted them (KIP-107)."""
        return self._b.delete_records > 0

    @cached_property
    def finds_older_starts(self) -> bool:
        """A crashed broker may find an older log start on disk."""
        return self.deletes and self.stale_checkpoints

    @cached_property
    def cuts_without_epochs(self) -> bool:
        """A follower whose epoch cache is empty cuts its log back to its high watermark before it fetches."""
        return self.finds_older_starts and not self.asks_before_fetching


When = Callable[[Features], bool]
"""What a field, a part or a step depends on."""


def always(features: Features) -> bool:
    """Hold whatever is in force."""
    return True

"""The state of the cluster model: controller, metadata on its way, brokers with their logs, and what clients know.

Numbers that only ever grow are kept out of the state where their differences say enough. A partition epoch is a place
in `changes`, the controller's latest decisions: place 0 is the newest, and a broker's `lag` is the place of the one
that it has applied. A broker epoch is one bit wherever it is kept: whether it is still that of the broker's present
incarnation. docs/guide/cluster-model.md says of every field what it is for, and what was left out.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from insync.kafka.cluster.configuration import (
    BOUNDS,
    SETTINGS,
    Acks,
    Consumer,
    Flushing,
    OffsetReset,
    epoch_bumps,
    has_quorum,
    has_snapshots,
    is_idempotent,
    keeps_elr,
    require_a_defect_to_fix,
    rules_of,
    without_races,
)
from insync.kafka.cluster.indices import ChangeIndex, LeaderEpoch, Offset, RecordNumber, Target
from insync.kafka.replica import Replica
from insync.kafka.rules import ControllerFence, IsrWrite, MinimumChange, Rules
from insync.model import (
    Absent,
    Array,
    Bool,
    BoundValues,
    Int,
    Model,
    Option,
    Record,
    Set,
    State,
    StateView,
    UserError,
    set_of,
)

__all__ = ["Actor", "ChangeIndex", "ClusterState", "LeaderEpoch", "Offset", "RecordNumber", "Replica", "Target"]


class Actor:
    """One who acts in the cluster. `Cluster` is made of all of them, so each uses its fields and the others' rules."""

    b: BoundValues
    rules: Rules
    acks: Acks
    flushing: Flushing
    elr: bool
    unclean: bool
    late_replies: bool
    isr_replies: bool
    forgets_requests: bool
    sessions: bool
    fails_over: bool
    deposed_may_write: bool
    quorum_decides: bool
    hears_uncommitted: bool
    directories_fail: bool
    directories_are_assigned: bool
    names_directories: bool
    can_reorder: bool
    naming_clears_elr: bool
    named_elr_differs: bool
    leaves_unassigned: bool
    old_checkpoints: bool
    notes_errors: bool
    answers_deletions: bool
    finds_older_starts: bool
    is_idempotent: bool
    restarts_producer: bool
    consumes: bool
    offset_reset: OffsetReset
    configures: bool
    minimum_may_be_late: bool
    loads_snapshots: bool
    forgets_removals: bool
    notes_replies: bool

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class ClusterState(Model):
    """One partition of a cluster: a controller, and brokers with a replica each."""

    name = "cluster_state"
    bounds = BOUNDS
    settings = SETTINGS

    def __init__(self, **chosen: int | str | Enum) -> None:
        super().__init__(**chosen)
        if self.b.spares >= self.b.replicas:
            message = f"spares {self.b.spares} is too many: one of the {self.b.replicas} brokers must have a replica."
            raise UserError(message)
        require_a_defect_to_fix(self.b)
        rules = rules_of(self.b)
        self.rules = rules if self.b.settings.races else without_races(rules)
        self.acks: Acks = self.b.settings.acks
        self.flushing: Flushing = self.b.settings.flushing
        self.unclean = bool(self.b.settings.unclean) and self.rules.unclean_is_honoured
        self.late_replies = bool(self.b.settings.late_replies)
        self.isr_replies = bool(self.b.settings.isr_replies) and not rules.register_needs_fenced
        self.forgets_requests = self.isr_replies and not rules.metadata_keeps_proposal
        self.sessions = bool(self.b.settings.fetch_sessions) and rules.fetches_in_sessions
        self.fails_over = self.b.failovers > 0 and rules.controller_in_zookeeper
        self.quorum_decides = has_quorum(self.b)
        self.can_reorder = self.b.reorderings > 0 and rules.isr_write is IsrWrite.PROPOSED
        may_go_on = self.fails_over or (self.quorum_decides and self.b.failovers > 0)
        waits = rules.brokers_hear_committed and rules.answers_wait_for_commit
        self.hears_uncommitted = self.quorum_decides and not waits
        self.deposed_may_write = may_go_on and rules.controller_fence is not ControllerFence.EPOCH
        self.directories_fail = self.b.directory_failures > 0 and rules.directories_fail_alone
        self.directories_are_assigned = (
            self.directories_fail and self.b.moves > 0 and rules.controller_knows_directories
        )
        loses = self.b.directory_losses > 0 and rules.controller_knows_directories
        self.names_directories = self.directories_are_assigned or loses
        knows = self.directories_fail and rules.controller_knows_directories
        self.leaves_unassigned = knows and self.b.reassignments > 0 and not rules.added_replica_names_directory
        names = self.names_directories or self.leaves_unassigned
        self.loads_snapshots = has_snapshots(self.b) and not names
        self.forgets_removals = self.loads_snapshots and self.b.reassignments > 0 and not rules.snapshot_tells_removals
        self.notes_replies = self.isr_replies or self.forgets_removals
        self.old_checkpoints = bool(self.b.settings.old_checkpoints)
        self.answers_deletions = bool(self.b.settings.deletion_answers) and self.b.deletions > 0
        self.finds_older_starts = self.answers_deletions and self.old_checkpoints
        self.notes_errors = bool(self.b.settings.write_errors) and self.acks is Acks.ALL
        self.is_idempotent = is_idempotent(self.b)
        self.restarts_producer = self.b.retries > 0 and self.b.producer_restarts > 0
        self.consumes = self.b.settings.consumer is not Consumer.OFF
        self.offset_reset: OffsetReset = self.b.settings.offset_reset
        self.elr = keeps_elr(self.b)
        knows = self.elr and rules.controller_knows_directories
        named = knows and (self.b.moves > 0 or self.b.directory_losses > 0 or self.leaves_unassigned)
        self.naming_clears_elr = named and not rules.named_directory_keeps_elr
        goes_stale = self.b.reassignments > 0 or self.b.minimum_changes > 0
        self.named_elr_differs = self.naming_clears_elr or (named and goes_stale)
        self.configures = self.b.minimum_changes > 0 and self.rules.minimum_change is not MinimumChange.PARTITION
        hears_by_reply = self.isr_replies and not rules.reply_waits_for_configuration and not self.hears_uncommitted
        self.minimum_may_be_late = self.configures and hears_by_reply and self.b.metadata_lag > 1
        self.needed = min(self.b.min_insync, self.b.replicas)
        """How many members the ISR must have for acks=all: min.insync.replicas, but never more than all."""

    def declare(self, b: BoundValues) -> State:
        """Lay out the state; a log has records from `start` to `leo` and r0 elsewhere; ends are exclusive."""
        return State(
            controller=self._controller(b),
            # The quorum: whether no controller is active; how many of the newest changes are not committed; what holds
            # as far as is committed, the requests that come again if the rest is lost; sessions that nobody watches.
            quorum=Absent.unless(
                self.quorum_decides,
                Record(
                    inactive=Bool,
                    uncommitted=Int(0, b.metadata_lag),
                    controller=self._controller(b),
                    alter=Record(isr=Set(Replica), current=Bool),
                    again=Absent.unless(b.alter_retries, Record(isr=Set(Replica), current=Bool)),
                    unwatched=Absent.unless(not self.rules.controller_watches_all, Set(Replica)),
                    thin_move=Absent.unless(b.reassignments, Bool),
                ),
            ),
            changes=Array(
                b.metadata_lag + 1,
                Record(
                    leader=Option(Replica),
                    epoch=LeaderEpoch,
                    isr=Set(Replica),
                    minimum_is_one=Absent.unless(b.minimum_changes, Bool),
                    # It is configuration alone, and leaves the partition and its epoch as they were.
                    configuration=Absent.unless(self.configures, Bool),
                    # Its leader has asked for it, and hears of it by a reply as well.
                    replied=Absent.unless(self.notes_replies, Bool),
                    replicas=Absent.unless(b.reassignments, Set(Replica)),
                    listed=Absent.unless(
                        self.leaves_unassigned, Set(Replica)
                    ),  # replicas in directories that it lists again
                    # It was made by a deposed controller, of which the present one knows nothing.
                    by_deposed=Absent.unless(self.deposed_may_write, Bool),
                    # It was lost before it was committed, and nobody hears of it who has not yet.
                    lost=Absent.unless(self.hears_uncommitted, Bool),
                ),
            ),
            # The AlterPartition on its way that is not too late: the ISR proposed, empty if there is none, and whether
            # the incarnations of which it speaks are the present ones.
            alter=Record(isr=Set(Replica), current=Bool),
            # The request that was accepted, and will come again, as its answer was lost.
            again=Absent.unless(b.alter_retries, Record(isr=Set(Replica), current=Bool)),
            broker=Array(Replica, self._broker(b)),
            written=Int(0, b.records),
            epoch_of=Array(RecordNumber, LeaderEpoch),
            # Which record it is that was sent, where it may be one that was sent before.
            sent=Absent.unless(b.retries, Array(RecordNumber, RecordNumber)),
            # In which epoch of its producer it was sent.
            producer_epoch=Absent.unless(self.restarts_producer, Array(RecordNumber, Int(0, b.producer_restarts))),
            # What clients were told: the records acknowledged, and those first seen below a leader's high watermark.
            acked=Set(RecordNumber),
            # Records of which a producer was told that they are stored, but on too few replicas.
            refused=Absent.unless(self.notes_errors, Set(RecordNumber)),
            deleted=Absent.unless(b.deletions, Set(RecordNumber)),
            # All records below this offset are gone, as an operator was told; whether a live replica had one then.
            deleted_below=Absent.unless(self.answers_deletions, Int(0, b.records)),
            undone=Absent.unless(self.answers_deletions, Bool),
            thin_ack=Bool,
            thin_move=Absent.unless(b.reassignments, Bool),
            seen=Array(b.records, Option(RecordNumber)),
            consumer=Absent.unless(self.consumes, self._consumer(b)),
            spent=Record(
                retries=Int(0, b.retries),
                producer_restarts=Absent.unless(self.restarts_producer, Int(0, b.producer_restarts)),
                lossy_crashes=Int(0, b.lossy_crashes),
                crashes=Int(0, b.lossy_crashes + b.crashes),
                stops=Int(0, b.stops),
                fencings=Int(0, b.fencings),
                shrinks=Int(0, b.shrinks),
                elections=Int(0, b.elections),
                alter_retries=Absent.unless(b.alter_retries, Int(0, b.alter_retries)),
                minimum_changes=Int(0, b.minimum_changes),
                reassignments=Int(0, b.reassignments),
                reorderings=Absent.unless(self.can_reorder, Int(0, b.reorderings)),
                pauses=Int(0, b.pauses),
                throttles=Int(0, b.throttles),
                moves=Int(0, b.moves),
                directory_losses=Int(0, b.directory_losses),
                directory_failures=Absent.unless(self.directories_fail, Int(0, b.directory_failures)),
                deletions=Int(0, b.deletions),
                failovers=Absent.unless(self.fails_over or self.quorum_decides, Int(0, b.failovers)),
                session_losses=Absent.unless(self.sessions, Int(0, b.session_losses)),
                snapshots=Absent.unless(self.loads_snapshots, Int(0, b.snapshots)),
            ),
        )

    def _controller(self, b: BoundValues) -> Record:
        return Record(
            fenced=Set(Replica),
            elr=Absent.unless(self.elr, Set(Replica)),
            last_leader=Absent.unless(self.elr, Option(Replica)),
            minimum_is_one=Absent.unless(b.minimum_changes, Bool),
            # A controller that does not know that it is deposed, whom it takes for dead, the ISR that it has read.
            deposed=Absent.unless(self.deposed_may_write, Bool),
            deposed_fenced=Absent.unless(self.deposed_may_write, Set(Replica)),
            deposed_isr=Absent.unless(
                self.deposed_may_write and self.rules.controller_fence is ControllerFence.NOTHING, Set(Replica)
            ),
            # The replicas that are in a directory of which it has heard that it has failed, or is not there.
            without_directory=Absent.unless(self.directories_fail or self.names_directories, Set(Replica)),
            # Those that a reassignment has added, and of which it does not know in which directory they are.
            unassigned=Absent.unless(self.leaves_unassigned, Set(Replica)),
            # During a reassignment: `removing` are still replicas, `adding` already are.
            adding=Absent.unless(b.reassignments, Set(Replica)),
            removing=Absent.unless(b.reassignments, Set(Replica)),
            # The place of each broker in the order of replicas; those without a replica come last.
            places=Absent.unless(self.can_reorder, Array(Replica, Int(0, b.replicas - 1))),
        )

    def _broker(self, b: BoundValues) -> Record:
        rules = self.rules
        end = Int(0, b.records)
        return Record(
            running=Bool,
            clean=Absent.unless(b.stops, Bool),
            stopping=Absent.unless(b.stops, Bool),
            # It has not heard of the newest controller.
            unaware=Absent.unless(self.deposed_may_write, Bool),
            lag=Int(0, b.metadata_lag),
            # It knows its view from a reply, and metadata will bring the same once more.
            repeats=Absent.unless(self.isr_replies, Bool),
            # The former view that it keeps, after a snapshot that took its replica away (KAFKA-16892).
            kept=Absent.unless(
                self.forgets_removals,
                Record(leader=Option(Replica), epoch=LeaderEpoch, isr=Set(Replica), replicas=Set(Replica)),
            ),
            # Changes of min.insync.replicas from before the ISR that a reply has told it, and that it has not heard of.
            unheard=Absent.unless(self.minimum_may_be_late, Int(0, b.minimum_changes)),
            log=Array(b.records, RecordNumber),
            start=Absent.unless(b.deletions, end),
            # Where the file of the log begins: what was deleted behind that may be found again.
            base=Absent.unless(self.finds_older_starts, end),
            leo=end,
            hw=end,
            flushed=Absent.unless(self.flushing is Flushing.SOMETIMES, end),
            # The newest epoch in the epoch cache, -1 if it is empty. All older entries follow from the log, because
            # an entry without records gives way to the next one.
            term=Int(-1, epoch_bumps(b)),
            epoch_start=end,
            # The log end at which a leader began to lead without a break; it still answers the producers of that time.
            leads_since=end,
            # By offset, what it has appended as a leader and not answered for.
            waits=Absent.unless(not rules.waiting_writes_need_leader, Array(b.records, Option(RecordNumber))),
            # The ISR that a leader has proposed, empty if none.
            pending=Set(Replica),
            known=Array(
                Replica,
                Record(end=Option(end), current=Bool, start=Absent.unless(self.answers_deletions, end)),
            ),
            # What an operator waits for to be deleted.
            deleting=Absent.unless(self.answers_deletions, end),
            truncating=Absent.unless(rules.truncation.asks_first, Bool),
            to_cut=Absent.unless(self.finds_older_starts and not rules.truncation.asks_first, Bool),
            session=Absent.unless(self.sessions or (rules.fence_fetch and not rules.session_keeps_epoch), Bool),
            # What the session has told: the high watermark, and where the log starts; what was named in it last.
            told=Absent.unless(self.sessions, Option(end)),
            told_start=Absent.unless(self.sessions and b.deletions, end),
            named=Absent.unless(
                self.sessions and rules.named_is_answered, Record(offset=end, term=Int(-1, epoch_bumps(b)))
            ),
            # A fetcher that has failed; a quota that is used up; the end of the log's copy in another directory.
            paused=Absent.unless(b.pauses, Bool),
            throttled=Absent.unless(b.throttles, Bool),
            copied=Absent.unless(b.moves, Option(end)),
            # The directory with its log has failed.
            offline=Absent.unless(self.directories_fail, Bool),
            # The other directory has failed, with the copy, or with a log that has begun anew since.
            other_failed=Absent.unless(self.directories_fail and (b.moves or self.leaves_unassigned), Bool),
            # The controller has accepted its copy; it takes the log to be where it is not; it is to hear where.
            accepted=Absent.unless(self.directories_are_assigned, Bool),
            elsewhere=Absent.unless(self.directories_are_assigned, Bool),
            to_hear=Absent.unless(self.directories_are_assigned, Bool),
            # It is to tell the controller where its log is: `elsewhere`, or in a directory for one that is gone.
            untold=Absent.unless(self.names_directories, Bool),
            # Where its next fetcher is to begin, and whether that has found the log to end elsewhere.
            begins_at=Absent.unless(self.late_replies and not rules.fetcher_begins_at_log_end, Option(end)),
            given_up=Absent.unless(self.late_replies and not rules.fetcher_begins_at_log_end, Bool),
            last_fetched_epoch_empty=Absent.unless(not rules.empty_reply_keeps_epoch, Bool),
            joining=Absent.unless(not rules.join_reads_one_snapshot, Set(Replica)),
            # A fetch's reply on its way: records from `offset` on, or where the logs diverge.
            reply=Absent.unless(
                self.late_replies,
                Record(
                    waiting=Bool,
                    # Its records may still be on the leader's disk alone, where other ones may take their place.
                    unsent=Bool,
                    offset=end,
                    record=Option(RecordNumber),
                    hw=end,
                    diverging=Bool,
                    epoch=LeaderEpoch,
                    end=end,
                    start=Absent.unless(b.deletions, end),
                ),
            ),
        )

    def _consumer(self, b: BoundValues) -> Record:
        end = Int(0, b.records)
        return Record(
            position=end,
            # What it got from `begin` to its position, without a reset since, and the epoch of the last of that.
            begin=end,
            got=Array(b.records, RecordNumber),
            last_epoch=Int(-1, epoch_bumps(b)),
            leader_epoch=Absent.unless(self.rules.consumer_checks_epoch, LeaderEpoch),
            # It has read on in a log that has other records where it has read before.
            misled=Bool,
        )

    def initial(self, s: StateView) -> None:
        """Start with b1 leading in epoch 0, all brokers running; all but the spares have an empty log, in the ISR."""
        s.changes[0].leader = 0
        assigned = self.all(Replica)[: self.b.replicas - self.b.spares]
        s.changes[0].isr = set_of(assigned)
        s.changes[0].replicas = set_of(assigned)
        for replica in self.all(Replica):
            s.broker[replica].running = True
            s.broker[replica].term = -1
            if self.can_reorder:
                s.controller.places[replica] = int(replica)
        if self.consumes:
            s.consumer.last_epoch = -1
        if self.rules.cache_epoch_on_election:
            s.broker[0].term = 0

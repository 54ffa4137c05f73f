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
    Flushing,
    OffsetReset,
    require_a_defect_to_fix,
    rules_of,
)
from insync.kafka.cluster.features import Features
from insync.kafka.cluster.indices import ChangeIndex, LeaderEpoch, Offset, RecordNumber, Target, epoch_bumps
from insync.kafka.releases import ControllerFence, Fixes, Guards, ReleaseRules, Rules
from insync.kafka.replica import Replica
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
    in_force: Rules
    rules: ReleaseRules
    fixes: Fixes
    guards: Guards
    features: Features
    acks: Acks
    flushing: Flushing
    offset_reset: OffsetReset
    needed: int

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
        self.in_force = rules_of(self.b)
        self.rules, self.fixes, self.guards = self.in_force.release, self.in_force.fixes, self.in_force.guards
        self.features = Features(self.b, self.in_force)
        self.acks: Acks = self.b.settings.acks
        self.flushing: Flushing = self.b.settings.flushing
        self.offset_reset: OffsetReset = self.b.settings.offset_reset
        self.needed = min(self.b.min_insync, self.b.replicas)
        """How many members the ISR must have for acks=all: min.insync.replicas, but never more than all."""

    def declare(self, b: BoundValues) -> State:
        """Lay out the state; a log has records from `start` to `leo` and r0 elsewhere; ends are exclusive."""
        return State(
            controller=self._controller(b),
            # The quorum: whether no controller is active; how many of the newest changes are not committed; what holds
            # as far as is committed, the requests that come again if the rest is lost; sessions that nobody watches.
            quorum=Absent.unless(
                self.features.quorum_decides,
                Record(
                    inactive=Bool,
                    uncommitted=Int(0, b.metadata_lag),
                    controller=self._controller(b),
                    alter=Record(isr=Set(Replica), current=Bool),
                    again=Absent.unless(self.features.asks_again, Record(isr=Set(Replica), current=Bool)),
                    unwatched=Absent.unless(not self.guards.controller_watches_all, Set(Replica)),
                    thin_move=Absent.unless(self.features.reassigns, Bool),
                ),
            ),
            changes=Array(
                b.metadata_lag + 1,
                Record(
                    leader=Option(Replica),
                    epoch=LeaderEpoch,
                    isr=Set(Replica),
                    minimum_is_one=Absent.unless(self.features.changes_minimum, Bool),
                    # It is configuration alone, and leaves the partition and its epoch as they were.
                    configuration=Absent.unless(self.features.configures, Bool),
                    # Its leader has asked for it, and hears of it by a reply as well.
                    replied=Absent.unless(self.features.notes_replies, Bool),
                    replicas=Absent.unless(self.features.reassigns, Set(Replica)),
                    listed=Absent.unless(
                        self.features.leaves_unassigned, Set(Replica)
                    ),  # replicas in directories that it lists again
                    # It was made by a deposed controller, of which the present one knows nothing.
                    by_deposed=Absent.unless(self.features.deposed_may_write, Bool),
                    # It was lost before it was committed, and nobody hears of it who has not yet.
                    lost=Absent.unless(self.features.hears_uncommitted, Bool),
                ),
            ),
            # The AlterPartition on its way that is not too late: the ISR proposed, empty if there is none, and whether
            # the incarnations of which it speaks are the present ones.
            alter=Record(isr=Set(Replica), current=Bool),
            # The request that was accepted, and will come again, as its answer was lost.
            again=Absent.unless(self.features.asks_again, Record(isr=Set(Replica), current=Bool)),
            broker=Array(Replica, self._broker(b)),
            written=Int(0, b.records),
            epoch_of=Array(RecordNumber, LeaderEpoch),
            # Which record it is that was sent, where it may be one that was sent before.
            sent=Absent.unless(self.features.sends_again, Array(RecordNumber, RecordNumber)),
            # In which epoch of its producer it was sent.
            producer_epoch=Absent.unless(
                self.features.restarts_producer, Array(RecordNumber, Int(0, b.producer_restarts))
            ),
            # What clients were told: the records acknowledged, and those first seen below a leader's high watermark.
            acked=Set(RecordNumber),
            # Records of which a producer was told that they are stored, but on too few replicas.
            refused=Absent.unless(self.features.notes_errors, Set(RecordNumber)),
            deleted=Absent.unless(self.features.deletes, Set(RecordNumber)),
            # All records below this offset are gone, as an operator was told; whether a live replica had one then.
            deleted_below=Absent.unless(self.features.answers_deletions, Int(0, b.records)),
            undone=Absent.unless(self.features.answers_deletions, Bool),
            thin_ack=Bool,
            thin_move=Absent.unless(self.features.reassigns, Bool),
            seen=Array(b.records, Option(RecordNumber)),
            consumer=Absent.unless(self.features.consumes, self._consumer(b)),
            spent=Record(
                retries=Int(0, b.retries),
                producer_restarts=Absent.unless(self.features.restarts_producer, Int(0, b.producer_restarts)),
                lossy_crashes=Int(0, b.lossy_crashes),
                crashes=Int(0, b.lossy_crashes + b.crashes),
                stops=Int(0, b.stops),
                fencings=Int(0, b.fencings),
                shrinks=Int(0, b.shrinks),
                elections=Int(0, b.elections),
                alter_retries=Absent.unless(self.features.asks_again, Int(0, b.alter_retries)),
                minimum_changes=Int(0, b.minimum_changes),
                reassignments=Int(0, b.reassignments),
                reorderings=Absent.unless(self.features.can_reorder, Int(0, b.reorderings)),
                pauses=Int(0, b.pauses),
                throttles=Int(0, b.throttles),
                moves=Int(0, b.moves),
                directory_losses=Int(0, b.directory_losses),
                directory_failures=Absent.unless(self.features.directories_fail, Int(0, b.directory_failures)),
                deletions=Int(0, b.deletions),
                failovers=Absent.unless(self.features.counts_failovers, Int(0, b.failovers)),
                session_losses=Absent.unless(self.features.sessions, Int(0, b.session_losses)),
                snapshots=Absent.unless(self.features.loads_snapshots, Int(0, b.snapshots)),
            ),
        )

    def _controller(self, b: BoundValues) -> Record:
        return Record(
            fenced=Set(Replica),
            elr=Absent.unless(self.features.elr, Set(Replica)),
            last_leader=Absent.unless(self.features.elr, Option(Replica)),
            minimum_is_one=Absent.unless(self.features.changes_minimum, Bool),
            # A controller that does not know that it is deposed, whom it takes for dead, the ISR that it has read.
            deposed=Absent.unless(self.features.deposed_may_write, Bool),
            deposed_fenced=Absent.unless(self.features.deposed_may_write, Set(Replica)),
            deposed_isr=Absent.unless(
                self.features.deposed_may_write and self.rules.controller_fence is ControllerFence.NOTHING, Set(Replica)
            ),
            # The replicas that are in a directory of which it has heard that it has failed, or is not there.
            without_directory=Absent.unless(self.features.notes_offline, Set(Replica)),
            # Those that a reassignment has added, and of which it does not know in which directory they are.
            unassigned=Absent.unless(self.features.leaves_unassigned, Set(Replica)),
            # During a reassignment: `removing` are still replicas, `adding` already are.
            adding=Absent.unless(self.features.reassigns, Set(Replica)),
            removing=Absent.unless(self.features.reassigns, Set(Replica)),
            # The place of each broker in the order of replicas; those without a replica come last.
            places=Absent.unless(self.features.can_reorder, Array(Replica, Int(0, b.replicas - 1))),
        )

    def _broker(self, b: BoundValues) -> Record:
        rules = self.rules
        end = Int(0, b.records)
        return Record(
            running=Bool,
            clean=Absent.unless(self.features.stops, Bool),
            stopping=Absent.unless(self.features.stops, Bool),
            # It has not heard of the newest controller.
            unaware=Absent.unless(self.features.deposed_may_write, Bool),
            lag=Int(0, b.metadata_lag),
            # It knows its view from a reply, and metadata will bring the same once more.
            repeats=Absent.unless(self.features.isr_replies, Bool),
            # The former view that it keeps, after a snapshot that took its replica away (KAFKA-16892).
            kept=Absent.unless(
                self.features.forgets_removals,
                Record(leader=Option(Replica), epoch=LeaderEpoch, isr=Set(Replica), replicas=Set(Replica)),
            ),
            # Changes of min.insync.replicas from before the ISR that a reply has told it, and that it has not heard of.
            unheard=Absent.unless(self.features.minimum_may_be_late, Int(0, b.minimum_changes)),
            log=Array(b.records, RecordNumber),
            start=Absent.unless(self.features.deletes, end),
            # Where the file of the log begins: what was deleted behind that may be found again.
            base=Absent.unless(self.features.finds_older_starts, end),
            leo=end,
            hw=end,
            flushed=Absent.unless(self.features.flushes_sometimes, end),
            # The newest epoch in the epoch cache, -1 if it is empty. All older entries follow from the log, because
            # an entry without records gives way to the next one.
            term=Int(-1, epoch_bumps(b)),
            epoch_start=end,
            # The log end at which a leader began to lead without a break; it still answers the producers of that time.
            leads_since=end,
            # By offset, what it has appended as a leader and not answered for.
            waits=Absent.unless(self.features.keeps_writes_waiting, Array(b.records, Option(RecordNumber))),
            # The ISR that a leader has proposed, empty if none.
            pending=Set(Replica),
            known=Array(
                Replica,
                Record(end=Option(end), current=Bool, start=Absent.unless(self.features.answers_deletions, end)),
            ),
            # What an operator waits for to be deleted.
            deleting=Absent.unless(self.features.answers_deletions, end),
            truncating=Absent.unless(rules.truncation.asks_first, Bool),
            to_cut=Absent.unless(self.features.finds_older_starts and not rules.truncation.asks_first, Bool),
            session=Absent.unless(self.features.notes_sessions, Bool),
            # What the session has told: the high watermark, and where the log starts; what was named in it last.
            told=Absent.unless(self.features.sessions, Option(end)),
            told_start=Absent.unless(self.features.sessions and self.features.deletes, end),
            named=Absent.unless(
                self.features.sessions and self.fixes.named_is_answered,
                Record(offset=end, term=Int(-1, epoch_bumps(b))),
            ),
            # A fetcher that has failed; a quota that is used up; the end of the log's copy in another directory.
            paused=Absent.unless(self.features.pauses, Bool),
            throttled=Absent.unless(self.features.throttles, Bool),
            copied=Absent.unless(self.features.moves, Option(end)),
            # The directory with its log has failed.
            offline=Absent.unless(self.features.directories_fail, Bool),
            # The other directory has failed, with the copy, or with a log that has begun anew since.
            other_failed=Absent.unless(self.features.other_directory_may_fail, Bool),
            # The controller has accepted its copy; it takes the log to be where it is not; it is to hear where.
            accepted=Absent.unless(self.features.directories_are_assigned, Bool),
            elsewhere=Absent.unless(self.features.directories_are_assigned, Bool),
            to_hear=Absent.unless(self.features.directories_are_assigned, Bool),
            # It is to tell the controller where its log is: `elsewhere`, or in a directory for one that is gone.
            untold=Absent.unless(self.features.names_directories, Bool),
            # Where its next fetcher is to begin, and whether that has found the log to end elsewhere.
            begins_at=Absent.unless(self.features.late_fetchers, Option(end)),
            given_up=Absent.unless(self.features.late_fetchers, Bool),
            last_fetched_epoch_empty=Absent.unless(not rules.empty_reply_keeps_epoch, Bool),
            joining=Absent.unless(not rules.join_reads_one_snapshot, Set(Replica)),
            # A fetch's reply on its way: records from `offset` on, or where the logs diverge.
            reply=Absent.unless(
                self.features.late_replies,
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
                    start=Absent.unless(self.features.deletes, end),
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
            if self.features.can_reorder:
                s.controller.places[replica] = int(replica)
        if self.features.consumes:
            s.consumer.last_epoch = -1
        if self.rules.cache_epoch_on_election:
            s.broker[0].term = 0

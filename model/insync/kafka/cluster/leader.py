"""The leader: its high watermark, and the ISR that it asks for.

Kafka: Partition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.configuration import Acks
from insync.kafka.cluster.indices import Target
from insync.kafka.cluster.state import ClusterState
from insync.kafka.releases import Counting, IsrWrite, MinimumChange, StrictMinimum
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Not, Num, Or, SetValue, action, minimum, require, set_of, when

__all__ = ["Leader"]


class Leader(Actor):
    """What a broker does that believes it leads."""

    # ------------------------------------------------------------------------------------------------------- actions

    @action(label="{leader} adds {follower} to the ISR")
    def expand_isr(self, s: ClusterState, leader: Replica, follower: Replica) -> None:
        """A leader asks for a follower that has caught up to be taken into the ISR.

        Kafka does this within a fetch of that follower; here it may come later, with what the last fetch said, but with
        directories that fail only while the follower has its log. Whether it may join by its registration is left to
        the controller, which has the last word.
        Kafka: Partition.maybeExpandIsr, canAddReplicaToIsr.
        """
        require(leader != follower, self.leads(s, leader))
        if self.features.directories_fail:
            require(self.is_online(s, follower))
        l = s.broker[leader]
        isr = self.view_of(s, leader).isr
        require(l.pending.is_empty(), Not(isr.contains(follower)), self.has_caught_up(s, leader, follower))
        if self.rules.isr_within_replicas:
            require(self.is_assigned(self.view_of(s, leader), follower))
        current = l.known[follower].current
        l.joining -= {follower}
        self.propose(s, leader, isr | {follower}, current)

    @action(label="{leader} drops {follower} from the ISR")
    def shrink_isr(self, s: ClusterState, leader: Replica, follower: Replica) -> None:
        """A leader asks for a member that has been behind for too long to be taken out of the ISR.

        How long that is (replica.lag.time.max.ms) is not modelled: it may be any time.
        Kafka: Partition.maybeShrinkIsr, getOutOfSyncReplicas.
        """
        require(leader != follower, self.may_be_slow(s, 1), self.leads(s, leader))
        l = s.broker[leader]
        isr = self.view_of(s, leader).isr
        require(l.pending.is_empty(), isr.contains(follower), Not(l.known[follower].end == l.leo))
        self.spend_on_slowness(s, 1)
        self.propose(s, leader, isr - {follower}, True)

    @action(label="{leader} drops {followers} from the ISR at once")
    def shrink_isr_by_several(self, s: ClusterState, leader: Replica, followers: Target) -> None:
        """A leader finds several members that have been behind for too long, and one proposal is without all of them.

        Kafka: Partition.getOutOfSyncReplicas, prepareIsrShrink.
        """
        dropped = [replica for replica in self.all(Replica) if replica in followers]
        l, isr = s.broker[leader], self.view_of(s, leader).isr
        require(len(dropped) > 1, len(dropped) <= self.b.shrinks, leader not in dropped)
        require(self.leads(s, leader), l.pending.is_empty(), self.may_be_slow(s, len(dropped)))
        require(*[And(isr.contains(r), Not(l.known[r].end == l.leo)) for r in dropped])
        self.spend_on_slowness(s, len(dropped))
        self.propose(s, leader, isr - followers, True)

    @action(label="{leader} sees that {follower} has caught up")
    def look_at_follower(self, s: ClusterState, leader: Replica, follower: Replica) -> None:
        """The first half of an expansion where the code reads the follower's state twice (KAFKA-15221).

        Kafka: Partition.maybeExpandIsr, as it was before 3.7.
        """
        require(not self.rules.join_reads_one_snapshot, leader != follower, self.leads(s, leader))
        l = s.broker[leader]
        isr = self.view_of(s, leader).isr
        require(Not(l.joining.contains(follower)), Not(isr.contains(follower)), self.reaches(s, leader, follower))
        l.joining |= {follower}

    # --------------------------------------------------------------------------------------------- rules about the ISR

    def may_be_slow(self, s: ClusterState, followers: int) -> Condition:
        """Whether so many followers may be too slow now: the budget has room, or there is none for that."""
        if not self.guards.slowness_has_a_budget:
            return self.b.shrinks > 0
        spent = s.spent.shrinks
        return spent < self.b.shrinks if followers == 1 else spent + followers <= self.b.shrinks

    def spend_on_slowness(self, s: ClusterState, followers: int) -> None:
        """Count followers that are too slow, where there is a budget for that."""
        if self.guards.slowness_has_a_budget:
            s.spent.shrinks += followers

    def has_caught_up(self, s: ClusterState, leader: Replica, follower: Replica) -> Condition:
        """Whether a follower may join the ISR, by what the leader knows of it."""
        if not self.rules.join_reads_one_snapshot:
            return s.broker[leader].joining.contains(follower)
        return self.reaches(s, leader, follower)

    def reaches(self, s: ClusterState, leader: Replica, follower: Replica) -> Condition:
        """Whether a follower's last fetch was at the high watermark and at the start of the leader's epoch, or beyond.

        Kafka: Partition.isFollowerInSync.
        """
        l = s.broker[leader]
        rules, fixes, guards, end = self.rules, self.fixes, self.guards, l.known[follower].end.or_else(-1)
        compares_start = fixes.join_needs_log_start and self.features.answers_deletions
        if fixes.join_below_minimum_needs_end:
            thin = self.view_of(s, leader).isr.count() < self.minimum_at(s, leader)
            whole: Condition = Or(Not(thin), end >= l.leo)
        else:
            whole = True
        return And(
            end >= 0 if guards.join_needs_fetch else True,
            end >= l.hw if guards.join_needs_watermark else True,
            end >= l.epoch_start if rules.join_needs_epoch_start else True,
            l.known[follower].start >= l.start if compares_start else True,
            whole,
        )

    def asks_within_fetch(self, s: ClusterState, leader: Replica, follower: Replica) -> SetValue | None:
        """The follower that has just fetched, if Kafka's leader asks for it at once; what it knows of sessions is late.

        Kafka: Partition.maybeExpandIsr, needsExpandIsr, isReplicaIsrEligible.
        """
        if self.rules.isr_write is IsrWrite.DIRECT or self.guards.counting is not Counting.MAXIMAL:
            return None
        asks = And(s.broker[leader].pending.is_empty(), self.reaches(s, leader, follower))
        if self.rules.unsent_ask_is_dropped:
            asks = And(asks, self.may_ask(s, leader))
            if self.features.forgets_requests:
                asks = And(asks, Not(And(s.changes[0].leader == leader, self.awaits_proposal(s))))
        if self.rules.isr_needs_unfenced:
            asks = And(asks, Not(self.known_fenced(s).contains(follower)))
        return If(asks, set_of([follower]), set())

    def propose(self, s: ClusterState, leader: Replica, isr: SetValue, current: Condition) -> None:
        """Ask for an ISR: of ZooKeeper, which answers at once, or of the controller.

        Each broker has one request on its way, and sends it again until it is answered. The controller refuses one that
        is late without any effect, so only one that it may accept is kept; there is never more than one of those.
        Kafka: AlterPartitionManager.submit, Partition.submitAlterPartition.
        """
        view = self.view_of(s, leader)
        up_to_date = self.knows_partition(s, leader)
        if self.rules.isr_write is IsrWrite.DIRECT:
            change = replace(self.newest(s), leader=leader + 0, epoch=view.epoch, isr=isr, writer=leader)
            require(up_to_date, self.has_room(s, change))
            self.write_metadata(s, change)
            self.advance_watermark(s, leader)
            return
        newest = s.changes[0]
        in_time = up_to_date
        if not self.guards.compare_partition_epoch:
            in_time = And(newest.leader == leader, newest.epoch == view.epoch)
        require(Or(Not(in_time), Not(self.awaits_proposal(s))), self.may_ask(s, leader), self.may_propose(s, leader))
        with when(in_time):
            s.alter.isr = isr
            s.alter.current = current
        self.note_proposal(s, leader, isr, current)
        s.broker[leader].pending = isr

    # ------------------------------------------------------------------------------------------- the high watermark

    def maximal_isr(self, s: ClusterState, leader: Replica) -> SetValue:
        """The members of the committed and of the proposed ISR (PartitionState.maximalIsr)."""
        return self.view_of(s, leader).isr | s.broker[leader].pending

    def counted(self, s: ClusterState, leader: Replica) -> SetValue:
        """The replicas that the high watermark waits for."""
        isr, pending = self.view_of(s, leader).isr, s.broker[leader].pending
        if self.guards.counting is Counting.COMMITTED:
            return isr
        if self.guards.counting is Counting.PROPOSED:
            return If(pending.is_empty(), isr, pending)
        return isr | pending

    def advance_watermark(
        self, s: ClusterState, leader: Replica, least: Num | None = None, asked_for: SetValue | None = None
    ) -> None:
        """Raise the high watermark of a leader to the least log end that it knows of those that count.

        It is tried after an append, after a fetch that shows another log end, and with each state of the partition that
        is committed: not with a proposal, a refusal, or a change of min.insync.replicas.
        Kafka: Partition.maybeIncrementLeaderHW, by appendRecordsToLeader, updateFollowerFetchState, makeLeader and
        handleAlterPartitionUpdate.

        Args:
            s: the state.
            leader: the leader.
            least: min.insync.replicas as it knows it at this moment, if that is not what its metadata says.
            asked_for: who counts although the leader has not asked for it yet.
        """
        l = s.broker[leader]
        least = self.minimum_at(s, leader) if least is None else least
        counted = self.counted(s, leader) if asked_for is None else self.counted(s, leader) | asked_for
        ends = [
            If(And(is_other, counted.contains(f)), l.known[f].end.or_else(-1), l.leo)
            for f, is_other in self.beside(leader)
        ]
        reached = minimum(l.leo, *ends)
        with when(And(self.may_advance(s, leader, least), reached > l.hw)):
            # The leader has looked at a follower under a lock that keeps its own log and high watermark as they are.
            l.joining = set()
            self.tell_clients(s, leader, reached, least)
            l.hw = reached

    def may_advance(self, s: ClusterState, leader: Replica, least: Num | None = None) -> Condition:
        """Whether the ISR is large enough for the high watermark to move, with a minimum or that of its metadata."""
        if self.rules.strict_minimum is StrictMinimum.NO:
            return True
        maximal = self.rules.strict_minimum is StrictMinimum.MAXIMAL
        isr = self.maximal_isr(s, leader) if maximal else self.view_of(s, leader).isr
        return isr.count() >= (self.minimum_at(s, leader) if least is None else least)

    def minimum_at(self, s: ClusterState, replica: Replica) -> Num:
        """min.insync.replicas as a broker knows it; no more than there are replicas in releases that cap it.

        Kafka: Partition.effectiveMinIsr; before KAFKA-15583 its callers took LogConfig.minInSyncReplicas.
        """
        return self.minimum_by(s, replica, self.view_of(s, replica).minimum_is_one)

    def minimum_by(self, s: ClusterState, replica: Replica, is_one: Condition) -> Num:
        """The same, by whether it was set to 1 in a change; each change from before, if not heard of, turns that."""
        view = self.view_of(s, replica)
        if self.features.minimum_may_be_late:
            is_one = Not(is_one == (s.broker[replica].unheard % 2 == 1))
        return If(is_one, 1, self.needed_of(view) if self.rules.minimum_is_capped else self.b.min_insync)

    def minimum_while_adopting(self, s: ClusterState, replica: Replica, former: Any) -> Num | None:
        """min.insync.replicas as a broker knows it while it acts on its new view; none if that is the new one's.

        It is the former view's where a broker takes the configuration of a batch after its topics.
        Kafka: BrokerMetadataPublisher.onMetadataUpdate, which calls ReplicaManager.applyDelta first.
        """
        if not self.features.configures or self.rules.minimum_change is not MinimumChange.AFTER_TOPICS:
            return None
        return self.minimum_by(s, replica, former.minimum_is_one)

    def tell_clients(self, s: ClusterState, leader: Replica, reached: Num, least: Num) -> None:
        """Note what clients learn as a leader's high watermark moves: records to be read, and acknowledgements.

        A record is acknowledged by the leader that has appended it, if that has led ever since and the ISR is large
        enough at that moment; else the answer is an error, NOT_ENOUGH_REPLICAS_AFTER_APPEND.
        Kafka: Partition.checkEnoughReplicasReachOffset, DelayedProduce.tryComplete.
        """
        l = s.broker[leader]
        enough = self.maximal_isr(s, leader).count() >= least
        for offset in range(self.b.records):
            record, passed = l.log[offset], And(l.hw <= offset, offset < reached)
            with when(And(passed, s.seen[offset].is_none())):
                s.seen[offset] = record
            with when(passed):
                l.waits[offset] = None
            if self.acks is Acks.ALL:
                with when(And(passed, enough, l.leads_since <= offset)):
                    s.acked |= {record}
                    # Who asks for fewer replicas asks for fewer copies, also before the leader has heard of it.
                    needed = minimum(least, self.needed_of(s.changes[0]))
                    thin = self.copies(s, leader, offset) + s.spent.lossy_crashes + s.spent.directory_losses < needed
                    s.thin_ack = Or(s.thin_ack, thin)
                if self.features.notes_errors:
                    with when(And(passed, Not(enough), l.leads_since <= offset)):
                        s.refused |= {record}

    def copies(self, s: ClusterState, leader: Replica, offset: int) -> Num:
        """How many replicas, running or not, have the leader's record at an offset."""
        record = s.broker[leader].log[offset]
        others = [
            And(is_other, self.holds(s, r, offset), s.broker[r].log[offset] == record)
            for r, is_other in self.beside(leader)
        ]
        return sum([If(has_it, 1, 0) for has_it in others], start=1)

    # ------------------------------------------------------------------------------------------ becoming the leader

    def start_to_lead(self, s: ClusterState, leader: Replica, epoch: Num, re_elected: Condition) -> None:
        """Begin a leadership: note its start, forget what was known of the followers.

        A leader that is elected again keeps the log ends of ISR members, as Kafka does, though it may have missed an
        epoch in which they followed another leader. Kafka: Partition.makeLeader, Replica.resetReplicaState.
        """
        l = s.broker[leader]
        l.epoch_start = l.leo
        l.to_cut = False
        self.forget_fetcher(s, leader)
        with when(Not(re_elected)):
            l.leads_since = l.leo
            self.give_up_waiting(s, leader)
            self.forget_starts(s, leader)
        if self.rules.cache_epoch_on_election:
            l.term = epoch
        isr = self.view_of(s, leader).isr
        for follower, is_other in self.beside(leader):
            member = isr.contains(follower)
            forgets = If(member, self.fixes.forget_isr_when_re_elected, self.guards.forget_followers)
            with when(And(is_other, Or(Not(re_elected), forgets))):
                self.forget(l.known[follower])

    def forget_removed(self, s: ClusterState, leader: Replica) -> None:
        """Forget followers that are not replicas any more (Partition.updateAssignmentAndIsr)."""
        for follower, is_other in self.beside(leader):
            with when(And(is_other, Not(self.is_assigned(self.view_of(s, leader), follower)))):
                self.forget(s.broker[leader].known[follower])

    def forget(self, known: Any) -> None:
        """Forget what a leader knows of a follower (Replica.resetReplicaState)."""
        known.end = None
        known.current = False

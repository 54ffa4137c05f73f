"""The broker as a process: it applies metadata, crashes, starts again.

Kafka: BrokerServer, ReplicaManager, LogLoader.
"""

from __future__ import annotations

from typing import Any

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.configuration import Flushing
from insync.kafka.cluster.indices import ChangeIndex, Offset
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Implies, Not, Num, Or, action, require, snapshot, when

__all__ = ["Broker"]


class Broker(Actor):
    """What happens to a broker."""

    @action(label="{replica} applies metadata {place}")
    def apply_metadata(self, s: ClusterState, replica: Replica, place: ChangeIndex) -> None:
        """A broker applies a change of the partition that is newer than what it knows, and may skip those between.

        Place 0 is the controller's newest change. A broker that skips some has got them in one batch. A batch of
        configuration alone does not concern the partition.
        Kafka: BrokerMetadataPublisher, ReplicaManager.applyDelta, Partition.makeLeader and makeFollower.
        """
        b = s.broker[replica]
        require(b.running, b.lag > place, self.may_hear(s, place, waits=self.guards.brokers_hear_committed))
        if self.guards.brokers_refuse_deposed:
            require(Or(Not(s.changes[place].by_deposed), b.unaware))
        old = snapshot(self.view_of(s, replica))
        concerns = Or(b.repeats, self.concerns_partition(s, replica, place))
        listed = self.hears_list(s, replica, place)
        self.take_view(s, replica, place, old, And(concerns, self.is_told_of(s, replica, place)))
        self.name_directory_late(s, replica, listed, old.replicas)
        self.forget_passed_changes(s)

    @action(label="{replica} flushes its log")
    def flush(self, s: ClusterState, replica: Replica) -> None:
        """A broker writes its whole log to disk; where `flushing` is never or always this is not a separate step.

        Kafka: UnifiedLog.flush.
        """
        require(self.flushing is Flushing.SOMETIMES)
        b = s.broker[replica]
        require(self.is_online(s, replica), b.flushed < b.leo)
        b.flushed = b.leo

    @action(label="{replica} crashes, its log ends at {spared}")
    def crash(self, s: ClusterState, replica: Replica, spared: Offset) -> None:
        """A broker dies; a prefix of its log survives that holds at least what it has flushed.

        A crash that loses nothing is paid from either budget. The high watermark survives up to the end of the
        log; `find_older_checkpoint` takes some of it. Kafka: LogLoader.recoverLog at the next start.
        """
        b, spent = s.broker[replica], s.spent
        require(b.running, b.leo >= spared, b.start <= spared, b.flushed <= spared)
        lossy = b.leo > spared
        if self.flushing is Flushing.ALWAYS:
            require(Not(lossy))
        require(Implies(lossy, spent.lossy_crashes < self.b.lossy_crashes))
        require(spent.crashes < self.b.lossy_crashes + self.b.crashes)
        with when(lossy):
            spent.lossy_crashes += 1
        spent.crashes += 1
        self.truncate(s, replica, spared + 0)
        b.flushed = spared + 0  # what has survived is on disk
        self.go_down(s, replica)

    @action(label="{replica} finds an older checkpoint")
    def find_older_checkpoint(self, s: ClusterState, replica: Replica) -> None:
        """The high watermark was written to disk some seconds before the crash, when it was one less than is assumed.

        It may be so several times over, down to the start of the log. A clean stop writes it once more.
        Kafka: ReplicaManager.checkpointHighWatermarks, every replica.high.watermark.checkpoint.interval.ms.
        """
        b = s.broker[replica]
        require(self.features.old_checkpoints, Not(b.running), Not(b.clean), b.start < b.hw)
        b.hw -= 1

    @action(label="{replica} asks to stop")
    def begin_stop(self, s: ClusterState, replica: Replica) -> None:
        """A broker wants to stop: the controller gives its leadership to another and takes it out of the ISR.

        The broker runs on, and leads as far as it knows until metadata tells it otherwise. To the controller it is as
        one that is fenced: it may not lead, nor be in the ISR.
        Kafka: ReplicationControlManager.handleBrokerInControlledShutdown, ClusterControlManager.isActive.
        """
        b, spent = s.broker[replica], s.spent
        asks_again = (
            And(b.stopping, Not(s.controller.fenced.contains(replica))) if self.features.quorum_decides else False
        )
        require(self.is_active(s), b.running, Or(asks_again, And(Not(b.stopping), spent.stops < self.b.stops)))
        spent.stops += If(asks_again, 0, 1)
        self.leave_isr(s, replica)
        b.stopping = True

    @action(label="{replica} stops cleanly")
    def stop(self, s: ClusterState, replica: Replica) -> None:
        """A broker that has asked for it ends, with its whole log on disk and a note that says so.

        The controller lets it go once the others have the metadata of the hand-over, and it waits no longer than some
        minutes for that; here it may end at any time. With that it is fenced.
        Kafka: BrokerServer.shutdown, LogManager.shutdown, ReplicationControlManager.handleBrokerFenced.
        """
        b = s.broker[replica]
        require(b.running, b.stopping)
        self.truncate(s, replica, b.leo)
        b.clean = True
        self.go_down(s, replica)
        if self.features.may_leave_twice:
            back = s.controller.fenced.contains(replica)
            require(Implies(And(back, s.changes[0].isr.contains(replica)), self.is_active(s)))
            self.take_out(s, replica, seen=back)

    @action(label="{replica} starts and registers")
    def register(self, s: ClusterState, replica: Replica) -> None:
        """A broker starts again and registers as a new incarnation, fenced until the controller hears more of it.

        Unless it was stopped cleanly, it leaves ISR and ELR, in releases that do so. In KRaft its session may have
        expired without the controller having fenced it yet (KAFKA-18106). It begins with the newest metadata.
        Kafka: ClusterControlManager.registerBroker, ReplicationControlManager.handleBrokerShutdown.
        """
        b, controller = s.broker[replica], s.controller
        require(self.is_active(s), Not(b.running))
        if self.rules.register_needs_fenced:
            require(controller.fenced.contains(replica))
        controller.fenced |= {replica}
        isr = s.changes[0].isr
        leaves_elr = self.rules.unclean_leaves_elr
        was_electable = controller.elr.contains(replica) if leaves_elr else False
        member = Or(isr.contains(replica), was_electable)
        clean = And(b.clean, Not(b.offline), Not(b.other_failed)) if self.rules.clean_stop_is_noticed else False
        unclean = And(member, Not(clean))
        if (self.features.elr and leaves_elr) or self.rules.register_leaves_isr:
            change = self.build_change(s, isr - {replica}, unclean={replica} if leaves_elr else ())
            require(Implies(unclean, self.can_write(s, change)))
            with when(unclean):
                self.write_change(s, change)
        if (self.features.quorum_decides or self.features.may_leave_twice) and self.rules.register_leaves_isr:
            self.take_out(s, replica, seen=clean)
        b.clean = False
        s.quorum.unwatched -= {replica}
        self.register_directory(s, replica)
        self.take_broker_epoch(s, replica)
        b.running = True
        self.take_accepted_copy(s, replica)
        with when(Not(b.offline)):
            self.adopt(s, replica, -1, False, False)

    def concerns_partition(self, s: ClusterState, replica: Replica, place: ChangeIndex) -> Condition:
        """Whether a batch up to a place changes more than configuration."""
        if not self.features.configures:
            return True
        lag, places = s.broker[replica].lag, range(self.b.metadata_lag)
        return Or(*[And(place <= at, lag > at, Not(s.changes[at].configuration)) for at in places])

    def take_view(self, s: ClusterState, replica: Replica, place: ChangeIndex, old: Any, told: Condition) -> None:
        """Make a change the broker's view of the partition, and let the broker act on it if it learns of the change.

        Args:
            s: the state.
            replica: the broker.
            place: the change.
            old: its former view.
            told: whether the broker learns of it; else it has no replica, or keeps its former view.
        """
        b = s.broker[replica]
        b.repeats = False
        b.lag = place + 0
        least = self.minimum_while_adopting(s, replica, old)
        b.unheard = 0
        with when(told):
            self.give_up_view(s, replica)
            same_leader = old.leader == s.changes[place].leader
            self.adopt(s, replica, old.epoch, old.leader == replica, same_leader, least)

    def adopt(
        self,
        s: ClusterState,
        replica: Replica,
        epoch: Num | int,
        led: Condition,
        same_leader: Condition,
        least: Num | None = None,
    ) -> None:
        """Act on the change that a broker has just taken for its view of the partition.

        Args:
            s: the state, with the new view.
            replica: the broker.
            epoch: the leader epoch of its former view, -1 if it has just started.
            led: whether it believed before that it leads.
            same_leader: whether it believed before that the same replica leads.
            least: min.insync.replicas as it knows it meanwhile, if that is not what the new view says.
        """
        b, view = s.broker[replica], self.view_of(s, replica)
        leads, anew = view.leader == replica, Not(view.epoch == epoch)
        accepted = And(Not(anew), b.pending == view.isr)
        b.pending = set()
        b.joining = set()
        stopped = leads if self.features.late_fetchers else True
        with when(And(anew, stopped, self.drops_reply(s, replica, same_leader))):
            self.forget_reply(s, replica)
        with when(Not(same_leader)):
            b.reply.unsent = False  # the one who would send it is not known any more
        self.carry_session(s, replica, anew, same_leader)
        with when(And(anew, Not(leads))):
            self.start_to_follow(s, replica, same_leader)
        with when(And(anew, leads)):
            self.start_to_lead(s, replica, view.epoch, led)
        with when(Not(self.is_assigned(view, replica))):
            self.delete_log(s, replica)
            self.forget_reply(s, replica)  # no fetcher has the partition any more: ReplicaManager.stopPartitions
        with when(leads):
            self.forget_removed(s, replica)
            with when(Or(Not(accepted), self.rules.watermark_after_isr_reply)):
                self.advance_watermark(s, replica, least)

    def go_down(self, s: ClusterState, replica: Replica) -> None:
        """Stop running, and forget what a broker keeps in memory only."""
        b = s.broker[replica]
        self.close_log(s, replica)
        self.end_sessions_with(s, replica)
        with when(Not(b.elsewhere)):
            b.copied = None
        b.accepted = False
        b.to_hear = False
        b.untold = And(b.untold, Not(b.elsewhere))
        b.running = False
        b.stopping = False
        b.unaware = False
        self.forget_passed_changes(s)

    def close_log(self, s: ClusterState, replica: Replica) -> None:
        """Forget what a broker keeps in memory of its log and of the partition."""
        b = s.broker[replica]
        b.epoch_start = 0
        b.leads_since = 0
        self.give_up_waiting(s, replica)
        b.pending = set()
        self.forget_starts(s, replica)
        for other, is_other in self.beside(replica):
            with when(is_other):
                self.forget(b.known[other])
        b.truncating = False
        b.to_cut = False
        self.forget_fetcher(s, replica)
        b.session = False
        self.forget_told(s, replica)
        b.last_fetched_epoch_empty = False
        b.paused = False
        b.throttled = False
        b.joining = set()
        self.forget_reply(s, replica)
        self.send_replies(s, replica)
        b.repeats = False
        b.unheard = 0
        b.lag = 0
        self.give_up_view(s, replica)

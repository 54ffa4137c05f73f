"""The broker as a process: it applies metadata, crashes, starts again.

Kafka: BrokerServer, ReplicaManager, LogLoader.
"""

from __future__ import annotations

from insync.kafka.cluster.follower import Follower
from insync.kafka.cluster.settings import Flushing
from insync.kafka.cluster.state import Offset, Place, Replica
from insync.model import And, Condition, If, Implies, Not, Num, Or, StateView, action, minimum, require, snapshot

__all__ = ["Broker"]


class Broker(Follower):
    """What happens to a broker."""

    name = "cluster_broker"

    @action(label="{replica} applies metadata {place}")
    def apply_metadata(self, s: StateView, replica: Replica, place: Place) -> None:
        """A broker applies a change of the partition that is newer than what it knows, and may skip those between.

        Place 0 is the controller's newest change. Whoever skips some has got them in one batch.
        Kafka: BrokerMetadataPublisher, ReplicaManager.applyDelta, Partition.makeLeader and makeFollower.
        """
        b = s.broker[replica]
        require(b.running, b.lag > place)
        old = snapshot(self.view_of(s, replica))
        b.lag = int(place)
        self.adopt(s, replica, old.epoch, old.leader == replica, old.leader == s.changes[place].leader)
        self.forget_passed_changes(s)

    @action(label="{replica} flushes its log")
    def flush(self, s: StateView, replica: Replica) -> None:
        """A broker writes its whole log to disk; where `flushing` is never or always this is no step of its own.

        Kafka: UnifiedLog.flush.
        """
        require(self.flushing is Flushing.SOMETIMES)
        b = s.broker[replica]
        require(b.running, b.flushed < b.leo)
        b.flushed = b.leo

    @action(label="{replica} crashes, its log ends at {spared}")
    def crash(self, s: StateView, replica: Replica, spared: Offset) -> None:
        """A broker dies; a prefix of its log survives that holds at least what it has flushed.

        A crash that loses nothing is paid from either budget. The high watermark survives as far as the log does: how
        often it is checkpointed is not modelled. Kafka: LogLoader.recoverLog at the next start.
        """
        b, spent = s.broker[replica], s.spent
        require(b.running, b.leo >= spared, self.start_of(s, replica) <= spared)
        lossy = b.leo > spared
        if self.flushing is Flushing.ALWAYS:
            require(Not(lossy))
        if self.flushing is Flushing.SOMETIMES:
            require(b.flushed <= spared)
        require(Implies(lossy, spent.lossy_crashes < self.b.lossy_crashes))
        require(spent.crashes < self.b.lossy_crashes + self.b.crashes)
        spent.lossy_crashes = If(lossy, minimum(spent.lossy_crashes + 1, self.b.lossy_crashes), spent.lossy_crashes)
        spent.crashes += 1
        self.truncate(s, replica, int(spared))
        if self.flushing is Flushing.SOMETIMES:
            b.flushed = int(spared)  # what has survived is on disk
        self.lose_memory(s, replica)
        b.running = False
        b.lag = 0
        self.forget_passed_changes(s)

    @action(label="{replica} stops cleanly")
    def stop(self, s: StateView, replica: Replica) -> None:
        """A broker hands over its leadership, leaves the ISR, and ends with its whole log on disk.

        The hand-over takes several heartbeats in Kafka, and is one step here.
        Kafka: ReplicationControlManager.handleBrokerInControlledShutdown, BrokerServer.shutdown.
        """
        b, spent = s.broker[replica], s.spent
        require(b.running, spent.stops < self.b.stops)
        spent.stops += 1
        s.controller.fenced |= {replica}
        isr = s.changes[0].isr
        self.settle(s, isr.contains(replica), isr - {replica}, lambda r: Not(s.controller.fenced.contains(r)))
        self.truncate(s, replica, b.leo)
        self.lose_memory(s, replica)
        b.running = False
        b.clean = True
        b.lag = 0
        self.forget_passed_changes(s)

    @action(label="{replica} starts and registers")
    def register(self, s: StateView, replica: Replica) -> None:
        """A broker starts again and registers as a new incarnation, fenced until the controller hears more of it.

        Unless it was stopped cleanly, it leaves ISR and ELR, in releases that do so. In KRaft its session may have
        expired without the controller having fenced it yet (KAFKA-18106). It begins with the newest metadata.
        Kafka: ClusterControlManager.registerBroker, ReplicationControlManager.handleBrokerUncleanShutdown.
        """
        b, controller = s.broker[replica], s.controller
        require(Not(b.running))
        if self.rules.register_needs_fenced:
            require(controller.fenced.contains(replica))
        controller.fenced |= {replica}
        isr = s.changes[0].isr
        affected = isr.contains(replica)
        leaves_elr = self.elr and self.rules.unclean_leaves_elr
        if leaves_elr:
            affected = Or(affected, controller.elr.contains(replica))
        if self.b.stops:
            affected = And(affected, Not(b.clean))
            b.clean = False
        if leaves_elr or self.rules.register_leaves_isr:
            unclean = frozenset({replica} if leaves_elr else ())
            self.settle(s, affected, isr - {replica}, lambda r: Not(controller.fenced.contains(r)), unclean)
        for other in self.others(replica):
            s.broker[other].known[replica].current = False
        s.alter.current = And(s.alter.current, Not(s.alter.isr.contains(replica)))
        b.running = True
        self.adopt(s, replica, -1, False, False)

    def adopt(
        self,
        s: StateView,
        replica: Replica,
        epoch: Num | int,
        led: Condition,
        same_leader: Condition,
        when: Condition = True,
    ) -> None:
        """Act on the change that a broker has just taken for its view of the partition.

        Args:
            s: the state, with the new view.
            replica: the broker.
            epoch: the leader epoch of its former view, -1 if it has just started.
            led: whether it took itself for the leader before.
            same_leader: whether it took the same replica for the leader before.
            when: whether there is such a change at all.
        """
        b, view = s.broker[replica], self.view_of(s, replica)
        leads, anew = And(when, view.leader == replica), And(when, Not(view.epoch == epoch))
        b.pending = If(when, set(), b.pending)
        if not self.rules.join_reads_one_snapshot:
            b.joining = If(when, set(), b.joining)
        if self.late_replies:
            self.forget_reply(s, replica, And(anew, self.drops_reply(same_leader)))
        self.start_to_follow(s, replica, And(anew, Not(leads)), same_leader)
        self.start_to_lead(s, replica, view.epoch, And(anew, leads), led)
        if self.b.reassignments:
            self.delete_log(s, replica, And(when, Not(self.is_assigned(view, replica))))
            self.forget_removed(s, replica, leads)
        self.advance_watermark(s, replica, leads)

    def lose_memory(self, s: StateView, replica: Replica) -> None:
        """Forget what a broker keeps in memory only."""
        b = s.broker[replica]
        b.epoch_start = 0
        b.leads_since = 0
        b.pending = set()
        for other in self.others(replica):
            b.known[other].end = None
            b.known[other].current = False
        for name in self.optional_fields:
            setattr(b, name, False)
        if not self.rules.join_reads_one_snapshot:
            b.joining = set()
        if self.late_replies:
            self.forget_reply(s, replica, True)
        if self.b.moves:
            b.copied = None

"""The broker as a process: it crashes, stops cleanly, and finds on disk what it has written.

Kafka: BrokerServer, LogManager, LogLoader.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.kafka.cluster.broker_state import DirectoryId, ReassignmentState
from insync.kafka.cluster.configuration import Flushing
from insync.kafka.cluster.indices import Offset
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import Coded, Moment, Never, failure, mark, step
from insync.kafka.replica import Replica
from insync.model import And, Demand, Drawn, Hardness, Implies, Mark, MarkKind, Not, require, when

__all__ = ["BrokerLifecycle"]

_CHECKPOINTS = Never("nothing here decides when a broker writes its checkpoints")


def _crash(moment: Moment) -> Demand:
    """A crash, by what it loses."""
    replica = moment.given["replica"]
    if int(moment.given["spared"]) < moment.was("replica")["leo"]:
        text = f"{replica} loses what it has not flushed, as in a power failure; a killed process loses nothing"
    else:
        text = f"{replica} is killed"
    return Demand(moment.number, Hardness.FAILURE, text)


def _draw_crash(moment: Moment) -> Sequence[Drawn]:
    old, kept = moment.was("replica"), int(moment.given["spared"])
    lost = old["log"][kept : old["leo"]]
    return [Mark(moment.given["replica"], f"crashes, loses {' '.join(lost)}" if lost else "crashes", MarkKind.DOWN)]


class BrokerLifecycle(Part):
    """How a broker's process ends, and what it finds on disk when it starts."""

    @step("{replica} flushes its log", drawn=mark("replica", "flushes"), classes=Coded("`UnifiedLog.flush`"))
    def flush(self, s: ClusterState, replica: Replica) -> None:
        """A broker writes its whole log to disk; where `flush` is never or always this is not a separate step.

        Kafka: UnifiedLog.flush.
        """
        cluster = self.cluster
        require(cluster.flushing is Flushing.SOMETIMES)
        b = s.broker[replica]
        require(cluster.image.is_online(s, replica), b.flushed < b.leo)
        b.flushed = b.leo

    @step(
        "{replica} crashes, its log ends at {spared}",
        needs=_crash,
        drawn=_draw_crash,
        classes=Coded(
            "the directories are copied, the logs cut, the objects thrown away; at the start `LogLoader` recovers"
        ),
        brokers=Coded("SIGKILL, and the log on disk is cut"),
    )
    def crash(self, s: ClusterState, replica: Replica, spared: Offset) -> None:
        """A broker dies; a prefix of its log survives that holds at least what it has flushed.

        A crash that loses nothing is paid from either budget. The high watermark survives up to the end of the
        log; `find_older_checkpoint` takes some of it. Kafka: LogLoader.recoverLog at the next start.
        """
        cluster = self.cluster
        b, spent = s.broker[replica], s.spent
        require(b.running, b.leo >= spared, b.log_start <= spared, b.flushed <= spared)
        lossy = b.leo > spared
        if cluster.flushing is Flushing.ALWAYS:
            require(Not(lossy))
        require(Implies(lossy, spent.power_failures < self.b.power_failures))
        require(spent.crashes < self.b.power_failures + self.b.crashes)
        with when(lossy):
            spent.power_failures += 1
        spent.crashes += 1
        cluster.log.truncate(s, replica, spared + 0)
        b.flushed = spared + 0  # what has survived is on disk
        self.go_down(s, replica)

    @step(
        "{replica} finds an older checkpoint",
        needs=failure("the last high watermark that {replica} has written to disk is an older one"),
        drawn=mark("replica", "older checkpoint", MarkKind.CUT),
        classes=Coded("another offset is put into `replication-offset-checkpoint` of a broker that is down"),
        brokers=_CHECKPOINTS,
        on=lambda f: f.stale_checkpoints,
    )
    def find_older_checkpoint(self, s: ClusterState, replica: Replica) -> None:
        """The high watermark was written to disk some seconds before the crash, when it was one less than is assumed.

        It may be so several times over, down to the start of the log. A clean stop writes it once more.
        Kafka: ReplicaManager.checkpointHighWatermarks, every replica.high.watermark.checkpoint.interval.ms.
        """
        b = s.broker[replica]
        require(Not(b.running), Not(b.clean_shutdown), b.log_start < b.hw)
        b.hw -= 1

    @step(
        "{replica} finds an older log start",
        needs=failure("{replica} has died within log.flush.start.offset.checkpoint.interval.ms of a deletion"),
        drawn=mark("replica", "older log start", MarkKind.CUT),
        classes=Coded("another offset is put into `log-start-offset-checkpoint` of a broker that is down"),
        brokers=_CHECKPOINTS,
        on=lambda f: f.finds_older_starts,
    )
    def find_older_start(self, s: ClusterState, replica: Replica) -> None:
        """The log start was written to disk before the last deletion, whose records are in the segment still.

        It may be so several times over. A clean stop writes it once more. What was deleted was committed, so it is the
        record that readers have seen there, of several the first. Its epoch does not come back: the cache has lost it
        with the deletion. Who starts with a copy in place of its log has what that has.
        Kafka: LogManager.checkpointLogStartOffsets, every log.flush.start.offset.checkpoint.interval.ms, and
        UnifiedLog.maybeIncrementLogStartOffset, which says so.
        """
        b = s.broker[replica]
        require(Not(b.running), Not(b.clean_shutdown), b.log_start > b.segment_base)
        if self.rules.start_takes_accepted_copy:
            require(b.future_leo.is_none())
        b.log_start -= 1
        for offset in range(self.b.records):
            with when(b.log_start == offset):
                b.log[offset] = s.seen[offset].or_else(0)

    @step(
        "{replica} stops cleanly",
        drawn=mark("replica", "stops", MarkKind.DOWN),
        classes=Coded("the heartbeat that asks for the shutdown once more as it ends, and then its session ends"),
        brokers=Never("a broker that stops cannot be held between what it asks and its end"),
    )
    def stop(self, s: ClusterState, replica: Replica) -> None:
        """A broker that has asked for it ends, with its whole log on disk and a note that says so.

        The controller lets it go once the others have the metadata of the hand-over, and it waits no longer than some
        minutes for that; here it may end at any time. With that it is fenced.
        Kafka: BrokerServer.shutdown, LogManager.shutdown, ReplicationControlManager.handleBrokerFenced.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(b.running, b.in_controlled_shutdown)
        cluster.log.truncate(s, replica, b.leo)
        b.clean_shutdown = True
        self.go_down(s, replica)
        if self.features.may_leave_twice:
            back = s.controller.fenced.contains(replica)
            require(Implies(And(back, s.registrations[0].isr.contains(replica)), cluster.quorum.is_active(s)))
            cluster.replication_control.take_out(s, replica, seen=back)

    def go_down(self, s: ClusterState, replica: Replica) -> None:
        """Stop running, and forget what a broker keeps in memory only."""
        cluster = self.cluster
        b = s.broker[replica]
        self.close_log(s, replica)
        cluster.sessions.end_sessions_with(s, replica)
        with when(Not(b.directory == DirectoryId.FUTURE_LOG)):
            b.future_leo = None
        b.promotion = ReassignmentState.NONE
        b.directory_to_hear = False
        b.to_assign = And(b.to_assign, Not(b.directory == DirectoryId.FUTURE_LOG))
        b.running = False
        b.in_controlled_shutdown = False
        b.controller_epoch_is_stale = False
        cluster.metadata_log.forget_passed_registrations(s)

    def close_log(self, s: ClusterState, replica: Replica) -> None:
        """Forget what a broker keeps in memory of its log and of the partition."""
        cluster = self.cluster
        b = s.broker[replica]
        b.leader_epoch_start = 0
        b.led_since = 0
        cluster.coordinator.give_up_waiting(s, replica)
        b.pending_isr = set()
        cluster.deletions.forget_starts(s, replica)
        for other, is_other in self.beside(replica):
            with when(is_other):
                cluster.partition.forget(b.remote_replicas[other])
        b.truncating = False
        b.truncates_to_hw = False
        cluster.stale_fetcher.forget_fetcher(s, replica)
        b.session = False
        cluster.sessions.forget_told(s, replica)
        b.last_fetched_epoch_empty = False
        b.fetch_delayed = False
        b.throttled = False
        b.seen_in_sync = set()
        cluster.responses.forget_response(s, replica)
        cluster.responses.send_responses(s, replica)
        b.isr_from_response = False
        b.configs_behind = 0
        b.image_lag = 0
        cluster.snapshots.give_up_view(s, replica)

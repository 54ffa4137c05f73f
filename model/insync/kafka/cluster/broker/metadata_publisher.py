"""A broker applies changes of the partition, and acts on them as leader or follower.

Kafka: BrokerMetadataPublisher, ReplicaManager.applyDelta; with ZooKeeper ReplicaManager.becomeLeaderOrFollower.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.kafka.cluster.indices import ChangeIndex
from insync.kafka.cluster.metadata_image import View
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import CODED, CONTROLLER, Moment, step
from insync.kafka.replica import Replica
from insync.model import And, Arrow, Condition, Drawn, Not, Num, Or, require, snapshot, when

__all__ = ["MetadataPublisher"]


def _draw_metadata(moment: Moment) -> Sequence[Drawn]:
    change = moment.before["changes"][int(moment.given["place"])]
    return [Arrow(CONTROLLER, moment.given["replica"], f"{change['leader'] or 'nobody'} leads @{change['epoch']}")]


class MetadataPublisher(Part):
    """How a broker acts on what metadata tells it."""

    @step("{replica} applies metadata {place}", drawn=_draw_metadata, brokers=CODED)
    def apply_metadata(self, s: ClusterState, replica: Replica, place: ChangeIndex) -> None:
        """A broker applies a change of the partition that is newer than what it knows, and may skip those between.

        Place 0 is the controller's newest change. A broker that skips some has got them in one batch. A batch of
        configuration alone does not concern the partition.
        Kafka: BrokerMetadataPublisher, ReplicaManager.applyDelta, Partition.makeLeader and makeFollower.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(b.running, b.lag > place, cluster.quorum.may_hear(s, place, waits=self.guards.brokers_hear_committed))
        if self.guards.brokers_refuse_deposed:
            require(Or(Not(s.changes[place].by_deposed), b.unaware))
        old = snapshot(cluster.image.view_of(s, replica))
        concerns = Or(b.repeats, self.concerns_partition(s, replica, place))
        listed = cluster.unassigned.hears_list(s, replica, place)
        self.take_view(s, replica, place, old, And(concerns, cluster.snapshots.is_told_of(s, replica, place)))
        cluster.unassigned.name_directory_late(s, replica, listed, old.replicas)
        cluster.metadata_log.forget_passed_changes(s)

    def concerns_partition(self, s: ClusterState, replica: Replica, place: ChangeIndex) -> Condition:
        """Whether a batch up to a place changes more than configuration."""
        if not self.features.configures:
            return True
        lag, places = s.broker[replica].lag, range(self.b.metadata_lag)
        return Or(*[And(place <= at, lag > at, Not(s.changes[at].configuration)) for at in places])

    def take_view(self, s: ClusterState, replica: Replica, place: ChangeIndex, old: View, told: Condition) -> None:
        """Make a change the broker's view of the partition, and let the broker act on it if it learns of the change.

        Args:
            s: the state.
            replica: the broker.
            place: the change.
            old: its former view.
            told: whether the broker learns of it; else it has no replica, or keeps its former view.
        """
        cluster = self.cluster
        b = s.broker[replica]
        b.repeats = False
        b.lag = place + 0
        least = cluster.topic_config.minimum_while_adopting(s, replica, old)
        b.unheard = 0
        with when(told):
            cluster.snapshots.give_up_view(s, replica)
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
        cluster = self.cluster
        b, view = s.broker[replica], cluster.image.view_of(s, replica)
        leads, anew = view.leader == replica, Not(view.epoch == epoch)
        accepted = And(Not(anew), b.pending == view.isr)
        b.pending = set()
        b.joining = set()
        stopped = leads if self.features.late_fetchers else True
        with when(And(anew, stopped, cluster.responses.drops_reply(s, replica, same_leader))):
            cluster.responses.forget_reply(s, replica)
        with when(Not(same_leader)):
            b.reply.unsent = False  # the one who would send it is not known any more
        cluster.sessions.carry_session(s, replica, anew, same_leader)
        with when(And(anew, Not(leads))):
            cluster.partition.start_to_follow(s, replica, same_leader)
        with when(And(anew, leads)):
            cluster.partition.start_to_lead(s, replica, view.epoch, led)
        with when(Not(cluster.image.is_assigned(view, replica))):
            cluster.log.delete_log(s, replica)
            # No fetcher has the partition any more: ReplicaManager.stopPartitions.
            cluster.responses.forget_reply(s, replica)
        with when(leads):
            cluster.partition.forget_removed(s, replica)
            with when(Or(Not(accepted), self.rules.watermark_after_isr_reply)):
                cluster.high_watermark.advance_watermark(s, replica, least)

"""A broker applies changes of the partition, and acts on them as leader or follower.

Kafka: BrokerMetadataPublisher, ReplicaManager.applyDelta; with ZooKeeper ReplicaManager.becomeLeaderOrFollower.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.kafka.cluster.indices import RegistrationIndex
from insync.kafka.cluster.metadata_image import View
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import CONTROLLER, Coded, Moment, step, upto_place
from insync.kafka.replica import Replica
from insync.model import And, Arrow, Condition, Drawn, Not, Num, Or, require, snapshot, when

__all__ = ["MetadataPublisher"]


def _draw_metadata(moment: Moment) -> Sequence[Drawn]:
    change = moment.before["registrations"][int(moment.given["place"])]
    return [Arrow(CONTROLLER, moment.given["replica"], f"{change['leader'] or 'nobody'} leads @{change['epoch']}")]


class MetadataPublisher(Part):
    """How a broker acts on what metadata tells it."""

    @step(
        upto_place("{replica} applies metadata"),
        drawn=_draw_metadata,
        classes=Coded(
            "all of the controller's batches up to that change, as one commit, through `MetadataLoader` "
            "and `BrokerMetadataPublisher`. A fault is logged there, and the broker goes on; here it is "
            "an answer that differs"
        ),
        brokers=Coded(
            "for the newest change the controller is asked for everything again, and that passes as one; "
            "for an older one what was held since then passes"
        ),
    )
    def apply_metadata(self, s: ClusterState, replica: Replica, place: RegistrationIndex) -> None:
        """A broker applies a change of the partition that is newer than what it knows, and may skip those between.

        Place 0 is the controller's newest change. A broker that skips some has got them in one batch. A batch of
        configuration alone does not concern the partition.
        Kafka: BrokerMetadataPublisher, ReplicaManager.applyDelta, Partition.makeLeader and makeFollower.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(
            b.running, b.image_lag > place, cluster.quorum.may_hear(s, place, waits=self.guards.brokers_hear_committed)
        )
        if self.guards.brokers_refuse_deposed:
            require(Or(Not(s.registrations[place].by_stale_controller), b.controller_epoch_is_stale))
        old = snapshot(cluster.image.registration_of(s, replica))
        concerns = Or(b.isr_from_response, self.concerns_partition(s, replica, place))
        listed = cluster.unassigned.hears_list(s, replica, place)
        self.take_view(s, replica, place, old, And(concerns, cluster.snapshots.is_told_of(s, replica, place)))
        cluster.unassigned.name_directory_late(s, replica, listed, old.replicas)
        cluster.metadata_log.forget_passed_registrations(s)

    def concerns_partition(self, s: ClusterState, replica: Replica, place: RegistrationIndex) -> Condition:
        """Whether a batch up to a place changes more than configuration."""
        if not self.features.configures:
            return True
        lag, places = s.broker[replica].image_lag, range(self.b.metadata_lag)
        return Or(*[And(place <= at, lag > at, Not(s.registrations[at].configuration)) for at in places])

    def take_view(
        self, s: ClusterState, replica: Replica, place: RegistrationIndex, old: View, told: Condition
    ) -> None:
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
        b.isr_from_response = False
        b.image_lag = place + 0
        least = cluster.topic_config.minimum_while_applying(s, replica, old)
        b.configs_behind = 0
        with when(told):
            cluster.snapshots.give_up_view(s, replica)
            same_leader = old.leader == s.registrations[place].leader
            self.apply_local_delta(s, replica, old.epoch, old.leader == replica, same_leader, least)

    def apply_local_delta(
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
        b, view = s.broker[replica], cluster.image.registration_of(s, replica)
        leads, anew = view.leader == replica, Not(view.epoch == epoch)
        accepted = And(Not(anew), b.pending_isr == view.isr)
        b.pending_isr = set()
        b.seen_in_sync = set()
        stopped = leads if self.features.late_fetchers else True
        with when(And(anew, stopped, cluster.responses.drops_response(s, replica, same_leader))):
            cluster.responses.forget_response(s, replica)
        with when(Not(same_leader)):
            b.fetch_response.unsent = False  # the one who would send it is not known any more
        cluster.sessions.carry_session(s, replica, anew, same_leader)
        with when(And(anew, Not(leads))):
            cluster.partition.start_to_follow(s, replica, same_leader)
        with when(And(anew, leads)):
            cluster.partition.start_to_lead(s, replica, view.epoch, led)
        with when(Not(cluster.image.is_assigned(view, replica))):
            cluster.log.delete_log(s, replica)
            # No fetcher has the partition any more: ReplicaManager.stopPartitions.
            cluster.responses.forget_response(s, replica)
        with when(leads):
            cluster.partition.forget_removed(s, replica)
            with when(Or(Not(accepted), self.rules.watermark_after_isr_reply)):
                cluster.high_watermark.advance_watermark(s, replica, least)

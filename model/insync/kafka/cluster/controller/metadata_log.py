"""The controller's registrations of the partition on their way to the brokers.

`registrations` holds the latest ones, the newest at place 0. A broker's `image_lag` is the place of the one that it has
applied, so the brokers' views of the partition take no room of their own. What no broker can apply any more is cleared.
Where the bound `metadata_lag` is 0, metadata is atomic: every running broker acts on a registration in the step that
makes it.

Kafka: PartitionRegistration.merge, TopicDelta.replay.
"""

from __future__ import annotations

from dataclasses import dataclass

from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState, PartitionRegistration
from insync.kafka.replica import Replica
from insync.model import NONE, And, Condition, If, Implies, Not, Num, OptionValue, Or, SetValue, record, snapshot, when

__all__ = ["MetadataLog", "Registration"]


@dataclass(frozen=True, slots=True)
class Registration:
    """A registration of the partition, as brokers receive it: what the controller has decided.

    Attributes:
        leader: who leads from now on, -1 for nobody.
        epoch: the leader epoch.
        isr: the ISR.
        replicas: the replicas.
        writer: the leader that wrote it to ZooKeeper itself, and so has it.
        configuration: whether it changes configuration alone, and not the partition or its epoch.
        is_response: whether it is the answer to its leader's AlterPartition.
        by_stale_controller: whether a stale controller has made it.
        listed: the replicas that find their directory listed anew by it, None for nobody.
    """

    leader: Num | int
    epoch: Num | int
    isr: SetValue
    replicas: SetValue
    writer: Replica | None = None
    configuration: Condition = False
    is_response: Condition = False
    by_stale_controller: Condition = False
    listed: SetValue | None = None


class MetadataLog(Part):
    """Writing registrations, and forgetting those that every broker has passed."""

    def newest(self, s: ClusterState) -> Registration:
        """What holds now: the registration that was written last."""
        newest = s.registrations[0]
        return Registration(newest.leader.or_else(-1), newest.epoch, newest.isr, newest.replicas)

    def has_room(self, s: ClusterState, registration: Registration) -> Condition:
        """Whether no broker would fall behind by more registrations than the bound `metadata_lag` allows."""
        late = self.b.metadata_lag
        heard = [Implies(self.waits(s, r, registration), s.broker[r].image_lag < late) for r in self.all(Replica)]
        return And(*heard, self.cluster.quorum.has_room_uncommitted(s))

    def waits(self, s: ClusterState, replica: Replica, registration: Registration) -> Condition:
        """Whether a broker learns of a registration later than the controller writes it.

        If the ISR alone changes, that says nothing to a follower that is up to date: the registration counts as applied
        at once, which spares steps that nobody could see. The same goes for one that a leader has written itself.
        """
        if not self.features.metadata_is_late:
            return False
        b, newest = s.broker[replica], self.newest(s)
        of_isr_only = And(
            registration.leader == newest.leader,
            registration.epoch == newest.epoch,
            registration.replicas == newest.replicas,
        )
        unseen = And(
            of_isr_only, Not(registration.configuration), b.image_lag == 0, Not(registration.leader == replica)
        )
        return And(replica != registration.writer, self.cluster.image.is_online(s, replica), Not(unseen))

    def write_metadata(self, s: ClusterState, registration: Registration) -> None:
        """Write a registration, which is the newest then; unless it is configuration alone, the partition epoch grows.

        Kafka: PartitionRegistration.merge. The action must require that it `has_room`.
        """
        cluster = self.cluster
        before, makes_late = snapshot(s.registrations[0]), cluster.replication_control.makes_late(s, registration)
        waiting = {replica: self.waits(s, replica, registration) for replica in self.all(Replica)}
        for replica, waits in waiting.items():
            with when(waits):
                s.broker[replica].image_lag += 1
        cluster.quorum.note_uncommitted(s)
        cluster.zookeeper.outdate_stale_controller(s, registration)
        cluster.alter_partition.outdate_retry(s, registration)
        for place in reversed(range(self.b.metadata_lag)):
            s.registrations[place + 1] = s.registrations[place]
        s.registrations[0] = record(
            leader=self.as_option(registration.leader),
            epoch=registration.epoch,
            isr=registration.isr,
            minimum_is_one=s.controller.minimum_is_one,
            configuration=registration.configuration,
            is_response=registration.is_response,
            replicas=registration.replicas,
            listed=set() if registration.listed is None else registration.listed,
            by_stale_controller=registration.by_stale_controller,
            lost=False,
        )
        with when(makes_late):
            cluster.replication_control.forget_proposal(s)
        if not self.features.metadata_is_late:
            self._tell_everybody(s, before, registration)
        if registration.listed is not None:
            cluster.unassigned.name_up_to_date(s, registration.listed, before.replicas)
        self.forget_passed_registrations(s)

    def _tell_everybody(self, s: ClusterState, before: PartitionRegistration, registration: Registration) -> None:
        """Let every running broker act on a registration in the step that writes it, where metadata is never late."""
        cluster = self.cluster
        same_leader = before.leader == s.registrations[0].leader
        for replica, is_other in self.beside(registration.writer):
            least = cluster.topic_config.minimum_while_applying(s, replica, before)
            with when(And(is_other, cluster.image.is_online(s, replica), Not(registration.configuration))):
                cluster.publisher.apply_local_delta(
                    s, replica, before.epoch, before.leader == replica, same_leader, least
                )

    def forget_passed_registrations(self, s: ClusterState) -> None:
        """Clear the registrations that every running broker has passed, so that they tell no states apart."""
        cluster = self.cluster
        for place in range(1, self.b.metadata_lag + 1):
            late = [And(s.broker[r].running, s.broker[r].image_lag >= place) for r in self.all(Replica)]
            with when(Not(Or(*late, cluster.quorum.is_kept_for_controllers(s, place)))):
                s.registrations[place] = record(
                    leader=NONE,
                    epoch=0,
                    isr=set(),
                    minimum_is_one=False,
                    configuration=False,
                    is_response=False,
                    replicas=set(),
                    listed=set(),
                    by_stale_controller=False,
                    lost=False,
                )
        if self.features.configures:
            for place in range(self.b.metadata_lag + 1):
                late = [And(s.broker[r].running, s.broker[r].image_lag > place) for r in self.all(Replica)]
                with when(Not(Or(*late))):
                    s.registrations[place].configuration = False
        if self.features.notes_responses:
            for place in range(self.b.metadata_lag + 1):
                led = s.registrations[place].leader
                late = [And(led == r, s.broker[r].running, s.broker[r].image_lag > place) for r in self.all(Replica)]
                with when(Not(Or(*late))):
                    s.registrations[place].is_response = False
        cluster.unassigned.forget_lists(s)

    def knows_partition(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a broker's partition epoch is the controller's: what it has not applied is configuration."""
        lag, current = s.broker[replica].image_lag, Not(self.cluster.image.keeps_view(s, replica))
        if not self.features.configures:
            return And(lag == 0, current)
        places = range(self.b.metadata_lag)
        return And(current, *[Implies(lag > place, s.registrations[place].configuration) for place in places])

    def as_option(self, replica: Num | int) -> OptionValue | int | None:
        """A replica by its number, or none for -1."""
        chosen: OptionValue | int | None = If(replica < 0, NONE, replica)
        return chosen

"""A quorum of controllers, with `controller_failovers`: what the active one decides counts once it is committed.

The active controller decides by all that it has written, and answers when a majority of the controllers has it. So it
runs ahead of what brokers learn: the newest `uncommitted` changes are known to it alone. When it loses its leadership
they are lost, and what it knows is what was committed; another one becomes active, which has all of that. A change
that survives in the log of the next one is as if it had been committed before.

This is an abstraction of `kraft`, whose traces it has (tests/kafka/quorum/test_decisions.py): any prefix may be
committed, nobody may be active, and what a stale controller decides is never committed.

Kafka: QuorumController, OffsetControlManager, DeferredEventQueue; by reading, in trunk before and after metadata
transactions (KIP-868, 3.6).
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.kafka.cluster.grid import has_uncommitted
from insync.kafka.cluster.indices import RegistrationIndex
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import CONTROLLER, Moment, Never, delay, of_controller, step
from insync.kafka.replica import Replica
from insync.model import (
    And,
    Arrow,
    Condition,
    Demand,
    Drawn,
    Hardness,
    If,
    Implies,
    Mark,
    MarkKind,
    Not,
    Num,
    Or,
    SetValue,
    maximum,
    require,
    snapshot,
    when,
)

__all__ = ["QuorumController"]

_ONE_CONTROLLER = Never("the harness has one controller, and all that it decides is committed at once")
_ONE_CONTROLLER_OF_BROKERS = Never("the cluster has one controller here, which commits by itself what it decides")


_DECIDED = (
    "fenced",
    "elr",
    "last_known_leader",
    "minimum_is_one",
    "offline_replicas",
    "adding",
    "removing",
    "places",
)
"""What a controller knows by what it has decided, beside the changes of the partition."""


def _loss_of_leadership(moment: Moment) -> Demand:
    """A controller that fails, by whether something is lost with it."""
    text = "the active controller dies, or is cut off from the others"
    if has_uncommitted(moment.before):
        text = f"{text}, before a majority has what it has decided"
    return Demand(moment.number, Hardness.FAILURE, text)


def _draw_stale_refusal(moment: Moment) -> Sequence[Drawn]:
    old, new = moment.before["broker"], moment.after["broker"]
    leader = next((name for name in old if old[name]["pending_isr"] and not new[name]["pending_isr"]), None)
    refused = "refused by a stale one"
    return [Arrow(CONTROLLER, leader, refused, reply=True) if leader else Mark(CONTROLLER, refused)]


class QuorumController(Part):
    """What the controllers do among themselves, and what brokers may know of it."""

    @step(
        "controllers commit what is decided",
        drawn=of_controller("committed"),
        classes=_ONE_CONTROLLER,
        brokers=_ONE_CONTROLLER_OF_BROKERS,
        on=lambda f: f.quorum_decides,
    )
    def commit_decisions(self, s: ClusterState) -> None:
        """A majority of the controllers has all that the active one has written, which answers now.

        That only a beginning of it is committed is the same as if the rest had been decided later.
        Kafka: QuorumMetaLogListener.handleCommit, DeferredEventQueue.completeUpTo.
        """
        require(self.is_active(s), Not(self.all_committed(s)))
        self.commit_at_once(s)

    @step(
        "the active controller loses its leadership",
        needs=_loss_of_leadership,
        drawn=of_controller("loses its leadership", MarkKind.DOWN),
        classes=_ONE_CONTROLLER,
        brokers=_ONE_CONTROLLER_OF_BROKERS,
        on=lambda f: f.quorum_decides,
    )
    def lose_leadership(self, s: ClusterState) -> None:
        """The active controller is cut off, or dies; what is not committed is lost, with all that it has told nobody.

        A broker that waits for an answer gets NOT_CONTROLLER, or none, and asks the next one. The old controller may go
        on for a while: no quorum commits what it decides then.
        Kafka: QuorumController.renounce, OffsetControlManager.deactivate, DeferredEventQueue.failAll.
        """
        require(self.is_active(s), s.spent.controller_failovers < self.b.controller_failovers)
        s.spent.controller_failovers += 1
        s.quorum.inactive = True
        s.quorum.unwatched = set()
        if self.guards.lost_decisions_are_undone:
            for name in _DECIDED:
                setattr(s.controller, name, getattr(s.quorum.controller, name))
            s.reassigned_under_min_isr = s.quorum.reassigned_under_min_isr
        s.quorum.controller = s.controller
        s.alter_partition = s.quorum.alter_partition
        s.alter_partition_retry = s.quorum.alter_partition_retry
        if self.features.applies_uncommitted:
            self._return_to_committed(s)
        else:
            self._forget_lost_registrations(s)
        if self.features.stale_controller_may_write:
            self.cluster.zookeeper.depose(s)
            s.quorum.controller = s.controller

    @step(
        "another controller becomes active",
        drawn=of_controller("another one is active", MarkKind.UP),
        classes=_ONE_CONTROLLER,
        brokers=_ONE_CONTROLLER_OF_BROKERS,
        on=lambda f: f.quorum_decides,
    )
    def become_active(self, s: ClusterState) -> None:
        """A controller leads the quorum, has all that is committed, and takes all sessions for renewed.

        Until then nobody is fenced or elected, and no request is answered. Without the rule `controller_watches_all` it
        watches only the sessions of brokers that send it a heartbeat.
        Kafka: QuorumController.claim, ClusterControlManager.activate.
        """
        require(s.quorum.inactive)
        s.quorum.inactive = False
        for replica in self.all(Replica):
            silent = And(Not(s.broker[replica].running), Not(s.controller.fenced.contains(replica)))
            with when(silent):
                s.quorum.unwatched |= {replica}

    @step(
        "stale controller refuses the ISR",
        needs=delay("the stale controller has not learned of the new one, and is asked what that one was not"),
        drawn=_draw_stale_refusal,
        classes=_ONE_CONTROLLER,
        brokers=_ONE_CONTROLLER_OF_BROKERS,
        on=lambda f: f.quorum_decides,
    )
    def reject_as_stale_controller(self, s: ClusterState) -> None:
        """A controller that does not know that it is deposed refuses an ISR by what it knew, and is believed.

        With nothing to be committed it answers at once. It may take a member for fenced, or for a former incarnation,
        that is not any more. A request with a later epoch than it knows it answers with NOT_CONTROLLER.
        Kafka: ControllerWriteEvent.run, ReplicationControlManager.validateAlterPartitionData.
        """
        cluster = self.cluster
        require(s.spent.controller_failovers > 0, cluster.replication_control.awaits_proposal(s))
        cluster.replication_control.answer_refusal(s)
        self.forget_committed_proposal(s)

    def is_active(self, s: ClusterState) -> Condition:
        """Whether some controller decides."""
        return Not(s.quorum.inactive)

    def all_committed(self, s: ClusterState) -> Condition:
        """Whether all is committed that the active controller has decided, so that it answers at once."""
        same = [getattr(s.controller, name) == getattr(s.quorum.controller, name) for name in _DECIDED]
        return And(s.quorum.uncommitted == 0, *same)

    def commit_at_once(self, s: ClusterState) -> None:
        """Commit all that is decided: what waits for an answer to go on is one step with it.

        Nobody could tell it from a step that is decided now and committed later, as the broker does nothing meanwhile.
        """
        s.quorum.uncommitted = 0
        s.quorum.controller = s.controller
        s.quorum.alter_partition = s.alter_partition
        s.quorum.alter_partition_retry = s.alter_partition_retry
        s.quorum.reassigned_under_min_isr = s.reassigned_under_min_isr
        self.cluster.metadata_log.forget_passed_registrations(s)

    def note_uncommitted(self, s: ClusterState) -> None:
        """One more registration is written and not committed."""
        s.quorum.uncommitted += 1

    def has_room_uncommitted(self, s: ClusterState) -> Condition:
        """Whether the committed registration stays among those that are kept when there is one more."""
        return s.quorum.uncommitted < self.b.metadata_lag

    def is_kept_for_controllers(self, s: ClusterState, place: int) -> Condition:
        """Whether a registration is not committed, or is the newest that is committed."""
        return s.quorum.uncommitted >= place

    def _forget_lost_registrations(self, s: ClusterState) -> None:
        """What was not committed is gone, and no broker has learned of it."""
        late, lost = self.b.metadata_lag, snapshot(s.quorum).uncommitted
        for replica in self.all(Replica):
            b = s.broker[replica]
            b.image_lag = maximum(b.image_lag - lost, 0)
        s.quorum.uncommitted = 0
        for count in range(1, late + 1):
            with when(lost == count):
                for place in range(late + 1 - count):
                    s.registrations[place] = s.registrations[place + count]
        self.cluster.metadata_log.forget_passed_registrations(s)

    def _return_to_committed(self, s: ClusterState) -> None:
        """What was not committed is lost, but a broker may have learned of it: what holds is like another change."""
        cluster = self.cluster
        lost = snapshot(s.quorum).uncommitted
        loses, holds = lost > 0, snapshot(s.registrations[lost])
        for replica in self.all(Replica):
            b = s.broker[replica]
            passes = And(loses, cluster.image.is_online(s, replica), b.image_lag != lost)
            require(Implies(passes, b.image_lag < self.b.metadata_lag))
            with when(And(loses, cluster.image.is_online(s, replica))):
                b.image_lag = If(passes, b.image_lag + 1, 0)
        s.quorum.uncommitted = 0
        with when(loses):
            for place in reversed(range(self.b.metadata_lag)):
                s.registrations[place + 1] = s.registrations[place]
                s.registrations[place + 1].lost = Or(s.registrations[place + 1].lost, place < lost)
            s.registrations[0] = holds
        cluster.metadata_log.forget_passed_registrations(s)

    def may_hear(self, s: ClusterState, place: RegistrationIndex, *, waits: bool) -> Condition:
        """Whether a broker may be told of a registration: it is committed, or not lost where nothing waits for that."""
        return self.is_committed(s, place) if waits else Not(s.registrations[place].lost)

    def is_committed(self, s: ClusterState, place: Num | int) -> Condition:
        """Whether the registration at a place is committed."""
        return And(place >= s.quorum.uncommitted, Not(s.registrations[place].lost))

    def known_fenced(self, s: ClusterState) -> SetValue:
        """Who is fenced as far as brokers can know."""
        return s.quorum.controller.fenced

    def known_elr(self, s: ClusterState) -> SetValue:
        """The eligible leader replicas as far as brokers can know."""
        return s.quorum.controller.elr

    def is_late(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a broker has not applied all that is committed."""
        return s.broker[replica].image_lag > s.quorum.uncommitted

    def has_applied_all(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a broker has applied all that is committed."""
        return s.broker[replica].image_lag <= s.quorum.uncommitted

    def may_propose(self, s: ClusterState, leader: Replica) -> Condition:
        """Whether no request is on its way that counts again if what is not committed is lost."""
        return Or(Not(self.knows_committed(s, leader)), s.quorum.alter_partition.isr.is_empty())

    def note_proposal(self, s: ClusterState, leader: Replica, isr: SetValue, current: Condition) -> None:
        """Keep a proposal that is late by what is not committed: in time, if that is lost."""
        with when(self.knows_committed(s, leader)):
            s.quorum.alter_partition.isr = isr
            s.quorum.alter_partition.broker_epochs_are_current = current

    def knows_committed(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a broker's partition epoch is the committed one."""
        lag, places = s.broker[replica].image_lag, range(self.b.metadata_lag)
        current = Not(self.cluster.image.keeps_view(s, replica))
        if not self.features.configures:
            return And(self.has_applied_all(s, replica), current)
        heard = [And(lag > at, self.is_committed(s, at), Not(s.registrations[at].configuration)) for at in places]
        return And(Not(Or(*heard)), current)

    def forget_committed_proposal(self, s: ClusterState) -> None:
        """A proposal is answered, and will not come again."""
        s.quorum.alter_partition.isr = set()
        s.quorum.alter_partition.broker_epochs_are_current = False

    def forget_committed_retry(self, s: ClusterState) -> None:
        """A request has come again, also as far as is committed."""
        s.quorum.alter_partition_retry.isr = set()
        s.quorum.alter_partition_retry.broker_epochs_are_current = False

"""A controller that never fails: what it decides is committed at once, and brokers may learn of it.

It stands where `QuorumController` does with `controller_failovers` and KRaft, with the same methods.

Kafka: QuorumController with a quorum of one voter; with ZooKeeper KafkaController.
"""

from __future__ import annotations

from insync.kafka.cluster.indices import RegistrationIndex
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import Condition, Num, SetValue

__all__ = ["SingleController"]


class SingleController(Part):
    """What is so where one controller decides, and nothing of that is lost."""

    def is_active(self, s: ClusterState) -> Condition:
        """Whether some controller decides."""
        return True

    def all_committed(self, s: ClusterState) -> Condition:
        """Whether all is committed that the active controller has decided."""
        return True

    def commit_at_once(self, s: ClusterState) -> None:
        """Commit all that is decided."""

    def note_uncommitted(self, s: ClusterState) -> None:
        """One more registration is written, and committed."""

    def has_room_uncommitted(self, s: ClusterState) -> Condition:
        """Whether the committed registration stays among those that are kept when there is one more."""
        return True

    def is_kept_for_controllers(self, s: ClusterState, place: int) -> Condition:
        """Whether a registration is kept for another controller: none needs it."""
        return False

    def may_hear(self, s: ClusterState, place: RegistrationIndex, *, waits: bool) -> Condition:
        """Whether a broker may be told of a registration."""
        return True

    def is_committed(self, s: ClusterState, place: Num | int) -> Condition:
        """Whether the registration at a place is committed."""
        return True

    def known_fenced(self, s: ClusterState) -> SetValue:
        """Who is fenced as far as brokers can know."""
        return s.controller.fenced

    def known_elr(self, s: ClusterState) -> SetValue:
        """The eligible leader replicas as far as brokers can know."""
        return s.controller.elr

    def is_late(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a broker has not applied all that is decided."""
        return s.broker[replica].image_lag > 0

    def has_applied_all(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a broker has applied all that is decided."""
        return s.broker[replica].image_lag == 0

    def may_propose(self, s: ClusterState, leader: Replica) -> Condition:
        """Whether no request is on its way that counts again if what is not committed is lost."""
        return True

    def note_proposal(self, s: ClusterState, leader: Replica, isr: SetValue, current: Condition) -> None:
        """Keep a proposal that is late: it never counts again."""

    def forget_committed_proposal(self, s: ClusterState) -> None:
        """A proposal is answered, and will not come again."""

    def forget_committed_retry(self, s: ClusterState) -> None:
        """A request has come again."""

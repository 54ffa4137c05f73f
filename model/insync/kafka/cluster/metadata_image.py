"""What each broker believes about the partition, and who is there to act on it: the broker's MetadataImage.

A broker's view is the change that it has applied last. A broker that loses its replica by a snapshot does not learn of
that, and keeps its former view (`MetadataSnapshots`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState, PartitionRegistration
from insync.kafka.replica import Replica
from insync.model import And, Bool, Condition, If, Not, Num, OptionValue, ReadableState, SetValue

if TYPE_CHECKING:
    from insync.kafka.cluster.controller.metadata_log import Registration
    from insync.kafka.cluster.controller.reassignment import Assigned

__all__ = ["MetadataImage", "View", "believed_by"]


@dataclass(frozen=True, slots=True)
class _Belief:
    """A view, present or former, with the fields of a change."""

    leader: OptionValue
    epoch: Num
    isr: SetValue
    replicas: SetValue
    minimum_is_one: Bool


View = PartitionRegistration | _Belief
"""What a broker believes about the partition."""


class MetadataImage(Part):
    """What each broker believes about the partition."""

    def registration_of(self, s: ClusterState, replica: Replica) -> View:
        """What a broker believes about the partition; min.insync.replicas is always that of its metadata."""
        applied = s.registrations[s.broker[replica].image_lag]
        if not self.features.forgets_removals:
            return applied
        kept, keeps = s.broker[replica].kept, self.keeps_view(s, replica)
        return _Belief(
            leader=If(keeps, kept.leader, applied.leader),
            epoch=If(keeps, kept.epoch, applied.epoch),
            isr=If(keeps, kept.isr, applied.isr),
            replicas=If(keeps, kept.replicas, applied.replicas),
            minimum_is_one=applied.minimum_is_one,
        )

    def keeps_view(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a broker believes that it has a replica, although its metadata gives it none."""
        return Not(s.broker[replica].kept.replicas.is_empty()) if self.features.forgets_removals else False

    def is_online(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a broker runs, and the directory with its log has not failed."""
        return And(s.broker[replica].running, Not(self.cluster.log_dirs.is_offline(s, replica)))

    def leads(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a broker has its log and believes that it leads."""
        return And(self.is_online(s, replica), self.registration_of(s, replica).leader == replica)

    def is_assigned(self, view: View | Assigned | Registration, replica: Replica) -> Condition:
        """Whether a registration, an assignment or a view gives a broker a replica of the partition."""
        return view.replicas.contains(replica) if self.features.reassigns else replica < self.b.replicas - self.b.spares


def believed_by(state: ReadableState, name: str) -> Mapping[str, Any]:
    """Return what a broker believes about the partition in a state of `Cluster`."""
    broker: Mapping[str, Any] = state["broker"][name]
    applied: Mapping[str, Any] = state["registrations"][broker["image_lag"]]
    kept = broker.get("kept")
    return {**applied, **kept} if kept and kept["replicas"] else applied

"""What the properties of a cluster speak of: who leads, who may, and which records a log has."""

from __future__ import annotations

from insync.kafka.cluster.indices import RecordNumber
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Num, Or, SetValue

__all__ = ["electable_replicas", "has_record", "is_deleted", "is_leader"]


def is_leader(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """Whether a broker leads in its own eyes and in the controller's, in the controller's epoch."""
    view, newest = model.image.registration_of(s, replica), s.registrations[0]
    return And(model.image.leads(s, replica), newest.leader == replica, view.epoch == newest.epoch)


def has_record(model: Cluster, s: ClusterState, replica: Replica, record: RecordNumber) -> Condition:
    """Whether a replica's log has a record."""
    log = s.broker[replica].log
    return Or(*[And(model.log.holds(s, replica, offset), log[offset] == record) for offset in range(model.b.records)])


def is_deleted(model: Cluster, s: ClusterState, record: Num | int) -> Condition:
    """Whether an operator, or age, has deleted a record."""
    return s.deleted.contains(record)


def electable_replicas(model: Cluster, s: ClusterState) -> SetValue:
    """The replicas that the controller may elect: the ISR and the ELR, of those that still are replicas."""
    electable = s.registrations[0].isr | s.controller.elr
    return electable & s.registrations[0].replicas if model.features.reassigns else electable

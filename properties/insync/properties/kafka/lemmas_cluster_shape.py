"""Lemmas about a cluster, 1 of 5: the shape of its state, which every step keeps and nobody would think to mention.

A proof by induction begins in any state at all, so it must be said that a broker which is down knows nothing, that a
high watermark lies within its log, and the like. docs/guide/proving-cluster.md has the argument that these serve.
"""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import NONE, And, Condition, Implies, Not, Or
from insync.properties import lemma
from insync.properties.kafka.lemmas_cluster_terms import every_offset, every_place, is_current, offsets, proposes

__all__ = [
    "a_stopped_broker_knows_nothing",
    "acknowledged_records_were_written",
    "known_ends_are_within_the_log",
    "leaders_alone_know_followers",
    "logs_are_blank_from_their_end",
    "no_proposal_is_blank",
    "passed_changes_are_blank",
    "proposals_have_their_leader",
    "proposals_name_their_sender",
    "records_were_written",
    "seen_records_were_written",
    "unwritten_records_have_no_epoch",
    "watermarks_are_within_the_log",
]


@lemma(Cluster)
def passed_changes_are_blank(model: Cluster, s: ClusterState) -> Condition:
    """A change that every running broker has passed is cleared, and tells nothing."""

    def blank(place: int) -> Condition:
        registration = s.registrations[place]
        return And(registration.leader == NONE, registration.epoch == 0, registration.isr.is_empty())

    return every_place(model, lambda place: Or(is_current(model, s, place), blank(place)))


@lemma(Cluster)
def logs_are_blank_from_their_end(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """A log has r0 from its end on, which stands for no record."""
    b = s.broker[replica]
    return every_offset(model, lambda offset: Or(offset < b.leo, b.log[offset] == 0))


@lemma(Cluster)
def watermarks_are_within_the_log(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """No high watermark lies beyond the end of its log."""
    return s.broker[replica].hw <= s.broker[replica].leo


@lemma(Cluster)
def records_were_written(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """A log has records only that producers have written; else the next write would be of one that is there already."""
    b = s.broker[replica]
    return every_offset(model, lambda offset: Implies(offset < b.leo, b.log[offset] < s.written))


@lemma(Cluster)
def unwritten_records_have_no_epoch(model: Cluster, s: ClusterState) -> Condition:
    """The epoch of a record that nobody has written is 0."""
    return And(*[Or(record < s.written, s.epoch_of[record] == 0) for record in offsets(model)])


@lemma(Cluster)
def acknowledged_records_were_written(model: Cluster, s: ClusterState) -> Condition:
    """No producer was told of a record that nobody has written."""
    return And(*[Implies(s.acked.contains(record), record < s.written) for record in offsets(model)])


@lemma(Cluster)
def seen_records_were_written(model: Cluster, s: ClusterState) -> Condition:
    """No consumer has seen a record that nobody has written."""
    return every_offset(model, lambda offset: Or(s.seen[offset].is_none(), s.seen[offset].or_else(0) < s.written))


@lemma(Cluster)
def a_stopped_broker_knows_nothing(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """A broker that is down has its log and its high watermark, and has lost its memory."""
    b = s.broker[replica]
    blank = And(b.image_lag == 0, b.leader_epoch_start == 0, b.led_since == 0, b.pending_isr.is_empty())
    others = [b.remote_replicas[other] for other in model.image.others(replica)]
    forgotten = [And(remote.leo.is_none(), Not(remote.broker_epoch_is_current)) for remote in others]
    return Or(b.running, And(blank, *forgotten))


@lemma(Cluster)
def leaders_alone_know_followers(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """A broker that does not believe it leads knows no log ends, and has no proposal and no start of its epoch."""
    b = s.broker[replica]
    forgotten = [b.remote_replicas[other].leo.is_none() for other in model.image.others(replica)]
    return Or(model.image.leads(s, replica), And(b.leader_epoch_start == 0, b.pending_isr.is_empty(), *forgotten))


@lemma(Cluster)
def known_ends_are_within_the_log(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """A leader's epoch begins within its log, and it knows of no follower that has fetched beyond its own end."""
    b = s.broker[replica]
    known = [b.remote_replicas[other].leo.or_else(0) <= b.leo for other in model.image.others(replica)]
    return And(b.leader_epoch_start <= b.leo, *known)


@lemma(Cluster)
def no_proposal_is_blank(model: Cluster, s: ClusterState) -> Condition:
    """Where no proposal is on its way nothing is said of it, and where one is somebody leads."""
    sent = model.replication_control.awaits_proposal(s)
    return And(
        Or(sent, Not(s.alter_partition.broker_epochs_are_current)), Implies(sent, s.registrations[0].leader.is_some())
    )


@lemma(Cluster)
def proposals_name_their_sender(model: Cluster, s: ClusterState, leader: Replica) -> Condition:
    """The sender of the proposal on its way knows all changes, and while it runs counts with just that proposal.

    Else the controller would accept an ISR with a member that the leader does not wait for.
    """
    b = s.broker[leader]
    return Implies(
        proposes(model, s, leader), And(b.image_lag == 0, Or(Not(b.running), b.pending_isr == s.alter_partition.isr))
    )


@lemma(Cluster)
def proposals_have_their_leader(model: Cluster, s: ClusterState, leader: Replica) -> Condition:
    """A leader is a member of every ISR that it proposes; else it would be out of its own ISR, and its log count."""
    pending = s.broker[leader].pending_isr
    own = Or(pending.is_empty(), pending.contains(leader))
    return And(own, Implies(proposes(model, s, leader), s.alter_partition.isr.contains(leader)))

"""What a cluster promises: acknowledged records survive, consumers read one history, electable replicas have it."""

from __future__ import annotations

from insync.kafka.cluster.indices import RecordNumber
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, Not, Or, for_all
from insync.properties import invariant
from insync.properties.kafka import cluster_reasons as reasons
from insync.properties.kafka.cluster_terms import electable_replicas, has_record, is_deleted, is_leader

__all__ = [
    "acks_mean_enough_copies",
    "electable_replicas_are_complete",
    "follower_reads_repeat",
    "isr_and_elr_are_sound",
    "leader_counts_electable_replicas",
    "leader_is_eligible",
    "leaders_know_their_followers",
    "logs_keep_write_order",
    "no_acknowledged_record_is_lost",
    "no_divergence",
    "reads_repeat",
    "reassignments_keep_redundancy",
    "watermark_never_goes_back",
]


# -------------------------------------------------------------------------------------------------- what clients notice


@invariant(Cluster, because=reasons.lost)
def no_acknowledged_record_is_lost(model: Cluster, s: ClusterState) -> Condition:
    """Every record that was acknowledged to a producer is in the log of the broker that leads.

    A broker leads when the controller has chosen it and it has learnt that. With acks=1 and acks=0 the leader alone
    vouches for a record, so this fails there without any defect. TLA+: LeaderCompleteness.
    """
    return for_all(
        model.all(Replica),
        lambda leader: Implies(
            is_leader(model, s, leader),
            for_all(
                model.all(RecordNumber),
                lambda record: Or(
                    Not(s.acked.contains(record)), is_deleted(model, s, record), has_record(model, s, leader, record)
                ),
            ),
        ),
    )


def _agrees(model: Cluster, s: ClusterState, replica: Replica, offset: int) -> Condition:
    """Whether what a replica shows at an offset, if anything, is what consumers saw there first."""
    b = s.broker[replica]
    shown = And(s.broker[replica].log_start <= offset, offset < b.hw, s.seen[offset].is_some())
    return Implies(shown, And(offset < b.leo, s.seen[offset] == b.log[offset]))


@invariant(Cluster, because=reasons.other_history)
def reads_repeat(model: Cluster, s: ClusterState) -> Condition:
    """A reader of an offset below a leader's high watermark gets the record that was read there before.

    TLA+: ConsistentRead. Leaders that nobody else takes for one count as well, as a consumer may still read from them.
    """
    return for_all(
        model.all(Replica),
        lambda replica: Implies(
            model.image.leads(s, replica),
            for_all(range(model.b.records), lambda offset: _agrees(model, s, replica, offset)),
        ),
    )


@invariant(Cluster, because=reasons.other_history)
def follower_reads_repeat(model: Cluster, s: ClusterState) -> Condition:
    """A reader of an offset below any running replica's high watermark gets the record that was read there before.

    Consumers may read from followers since 2.4 (KIP-392).
    """
    return for_all(
        model.all(Replica),
        lambda replica: Implies(
            s.broker[replica].running,
            for_all(range(model.b.records), lambda offset: _agrees(model, s, replica, offset)),
        ),
    )


@invariant(Cluster, because=reasons.shorter)
def watermark_never_goes_back(model: Cluster, s: ClusterState) -> Condition:
    """The high watermark that the leader tells clients is never below one that they were told before.

    A new leader may have a lower one, and must not return it to clients (KIP-207).
    """

    def tells(leader: Replica) -> Condition:
        b = s.broker[leader]
        silent = b.hw < b.leader_epoch_start if model.rules.hide_stale_watermark else False
        told = for_all(range(model.b.records), lambda offset: Implies(s.seen[offset].is_some(), offset < b.hw))
        return Or(silent, told)

    return for_all(model.all(Replica), lambda leader: Implies(is_leader(model, s, leader), tells(leader)))


@invariant(Cluster, because=reasons.thin)
def acks_mean_enough_copies(model: Cluster, s: ClusterState) -> Condition:
    """When a record was acknowledged to a producer with acks=all, at least min.insync.replicas replicas had it.

    A copy for each lossy crash and lost directory counts as well: the leader cannot know what that has destroyed.
    """
    return Not(s.acked_under_min_isr)


# --------------------------------------------------------------------------------------------------- what replicas have


@invariant(Cluster, because=reasons.incomplete)
def electable_replicas_are_complete(model: Cluster, s: ClusterState) -> Condition:
    """Every running replica that the controller may elect has every record that was ever committed.

    Those are the members of the ISR, and of the ELR where there is one. TLA+: LeaderCandidateCompleteness, StrongIsr.
    """
    electable = electable_replicas(model, s)

    def complete(replica: Replica, offset: int) -> Condition:
        seen, log = s.seen[offset], s.broker[replica].log
        gone = is_deleted(model, s, seen.or_else(0))
        return Or(seen.is_none(), gone, And(model.log.holds(s, replica, offset), seen == log[offset]))

    return for_all(
        model.all(Replica),
        lambda replica: Implies(
            And(electable.contains(replica), s.broker[replica].running),
            for_all(range(model.b.records), lambda offset: complete(replica, offset)),
        ),
    )


@invariant(Cluster, because=reasons.parted)
def no_divergence(model: Cluster, s: ClusterState) -> Condition:
    """Two running replicas have the same record wherever both are below their high watermarks (TLA+: LogMatching)."""

    def same(one: Replica, other: Replica, offset: int) -> Condition:
        a, b = s.broker[one], s.broker[other]
        kept = And(s.broker[one].log_start <= offset, s.broker[other].log_start <= offset)
        both = And(a.running, b.running, kept, offset < a.hw, offset < b.hw)
        return Implies(both, a.log[offset] == b.log[offset])

    return for_all(
        model.all(Replica),
        lambda one: for_all(
            [r for r in model.all(Replica) if r > one],
            lambda other: for_all(range(model.b.records), lambda offset: same(one, other, offset)),
        ),
    )


@invariant(Cluster, because=reasons.counted)
def leaders_know_their_followers(model: Cluster, s: ClusterState) -> Condition:
    """A follower in a leader's epoch has the leader's very records up to the log end that the leader counts for it.

    Where this fails, two logs stay different, and the protocol does not notice. It is required only of a follower
    that has not crashed since it fetched.
    """

    def agrees(leader: Replica, follower: Replica, offset: int) -> Condition:
        mine, other = s.broker[leader], s.broker[follower]
        kept = And(s.broker[leader].log_start <= offset, s.broker[follower].log_start <= offset)
        counted = And(kept, offset < mine.remote_replicas[follower].leo.or_else(0))
        return Implies(counted, And(offset < other.leo, offset < mine.leo, other.log[offset] == mine.log[offset]))

    def together(leader: Replica, follower: Replica) -> Condition:
        one, other = model.image.registration_of(s, leader), model.image.registration_of(s, follower)
        same_life = s.broker[leader].remote_replicas[follower].broker_epoch_is_current
        return And(model.image.leads(s, leader), s.broker[follower].running, one.epoch == other.epoch, same_life)

    return for_all(
        model.all(Replica),
        lambda leader: for_all(
            model.image.others(leader),
            lambda follower: Implies(
                together(leader, follower),
                for_all(range(model.b.records), lambda offset: agrees(leader, follower, offset)),
            ),
        ),
    )


@invariant(Cluster, because=reasons.disorder)
def logs_keep_write_order(model: Cluster, s: ClusterState) -> Condition:
    """A log has every record once at most, in the order in which records were written: the order of a key holds."""

    def in_order(replica: Replica, offset: int) -> Condition:
        b = s.broker[replica]
        both = And(s.broker[replica].log_start <= offset, offset + 1 < b.leo)
        return Implies(both, b.log[offset] < b.log[offset + 1])

    return for_all(
        model.all(Replica),
        lambda replica: And(
            s.broker[replica].hw <= s.broker[replica].leo,
            for_all(range(model.b.records - 1), lambda offset: in_order(replica, offset)),
        ),
    )


# ---------------------------------------------------------------------------------------------- controller and leader


@invariant(Cluster, because=reasons.ineligible)
def leader_is_eligible(model: Cluster, s: ClusterState) -> Condition:
    """The leader that the controller has chosen is a replica, in the ISR, and not fenced (KIP-841).

    Nor does the controller know that the directory with its log has failed (KIP-858).
    """
    newest = s.registrations[0]

    def may_lead(leader: Replica) -> Condition:
        return And(
            model.image.is_assigned(newest, leader), newest.isr.contains(leader), model.builder.may_serve(s, leader)
        )

    return for_all(model.all(Replica), lambda leader: Implies(newest.leader == leader, may_lead(leader)))


@invariant(Cluster, because=reasons.unsound)
def isr_and_elr_are_sound(model: Cluster, s: ClusterState) -> Condition:
    """No fenced broker is in the ISR, but for the last member where there is no ELR; ISR and ELR do not overlap.

    Their members are replicas, and the ELR is empty while the ISR has min.insync.replicas.
    TLA+: ValidControllerIsrAndElr, ValidControllerState.
    """
    isr, elr, fenced = s.registrations[0].isr, s.controller.elr, s.controller.fenced
    unfenced: Condition = (isr & fenced).is_empty()
    if model.features.reassigns:
        unfenced = And(unfenced, isr.is_subset(s.registrations[0].replicas))
    if not model.features.elr:
        return Or(unfenced, And(isr.count() == 1, s.registrations[0].leader.is_none()))
    within = elr.is_subset(s.registrations[0].replicas) if model.features.reassigns else True
    return And(
        unfenced, within, (isr & elr).is_empty(), Implies(isr.count() >= model.topic_config.minimum(s), elr.is_empty())
    )


@invariant(Cluster, because=reasons.thinned)
def reassignments_keep_redundancy(model: Cluster, s: ClusterState) -> Condition:
    """When a reassignment ended, the ISR had min.insync.replicas replicas, or all if there are fewer."""
    return Not(s.reassigned_under_min_isr) if model.features.reassigns else True


@invariant(Cluster, because=reasons.uncounted)
def leader_counts_electable_replicas(model: Cluster, s: ClusterState) -> Condition:
    """The high watermark of the leader waits for every replica that the controller may elect.

    With an ELR this is required only of a leader whose ISR is large enough for the high watermark to move.
    TLA+: ReplicationQuorumSuperset.
    """

    def covers(leader: Replica) -> Condition:
        counted = model.high_watermark.counted(s, leader)
        electable = electable_replicas(model, s)
        if not model.features.elr:
            return electable.is_subset(counted)
        return Implies(model.high_watermark.may_advance(s, leader), electable.is_subset(counted))

    return for_all(model.all(Replica), lambda leader: Implies(is_leader(model, s, leader), covers(leader)))

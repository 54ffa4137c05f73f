"""What a cluster should achieve in the end, once no more failures come: the budgets for failures are finite.

Each property but `a_leader_again` and `a_dead_leader_is_replaced` asks for nothing while the partition has no leader,
and of a replica while its broker is down.
"""

from __future__ import annotations

from insync.kafka.cluster.indices import RecordNumber
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Not, Or, exists, for_all, minimum
from insync.properties import leads_to, sometimes
from insync.properties.kafka.cluster_terms import has_record, is_deleted, is_leader

__all__ = [
    "a_dead_leader_is_replaced",
    "a_leader_again",
    "acknowledged_is_on_all_running",
    "all_acknowledged",
    "followers_learn_the_watermark",
    "running_is_back_in_isr",
    "slow_followers_stay_out",
    "written_is_settled",
]

_HEALING = (
    "apply_metadata(replica)",
    "hear_of_controller(replica)",
    "commit_decisions",
    "become_active",
    "register(replica)",
    "stop(replica)",
    "fence(replica)",
    "report_directory(replica)",
    "unfence(replica)",
    "fetch(follower)",
    "receive(follower)",
    "fetch_again(follower)",
    "ask_epoch_end(follower)",
    "resume_fetching(follower)",
    "unthrottle(follower)",
    "check_follower_in_sync(follower)",
    "expand_isr(follower)",
    "accept_alter_partition",
    "reject_alter_partition",
    "repeat_alter_partition",
)
"""Fencing a broker that is down heals as well; sessions that expire have a budget, which these runs use up."""

_NOTICING = (
    "apply_metadata(replica)",
    "hear_of_controller(replica)",
    "commit_decisions",
    "become_active",
    "stop(replica)",
    "fence(replica)",
    "report_directory(replica)",
)
"""What happens for certain after a broker has died, though nobody starts it again."""

_SLOW = (
    "apply_metadata(replica)",
    "shrink_isr(follower)",
    "expand_isr(follower)",
    "accept_alter_partition",
    "reject_alter_partition",
)
"""What happens for certain beside a follower whose fetches may never come to an end."""


def _gone(model: Cluster, s: ClusterState, record: RecordNumber) -> Condition:
    return Or(s.registrations[0].leader.is_none(), is_deleted(model, s, record))


@sometimes(Cluster)
def all_acknowledged(model: Cluster, s: ClusterState) -> Condition:
    """Every record has been acknowledged to its producer."""
    return for_all(model.all(RecordNumber), lambda record: s.acked.contains(record))


@leads_to(Cluster, strong=_HEALING)
def a_leader_again(model: Cluster, s: ClusterState) -> tuple[Condition, Condition]:
    """A partition whose assigned replicas all run has a leader, or gets one, or one of their brokers goes down."""
    newest = s.registrations[0]
    all_run = for_all(
        model.all(Replica), lambda r: Or(Not(model.image.is_assigned(newest, r)), model.image.is_online(s, r))
    )
    led = Not(newest.leader.is_none())
    return And(all_run, Not(led)), Or(led, Not(all_run))


@leads_to(Cluster, strong=_NOTICING)
def a_dead_leader_is_replaced(model: Cluster, s: ClusterState, replica: Replica) -> tuple[Condition, Condition]:
    """A leader whose broker is down, or whose directory has failed, is replaced while another member of the ISR runs.

    Nobody needs to start a broker for that, as `a_leader_again` takes for granted: the controller has to notice it.
    """
    newest = s.registrations[0]

    def can_lead(other: Replica) -> Condition:
        member = And(newest.isr.contains(other), model.image.is_assigned(newest, other))
        return And(member, model.image.is_online(s, other), model.builder.may_serve(s, other))

    dead = And(newest.leader == replica, Not(model.image.is_online(s, replica)))
    heir = exists(model.image.others(replica), can_lead)
    return And(dead, heir), Or(Not(dead), Not(heir))


@leads_to(Cluster, strong=_HEALING)
def running_is_back_in_isr(model: Cluster, s: ClusterState, replica: Replica) -> tuple[Condition, Condition]:
    """A replica out of the ISR whose broker runs is in it again, or goes down, or the partition has no leader."""
    newest = s.registrations[0]
    inside, running = newest.isr.contains(replica), model.image.is_online(s, replica)
    assigned = model.image.is_assigned(newest, replica)
    return And(running, assigned, Not(inside)), Or(inside, Not(running), Not(assigned), newest.leader.is_none())


@leads_to(Cluster, strong=_HEALING)
def acknowledged_is_on_all_running(
    model: Cluster, s: ClusterState, record: RecordNumber
) -> tuple[Condition, Condition]:
    """An acknowledged record is eventually on all replicas whose brokers run, unless it is deleted or nobody leads."""
    there = for_all(model.all(Replica), lambda r: Or(Not(model.image.is_online(s, r)), has_record(model, s, r, record)))
    return And(s.acked.contains(record)), Or(there, _gone(model, s, record))


@leads_to(Cluster, strong=_HEALING)
def written_is_settled(model: Cluster, s: ClusterState, record: RecordNumber) -> tuple[Condition, Condition]:
    """A record in a running broker's log is seen below a high watermark, or is in no such log any more."""
    there = exists(model.all(Replica), lambda r: And(model.image.is_online(s, r), has_record(model, s, r, record)))
    seen = exists(range(model.b.records), lambda offset: s.seen[offset] == record)
    return there, Or(seen, Not(there), _gone(model, s, record))


@leads_to(Cluster, strong=_HEALING)
def followers_learn_the_watermark(model: Cluster, s: ClusterState, replica: Replica) -> tuple[Condition, Condition]:
    """A running replica's high watermark comes to that of the leader, as far as its log goes, or nobody leads."""
    f, assigned = s.broker[replica], model.image.is_assigned(s.registrations[0], replica)

    def lower(leader: Replica) -> Condition:
        return And(is_leader(model, s, leader), f.hw < minimum(s.broker[leader].hw, f.leo))

    behind = And(model.image.is_online(s, replica), assigned, exists(model.image.others(replica), lower))
    return behind, Or(Not(behind), s.registrations[0].leader.is_none())


@leads_to(Cluster, strong=_SLOW)
def slow_followers_stay_out(model: Cluster, s: ClusterState, replica: Replica) -> tuple[Condition, Condition]:
    """A member of the ISR that lacks records gets them, or is dropped and may not join, or nobody leads.

    It is about followers that are too slow. It assumes that a member that lacks records is dropped, and not that a
    follower gets what it fetches. So it is decided only where no budget says how often a follower is slow.
    """
    if model.guards.slowness_has_a_budget:
        return False, True

    def behind(leader: Replica) -> Condition:
        return And(
            is_leader(model, s, leader), Not(s.broker[leader].remote_replicas[replica].leo == s.broker[leader].leo)
        )

    def joins(leader: Replica) -> Condition:
        return And(is_leader(model, s, leader), model.partition.has_caught_up(s, leader, replica))

    others, member = model.image.others(replica), s.registrations[0].isr.contains(replica)
    late = exists(others, behind)
    rests = Or(Not(late), And(Not(member), Not(exists(others, joins))), s.registrations[0].leader.is_none())
    return And(member, late), rests

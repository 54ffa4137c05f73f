"""What fetch sessions may leave out of a response."""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, Not, for_all, minimum
from insync.properties import invariant
from insync.properties.kafka import cluster_reasons as reasons

__all__ = ["replies_leave_out_what_is_known"]


@invariant(Cluster, because=reasons.untold)
def replies_leave_out_what_is_known(model: Cluster, s: ClusterState) -> Condition:
    """A follower has what the response to its next fetch would leave out: high watermark and log start.

    Its high watermark is then that of the leader or a higher one, as far as its own log goes.
    """
    if not model.features.sessions:
        return True

    def knows(leader: Replica, follower: Replica) -> Condition:
        f, response = s.broker[follower], model.fetcher.answer(s, leader, follower)
        asks = And(model.fetcher.follows_in_view(s, follower, leader), Not(f.truncating), Not(f.fetch_response.waiting))
        serves = And(model.image.leads(s, leader), model.fetcher.fetch_allowed(s, follower, leader))
        answered = And(asks, serves, Not(model.fetcher.asks_unknown_epoch(s, leader, follower)))
        known = And(f.hw >= minimum(response.hw, f.leo), f.log_start >= minimum(response.log_start, f.hw))
        return Implies(And(answered, model.sessions.leaves_out(s, follower, response)), known)

    return for_all(
        model.all(Replica),
        lambda leader: for_all(model.image.others(leader), lambda follower: knows(leader, follower)),
    )

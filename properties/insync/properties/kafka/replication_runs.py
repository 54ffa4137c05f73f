"""What Kafka's replication should achieve in the end, and what can happen on the way.

A leads_to property counts as met while the partition has no leader, since nothing heals without one, and in the bounded
model the last epoch may be spent on deposing a leader. So each says: if from some point on there is a leader, then ...
"""

from __future__ import annotations

from insync.kafka.published import Kip320FirstTry, Replication
from insync.kafka.published.replication import RecordId, Replica
from insync.model import And, Condition, Not, Or, StateView, exists, for_all
from insync.properties import Fairness, eventually, leads_to, sometimes

__all__ = [
    "PUBLISHED",
    "accepted_is_settled",
    "acknowledged_is_everywhere",
    "agreed_leader",
    "all_records_committed",
    "back_in_isr",
    "committed_everywhere",
    "logs_diverge",
    "partition_gets_a_leader",
    "two_leaders",
]

PUBLISHED = Fairness(
    weak=("become_follower", "become_leader"),
    strong=("leader_advance_high_watermark", "leader_expand_isr", "leader_write"),
)
"""What the module Kip320 assumes in its Spec: fetching is not among it, so followers may never fetch."""

_WEAK = ("become_leader(leader)", "become_follower(follower)", "follower_fetch(follower)")
_STRONG = ("leader_advance_high_watermark(leader)", "leader_expand_isr(follower)")


def _has_record(model: Replication, s: StateView, replica: Replica, record: RecordId, *, committed: bool) -> Condition:
    """Whether a replica has a record, below its high watermark if it must be `committed`."""
    r = s.replica[replica]

    def here(offset: int) -> Condition:
        end = r.hw if committed else r.leo
        return And(offset < end, r.log[offset].is_some(), r.log[offset].value.id == record)

    return exists(range(model.b.log_size), here)


def _somewhere(model: Replication, s: StateView, record: RecordId, *, committed: bool) -> Condition:
    return exists(model.all(Replica), lambda replica: _has_record(model, s, replica, record, committed=committed))


# -------------------------------------------------------------------------------------------------- what can happen


@sometimes(Replication)
def committed_everywhere(model: Replication, s: StateView) -> Condition:
    """Every replica has a record below its high watermark: replication works at all."""
    return for_all(model.all(Replica), lambda replica: s.replica[replica].hw > 0)


@sometimes(Replication)
def all_records_committed(model: Replication, s: StateView) -> Condition:
    """Every record that producers may write has been committed by some replica, each under its own name."""
    return for_all(model.all(RecordId), lambda record: _somewhere(model, s, record, committed=True))


@sometimes(Replication)
def agreed_leader(model: Replication, s: StateView) -> Condition:
    """Controller and a replica agree that it leads, in the newest epoch: the ISR can be changed by its leader."""
    return exists(model.all(Replica), lambda replica: model.is_true_leader(s, replica))


@sometimes(Replication)
def two_leaders(model: Replication, s: StateView) -> Condition:
    """Two replicas believe at once that they lead."""
    pairs = [(one, other) for one in model.all(Replica) for other in model.all(Replica) if one < other]
    return Or(False, *[And(model.believes_it_leads(s, a), model.believes_it_leads(s, b)) for a, b in pairs])


@sometimes(Replication)
def logs_diverge(model: Replication, s: StateView) -> Condition:
    """Two replicas have different records at the same offset."""
    pairs = [(one, other) for one in model.all(Replica) for other in model.all(Replica) if one < other]

    def differ(one: Replica, other: Replica, offset: int) -> Condition:
        a, b = s.replica[one], s.replica[other]
        return And(offset < a.leo, offset < b.leo, Not(a.log[offset] == b.log[offset]))

    return Or(False, *[differ(a, b, offset) for a, b in pairs for offset in range(model.b.log_size)])


# ---------------------------------------------------------------------------------------------- what must happen


@eventually(Replication, weak=("controller_elect_leader", "become_leader"))
def partition_gets_a_leader(model: Replication, s: StateView) -> Condition:
    """Some replica comes to believe that it leads, if the controller elects as long as it has epochs."""
    leads = exists(model.all(Replica), lambda replica: model.believes_it_leads(s, replica))
    return Or(leads, s.next_epoch > model.b.max_leader_epoch)


@leads_to(Replication, weak=_WEAK, strong=_STRONG)
def back_in_isr(model: Replication, s: StateView, replica: Replica) -> tuple[Condition, Condition]:
    """A replica that is out of the ISR is eventually in it again, or the partition has no leader."""
    inside = s.quorum.isr.contains(replica)
    return Not(inside), Or(inside, s.quorum.leader.is_none())


@leads_to(Replication, weak=_WEAK, strong=_STRONG)
def accepted_is_settled(model: Replication, s: StateView, record: RecordId) -> tuple[Condition, Condition]:
    """A record in some log is eventually committed, or truncated away everywhere, or the partition has no leader."""
    there = _somewhere(model, s, record, committed=False)
    settled = Or(_somewhere(model, s, record, committed=True), Not(there))
    return there, Or(settled, s.quorum.leader.is_none())


@leads_to(Replication, weak=_WEAK, strong=_STRONG)
def acknowledged_is_everywhere(model: Replication, s: StateView, record: RecordId) -> tuple[Condition, Condition]:
    """A record that some replica has committed is eventually on every replica, or the partition has no leader."""
    everywhere = for_all(model.all(Replica), lambda r: _has_record(model, s, r, record, committed=False))
    return _somewhere(model, s, record, committed=True), Or(everywhere, s.quorum.leader.is_none())


# The first try truncates in an action of its own, which must not be neglected either.
for _property in (back_in_isr, accepted_is_settled, acknowledged_is_everywhere):
    leads_to(Kip320FirstTry, weak=(*_WEAK, "follower_truncate(follower)"), strong=_STRONG)(_property)

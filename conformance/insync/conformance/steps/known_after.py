"""Where the cluster and Kafka are known to go apart after a step, as data: `KNOWN_AFTER_A_STEP`.

Three are about a fetch. Kafka's leader goes by the metadata that it has applied, so it learns late that a follower is
fenced or back, and it keeps log ends from an earlier leadership. The model's leader knows at once who may join the ISR,
and waits for a follower that may and has caught up. Kafka: Partition.isReplicaIsrEligible, maybeIncrementLeaderHW.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from insync.conformance.classes.observation import LeadingSeen, Observation
from insync.conformance.correspondence.known_differences import Compared, Direction, KnownDifference
from insync.conformance.steps.isr_expansions import FETCHES, Registrations
from insync.conformance.steps.likeness import broker_id

__all__ = ["KNOWN_AFTER_A_STEP", "ClusterCompared"]


@dataclass(frozen=True, slots=True)
class ClusterCompared(Compared):
    """What a step has left of the model and of a cluster, where they differ.

    Attributes:
        was: Kafka's state before the step.
        now: Kafka's state after it.
        order: the replicas in Kafka's order.
        registered: who may join an ISR by which metadata.
    """

    was: Observation
    now: Observation
    order: Sequence[int]
    registered: Registrations

    @property
    def fetch(self) -> tuple[str, str]:
        """The leader and the follower of a fetch."""
        return self.step.given["leader"], self.step.given["follower"]

    def moved(self, leader: str, *, kafka_is_ahead: bool) -> int | None:
        """Return the greater high watermark of a leader on which both differ, if that side is ahead; else None."""
        for one in self.found:
            if one.field == f"{leader}.hw":
                assert isinstance(one.model, int)
                assert isinstance(one.kafka, int)
                ahead, behind = (one.kafka, one.model) if kafka_is_ahead else (one.model, one.kafka)
                return ahead if ahead > behind else None
        return None


def _elects_in_another_order(compared: ClusterCompared) -> str | None:
    """A reassignment puts the replicas that it adds first, and they stay there when it is taken back.

    The model has replicas in the order of their numbers, those to be removed last, unless operators may reorder them.
    """
    if "places" in compared.step.before.get("controller", {}):
        return None
    before, newest = compared.step.before["registrations"][0], compared.state["registrations"][0]
    seen = compared.now.controller
    mine, kafka = newest["leader"], seen.leader
    if mine is None or str(seen.leader_epoch) != newest["epoch"] or newest["epoch"] == before["epoch"]:
        return None
    chosen, goes, order = broker_id(mine), seen.removing, compared.order
    later = (kafka in goes, kafka) > (chosen in goes, chosen)
    if not (chosen in order and kafka in order and later and order.index(kafka) < order.index(chosen)):
        return None
    return (
        f"a reassignment has put b{kafka} before {mine}, and Kafka elects the first who can lead; so does the model, "
        "in the order of numbers but for those who are to go, which come last"
    )


def _knows_the_end_from_before(compared: ClusterCompared) -> str | None:
    """A leader that is elected again keeps the log ends of all followers.

    It looks at its high watermark where a fetch shows another one. The model's keeps those of ISR members, as nothing
    else is made of the others.
    """
    leader, follower = compared.fetch
    brokers = compared.was.brokers
    leading, log = brokers[broker_id(leader)].leading, brokers[broker_id(follower)].log
    known = leading.known.get(broker_id(follower)) if leading is not None else None
    if leading is None or known is None or broker_id(follower) in leading.isr:
        return None
    forgotten = compared.step.before["broker"][leader]["remote_replicas"][follower]["leo"] is None
    repeats = known.end == (0 if log is None else log.end)
    if not (forgotten and repeats and compared.found[0].model > compared.found[0].kafka):  # type: ignore[operator]
        return None
    return (
        f"{leader} knows the log end of {follower} from an earlier leadership, so its fetch shows nothing new and the "
        "high watermark stays; in the model it has forgotten it"
    )


def _has_not_heard_of_a_return(compared: ClusterCompared) -> str | None:
    """The leader does not know yet that the follower is back; the model agrees if the fetch comes before the return."""
    leader, follower = compared.fetch
    before, leading = compared.step.before, _leading_beside(compared, may_join=False)
    if leading is None or follower in before["controller"]["fenced"] or before["broker"][leader]["pending_isr"]:
        return None
    moved = compared.moved(leader, kafka_is_ahead=True)
    if moved is None or _end(compared.was, follower) >= moved:
        return None
    return (
        f"{leader} has not learned yet that {follower} is back, so it does not wait for {follower} before its high "
        "watermark moves; in the model it knows"
    )


def _has_not_heard_of_a_fencing(compared: ClusterCompared) -> str | None:
    """The leader asks to add a follower that is fenced or stops, and then waits for its log end.

    The model agrees if the fetch comes before the follower is fenced.
    """
    leader, follower = compared.fetch
    before, leading = compared.step.before, _leading_beside(compared, may_join=True)
    if leading is None or follower not in before["controller"]["fenced"] or before["broker"][leader]["pending_isr"]:
        return None
    asks = set(leading.proposed) == {*leading.isr, broker_id(follower)}
    missed = compared.moved(leader, kafka_is_ahead=False)
    if not asks or missed is None or _end(compared.was, follower) >= missed:
        return None
    return (
        f"{leader} has not learned yet that {follower} is fenced, so it asks for {follower} and waits for it before "
        "its high watermark moves; in the model it knows"
    )


def _ends_the_session_of_one_that_is_fenced(compared: ClusterCompared) -> str | None:
    """A member of the ISR that is down and fenced leaves it as its session ends, with that of the one to be fenced.

    A cancelled reassignment may have put it there: an ISR that would be empty is the first replica that stays.
    """
    before, newest, seen = compared.step.before, compared.state["registrations"][0], compared.now.controller
    fenced, brokers = before["controller"]["fenced"], before["broker"]
    gone = {name for name in newest["isr"] if name in fenced and not brokers[name]["running"]}
    eligible = {broker_id(name) for name in {*compared.state["controller"].get("elr", ()), *gone}}
    left = {broker_id(name) for name in newest["isr"] if name not in gone}
    if not gone or (set(seen.isr), set(seen.elr)) != (left, eligible):
        return None
    them = " and ".join(sorted(gone))
    return f"{them} is down and fenced, and leaves the ISR as its session ends; in the model it has left nothing more"


def _leading_beside(compared: ClusterCompared, *, may_join: bool) -> LeadingSeen | None:
    """What a leader knows, if who fetches is outside its ISR and may join it, or not, by what it has applied."""
    leader, follower = (broker_id(name) for name in compared.fetch)
    seen = compared.now.brokers[leader]
    leading = seen.leading
    known = leading.known.get(follower) if leading is not None else None
    if leading is None or known is None or follower in leading.isr:
        return None
    said = known.may_join, compared.registered.may_join(follower, seen.applied)
    return leading if said == (may_join, may_join) else None


def _end(seen: Observation, replica: str) -> int:
    log = seen.brokers[broker_id(replica)].log
    return 0 if log is None else log.end


_WATERMARK = frozenset({"{leader}.hw", "{follower}.hw", "clients.acked"})
"""The high watermark of a leader, and what follows from it."""

KNOWN_AFTER_A_STEP: tuple[KnownDifference[ClusterCompared], ...] = (
    KnownDifference(
        "Kafka elects in the order that a reassignment has left, the model in its own",
        kafka="in and after a reassignment those are elected first who were asked for "
        "(`PartitionChangeBuilder.electLeader`)",
        when="the leaders differ, and Kafka's comes first in its order of replicas only",
        model="elects the one of the least number, and of those who are to go last: without `replica_order_changes` it "
        "has one order",
        direction=Direction.NEITHER,
        steps=frozenset(),
        may_differ=None,
        applies=_elects_in_another_order,
    ),
    KnownDifference(
        "Kafka's leader knows the follower's log end from an earlier leadership",
        kafka="a leader whose epoch grows while it leads, as by a reassignment, or that has missed that another one "
        "led, keeps what it knew of the log ends of followers outside the ISR. It looks at its high watermark "
        "where a fetch shows another end only (`Partition.maybeIncrementLeaderHW`)",
        when="the first fetch of such a follower, at the end that Kafka's leader knows",
        model="has the leader look at it; Kafka's does at the next news",
        direction=Direction.MODEL,
        steps=frozenset(FETCHES),
        may_differ=_WATERMARK,
        applies=_knows_the_end_from_before,
    ),
    KnownDifference(
        "Kafka's leader does not wait for one of whose return it has not learned",
        kafka="a leader does not wait for a follower that has caught up where it has not learned yet that it is back: "
        "fenced no more, or another incarnation (`Partition.isReplicaIsrEligible`)",
        when="its fetch; the follower is no member of the ISR",
        model="has the leader know at once who is fenced, and wait for one that may join; the same comes of the fetch "
        "where it is taken before the return",
        direction=Direction.NEITHER,
        steps=frozenset(FETCHES),
        may_differ=_WATERMARK,
        applies=_has_not_heard_of_a_return,
    ),
    KnownDifference(
        "Kafka's leader waits for one of whose fencing it has not learned",
        kafka="a leader asks for a follower, and waits for it, where it has not learned yet that it is fenced, or "
        "stops (`Partition.isReplicaIsrEligible`)",
        when="its fetch; the follower is no member of the ISR, and Kafka's leader has asked for it",
        model="has the leader know at once who is fenced, and not wait; the same comes of the fetch where it is taken "
        "before that",
        direction=Direction.NEITHER,
        steps=frozenset(FETCHES),
        may_differ=_WATERMARK | {"{leader}.pending_isr"},
        applies=_has_not_heard_of_a_fencing,
    ),
    KnownDifference(
        "Kafka takes one that is fenced already out of the ISR as its session ends",
        kafka="since 4.0 the controller fences anew one that is fenced and whose session ends "
        "(`ReplicationControlManager.maybeFenceOneStaleBroker`, `BrokerHeartbeatTracker.maybeRemoveExpired`, read in "
        "4.1.2 and 4.3.1; in 3.9.2 it looks at unfenced ones alone), and takes it out of the ISR",
        when="another one is fenced; a member of the ISR is down and fenced, as after a reassignment that was taken "
        "back while nobody was in the ISR",
        model="has it stay in the ISR until it registers",
        direction=Direction.NEITHER,
        steps=frozenset({"fence"}),
        may_differ=frozenset({"controller.isr", "controller.elr"}),
        applies=_ends_the_session_of_one_that_is_fenced,
    ),
)
"""What a walk ends at, in the order in which it is looked for; whatever else differs is a difference."""

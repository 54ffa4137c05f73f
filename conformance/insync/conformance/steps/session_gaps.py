"""Fetches at which Kafka's leader goes by sessions that have changed: who is fenced, or back, it hears by its metadata.

The model's leader knows at once who may join the ISR, and waits for a follower that has caught up and may.
Kafka: Partition.isReplicaIsrEligible, maybeIncrementLeaderHW.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from insync.conformance.classes.observation import LeadingSeen, Observation
from insync.conformance.steps.gaps import NotSchedulable
from insync.conformance.steps.isr_expansions import Registrations
from insync.conformance.steps.likeness import Difference, broker_id
from insync.model import ReadableState

__all__ = ["require_fencing_known_to_leader", "require_return_known_to_leader"]


def require_return_known_to_leader(
    fetch: Mapping[str, str],
    before: ReadableState,
    was: Observation,
    now: Observation,
    found: Sequence[Difference],
    registered: Registrations,
) -> None:
    """Refuse a fetch after which the model's leader waits for one who is back, of which Kafka's has not heard yet.

    The same comes of the fetch in the model where it is taken before the return.

    Args:
        fetch: the parameters of the step.
        before: the model's state before it.
        was: Kafka's.
        now: Kafka's after it.
        found: what differs after it.
        registered: who may join by which metadata.

    Raises:
        NotSchedulable: it is so, and what differs is that high watermark alone, with who hears of it.
    """
    leader, follower = fetch["leader"], fetch["follower"]
    leading = _leading_beside(fetch, now, registered, may_join=False)
    if leading is None or follower in before["controller"]["fenced"] or before["broker"][leader]["pending"]:
        return
    moved = [one.kafka for one in found if one.field == f"{leader}.hw" and one.kafka > one.model]  # type: ignore[operator]
    ahead = {one.field for one in found} <= {f"{leader}.hw", f"{follower}.hw", "clients.acked"}
    if ahead and moved and _end(was, follower) < moved[0]:  # type: ignore[operator]
        message = (
            f"{leader} has not heard yet that {follower} is back, so it does not wait for {follower} before its high "
            "watermark moves; in the model it knows"
        )
        raise NotSchedulable(message, "Kafka's leader does not wait for one of whose return it has not heard")


def require_fencing_known_to_leader(
    fetch: Mapping[str, str],
    before: ReadableState,
    was: Observation,
    now: Observation,
    found: Sequence[Difference],
    registered: Registrations,
) -> None:
    """Refuse a fetch at which Kafka's leader asks for one who is fenced, or stops, of which it has not heard yet.

    It waits then for the log end of that follower. The same comes of the fetch in the model where it is taken before
    the follower is fenced.

    Args:
        fetch: the parameters of the step.
        before: the model's state before it.
        was: Kafka's.
        now: Kafka's after it.
        found: what differs after it.
        registered: who may join by which metadata.

    Raises:
        NotSchedulable: it is so, and what differs is that high watermark alone, with who hears of it, and what the
            leader has asked for.
    """
    leader, follower = fetch["leader"], fetch["follower"]
    leading = _leading_beside(fetch, now, registered, may_join=True)
    if leading is None or follower not in before["controller"]["fenced"] or before["broker"][leader]["pending"]:
        return
    asks = set(leading.proposed) == {*leading.isr, broker_id(follower)}
    missed = [one.model for one in found if one.field == f"{leader}.hw" and one.model > one.kafka]  # type: ignore[operator]
    behind = {one.field for one in found} <= {f"{leader}.hw", f"{leader}.pending", f"{follower}.hw", "clients.acked"}
    if asks and behind and missed and _end(was, follower) < missed[0]:  # type: ignore[operator]
        message = (
            f"{leader} has not heard yet that {follower} is fenced, so it asks for {follower} and waits for it before "
            "its high watermark moves; in the model it knows"
        )
        raise NotSchedulable(message, "Kafka's leader waits for one of whose fencing it has not heard")


def _leading_beside(
    fetch: Mapping[str, str], now: Observation, registered: Registrations, *, may_join: bool
) -> LeadingSeen | None:
    """What a leader knows, if who fetches is outside its ISR and may join it, or not, by what it has applied."""
    seen, follower = now.brokers[broker_id(fetch["leader"])], broker_id(fetch["follower"])
    leading = seen.leading
    known = leading.known.get(follower) if leading is not None else None
    if leading is None or known is None or follower in leading.isr:
        return None
    said = known.may_join, registered.may_join(follower, seen.applied)
    return leading if said == (may_join, may_join) else None


def _end(seen: Observation, replica: str) -> int:
    log = seen.brokers[broker_id(replica)].log
    return 0 if log is None else log.end

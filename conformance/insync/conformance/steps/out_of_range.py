"""The late response OFFSET_OUT_OF_RANGE: Kafka's follower then requests the ends of the leader's log (ListOffsets).

Kafka: AbstractFetcherThread.handleOutOfRangeError, onPartitionFenced, ReplicaManager.applyDelta.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from insync.conformance.classes.observation import Observation
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.steps.known_reasons import GAVE_UP, LATER_ENDS
from insync.conformance.steps.likeness import broker_id
from insync.model import ReadableState

__all__ = ["Ends", "OutOfRange", "ends_of", "require_same_ends"]

Ends = tuple[int, int] | None
"""The start and end offset of a leader's log; None without a log."""


@dataclass(frozen=True, slots=True)
class _Refused:
    """A fetch answered by OFFSET_OUT_OF_RANGE: the leader, the leader epoch, and the ends of the leader's log then."""

    leader: int
    epoch: int | None
    ends: Ends


class OutOfRange:
    """The followers whose last fetch was answered by OFFSET_OUT_OF_RANGE."""

    def __init__(self) -> None:
        self._refused: dict[int, _Refused] = {}
        self._gave_up: dict[int, int] = {}  # followers that gave the partition up, with the leader epoch

    def note(self, follower: int, leader: int, seen: Observation, *, refused: bool) -> None:
        """Note whether a fetch was answered by OFFSET_OUT_OF_RANGE."""
        self._refused.pop(follower, None)
        self._gave_up.pop(follower, None)
        if refused:
            self._refused[follower] = _Refused(leader, seen.brokers[follower].leader_epoch, ends_of(seen, leader))

    def receive(self, follower: int, seen: Observation) -> None:
        """Note whether a follower gives the partition up at the response, as the leader is in a later epoch by now.

        The fetcher takes the partition back when the follower learns of a later epoch (`onPartitionFenced`).

        Args:
            follower: the follower that receives the response.
            seen: Kafka's state before the response arrives.

        Raises:
            NotSchedulable: the response is OFFSET_OUT_OF_RANGE, and the leader's log has other ends by now.
        """
        refused, epoch = self._refused.get(follower), seen.brokers[follower].leader_epoch
        if refused is None:
            return
        require_same_ends(f"b{follower}", refused.leader, refused.ends, seen)
        leaders = seen.brokers[refused.leader].leader_epoch
        if leaders is not None and epoch is not None and epoch == refused.epoch and leaders > epoch:
            self._gave_up[follower] = epoch

    def require_fetcher(self, action: str, given: Mapping[str, str], before: ReadableState, seen: Observation) -> None:
        """Refuse metadata at which Kafka's follower shuts down a fetcher without partitions, and thereby its session.

        In the model the follower keeps the session. The next fetch is answered alike, as the error response has put
        nothing into the session.

        Args:
            action: the action by which the follower applies a change.
            given: the parameters of the step.
            before: the model's state before the step.
            seen: Kafka's state before the step.

        Raises:
            NotSchedulable: the follower has given the partition up, and the change is of the same leader epoch.
        """
        replica, place = given["replica"], int(given["place"])
        broker, changes = seen.brokers[broker_id(replica)], before["registrations"]
        epoch = self._gave_up.get(broker_id(replica))
        same_epoch = epoch is not None and int(changes[place]["epoch"]) == epoch == broker.leader_epoch
        stays = same_epoch and replica in changes[place]["replicas"]
        passed = changes[place : before["broker"][replica]["image_lag"]]
        concerned = action == "load_snapshot" or any(not change.get("configuration") for change in passed)
        if broker.session is not None and stays and concerned:
            message = (
                f"the leader was in a later epoch when {replica} asked where its log begins and ends, so {replica} has "
                "given the partition up, and ends its session with its epoch's next change; in the model it "
                "keeps the session"
            )
            raise NotSchedulable(message, GAVE_UP)


def ends_of(seen: Observation, broker: int) -> Ends:
    """Return the start and end offset of a broker's log."""
    log = seen.brokers[broker].log
    return None if log is None else (log.start, log.end)


def require_same_ends(follower: str, leader: int, then: Ends, seen: Observation) -> None:
    """Refuse the late response OFFSET_OUT_OF_RANGE if the ends of the leader's log have changed since it was made.

    Kafka's follower requests the ends when the response arrives; in the model they come with the response.

    Args:
        follower: the follower that receives the response.
        leader: the leader that made it.
        then: the ends of the leader's log when it made the response.
        seen: Kafka's state before the response arrives.

    Raises:
        NotSchedulable: the ends have changed.
    """
    now = ends_of(seen, leader)
    if now != then:
        message = (
            f"{follower} asks b{leader} where its log begins and ends when the response arrives, and that has changed"
        )
        raise NotSchedulable(message, LATER_ENDS)

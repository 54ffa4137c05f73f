"""What a broker finds on disk after a crash, as commands: checkpoints that were written some time before it.

A broker of the harness that dies writes all its checkpoints first. An older one takes the place of such a checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping

from insync.conformance.classes.observation import LogSeen
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.steps.commands import Commands
from insync.conformance.steps.known_reasons import EPOCH_BEGINS_LATER, EPOCH_OF_ONE_SIDE, OTHER_RECORD
from insync.conformance.steps.likeness import broker_id
from insync.model import ReadableState

__all__ = ["OF_CHECKPOINTS", "CheckpointSteps"]

OF_CHECKPOINTS = {"find_older_checkpoint": "hw", "find_older_start": "log_start"}
"""The actions, which are called like their commands, and the field of the model's broker that each makes one less."""


class CheckpointSteps:
    """Takes the steps about checkpoints.

    Args:
        kafka: what takes the commands.
    """

    def __init__(self, kafka: Commands) -> None:
        self._kafka = kafka
        self._starts: dict[str, int] = {}  # where the logs began of brokers that have found deleted records again

    def take(self, action: str, given: Mapping[str, str], before: ReadableState) -> None:
        """Let a broker that is down find a checkpoint with an offset that is one less."""
        replica = given["replica"]
        offset = before["broker"][replica][OF_CHECKPOINTS[action]]
        if action == "find_older_start":
            self._starts[replica] = max(offset, self._starts.get(replica, 0))
        self._kafka.give(action, broker=broker_id(replica), offset=offset - 1)

    def require_alike(self, action: str, given: Mapping[str, str], after: ReadableState) -> None:
        """Refuse a step after which a record that was deleted and found again is not the same thing to both sides.

        Args:
            action: the name of its action.
            given: the parameters.
            after: the model's state after it.

        Raises:
            NotSchedulable: it is so.
        """
        self.require_same_epochs(after)
        if action == "fetch":
            self.require_same_divergence(given, after)
        elif action == "validate_position":
            self.require_same_end_of_epoch(given["leader"], after)
        elif action == "register":
            self.require_same_records(given["replica"], after)

    def require_same_epochs(self, after: ReadableState) -> None:
        """Refuse a step after which one side alone knows the epoch of a record that was deleted and found again.

        Kafka's cache has lost it with the deletion, and the model looks it up in the log when that is cut or closed. If
        the cache was empty at the crash, Kafka has made it anew of all that is in the file, and the model has not.

        Raises:
            NotSchedulable: it is so.
        """
        for replica, start in sorted(self._starts.items()):
            log, term = self._kafka.broker(broker_id(replica)).log, after["broker"][replica]["latest_epoch"]
            if log is None or term == max(log.epochs, default=-1):
                continue
            if max((term, *log.epochs)) in _epochs_before(start, log):
                message = (
                    f"{replica} has found records again that were deleted, and {'the model' if term >= 0 else 'Kafka'} "
                    "alone knows their epoch now"
                )
                raise NotSchedulable(message, EPOCH_OF_ONE_SIDE)

    def require_same_divergence(self, fetch: Mapping[str, str], after: ReadableState) -> None:
        """Refuse a fetch that the model answers with the end of an epoch, if that is of a record that was found again.

        Raises:
            NotSchedulable: Kafka's leader does not know that epoch, or has the next one begin behind the records that
                it has found again, and so does not see that the follower diverges.
        """
        leader, response = fetch["leader"], after["broker"][fetch["follower"]].get("fetch_response")
        log = self._kafka.broker(broker_id(leader)).log
        if leader not in self._starts or log is None or response is None or not response["diverging"]:
            return
        told = int(response["epoch"])
        if told not in log.epochs and told in _epochs_before(self._starts[leader], log):
            message = (
                f"{leader} has found records again that were deleted, and the model alone answers {fetch['follower']} "
                "where their epoch ends"
            )
            raise NotSchedulable(message, EPOCH_OF_ONE_SIDE)
        follower, end = after["broker"][fetch["follower"]], response["end"]
        _, next_epoch = dict(enumerate(log.records, log.start)).get(end, ("", -1))
        # LeaderEpochFileCache.truncateFromStart moves the first one.
        is_first = next_epoch == min(log.epochs, default=-1)
        if follower["latest_epoch"] < next_epoch and is_first and end < follower["leo"] <= self._starts[leader]:
            message = (
                f"{leader} has found records again that were deleted, and Kafka's has their epoch begin behind them, "
                f"so that {fetch['follower']} does not diverge; in the model it begins with them"
            )
            raise NotSchedulable(message, EPOCH_BEGINS_LATER)

    def require_same_end_of_epoch(self, leader: str, after: ReadableState) -> None:
        """Refuse what a leader says of an epoch, if in the model it is of a deleted record that was found again.

        Raises:
            NotSchedulable: Kafka's does not know that epoch, and the consumer has another one by the answer.
        """
        log, consumer = self._kafka.broker(broker_id(leader)).log, self._kafka.seen.consumer
        told = after["consumer"]["last_epoch"]
        if leader not in self._starts or log is None or consumer is None or consumer.last_epoch == told:
            return
        if told not in log.epochs and told in _epochs_before(self._starts[leader], log):
            message = (
                f"{leader} has found records again that were deleted, and the model alone answers a consumer that "
                "their epoch is the last before the one it asks about"
            )
            raise NotSchedulable(message, EPOCH_OF_ONE_SIDE)

    def require_same_records(self, replica: str, after: ReadableState) -> None:
        """Refuse a start at which a deleted record is found again, and another one was seen at its offset before.

        The model takes a deleted record for the first that was seen there; that one was lost before, by an unclean
        election or a crash, and the file has its successor.

        Raises:
            NotSchedulable: it is so.
        """
        log = self._kafka.broker(broker_id(replica)).log
        if replica not in self._starts or log is None:
            return
        found = list(enumerate(log.records, log.start))[: max(self._starts[replica] - log.start, 0)]
        mine = after["broker"][replica]["log"]
        if any(mine[offset] == after["seen"][offset] != record for offset, (record, _) in found):
            message = (
                f"{replica} finds a record again that was deleted, at an offset where another one was seen first and "
                "lost; in the model it finds that one"
            )
            raise NotSchedulable(message, OTHER_RECORD)


def _epochs_before(start: int, log: LogSeen) -> set[int]:
    """Return the epochs of a log's records below an offset."""
    return {epoch for offset, (_, epoch) in enumerate(log.records, log.start) if offset < start}

"""Steps that cannot be brought about as the model has them, and where Kafka is known to do one otherwise."""

from __future__ import annotations

from insync.conformance.classes.observation import Observation
from insync.conformance.likeness import broker_id
from insync.model import ReadableState

__all__ = ["NotSchedulable", "require_no_epoch_of_deleted_records", "require_one_change"]


class NotSchedulable(Exception):
    """A step that cannot be brought about on Kafka's classes.

    Args:
        message: why.
        kind: the same without names of brokers, which many steps have in common; None if the message has none.
    """

    def __init__(self, message: str, kind: str | None = None) -> None:
        super().__init__(message)
        self.kind = message if kind is None else kind


def require_one_change(broker: int, partition_epoch: int, seen: Observation) -> None:
    """Refuse the registration of one who was cleared from the ELR where Kafka takes it out of the ISR twice.

    The index of the ELR that Kafka's controller believes, brokersToElrs, outlives a ClearElrRecord. A broker that left
    the ELR so, and is in the ISR by now, is then found twice when it registers, which costs one more leader epoch.

    Args:
        broker: who has registered.
        partition_epoch: that of the registration before.
        seen: Kafka's state after it.

    Raises:
        NotSchedulable: it is so.
    """
    if seen.controller.partition_epoch == partition_epoch + 2:
        message = (
            f"a change of min.insync.replicas took b{broker} out of the ELR, of which a part of Kafka's controller "
            f"does not hear, so that it takes b{broker} out twice when it registers, with one leader epoch more"
        )
        raise NotSchedulable(message, "Kafka takes one who was cleared from the ELR out of the ISR twice")


def require_no_epoch_of_deleted_records(replica: str, model: ReadableState, seen: Observation) -> None:
    """Refuse a start after which Kafka knows the epoch of records that are all deleted, and the model none.

    The records are still in the file of the log when it is recovered a second time.

    Args:
        replica: who has started.
        model: the model's state after it.
        seen: Kafka's.

    Raises:
        NotSchedulable: it is so.
    """
    broker, log = model["broker"][replica], seen.brokers[broker_id(replica)].log
    emptied = broker["term"] < 0 and 0 < broker.get("start", 0) == broker["leo"]
    if emptied and log is not None and log.start == log.end == broker["leo"] and len(log.epochs) == 1:
        message = (
            f"{replica} finds again, in the file of its log, the epoch of records that are deleted, and its next fetch "
            "names it; in the model it has no epoch"
        )
        raise NotSchedulable(message, "Kafka finds the epoch of deleted records again after a crash")

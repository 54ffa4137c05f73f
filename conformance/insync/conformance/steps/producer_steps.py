"""What a producer does, as commands: it sends records, and sends again those without an answer.

With `retries` it is idempotent where the model says so: its batches have an id, an epoch and a sequence number,
by which Kafka's leader knows them. After a restart the id is another one where the model's producer does not keep it.
"""

from __future__ import annotations

from collections.abc import Mapping

from insync.conformance.classes.observation import BrokerSeen
from insync.conformance.classes.subject import Argument
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.steps.commands import Commands
from insync.conformance.steps.known_reasons import BY_DELETED_RECORDS, BY_SNAPSHOT
from insync.conformance.steps.likeness import ACKS, broker_id
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState

__all__ = ["OF_PRODUCER", "ProducerSteps"]

OF_PRODUCER = ("write", "send_again", "acknowledge_again", "restart_producer")
_FIRST_ID = 1
_OUT_OF_ORDER = "OUT_OF_ORDER_SEQUENCE_NUMBER"


class ProducerSteps:
    """Takes the steps of a producer.

    Args:
        kafka: what takes the commands.
        model: the model.
        wait: how many milliseconds a step takes.
    """

    def __init__(self, kafka: Commands, model: Cluster, wait: int) -> None:
        self._kafka, self._model, self._wait = kafka, model, wait
        self._has_id = bool(model.b.retries and model.features.is_idempotent)

    def take(self, action: str, given: Mapping[str, str], before: ReadableState) -> None:
        """Take a step. What is sent again and appended is a record of its own, by its value, with the former's number.

        Raises:
            NotSchedulable: Kafka's leader knows more of the producer, or less, than its log shows.
        """
        new = f"r{before['written']}"
        if action == "write":
            self._send(given["leader"], new, before, new, before["spent"].get("producer_restarts", 0))
        elif action != "restart_producer":  # a producer that starts anew tells no leader of it before it sends
            record = given["record"]
            value = new if action == "send_again" else _stored_as(record, given["leader"], before)
            self._send(given["leader"], value, before, record, _epoch_of(record, before))

    def _send(self, leader: str, value: str, before: ReadableState, record: str, epoch: int) -> None:
        """Send a value under the number that a record has by its place among those that its producer has sent first."""
        numbers: dict[str, Argument] = {}
        if self._has_id:
            keeps = self._model.guards.producer_keeps_id
            sequence = sum(
                before["sent"][one] == one and _epoch_of(one, before) == epoch
                for one in (f"r{number}" for number in range(int(record[1:])))
            )
            producer = {"producer": _FIRST_ID + (0 if keeps else epoch), "producer_epoch": epoch if keeps else 0}
            numbers = {**producer, "sequence": sequence}
        number, acks = broker_id(leader), ACKS[self._model.acks]
        self._kafka.give("write", broker=number, value=value, acks=acks, wait=self._wait, **numbers)
        if numbers:
            _require_what_logs_show(leader, value, before, self._kafka.broker(number))


def _require_what_logs_show(leader: str, value: str, before: ReadableState, seen: BrokerSeen) -> None:
    """Refuse a batch that Kafka's leader answers otherwise by the producer state that it keeps beside its log.

    The model's leader knows a producer by the records in its log. Kafka's keeps the numbers of its last five batches,
    of its last one alone when it has read them from a snapshot, at a start or a truncation; and it keeps them when the
    records are deleted (ProducerStateManager).

    Raises:
        NotSchedulable: it is one of the last two.
    """
    broker = before["broker"][leader]
    start, end = broker.get("log_start", 0), broker["leo"]
    stored = broker["log"][start:end]
    if value in stored[:-1] and (seen.acknowledgements or {}).get(value) == _OUT_OF_ORDER:
        message = f"{leader} knows the last batch of the producer alone, by a snapshot, and {value} is an earlier one"
        raise NotSchedulable(message, BY_SNAPSHOT)
    if start and not stored and seen.log is not None and seen.log.end == end:
        message = f"{leader} knows the producer by records that are deleted; in the model it has forgotten them"
        raise NotSchedulable(message, BY_DELETED_RECORDS)


def _epoch_of(record: str, state: ReadableState) -> int:
    """The producer epoch in which a record was sent."""
    return int(state["producer_epoch"][record]) if "producer_epoch" in state else 0


def _stored_as(record: str, leader: str, state: ReadableState) -> str:
    """What a record that was sent first under one name is called in a leader's log."""
    broker = state["broker"][leader]
    stored = broker["log"][broker.get("log_start", 0) : broker["leo"]]
    return str(next(name for name in stored if state["sent"][name] == record))

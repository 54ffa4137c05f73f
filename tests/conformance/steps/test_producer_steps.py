"""What a producer sends, by which numbers a leader knows it, and what Kafka's leader knows beside its log."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.steps.commands import Commands
from insync.conformance.steps.producer_steps import ProducerSteps
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState

RETRIES: dict[str, int | str] = {"retries": 1, "records": 3}
RESTARTS = {**RETRIES, "producer_restarts": 1}


class Appending:
    """Kafka, whose leader tells producers one thing, and ends its log at one place."""

    def __init__(self, told: str = "NONE", end: int = 9) -> None:
        self.given: dict[str, object] = {}
        self.told, self.end = told, end

    def give(self, command: str, **arguments: object) -> None:
        self.given = {"command": command, **arguments}

    def broker(self, number: int) -> SimpleNamespace:
        assert number == self.given["broker"] == 1
        told = {cast(str, self.given["value"]): self.told}
        return SimpleNamespace(acknowledgements=told, log=SimpleNamespace(end=self.end))


def state(
    *stored: str, start: int = 0, sent: dict[str, str] | None = None, epochs: dict[str, int] | None = None
) -> Any:
    """A state in which b1 has stored records, from its log start on, and some were sent under other names first."""
    log = [*["r0"] * start, *stored]
    first = {f"r{n}": f"r{n}" for n in range(3)} | (sent or {})
    broker = {"b1": {"log": log, "log_start": start, "leo": len(log), "hw": len(log)}}
    spent = {"producer_restarts": max((epochs or {"r0": 0}).values())}
    state = {"written": len(log), "broker": broker, "sent": first, "spent": spent}
    return cast(ReadableState, state | ({"producer_epoch": epochs} if epochs else {}))


def sent(model: Cluster, action: str, before: ReadableState, record: str = "", **kafka: Any) -> dict[str, object]:
    subject = Appending(**kafka)
    ProducerSteps(cast(Commands, subject), model, 31_000).take(action, {"leader": "b1", "record": record}, before)
    return subject.given


def test_records_have_the_numbers_in_which_they_were_sent_first() -> None:
    model = Cluster(**RETRIES)
    given = {"command": "write", "broker": 1, "acks": -1, "wait": 31_000, "producer": 1, "producer_epoch": 0}
    assert sent(model, "write", state("r0", "r1")) == {**given, "value": "r2", "sequence": 2}
    assert sent(model, "send_again", state("r0"), "r0") == {**given, "value": "r1", "sequence": 0}
    again = state("r0", "r1", sent={"r1": "r0"})  # r1 is r0 once more, and has no number of its own
    assert sent(model, "write", again) == {**given, "value": "r2", "sequence": 1}
    assert sent(model, "acknowledge_again", state("r1", sent={"r1": "r0"}), "r0") == {
        **given,
        "value": "r1",
        "sequence": 0,
    }


def test_a_producer_that_is_not_idempotent_has_no_numbers() -> None:
    for model in (Cluster(**RETRIES, idempotence="off"), Cluster(**RETRIES, acks="1"), Cluster()):
        assert set(sent(model, "write", state("r0"))) == {"command", "broker", "value", "acks", "wait"}


@pytest.mark.parametrize(("defect", "known"), [("none", (1, 1)), ("C-17", (2, 0))])
def test_one_that_starts_anew_counts_anew_and_may_lose_its_id(defect: str, known: tuple[int, int]) -> None:
    model = Cluster(**{**RESTARTS, "defect": defect})
    before = state("r0", epochs={"r0": 0, "r1": 0, "r2": 0})
    before["spent"]["producer_restarts"] = 1
    given = sent(model, "write", before)
    assert (given["producer"], given["producer_epoch"], given["sequence"]) == (*known, 0)
    former = sent(model, "send_again", before, "r0")
    assert (former["producer"], former["producer_epoch"], former["sequence"]) == (1, 0, 0)
    assert sent(model, "restart_producer", before) == {}


OUT_OF_ORDER = "OUT_OF_ORDER_SEQUENCE_NUMBER"


def test_an_earlier_batch_than_the_last_may_be_unknown_by_a_snapshot() -> None:
    with pytest.raises(NotSchedulable, match="b1 knows the last batch of the producer alone, by a snapshot, and r0 is"):
        sent(Cluster(**RETRIES), "acknowledge_again", state("r0", "r1"), "r0", told=OUT_OF_ORDER)


def test_a_producer_is_known_by_deleted_records() -> None:
    with pytest.raises(NotSchedulable, match="b1 knows the producer by records that are deleted"):
        sent(Cluster(**RETRIES), "send_again", state(start=1), "r0", end=1)


@pytest.mark.parametrize(
    ("action", "before", "kafka"),
    [
        ("acknowledge_again", state("r0"), {"told": OUT_OF_ORDER}),
        ("acknowledge_again", state("r0", "r1"), {"told": "INVALID_PRODUCER_EPOCH"}),
        ("send_again", state(start=1), {"end": 2}),
        ("send_again", state(), {"end": 0}),
        ("send_again", state("r1", start=1), {"end": 2}),
    ],
    ids=["the last", "another error", "appended", "nothing deleted", "not all deleted"],
)
def test_any_other_answer_is_left_to_the_comparison(action: str, before: ReadableState, kafka: dict[str, Any]) -> None:
    assert sent(Cluster(**RETRIES), action, before, "r0", **kafka)["command"] == "write"

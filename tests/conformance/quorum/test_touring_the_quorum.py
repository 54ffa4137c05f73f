"""A tour of a small space of the quorum, beside what Kafka's did when it was recorded: each step, and why not."""

from __future__ import annotations

from insync.conformance.classes.subject import Argument
from insync.conformance.comparing.conform import Conforming
from insync.conformance.comparing.touring import Space
from insync.conformance.quorum.beside_kafka import quorum_model
from insync.conformance.quorum.conform_quorum import tour_quorum
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync_quorum import RecordedQuorum

RECORDING = "3.9.2-tour"
MODEL = quorum_model("3.9.2", {"records": 0, "elections": 1}, tour=True)
"""Two servers, no value, one election."""


def test_every_step_is_taken_or_has_its_reason() -> None:
    kafka = RecordedQuorum.read(RECORDING)
    found = tour_quorum(MODEL, kafka)
    assert (found.verdict, found.kafka, kafka.given) == (Conforming.AGREES, "3.9.2", len(kafka.course))
    assert found.space == Space(27, 28, 19, 28, 0, whole=True), "8 states are passed over within a command"
    assert (found.gaps, sum(found.coverage.transitions.values())) == ({}, 28)


class Again(RecordedQuorum):
    """The first walk of the recording, as often as it is begun."""

    def give(self, command: str, **arguments: Argument) -> QuorumSeen:
        if command == "open":
            self.given = 0
        return super().give(command, **arguments)


def test_what_kafka_does_otherwise_ends_it() -> None:
    kafka = Again.read(RECORDING)
    kafka.course[1]["state"]["servers"]["1"]["epoch"] += 1
    found = tour_quorum(MODEL, kafka)
    assert (found.verdict, found.failed_walk) == (Conforming.DIVERGES, 0)
    assert found.difference is not None
    assert found.difference.differences[0].field == "n1.epoch"

"""A leader that resigns, beside recordings of Kafka's quorum: what is compared, and what cannot be brought about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from insync.conformance.correspondence.facts import Difference
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.quorum_pair import QuorumPair
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.quorum.kraft import Kraft
from insync_quorum import RecordedQuorum, number_of, quorum_stepper, recorded_course, take_labels

Change = Callable[[dict[str, Any]], None]

BEFORE, SINCE = "3.9.2-a_leader_resigns", "4.1.2-a_leader_resigns"
"""Before pre-votes and since."""


def taken(recorded: RecordedQuorum, labels: list[str]) -> tuple[QuorumPair, list[Difference]]:
    """The model beside a recording after these steps, and on what they differ."""
    pair = QuorumPair(quorum_stepper(pre_votes=recorded.version > "4", resignations=1), recorded)
    return pair, take_labels(pair, labels)


@pytest.mark.slow_for("3.9.2-a_leader_resigns-stands for election")
@pytest.mark.parametrize(("recording", "does"), [(BEFORE, "stands for election"), (SINCE, "requests pre-votes")])
def test_who_was_named_first_stands_at_once_and_who_knew_no_leader_follows(recording: str, does: str) -> None:
    kafka = RecordedQuorum.read(recording)
    pair, found = taken(kafka, recorded_course(recording))
    assert found == []
    assert kafka.given == len(kafka.course)
    assert [pair.taken[number].label for number in pair.own][-2:] == ["n3 fetches from n1", f"n2 {does}"]
    assert pair.kafka_state() == pair.taken[-1].state


CHANGES: list[tuple[int, Change, str, object]] = [
    (-3, lambda seen: seen["servers"]["1"].update(state="Leader"), "n1.state", "LEADER"),
    (-3, lambda seen: seen["letters"].remove(end_to(2, seen)), "ends", ["n1 to n3, epoch 2"]),
    (-3, lambda seen: end_to(3, seen).update(epoch=2), "ends", ["n1 to n2, epoch 2", "n1 to n3, epoch 3"]),
    (-2, lambda seen: seen["servers"]["3"].update(state="Unattached", leader=-1), "n3.state", "UNATTACHED"),
    (-1, lambda seen: seen["servers"]["2"].update(state="Candidate"), "n2.state", "CANDIDATE"),
]
"""What is changed of what was seen after which of the last commands, the fact that is noticed, and what Kafka has."""


def end_to(server: int, seen: dict[str, Any]) -> dict[str, Any]:
    """The message that a leader has resigned which a server gets."""
    return next(one for one in seen["letters"] if (one["kind"], one["to"]) == ("END_QUORUM_EPOCH", server))


@pytest.mark.parametrize(("place", "change", "field", "kafka"), CHANGES)
def test_where_kafka_does_otherwise_it_is_noticed(place: int, change: Change, field: str, kafka: object) -> None:
    recorded = RecordedQuorum.read(SINCE)
    change(recorded.course[place]["state"])
    found = {one.field: one for one in taken(recorded, recorded_course(SINCE))[1]}
    assert found[field].kafka == kafka


def test_who_was_not_urged_to_stand_and_does_is_noticed() -> None:
    recorded = RecordedQuorum.read(SINCE)
    end_to(2, recorded.course[-2]["state"]).update(urges=False)
    found = {one.field: one for one in taken(recorded, recorded_course(SINCE))[1]}
    assert (found["n2.state"].model, found["n2.state"].kafka) == ("FOLLOWER", "PROSPECTIVE")


def test_before_pre_votes_who_was_named_first_is_not_told_in_the_last_epoch() -> None:
    labels = recorded_course(BEFORE)
    model = Kraft(servers=3, records=1, elections=1, restarts=1, resignations=1, release="3.9")
    pair = QuorumPair(Stepper(model), RecordedQuorum.read(BEFORE))
    assert take_labels(pair, labels[:-1]) == []
    with pytest.raises(NotSchedulable, match="there are no more elections"):
        pair.take(number_of(pair, labels[-1]))

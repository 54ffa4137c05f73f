"""When writes stop, in sentences and as JSON."""

from __future__ import annotations

import pytest

from insync.kafka_questions.availability import FAILURES, STOPS, FewestFailures
from insync.kafka_questions.documents.availability import availability_json, stops_in_words

KINDS = [failure.name for failure in FAILURES]
NEVER, UNKNOWN = "never", "unknown"


def stops(refused: list[int | str], leaderless: list[int | str]) -> list[FewestFailures]:
    """Return findings: numbers of brokers down, fenced, slow, and down beside slow ones, for each way to stop."""

    def one(name: str, by: str, number: int | str) -> FewestFailures:
        if isinstance(number, int):
            return FewestFailures(name, by, number, number - 1, ())
        return FewestFailures(name, by, None, 3 if number == NEVER else -1, ())

    numbers = dict(zip(STOPS, (refused, leaderless), strict=True))
    return [one(name, by, number) for name in STOPS for by, number in zip(KINDS, numbers[name], strict=True)]


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([0, 0, 0, 0], "though no broker has failed"),
        ([1, 1, 1, 0], "when 1 of 3 replicas is down, 1 is fenced, or 1 follower is slow"),
        ([2, 2, 2, 0], "when 2 of 3 replicas are down, 2 are fenced, or 2 followers are slow"),
        ([3, 3, NEVER, 3], "when 3 of 3 replicas are down, or 3 are fenced"),
        (
            [3, 3, NEVER, 1],
            "when 3 of 3 replicas are down, 3 are fenced, or 2 have left the ISR and the other one is down",
        ),
        (
            [NEVER, NEVER, NEVER, 2],
            "when 1 of 3 replicas has left the ISR and the other 2 are down",
        ),
        (
            [UNKNOWN, 2, NEVER, 1],
            "when 2 of 3 replicas are fenced, or 2 have left the ISR and the other one is down; not all was searched",
        ),
        ([NEVER] * 4, "in no such way"),
        ([2, UNKNOWN, UNKNOWN, UNKNOWN], "when 2 of 3 replicas are down; not all was searched"),
    ],
)
def test_what_makes_writes_stop(numbers: list[int | str], said: str) -> None:
    first, second = stops_in_words(stops(numbers, [3, 3, NEVER, 2]), 3)
    assert first == f"writes with acks=all are refused {said}"
    assert second.startswith("the partition has no leader when 3 of 3 replicas are down, ")


def test_what_stops_writes_and_elections_alike_is_one_sentence() -> None:
    (said,) = stops_in_words(stops([3, 3, NEVER, 1], [3, 3, NEVER, 1]), 3)
    assert said == (
        "writes with acks=all are refused and the partition has no leader when 3 of 3 replicas are down, 3 are fenced, "
        "or 2 have left the ISR and the other one is down"
    )


def test_a_partition_with_one_replica() -> None:
    (said,) = stops_in_words(stops([1, 1, NEVER, NEVER], [1, 1, NEVER, NEVER]), 1)
    assert said.endswith("refused and the partition has no leader when the only replica is down, or it is fenced")


def test_what_was_not_searched_is_unknown() -> None:
    assert stops_in_words(stops([UNKNOWN] * 4, [UNKNOWN] * 4), 3) == [
        "it is unknown when writes with acks=all are refused and the partition has no leader"
    ]


def test_scripts_are_told_what_was_counted() -> None:
    (first, *_) = availability_json([FewestFailures("writes_are_taken", "slow", 2, 1, ("b1 drops b2 from the ISR",))])
    assert first == {
        "name": "writes_are_taken", "by": "slow", "failures": 2, "more_than": 1, "steps": ["b1 drops b2 from the ISR"],
    }  # fmt: skip

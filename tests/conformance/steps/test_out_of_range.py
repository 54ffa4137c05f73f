"""A follower that has given the partition up ends its session with the next change: a reason then, nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from insync.conformance.classes.observation import BrokerSeen, ControllerSeen, LogSeen, Observation, SessionSeen
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.replay import KafkaVerdict
from insync.conformance.steps.out_of_range import OutOfRange
from insync.model import ReadableState
from insync_kafka import replayed

CONTROLLER = ControllerSeen(-1, 0, 0, (), (), (), (), (), (), (), 0, ())
LOG = LogSeen(records=(), start=1, end=1, high_watermark=1, epochs=())
FOLLOWER = BrokerSeen(running=True, leader_epoch=4, session=SessionSeen(None))
LEADER = BrokerSeen(running=True, leader_epoch=4, log=LOG)
DEPOSED = replace(LEADER, leader_epoch=5)
GIVEN = {"replica": "b3", "place": "1"}
HEARS = "apply_metadata"


def seen(leader: BrokerSeen, follower: BrokerSeen = FOLLOWER) -> Observation:
    return Observation(CONTROLLER, {1: leader, 3: follower})


def change(epoch: int = 4, **more: object) -> dict[str, object]:
    return {"epoch": str(epoch), "replicas": ["b1", "b3"], **more}


def late(*changes: dict[str, object]) -> ReadableState:
    """b3 is to learn of all changes but the oldest, which it has applied."""
    state: Any = {"registrations": [*changes, change()], "broker": {"b3": {"image_lag": len(changes)}}}
    return cast(ReadableState, state)


TWO = late(change(5), change())


def gave_up(leader: BrokerSeen = DEPOSED, follower: BrokerSeen = FOLLOWER, *, refused: bool = True) -> OutOfRange:
    """What is known after the reply that b1 has made in epoch 4."""
    known = OutOfRange()
    known.note(3, 1, seen(LEADER), refused=refused)
    known.receive(3, seen(leader, follower))
    return known


def test_a_follower_that_has_given_the_partition_up_ends_its_session_on_kafka() -> None:
    found = replayed("walk-gave-up-4.3.1")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b3 applies metadata but the last 1")
    assert "so b3 has given the partition up, and ends its session" in (found.reason or "")


@pytest.mark.parametrize(
    ("action", "before"),
    [
        (HEARS, TWO),
        (HEARS, late(change(5), change(configuration=True), change())),
        ("load_snapshot", late(change(5), change(configuration=True))),
    ],
)
def test_a_change_within_the_epoch_in_which_it_has_given_up_ends_its_session(
    action: str, before: ReadableState
) -> None:
    with pytest.raises(NotSchedulable, match="so b3 has given the partition up"):
        gave_up().require_fetcher(action, GIVEN, before, seen(DEPOSED))


@pytest.mark.parametrize(
    "known",
    [
        gave_up(LEADER),
        gave_up(replace(DEPOSED, leader_epoch=3)),
        gave_up(refused=False),
        gave_up(replace(DEPOSED, leader_epoch=6), replace(FOLLOWER, leader_epoch=5)),
        OutOfRange(),
    ],
    ids=["it leads still", "it knows less", "no such reply", "it asked in another epoch", "nothing was asked"],
)
def test_who_has_a_fetcher_keeps_the_session(known: OutOfRange) -> None:
    known.require_fetcher(HEARS, GIVEN, TWO, seen(DEPOSED))


def test_who_fetches_again_keeps_the_session() -> None:
    known = gave_up()
    known.note(3, 1, seen(LEADER), refused=False)
    known.require_fetcher(HEARS, GIVEN, TWO, seen(DEPOSED))


@pytest.mark.parametrize(
    ("before", "follower"),
    [
        (late(change(5), change(5)), FOLLOWER),
        (late(change(5), change(configuration=True)), FOLLOWER),
        (late(change(5), change(replicas=["b1"])), FOLLOWER),
        (TWO, replace(FOLLOWER, session=None)),
        (TWO, replace(FOLLOWER, leader_epoch=5)),
    ],
    ids=["a later epoch", "configuration alone", "no replica any more", "no session", "it follows again"],
)
def test_another_change_ends_no_session_that_the_model_keeps(before: ReadableState, follower: BrokerSeen) -> None:
    gave_up().require_fetcher(HEARS, GIVEN, before, seen(DEPOSED, follower))

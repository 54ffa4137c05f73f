"""A leader that has not heard who is fenced, or back, when it is fetched from: a reason then, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from insync.conformance.classes.observation import (
    BrokerSeen,
    ControllerSeen,
    KnownEnd,
    LeadingSeen,
    LogSeen,
    Observation,
)
from insync.conformance.replay import KafkaVerdict
from insync.conformance.steps.gaps import NotSchedulable
from insync.conformance.steps.isr_expansions import Registrations
from insync.conformance.steps.likeness import Difference
from insync.conformance.steps.session_gaps import require_fencing_known_to_leader, require_return_known_to_leader
from insync.model import ReadableState
from insync_kafka import Recording, replayed

CONTROLLER = ControllerSeen(
    leader=1,
    leader_epoch=1,
    partition_epoch=3,
    isr=(1,),
    replicas=(1, 2, 3),
    adding=(),
    removing=(),
    elr=(),
    last_known_elr=(),
    fenced=(),
    end=9,
    stopping=(),
)
OUTSIDE = LeadingSeen(isr=(1,), maximal_isr=(1,), proposed=(), epoch_start=1, known={3: KnownEnd(-1, False, False)})
ASKS = replace(OUTSIDE, proposed=(1, 3), known={3: KnownEnd(0, True, True)})
EMPTY = LogSeen(records=(), start=0, end=0, high_watermark=0, epochs=())
FETCH = {"follower": "b3", "leader": "b1"}
AHEAD = [Difference("b1.hw", 0, 1), Difference("clients.acked", [], ["r0"])]
BEHIND = [
    Difference("b1.hw", 1, 0),
    Difference("b1.pending", [], ["b1", "b3"]),
    Difference("clients.acked", ["r0"], []),
]


def seen(leading: LeadingSeen, log: LogSeen = EMPTY, applied: int = 5) -> Observation:
    brokers = {1: BrokerSeen(running=True, leading=leading, applied=applied), 3: BrokerSeen(running=True, log=log)}
    return Observation(CONTROLLER, brokers)


def heard(was: tuple[int, ...], now: tuple[int, ...]) -> Registrations:
    """The controller has some fenced at first, and others from place 7 on."""
    registered = Registrations()
    registered.note(replace(CONTROLLER, end=3, fenced=was))
    registered.note(replace(CONTROLLER, end=7, fenced=now))
    return registered


def state(fenced: list[str], pending: list[str]) -> ReadableState:
    return cast(ReadableState, {"controller": {"fenced": fenced}, "broker": {"b1": {"pending": pending}}})


def require_return(
    found: list[Difference],
    leading: LeadingSeen = OUTSIDE,
    log: LogSeen = EMPTY,
    fenced: tuple[str, ...] = ("b2",),
    pending: tuple[str, ...] = (),
    applied: int = 5,
) -> None:
    was, now = seen(OUTSIDE, log), seen(leading, applied=applied)
    before, registered = state(list(fenced), list(pending)), heard((2, 3), (2,))
    require_return_known_to_leader(FETCH, before, was, now, found, registered)


def test_a_leader_does_not_wait_for_one_of_whose_return_it_has_not_heard() -> None:
    with pytest.raises(NotSchedulable, match="b1 has not heard yet that b3 is back"):
        require_return(AHEAD)


@pytest.mark.parametrize(
    ("found", "given"),
    [
        (AHEAD, {"leading": replace(OUTSIDE, known={3: KnownEnd(-1, False, True)})}),
        (AHEAD, {"applied": 7}),
        (AHEAD, {"leading": replace(OUTSIDE, isr=(1, 3))}),
        (AHEAD, {"leading": replace(OUTSIDE, known={})}),
        (AHEAD, {"log": replace(EMPTY, end=1)}),
        (AHEAD, {"fenced": ("b3",)}),
        (AHEAD, {"pending": ("b1", "b2")}),
        (BEHIND, {}),
        ([*AHEAD, Difference("b1.end", 1, 0)], {}),
        ([Difference("b3.hw", 0, 1)], {}),
    ],
    ids=[
        "says that it may",
        "heard",
        "member",
        "no follower",
        "not waited for",
        "not back",
        "asks already",
        "behind",
        "more",
        "another's",
    ],
)
def test_any_other_high_watermark_after_a_fetch_is_a_difference(found: list[Difference], given: dict[str, Any]) -> None:
    require_return(found, **given)


def require_fencing(
    found: list[Difference],
    leading: LeadingSeen = ASKS,
    log: LogSeen = EMPTY,
    fenced: tuple[str, ...] = ("b2", "b3"),
    pending: tuple[str, ...] = (),
    applied: int = 5,
) -> None:
    was, now = seen(OUTSIDE, log), seen(leading, applied=applied)
    before, registered = state(list(fenced), list(pending)), heard((2,), (2, 3))
    require_fencing_known_to_leader(FETCH, before, was, now, found, registered)


def test_a_leader_waits_for_one_of_whose_fencing_it_has_not_heard() -> None:
    with pytest.raises(NotSchedulable, match="b1 has not heard yet that b3 is fenced"):
        require_fencing(BEHIND)


@pytest.mark.parametrize(
    ("found", "given"),
    [
        (BEHIND, {"leading": replace(ASKS, known={3: KnownEnd(0, True, False)})}),
        (BEHIND, {"applied": 7}),
        (BEHIND, {"leading": replace(ASKS, isr=(1, 3))}),
        (BEHIND, {"leading": replace(ASKS, known={})}),
        (BEHIND, {"leading": replace(ASKS, proposed=())}),
        (BEHIND, {"leading": replace(ASKS, proposed=(1, 2, 3))}),
        (BEHIND, {"log": replace(EMPTY, end=1)}),
        (BEHIND, {"fenced": ("b2",)}),
        (BEHIND, {"pending": ("b1", "b2")}),
        (AHEAD, {}),
        ([*BEHIND, Difference("b1.end", 1, 0)], {}),
        (BEHIND[1:], {}),
    ],
    ids=[
        "says that it may not",
        "heard",
        "member",
        "no follower",
        "asks for nobody",
        "asks for another",
        "not waited for",
        "not fenced",
        "asks already",
        "ahead",
        "more",
        "the same high watermark",
    ],
)
def test_any_other_wait_after_a_fetch_is_a_difference(found: list[Difference], given: dict[str, Any]) -> None:
    require_fencing(found, **given)


def test_a_walk_ends_where_a_leader_that_knows_its_isr_by_a_reply_has_heard_of_older_configuration_alone() -> None:
    found = replayed("walk-stops-4.1.2")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b3 fetches from b2")
    assert "b2 has not heard yet that b3 is fenced" in (found.reason or "")


def test_there_a_follower_that_is_waited_for_and_not_asked_for_is_a_difference() -> None:
    last = len(Recording.read("walk-stops-4.1.2").content["answers"]) - 1

    def change(number: int, state: dict[str, Any]) -> None:
        if number == last:
            state["brokers"]["2"]["leading"]["proposed"] = []

    assert replayed("walk-stops-4.1.2", change).verdict is KafkaVerdict.DIVERGES

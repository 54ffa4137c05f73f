"""Kafka's leader must ask for a follower within the fetch that shows it to have caught up, if it may join."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from insync.conformance.classes.observation import (
    BrokerSeen,
    ControllerSeen,
    KnownEnd,
    LeadingSeen,
    Observation,
)
from insync.conformance.correspondence.facts import Difference
from insync.conformance.replay import KafkaVerdict
from insync.conformance.steps.isr_expansions import Registrations, unlike_in_asking
from insync.model import ReadableState
from insync_kafka import replayed

CONTROLLER = ControllerSeen(1, 0, 0, (1,), (1, 2), (), (), (), (), (), 5, ())
NOT_ASKED = [Difference("whether b1 asks within the fetch for b2", True, False)]
WHETHER = "whether b2 may join the ISR by the metadata of b1"


def registered(*fenced: tuple[int, tuple[int, ...]], started: int = 0) -> Registrations:
    """The controller has fenced b2 at some places, or not any more; b2 has registered at one."""
    registrations = Registrations()
    registrations.note(replace(CONTROLLER, end=1))
    for place, members in fenced:
        registrations.note(replace(CONTROLLER, end=place, fenced=members))
    registrations.note_start(2, started)
    return registrations


def unlike(
    *, may_join: bool = True, proposed: tuple[int, ...] = (), leads: bool = True, applied: int = 5, **given: Any
) -> list[Difference]:
    """What is unlike after a fetch of b2 at its log end, 3, at which b1 could ask for it in the model."""
    known = {"leo": given.get("end", 3), "broker_epoch_is_current": given.get("current", True)}
    before = cast(ReadableState, {"broker": {"b1": {"hw": given.get("hw", 3)}, "b2": {"leo": 3}}})
    after = cast(ReadableState, {"broker": {"b1": {"remote_replicas": {"b2": known}}}})
    leading = LeadingSeen(
        (1,), (1, 2), proposed, given.get("epoch_start", 3), {2: KnownEnd(3, current=True, may_join=may_join)}
    )
    seen = BrokerSeen(running=True, applied=applied, leading=leading if leads else None)
    fetch = {"leader": "b1", "follower": "b2"}
    possible, by = given.get("possible", True), given.get("registered", registered())
    return unlike_in_asking(fetch, before, after, Observation(CONTROLLER, {1: seen}), by, possible=possible)


def test_a_leader_that_could_ask_must_have_asked_within_the_fetch() -> None:
    assert unlike() == NOT_ASKED


@pytest.mark.parametrize(
    "given",
    [
        {"proposed": (1, 2)},
        {"possible": False},
        {"leads": False},
        {"hw": 4},
        {"epoch_start": 4},
        {"end": 2},
        {"end": None},
        {"current": False},
        {"registered": registered((4, (2,))), "may_join": False},
        {"registered": registered(started=6), "may_join": False},
    ],
    ids=[
        *("asked", "member", "no leader", "below the high watermark", "below the epoch", "told nothing", "forgotten"),
        *("another incarnation", "fenced", "registers"),
    ],
)
def test_it_has_not_to_ask_otherwise(given: dict[str, Any]) -> None:
    assert unlike(**given) == []


def test_a_leader_s_own_word_that_the_follower_may_not_join_is_no_reason() -> None:
    assert unlike(may_join=False) == [Difference(WHETHER, True, False)]
    assert unlike(may_join=False, registered=registered((6, (2,)))) == [Difference(WHETHER, True, False)]
    assert unlike(may_join=False, registered=registered((4, (3,)))) == [Difference(WHETHER, True, False)]


def test_nor_may_it_say_so_of_one_that_may_not() -> None:
    assert unlike(registered=registered((4, (2,)))) == [Difference(WHETHER, False, True)]
    assert unlike(registered=registered(started=6), proposed=(1, 2)) == [Difference(WHETHER, False, True)]


@pytest.mark.parametrize(
    ("applied", "may_join"), [(1, True), (2, False), (3, False), (4, True), (5, False), (6, False), (8, True)]
)
def test_who_may_join_is_told_by_the_metadata_up_to_a_place(applied: int, may_join: bool) -> None:
    """b2 is fenced with the batch at 2, is back with that at 4, stops with that at 5, and registers at 8."""
    registrations = registered((2, (2,)), (4, ()))
    registrations.note(replace(CONTROLLER, end=5, stopping=(2,)))
    registrations.note(replace(CONTROLLER, end=6, stopping=(2,), partition_epoch=1))
    registrations.note(replace(CONTROLLER, end=8))
    registrations.note_start(2, 8)
    assert registrations.may_join(2, applied) is (may_join if applied >= 8 else False)
    registrations.note_start(2, 0)
    assert registrations.may_join(2, applied) is may_join
    assert registrations.may_join(1, applied)


def test_what_kafka_s_leader_did_on_record_is_held_to_that() -> None:
    def change(number: int, state: dict[str, Any]) -> None:
        for broker in state["brokers"].values():
            if broker.get("leading"):
                broker["leading"]["proposed"] = []

    found = replayed("walk-late-4.1.2", change)
    assert found.verdict is KafkaVerdict.DIVERGES
    assert found.differences == (Difference("whether b2 asks within the fetch for b1", True, False),)

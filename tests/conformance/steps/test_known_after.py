"""Known differences after a step: each is met where it is the case, and any other difference is one."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
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
from insync.conformance.correspondence.facts import Difference
from insync.conformance.correspondence.known_differences import Direction, Step
from insync.conformance.replay import KafkaVerdict
from insync.conformance.steps.isr_expansions import Registrations
from insync.conformance.steps.known_after import KNOWN_AFTER_A_STEP, ClusterCompared
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
    Difference("b1.pending_isr", [], ["b1", "b3"]),
    Difference("clients.acked", ["r0"], []),
]


def met(
    known: int,
    before: ReadableState,
    was: Observation,
    now: Observation,
    found: list[Difference],
    registered: Registrations,
    action: str = "fetch",
) -> str | None:
    """What is said of a fetch of b3 from b1 where the known difference with this number is met."""
    step = Step(action, FETCH, before, before)
    return KNOWN_AFTER_A_STEP[known].met(ClusterCompared(step, before, found, was, now, (), registered))


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
    return cast(ReadableState, {"controller": {"fenced": fenced}, "broker": {"b1": {"pending_isr": pending}}})


def return_unheard(
    found: list[Difference],
    leading: LeadingSeen = OUTSIDE,
    log: LogSeen = EMPTY,
    fenced: tuple[str, ...] = ("b2",),
    pending: tuple[str, ...] = (),
    applied: int = 5,
    action: str = "fetch",
) -> str | None:
    was, now = seen(OUTSIDE, log), seen(leading, applied=applied)
    before, registered = state(list(fenced), list(pending)), heard((2, 3), (2,))
    return met(2, before, was, now, found, registered, action)


def test_a_leader_does_not_wait_for_one_of_whose_return_it_has_not_heard() -> None:
    assert "b1 has not learned yet that b3 is back" in (return_unheard(AHEAD) or "")
    assert return_unheard(AHEAD, action="receive") is None, "it is looked for after a fetch alone"


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
        ([*AHEAD, Difference("b1.leo", 1, 0)], {}),
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
    assert return_unheard(found, **given) is None


def fencing_unheard(
    found: list[Difference],
    leading: LeadingSeen = ASKS,
    log: LogSeen = EMPTY,
    fenced: tuple[str, ...] = ("b2", "b3"),
    pending: tuple[str, ...] = (),
    applied: int = 5,
    action: str = "fetch",
) -> str | None:
    was, now = seen(OUTSIDE, log), seen(leading, applied=applied)
    before, registered = state(list(fenced), list(pending)), heard((2,), (2, 3))
    return met(3, before, was, now, found, registered, action)


def test_a_leader_waits_for_one_of_whose_fencing_it_has_not_heard() -> None:
    assert "b1 has not learned yet that b3 is fenced" in (fencing_unheard(BEHIND) or "")
    assert fencing_unheard(BEHIND, action="receive") is None


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
        ([*BEHIND, Difference("b1.leo", 1, 0)], {}),
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
    assert fencing_unheard(found, **given) is None


def test_a_walk_ends_where_a_leader_that_knows_its_isr_by_a_reply_has_heard_of_older_configuration_alone() -> None:
    found = replayed("walk-stops-4.1.2")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b3 fetches from b2")
    assert "b2 has not learned yet that b3 is fenced" in (found.reason or "")


def test_there_a_follower_that_is_waited_for_and_not_asked_for_is_a_difference() -> None:
    last = len(Recording.read("walk-stops-4.1.2").content["answers"]) - 1

    def change(number: int, state: dict[str, Any]) -> None:
        if number == last:
            state["brokers"]["2"]["leading"]["proposed"] = []

    assert replayed("walk-stops-4.1.2", change).verdict is KafkaVerdict.DIVERGES


def led(leader: str | None, epoch: str) -> ReadableState:
    return cast(ReadableState, {"registrations": [{"leader": leader, "epoch": epoch}]})


def kafka(leader: int, epoch: int, removing: tuple[int, ...] = ()) -> Observation:
    controller = SimpleNamespace(leader=leader, leader_epoch=epoch, removing=removing)
    return cast(Observation, SimpleNamespace(controller=controller))


ELECTED: dict[str, Any] = {
    "order": [3, 1, 2],
    "before": led("b1", "1"),
    "model": led("b2", "2"),
    "seen": kafka(3, 2),
}


def in_another_order(order: list[int], before: ReadableState, model: ReadableState, seen: Observation) -> str | None:
    found = [Difference("controller.leader", "b2", "b3")]
    step = Step("fence", {"replica": "b1"}, before, model)
    return KNOWN_AFTER_A_STEP[0].met(ClusterCompared(step, model, found, seen, seen, order, Registrations()))


def test_kafka_elects_who_comes_first_in_the_order_that_a_reassignment_has_left() -> None:
    assert "a reassignment has put b3 before b2" in (in_another_order(**ELECTED) or "")
    ordered = {**ELECTED["before"], "controller": {"places": {}}}
    assert in_another_order(**{**ELECTED, "before": ordered}) is None, "the model has Kafka's order too"


@pytest.mark.parametrize(
    "changed",
    [
        {"order": [1, 2, 3]},
        {"order": [1, 2]},
        {"model": led(None, "2")},
        {"before": led("b1", "2")},
        {"seen": kafka(3, 3)},
        {"seen": kafka(2, 2)},
        {"seen": kafka(1, 2)},
    ],
    ids=["in order", "no replica", "nobody", "no election", "another epoch", "the same one", "a lower one"],
)
def test_any_other_difference_is_one(changed: dict[str, Any]) -> None:
    assert in_another_order(**{**ELECTED, **changed}) is None


@pytest.mark.parametrize(
    ("removing", "refused"),
    [((), False), ((1,), True), ((1, 3), False), ((3,), False)],
    ids=["nobody goes", "Kafka's goes", "both go", "the model's goes"],
)
def test_who_goes_comes_last_in_the_order_of_the_model(removing: tuple[int, ...], refused: bool) -> None:
    said = in_another_order([1, 2, 3], led("b1", "2"), led("b3", "3"), kafka(1, 3, removing))
    assert ("a reassignment has put b1 before b3" in (said or "")) is refused


LEADS = LeadingSeen(isr=(1,), maximal_isr=(1,), proposed=(), epoch_start=1, known={3: KnownEnd(0, True, False)})
STAYS = [Difference("b1.hw", 1, 0), Difference("clients.acked", ["r0"], [])]


def elected_again(leading: LeadingSeen = LEADS, log: LogSeen = EMPTY) -> Observation:
    brokers = {1: BrokerSeen(running=True, leading=leading), 3: BrokerSeen(running=True, log=log)}
    return Observation(CONTROLLER, brokers)


def known_end(end: int | None) -> ReadableState:
    return cast(ReadableState, {"broker": {"b1": {"remote_replicas": {"b3": {"leo": end}}}}})


def test_a_leader_that_is_elected_again_learns_nothing_from_a_log_end_that_it_knows() -> None:
    was = elected_again()
    said = met(1, known_end(None), was, was, STAYS, Registrations())
    assert "b1 knows the log end of b3 from an earlier leadership" in (said or "")
    assert met(1, known_end(None), was, was, STAYS, Registrations(), "write") is None


@pytest.mark.parametrize(
    ("end", "was", "found"),
    [
        (0, elected_again(), STAYS),
        (None, elected_again(replace(LEADS, isr=(1, 3))), STAYS),
        (None, elected_again(replace(LEADS, known={3: KnownEnd(-1, False, False)})), STAYS),
        (None, elected_again(log=replace(EMPTY, end=1)), STAYS),
        (None, elected_again(), [Difference("b1.hw", 0, 1)]),
        (None, elected_again(), [*STAYS, Difference("b1.leo", 1, 0)]),
    ],
    ids=["known", "in the ISR", "forgotten by both", "another end", "Kafka is ahead", "more differs"],
)
def test_any_other_difference_after_a_fetch_is_one(end: int | None, was: Observation, found: list[Difference]) -> None:
    assert met(1, known_end(end), was, was, found, Registrations()) is None


ISR_ALONE = [Difference("controller.isr", ["b1"], []), Difference("controller.elr", ["b2"], ["b1", "b2"])]


def session_over(found: list[Difference], isr: tuple[int, ...], elr: tuple[int, ...], *, running: bool) -> str | None:
    """What is said where b1, alone in the ISR, is fenced and down, and Kafka has another ISR after a fencing."""
    mine: Any = {
        "registrations": [{"isr": ["b1"]}],
        "controller": {"fenced": ["b1"], "elr": ["b2"]},
        "broker": {"b1": {"running": running}},
    }
    now = Observation(replace(CONTROLLER, isr=isr, elr=elr), {})
    step = Step("fence", {"replica": "b3"}, mine, mine)
    return KNOWN_AFTER_A_STEP[4].met(ClusterCompared(step, mine, found, now, now, (), Registrations()))


def test_one_that_is_down_and_fenced_leaves_the_isr_as_its_session_ends() -> None:
    assert "b1 is down and fenced" in (session_over(ISR_ALONE, (), (1, 2), running=False) or "")


@pytest.mark.parametrize(
    ("found", "isr", "elr", "running"),
    [
        (ISR_ALONE, (), (1, 2), True),
        (ISR_ALONE, (), (2,), False),
        (ISR_ALONE, (1,), (2,), False),
        ([*ISR_ALONE, Difference("controller.leader", None, "b2")], (), (1, 2), False),
    ],
    ids=["it runs", "another ELR", "another ISR", "another leader"],
)
def test_any_other_isr_after_a_fencing_is_a_difference(
    found: list[Difference], isr: tuple[int, ...], elr: tuple[int, ...], running: bool
) -> None:
    assert session_over(found, isr, elr, running=running) is None


def test_each_says_what_kafka_does_and_who_does_more() -> None:
    assert all(known.kafka and known.name.startswith("Kafka") for known in KNOWN_AFTER_A_STEP)
    assert {known.direction for known in KNOWN_AFTER_A_STEP} <= {*Direction}

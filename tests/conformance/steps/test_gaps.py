"""What the model has not got, each under its own condition and no wider."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from insync.conformance.classes.observation import (
    AlterRequest,
    BrokerSeen,
    ControllerSeen,
    KnownEnd,
    LeadingSeen,
    LogSeen,
    Observation,
)
from insync.conformance.classes.subject import Answer
from insync.conformance.steps.gaps import (
    NotSchedulable,
    require_ascending_order,
    require_incarnations_of_joiner_alone,
    require_more_than_order,
    require_news_of_follower,
    require_no_epoch_of_deleted_records,
    require_one_change,
    require_unknown_directory,
)
from insync.conformance.steps.likeness import Difference
from insync.conformance.steps.out_of_range import require_same_ends
from insync.conformance.steps.schedule import Schedule
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.model import ReadableState
from insync_kafka import Recording


def state(leader: str | None, epoch: str) -> ReadableState:
    return cast(ReadableState, {"changes": [{"leader": leader, "epoch": epoch}]})


def kafka(leader: int, epoch: int, removing: tuple[int, ...] = ()) -> Observation:
    controller = SimpleNamespace(leader=leader, leader_epoch=epoch, removing=removing)
    return cast(Observation, SimpleNamespace(controller=controller))


ELECTED: dict[str, Any] = {
    "order": [3, 1, 2],
    "before": state("b1", "1"),
    "model": state("b2", "2"),
    "seen": kafka(3, 2),
}


def test_kafka_elects_who_comes_first_in_the_order_that_a_reassignment_has_left() -> None:
    with pytest.raises(NotSchedulable, match="a reassignment has put b3 before b2"):
        require_ascending_order(**ELECTED)


@pytest.mark.parametrize(
    "changed",
    [
        {"order": [1, 2, 3]},
        {"order": [1, 2]},
        {"model": state(None, "2")},
        {"before": state("b1", "2")},
        {"seen": kafka(3, 3)},
        {"seen": kafka(2, 2)},
        {"seen": kafka(1, 2)},
    ],
    ids=["in order", "no replica", "nobody", "no election", "another epoch", "the same one", "a lower one"],
)
def test_any_other_difference_is_one(changed: dict[str, Any]) -> None:
    require_ascending_order(**{**ELECTED, **changed})


@pytest.mark.parametrize(
    ("removing", "refused"),
    [((), False), ((1,), True), ((1, 3), False), ((3,), False)],
    ids=["nobody goes", "Kafka's goes", "both go", "the model's goes"],
)
def test_who_goes_comes_last_in_the_order_of_the_model(removing: tuple[int, ...], refused: bool) -> None:
    with pytest.raises(NotSchedulable, match="a reassignment has put b1 before b3") if refused else nullcontext():
        require_ascending_order([1, 2, 3], state("b1", "2"), state("b3", "3"), kafka(1, 3, removing))


IN_REASSIGNMENT = ControllerSeen(
    leader=3,
    leader_epoch=3,
    partition_epoch=7,
    isr=(3,),
    replicas=(1, 2, 3),
    adding=(),
    removing=(1, 2),
    elr=(),
    last_known_elr=(),
    fenced=(1, 2),
    end=20,
    stopping=(),
)
ENDED = replace(IN_REASSIGNMENT, leader_epoch=4, partition_epoch=8, replicas=(3,), removing=())


def test_one_who_was_cleared_from_the_elr_ends_a_reassignment_as_it_registers() -> None:
    with pytest.raises(NotSchedulable, match="looks at the partition when b2 registers") as refused:
        require_one_change(2, IN_REASSIGNMENT, ENDED)
    assert refused.value.kind == "Kafka ends a reassignment as one registers who was cleared from the ELR"


def test_one_who_was_cleared_from_the_elr_makes_the_controller_elect_as_it_registers() -> None:
    leaderless = replace(IN_REASSIGNMENT, leader=-1)
    with pytest.raises(NotSchedulable, match="b2 registers, and elects b3") as refused:
        require_one_change(2, leaderless, replace(ENDED, leader=3))
    assert refused.value.kind == "Kafka elects as one registers who was cleared from the ELR"


def test_one_who_was_cleared_from_the_elr_is_taken_out_of_the_isr_twice() -> None:
    with pytest.raises(NotSchedulable, match="takes b3 out twice"):
        require_one_change(3, IN_REASSIGNMENT, replace(ENDED, partition_epoch=9))


@pytest.mark.parametrize(
    ("broker", "was", "now"),
    [
        (3, IN_REASSIGNMENT, replace(ENDED, partition_epoch=10)),
        (3, IN_REASSIGNMENT, replace(ENDED, partition_epoch=6)),
        (3, IN_REASSIGNMENT, ENDED),
        (2, replace(IN_REASSIGNMENT, elr=(2,)), ENDED),
        (2, IN_REASSIGNMENT, replace(ENDED, removing=(1, 2))),
        (2, replace(IN_REASSIGNMENT, removing=()), ENDED),
        (2, IN_REASSIGNMENT, replace(IN_REASSIGNMENT, end=21)),
    ],
    ids=[
        "three changes",
        "one less",
        "in the ISR",
        "in the ELR",
        "not ended",
        "none was under way",
        "nothing happened",
    ],
)
def test_any_other_change_at_a_registration_is_a_difference(
    broker: int, was: ControllerSeen, now: ControllerSeen
) -> None:
    require_one_change(broker, was, now)


def test_a_reassignment_of_the_order_alone_is_told_from_others() -> None:
    with pytest.raises(NotSchedulable, match="changes the order of the replicas alone"):
        require_more_than_order(IN_REASSIGNMENT, replace(IN_REASSIGNMENT, partition_epoch=8, end=21))
    require_more_than_order(IN_REASSIGNMENT, replace(IN_REASSIGNMENT, end=21))
    require_more_than_order(IN_REASSIGNMENT, ENDED)


@pytest.mark.parametrize(
    ("replicas", "unassigned", "elsewhere", "why"),
    [
        ((1, 2, 3), (), "", "one directory of b3, and"),
        ((1, 2, 3), (3,), "", None),
        ((1, 2), (2,), "b2", None),
        ((1, 3, 4), (), "", "one directory of b3 and b4, and"),
        ((1, 2, 3), (3,), "b3", "accepted the copy of b3, who was taken out"),
        ((1, 2, 3), (3,), "b4", None),
    ],
)
def test_nobody_is_added_whose_directory_a_controller_knows(
    replicas: tuple[int, ...], unassigned: tuple[int, ...], elsewhere: str, why: str | None
) -> None:
    was = replace(IN_REASSIGNMENT, replicas=(1, 2))
    before = {"broker": {f"b{number}": {"elsewhere": f"b{number}" == elsewhere} for number in range(1, 5)}}
    with nullcontext() if why is None else pytest.raises(NotSchedulable, match=why):
        require_unknown_directory(before, was, replace(was, replicas=replicas, unassigned=unassigned))


ASKED = AlterRequest(isr=(1, 2, 3), partition_epoch=5, replied=False)


@pytest.mark.parametrize(
    ("request_", "accepted", "why"),
    [
        (replace(ASKED, unnamed=(1,)), True, "names no incarnation"),
        (replace(ASKED, outdated=(1,)), False, "names its incarnation before that"),
        (replace(ASKED, unnamed=(3,), outdated=(1,)), False, "names its incarnation before that"),
    ],
)
def test_members_that_have_registered_again_are_judged_one_by_one(
    request_: AlterRequest, accepted: bool, why: str
) -> None:
    with pytest.raises(NotSchedulable, match=why):
        require_incarnations_of_joiner_alone(request_, accepted)


@pytest.mark.parametrize(
    ("request_", "accepted"),
    [
        (ASKED, True),
        (ASKED, False),
        (replace(ASKED, outdated=(1,)), True),
        (replace(ASKED, unnamed=(3,), outdated=(1,)), True),
        (replace(ASKED, unnamed=(1,)), False),
    ],
)
def test_any_other_answer_to_a_request_is_a_difference(request_: AlterRequest, accepted: bool) -> None:
    require_incarnations_of_joiner_alone(request_, accepted)


def observed(**log: Any) -> Observation:
    brokers = {2: SimpleNamespace(log=SimpleNamespace(**log) if log else None)}
    return cast(Observation, SimpleNamespace(brokers=brokers))


EMPTIED = {"term": -1, "start": 2, "leo": 2}
FOUND = {"start": 2, "end": 2, "epochs": (0,)}


@pytest.mark.parametrize(
    ("broker", "log", "refused"),
    [
        (EMPTIED, FOUND, True),
        ({**EMPTIED, "term": 0}, FOUND, False),
        ({**EMPTIED, "start": 1}, FOUND, False),
        ({**EMPTIED, "start": 0, "leo": 0}, {**FOUND, "start": 0, "end": 0}, False),
        (EMPTIED, {**FOUND, "start": 1}, False),
        (EMPTIED, {**FOUND, "start": 3, "end": 3}, False),
        (EMPTIED, {**FOUND, "epochs": ()}, False),
        (EMPTIED, {**FOUND, "epochs": (0, 1)}, False),
        (EMPTIED, {}, False),
    ],
)
def test_only_an_epoch_of_records_that_are_all_deleted_is_one(
    broker: dict[str, int], log: dict[str, Any], refused: bool
) -> None:
    model = cast(ReadableState, {"broker": {"b2": broker}})
    with pytest.raises(NotSchedulable, match="b2 finds again") if refused else nullcontext():
        require_no_epoch_of_deleted_records("b2", model, observed(**log))


@pytest.mark.parametrize(
    ("then", "refused"), [((2, 2), False), ((1, 2), True), ((2, 3), True), ((0, 0), True), (None, True)]
)
def test_a_late_answer_needs_the_ends_that_the_log_had_then(then: tuple[int, int] | None, refused: bool) -> None:
    with pytest.raises(NotSchedulable, match="b1 asks b2") if refused else nullcontext():
        require_same_ends("b1", 2, then, observed(**FOUND))


LEADS = LeadingSeen(isr=(1,), maximal_isr=(1,), proposed=(), epoch_start=1, known={3: KnownEnd(0, True, False)})
EMPTY = LogSeen(records=(), start=0, end=0, high_watermark=0, epochs=())
FETCH = {"follower": "b3", "leader": "b1"}
BEHIND = [Difference("b1.hw", 1, 0), Difference("clients.acked", ["r0"], [])]


def elected_again(leading: LeadingSeen = LEADS, log: LogSeen = EMPTY) -> Observation:
    brokers = {1: BrokerSeen(running=True, leading=leading), 3: BrokerSeen(running=True, log=log)}
    return Observation(IN_REASSIGNMENT, brokers)


def known_end(end: int | None) -> ReadableState:
    return cast(ReadableState, {"broker": {"b1": {"known": {"b3": {"end": end}}}}})


def test_a_leader_that_is_elected_again_learns_nothing_from_a_log_end_that_it_knows() -> None:
    with pytest.raises(NotSchedulable, match="b1 knows the log end of b3 from an earlier leadership"):
        require_news_of_follower(FETCH, known_end(None), elected_again(), BEHIND)


@pytest.mark.parametrize(
    ("end", "was", "found"),
    [
        (0, elected_again(), BEHIND),
        (None, elected_again(replace(LEADS, isr=(1, 3))), BEHIND),
        (None, elected_again(replace(LEADS, known={3: KnownEnd(-1, False, False)})), BEHIND),
        (None, elected_again(log=replace(EMPTY, end=1)), BEHIND),
        (None, elected_again(), [Difference("b1.hw", 0, 1)]),
        (None, elected_again(), [*BEHIND, Difference("b1.end", 1, 0)]),
    ],
    ids=["known", "in the ISR", "forgotten by both", "another end", "Kafka is ahead", "more differs"],
)
def test_any_other_difference_after_a_fetch_is_one(end: int | None, was: Observation, found: list[Difference]) -> None:
    require_news_of_follower(FETCH, known_end(end), was, found)


@pytest.mark.parametrize(
    ("target", "order"), [("{b2}", [2, 1, 3]), ("{b3}", [3, 1, 2]), ("{b3, b2}", [3, 2, 1]), ("{b1, b3}", [1, 3, 2])]
)
def test_a_reassignment_puts_its_target_before_those_that_are_still_to_go(target: str, order: list[int]) -> None:
    model = Cluster(**DEFECTS["N-01"].witness)
    recording = Recording.read("N-01-4.3.1")
    schedule, state = Schedule(recording, model), model.decode(model.program.initials[0])
    schedule.open()
    opened = Answer("NONE", schedule.seen, {})
    recording.take = lambda command, **arguments: opened  # type: ignore[method-assign]
    schedule.take("reassign", {"target": target}, state, state)
    assert schedule.order == order

"""What the model has not got, each under its own condition and no wider."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from insync.conformance.classes.observation import (
    AlterRequest,
    ControllerSeen,
    Observation,
)
from insync.conformance.classes.subject import Answer
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.steps.gaps import (
    require_incarnations_of_joiner_alone,
    require_more_than_order,
    require_no_epoch_of_deleted_records,
    require_one_change,
    require_unknown_directory,
)
from insync.conformance.steps.out_of_range import require_same_ends
from insync.conformance.steps.schedule import Schedule
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.model import ReadableState
from insync_kafka import Recording

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
    ("replicas", "unassigned", "why"),
    [
        ((1, 2, 3), (), "one directory of b3, and"),
        ((1, 2, 3), (3,), None),
        ((1, 2), (2,), None),
        ((1, 3, 4), (), "one directory of b3 and b4, and"),
    ],
)
def test_nobody_is_added_whose_directory_a_controller_knows(
    replicas: tuple[int, ...], unassigned: tuple[int, ...], why: str | None
) -> None:
    was = replace(IN_REASSIGNMENT, replicas=(1, 2))
    with nullcontext() if why is None else pytest.raises(NotSchedulable, match=why):
        require_unknown_directory(was, replace(was, replicas=replicas, unassigned=unassigned))


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


EMPTIED = {"latest_epoch": -1, "log_start": 2, "leo": 2}
FOUND = {"start": 2, "end": 2, "epochs": (0,)}


@pytest.mark.parametrize(
    ("broker", "log", "refused"),
    [
        (EMPTIED, FOUND, True),
        ({**EMPTIED, "latest_epoch": 0}, FOUND, False),
        ({**EMPTIED, "log_start": 1}, FOUND, False),
        ({**EMPTIED, "log_start": 0, "leo": 0}, {**FOUND, "start": 0, "end": 0}, False),
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

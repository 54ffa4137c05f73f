"""What the model has not got, each under its own condition and no wider."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from insync.conformance.classes.observation import Observation
from insync.conformance.gaps import (
    NotSchedulable,
    require_ascending_order,
    require_no_epoch_of_deleted_records,
    require_one_change,
    require_same_ends,
)
from insync.model import ReadableState


def state(leader: str | None, epoch: str) -> ReadableState:
    return cast(ReadableState, {"changes": [{"leader": leader, "epoch": epoch}]})


def kafka(leader: int, epoch: int) -> Observation:
    return cast(Observation, SimpleNamespace(controller=SimpleNamespace(leader=leader, leader_epoch=epoch)))


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


def observed(**log: Any) -> Observation:
    brokers = {2: SimpleNamespace(log=SimpleNamespace(**log) if log else None)}
    return cast(Observation, SimpleNamespace(brokers=brokers, controller=SimpleNamespace(partition_epoch=7)))


@pytest.mark.parametrize(("before", "refused"), [(7, False), (6, False), (5, True), (4, False)])
def test_a_registration_that_costs_two_changes_is_told_apart(before: int, refused: bool) -> None:
    with pytest.raises(NotSchedulable, match="took b2 out of the ELR") if refused else nullcontext():
        require_one_change(2, before, observed())


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

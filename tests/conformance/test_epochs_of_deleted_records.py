"""Epochs of records that were deleted: after a crash Kafka's cache may have one that the model has not, or lack one."""

from __future__ import annotations

from typing import Any

import pytest

from insync.conformance.replay import KafkaVerdict
from insync_kafka import Recording, replayed

Json = dict[str, Any]


@pytest.mark.slow
def test_the_epoch_of_deleted_records_may_come_back_with_a_crash() -> None:
    found = replayed("walk-emptied-4.4.0")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b2 starts and registers")
    assert "b2 finds again, in the file of its log, the epoch of records that are deleted" in (found.reason or "")


@pytest.mark.parametrize("values", [{"epochs": [0, 1]}, {"end": 2}, {"start": 0}], ids=str)
def test_no_other_epoch_comes_back(values: dict[str, object]) -> None:
    last = len(Recording.read("walk-emptied-4.4.0").content["answers"]) - 1

    def change(number: int, state: Json) -> None:
        if number == last:
            state["brokers"]["2"]["log"].update(values)

    found = replayed("walk-emptied-4.4.0", change)
    assert found.verdict is KafkaVerdict.DIVERGES
    assert "b2.latest_epoch" in [one.field for one in found.differences]


def test_one_side_alone_may_know_the_epoch_of_deleted_records_that_are_found_again() -> None:
    found = replayed("walk-found-4.3.1")
    assert (found.verdict, found.step) == (KafkaVerdict.NOT_SCHEDULABLE, "b2 starts and registers")
    assert found.reason == "b2 has found records again that were deleted, and the model alone knows their epoch now"


@pytest.mark.parametrize("values", [{"epochs": [2]}, {"records": [], "start": 1}], ids=str)
def test_no_epoch_but_theirs_may_be_another(values: dict[str, object]) -> None:
    last = len(Recording.read("walk-found-4.3.1").content["answers"]) - 1

    def change(number: int, state: Json) -> None:
        if number == last:
            state["brokers"]["2"]["log"].update(values)

    assert replayed("walk-found-4.3.1", change).verdict is KafkaVerdict.DIVERGES

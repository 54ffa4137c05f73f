"""Whether Kafka goes on for ever as a run of the model does, with Kafka's part on record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from insync.conformance.classes.observation import Observation
from insync.conformance.correspondence.facts import Difference
from insync.conformance.replay import KafkaVerdict
from insync.conformance.steps.going_round import ForEver, goes_round
from insync_kafka import Recording, replayed

Json = dict[str, Any]


def test_a_run_that_never_ends_is_reproduced_where_kafka_is_seen_to_stay_so() -> None:
    # R-26, seen to the end: the leader has lost its log, and a follower that has the record may fetch for ever.
    found = replayed("stays-3.9.2")
    assert (found.verdict, found.steps, found.own) == (KafkaVerdict.REPRODUCED, 8, ())
    assert found.for_ever == ForEver(True, "Kafka stays so: nothing changes when b2 fetches from b1")


def test_it_is_none_where_something_changes_when_the_run_is_not_neglected() -> None:
    last = len(Recording.read("stays-3.9.2").content["answers"]) - 1

    def change(number: int, state: Json) -> None:
        if number == last:
            state["brokers"]["1"]["log"].update(high_watermark=1)

    found = replayed("stays-3.9.2", change)
    assert found.verdict is KafkaVerdict.DIVERGES
    assert found.trace.steps[-1].label == "b2 fetches from b1, which changes nothing in the model"
    assert found.differences == (Difference("b1.hw", 0, 1),)


def test_what_the_model_cannot_do_in_a_run_that_stays_kafka_cannot_either() -> None:
    # KAFKA-10706 is fixed: Kafka's follower truncates the epoch that L-1 is about, and fetches on.
    found = replayed("L-1-4.1.2")
    assert (found.verdict, found.steps) == (KafkaVerdict.DIVERGES, 10)
    assert found.trace.steps[-1].label == "b1 fetches, which changes nothing in the model"
    assert found.differences == (Difference("b1.latest_epoch", 2, 0),)


@pytest.mark.parametrize("name", ["elr", "known"])
def test_a_loop_of_several_steps_closes_where_all_that_is_seen_is_as_at_its_start(name: str) -> None:
    begun = replayed_seen("stays-3.9.2")
    metadata = replace(begun, controller=replace(begun.controller, end=begun.controller.end + 2, partition_epoch=9))
    assert goes_round(begun, metadata).shown
    changed = {
        "elr": replace(begun, controller=replace(begun.controller, elr=(2,))),
        "known": replace(begun, brokers={**begun.brokers, 2: replace(begun.brokers[2], reply_waits=True)}),
    }[name]
    field = {"elr": "controller.elr", "known": "b2.reply_waits"}[name]
    found = goes_round(begun, changed)
    assert not found.shown
    assert found.said.startswith(f"whether Kafka goes on so is not shown: {field}, which the model has not got, was ")


def replayed_seen(name: str) -> Observation:
    """What is seen of Kafka at the start of a recording."""
    return Recording.read(name).take("open", **Recording.read(name).content["answers"][0]["arguments"]).state

"""Which trace of a defect is taken, with a race or without one, and what a trace says that ends with a refused step."""

from __future__ import annotations

from dataclasses import replace

from insync.conformance.given_trace import given_trace
from insync.conformance.replay import KafkaVerdict, replay_on_kafka
from insync.explorer.traces.trace import RefusedStep
from insync_kafka import Recording


def test_where_no_race_can_be_brought_about_the_shortest_trace_without_one_is_taken() -> None:
    (_, racing), (model, calm) = given_trace("N-07"), given_trace("N-07", races=False)
    assert (racing.takes_race, calm.takes_race, calm.property) == (True, False, racing.property)
    assert (racing.length, calm.length, model.identity["races"]) == (5, 8, "off")


def test_a_trace_that_takes_no_race_is_the_same_without_races() -> None:
    assert given_trace("N-02", races=False)[1] == given_trace("N-02")[1]


def test_a_trace_that_ends_with_a_step_that_is_refused_agrees() -> None:
    recording = Recording.read("N-01-4.3.1")
    model, trace = recording.trace()
    refused = RefusedStep("crash", {"replica": "b1"}, "b1 crashes", "b1 has no room")
    found = replay_on_kafka(replace(trace, refused=refused), model, recording)
    assert (found.verdict, found.steps) == (KafkaVerdict.AGREES, 13)

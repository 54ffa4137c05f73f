"""A tour over a small space of the model, beside a Kafka that is another model."""

from __future__ import annotations

import pytest

from insync.conformance.comparing.conform import Conforming, conform_tour
from insync.conformance.comparing.touring import Space, asked_at_once
from insync.explorer.runs.state_graph import build_graph
from insync.kafka.cluster.model import Cluster
from insync.runtime.watch import Limits, StopReason
from insync_fake_kafka import FakeKafka, FakePair

BOUNDS: dict[str, int | str] = {
    "replicas": 2,
    "records": 1,
    "min_insync_replicas": 1,
    "power_failures": 0,
    "fencings": 0,
    "preferred_elections": 1,
}
MODEL = Cluster(release="4.1", **BOUNDS)
GRAPH = build_graph(MODEL)
STATES, TRANSITIONS = len(GRAPH), len(GRAPH.action)


def test_all_of_a_space_is_seen_if_nothing_is_in_the_way() -> None:
    kafka = FakeKafka.of(MODEL)
    found = conform_tour(MODEL, kafka, new_pair=FakePair)
    assert (found.verdict, found.seed, found.gaps) == (Conforming.AGREES, None, {})
    assert found.space == Space(STATES, TRANSITIONS, STATES, TRANSITIONS, 0, whole=True)
    assert sum(found.coverage.transitions.values()) == TRANSITIONS > 100
    assert found.coverage.steps == kafka.steps < 4 * TRANSITIONS


def test_each_step_that_is_not_taken_has_its_reason() -> None:
    found = conform_tour(MODEL, FakeKafka.of(MODEL, "accept_alter_partition"), new_pair=FakePair)
    assert found.verdict is Conforming.AGREES
    assert found.space is not None
    assert (found.space.taken + sum(found.gaps.values()), found.space.open) == (TRANSITIONS, 0)
    assert "accept_alter_partition" not in found.coverage.transitions
    refused = sum(1 for number in GRAPH.action.tolist() if GRAPH.actions[number].name == "accept_alter_partition")
    reasons = {why for _, why in found.gaps}
    assert reasons == {
        "the fake Kafka takes no accept_alter_partition",
        "only what is not schedulable leads to that state",
    }
    assert sum(count for (action, _), count in found.gaps.items() if action == "accept_alter_partition") == refused


def test_a_step_that_nobody_expects_not_to_be_schedulable_leaves_it_incomplete() -> None:
    kafka = FakeKafka.of(MODEL, "elect")
    kafka.lacks = ("elect",)
    found = conform_tour(MODEL, kafka, new_pair=FakePair)
    assert (found.verdict, found.stopped_by) == (Conforming.INCOMPLETE, None)
    assert {action for action, _ in found.unexpected} == {"elect"}


def test_a_difference_ends_it_and_is_shortened() -> None:
    unlike = Cluster(release="4.1", **{**BOUNDS, "min_insync_replicas": 2})
    found = conform_tour(MODEL, FakeKafka.of(unlike), new_pair=FakePair)
    assert found.verdict is Conforming.DIVERGES
    assert found.difference is not None
    assert 0 < found.difference.steps <= (found.failed_walk_length or 0)


@pytest.mark.parametrize(
    ("limits", "reason"), [(Limits(seconds=0.0), StopReason.TIME), (Limits(states=50), StopReason.STATES)]
)
def test_what_is_stopped_is_incomplete(limits: Limits, reason: StopReason) -> None:
    found = conform_tour(MODEL, FakeKafka.of(MODEL), limits=limits, new_pair=FakePair)
    assert (found.verdict, found.stopped_by) == (Conforming.INCOMPLETE, reason)
    assert found.space is not None
    assert not found.space.whole or found.space.open > 0
    assert found.space.taken + found.space.open + sum(found.gaps.values()) == found.space.transitions


def test_a_fetch_is_followed_by_the_request_for_the_one_who_fetches() -> None:
    actions = tuple(MODEL.program.actions)
    asked = asked_at_once(actions)
    assert [actions[number].name for number in asked] == ["fetch"] * 2
    for fetch, expand in asked.items():
        assert actions[expand].name == "expand_isr"
        assert actions[expand].shown_parameters == actions[fetch].shown_parameters

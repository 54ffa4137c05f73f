"""The words in which the model's state and Kafka's are compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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
from insync.conformance.steps.likeness import broker_id, broker_name, compared, differences, facts_of, kafka_state
from insync.model import ReadableState
from insync_walk import Walk, shared_cluster


@pytest.mark.parametrize(("number", "name"), [(None, None), (-1, None), (0, "b0"), (1, "b1"), (10, "b10")])
def test_nobody_has_no_name(number: int | None, name: str | None) -> None:
    assert broker_name(number) == name
    assert name is None or broker_id(name) == number


def state(*labels: str) -> ReadableState:
    return Walk(shared_cluster(replicas=2, power_failures=1, fencings=1), *labels).state


def test_a_state_is_like_itself_and_every_fact_counts() -> None:
    facts = facts_of(state())
    counts, found = compared(state(), state())
    assert (sum(counts.values()), found) == (len(facts), [])
    assert {name.split(".")[0] for name in facts} == {"controller", "b1", "b2", "clients"}
    assert facts["b1.remote_replicas.b2"] is None
    assert "b2.isr" not in facts, "what only a leader has"
    down = facts_of(state("b1 crashes, its log ends at 0"))
    assert [name for name in down if name.startswith("b1")] == ["b1.running"]


@pytest.mark.parametrize(
    ("labels", "fields"),
    [
        (("controller fences b2",), ["controller.isr", "controller.elr", "controller.fenced"]),
        (("b1 appends a record",), ["b1.log", "b1.leo"]),
        (
            ("b1 appends a record", "b2 fetches from b1"),
            ["b1.log", "b1.leo", "b1.remote_replicas.b2", "b2.log", "b2.leo"],
        ),
    ],
)
def test_differences_are_named_the_controllers_first(labels: tuple[str, ...], fields: list[str]) -> None:
    found = differences(state(), state(*labels))
    assert {one.field for one in found} >= set(fields)
    first = [one.field.startswith("controller") for one in found]
    assert first == sorted(first, reverse=True)
    back = differences(state(*labels), state())
    assert back == [Difference(one.field, one.kafka, one.model) for one in found]


def test_who_has_no_replica_has_nothing_that_could_be_compared() -> None:
    other: Any = state()
    other["broker"]["b2"]["has_replica"] = False
    assert [name for name in facts_of(other) if name.startswith("b2")] == ["b2.running", "b2.has_replica"]


def seen(model: ReadableState, **changed: Any) -> Observation:
    """Kafka's state, which is the model's but for some fields of b2, and for the controller's last known leaders."""
    last, (leader, epoch) = changed.pop("last_known_elr", ()), changed.pop("registered", (1, 0))
    controller = ControllerSeen(leader, epoch, 0, (1, 2), (1, 2), (), (), (), last, (), 0, ())
    known = {2: KnownEnd(-1, current=False, may_join=True)}
    leading = LeadingSeen((1, 2), (1, 2), (), 0, known)
    log = LogSeen((), 0, 0, 0, ())
    first = BrokerSeen(running=True, leader=1, leader_epoch=0, leading=leading, log=replace(log, epochs=(0,)))
    second = BrokerSeen(**{"running": True, "leader": 1, "leader_epoch": 0, "log": log, **changed})
    return Observation(controller, {1: first, 2: second})


def unlike(*labels: str, **changed: Any) -> list[str]:
    model = state(*labels)
    return [one.field for one in differences(model, kafka_state(model, seen(model, **changed), set()))]


def test_what_kafka_has_takes_the_place_of_what_the_model_has() -> None:
    assert unlike() == []
    assert unlike(log=LogSeen((("r0", 0),), 0, 1, 0, ())) == ["b2.log", "b2.leo"]
    assert unlike(log=LogSeen((), 0, 0, 0, (0,))) == ["b2.latest_epoch"]
    assert unlike(log=None) == []
    assert unlike(leader=None) == ["b2.leader"]
    assert unlike(leader_epoch=1) == ["b2.epoch"]
    assert unlike(leader_epoch=None) == ["b2.has_replica"]
    assert unlike(running=False) == ["b2.running"]


def test_a_broker_that_is_late_is_compared_with_what_it_believes() -> None:
    """Where its change is one of several that are alike it stays with its own, and what nobody has is added."""
    assert unlike("controller fences b2") == ["controller.isr", "controller.elr", "controller.fenced"]
    model = state("controller fences b1")
    assert (model["broker"]["b2"]["image_lag"], len(model["registrations"])) == (1, 3)

    def lag(**changed: Any) -> int:
        found: int = kafka_state(model, seen(model, **changed), set())["broker"]["b2"]["image_lag"]
        return found

    assert lag() == 1
    assert lag(registered=(2, 1)) == 1
    assert lag(registered=(2, 1), leader=2, leader_epoch=1) == 0
    assert lag(leader=2, leader_epoch=1) == 3


def test_of_the_last_known_leaders_the_first_one_counts() -> None:
    model = state()
    assert kafka_state(model, seen(model, last_known_elr=(2, 1)), set())["controller"]["last_known_leader"] == "b2"
    assert kafka_state(model, seen(model), set())["controller"]["last_known_leader"] is None

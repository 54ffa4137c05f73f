"""The words in which the model's state and Kafka's are compared."""

from __future__ import annotations

from typing import Any

import pytest

from insync.conformance.likeness import Difference, broker_id, broker_name, compared, differences, facts_of
from insync.model import ReadableState
from insync_walk import Walk, shared_cluster


@pytest.mark.parametrize(("number", "name"), [(None, None), (-1, None), (0, "b0"), (1, "b1"), (10, "b10")])
def test_nobody_has_no_name(number: int | None, name: str | None) -> None:
    assert broker_name(number) == name
    assert name is None or broker_id(name) == number


def state(*labels: str) -> ReadableState:
    return Walk(shared_cluster(replicas=2, lossy_crashes=1, fencings=1), *labels).state


def test_a_state_is_like_itself_and_every_fact_counts() -> None:
    facts = facts_of(state())
    assert compared(state(), state()) == (len(facts), [])
    assert {name.split(".")[0] for name in facts} == {"controller", "b1", "b2", "clients"}
    assert facts["b1.known.b2"] is None
    assert "b2.isr" not in facts, "what only a leader has"
    down = facts_of(state("b1 crashes, its log ends at 0"))
    assert [name for name in down if name.startswith("b1")] == ["b1.running"]


@pytest.mark.parametrize(
    ("labels", "fields"),
    [
        (("controller fences b2",), ["controller.isr", "controller.elr", "controller.fenced"]),
        (("b1 appends a record",), ["b1.log", "b1.end"]),
        (("b1 appends a record", "b2 fetches from b1"), ["b1.log", "b1.end", "b1.known.b2", "b2.log", "b2.end"]),
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

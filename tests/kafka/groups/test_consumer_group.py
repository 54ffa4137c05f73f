"""Keys, partitions and a group of consumers: what holds, and what breaks each property."""

from __future__ import annotations

from functools import cache
from typing import cast

import pytest

from insync.explorer import check
from insync.kafka.groups.consumer_group import ConsumerGroup
from insync.properties.registry import sentences_of
from insync_walk import Walk

group = cache(ConsumerGroup)
"""The group under these bounds and settings, which is traced once."""

PROMISED = ConsumerGroup.headline


@pytest.mark.parametrize(
    ("bounds", "states", "depth"),
    [
        ({}, 2_754, 19),
        ({"deaths": 1, "resets": 1}, 20_188, 26),
        pytest.param(
            {"members": 3, "topic_partitions": 3, "records": 3, "deaths": 1}, 709_281, 32, marks=pytest.mark.slow
        ),
    ],
    ids=str,
)
def test_what_is_promised_holds(bounds: dict[str, int], states: int, depth: int) -> None:
    found = check(group(**bounds))
    assert (found.verdict, found.distinct_states, found.depth) == ("holds", states, depth)


def test_partitions_that_are_added_break_the_order_of_keys_and_nothing_else() -> None:
    others = [name for name in PROMISED if "key" not in name]
    assert check(group(additions=1), properties=others).verdict == "holds"


BROKEN = [
    ("a_key_has_one_partition", {"additions": 1}, 4),
    ("a_key_has_one_partition", {"partitioner": "any"}, 2),
    ("order_of_a_key_is_kept", {"additions": 1}, 8),
    ("order_of_a_key_is_kept", {"commits": "before"}, 11),
    ("one_consumer_a_partition", {"revocation": "none"}, 5),
    ("committed_offsets_go_forward", {"generations_checked": "off"}, 9),
    ("nothing_is_passed_over", {"commits": "before"}, 5),
    ("nothing_is_passed_over", {"auto_offset_reset": "latest"}, 4),
    ("nobody_works_beside_another", {}, 5),
    ("records_are_processed_once", {}, 8),
]


@pytest.mark.parametrize(("name", "settings", "steps"), BROKEN)
def test_what_breaks_it_is_found(name: str, settings: dict[str, int | str], steps: int) -> None:
    (found,) = check(group(**settings), properties=[name]).violations
    assert found.trace.length == steps + 1


def test_every_property_of_its_own_is_broken_by_something() -> None:
    own = set(sentences_of(group())) - {"type_ok", "deadlock_free"}
    assert {name for name, _, _ in BROKEN} == own
    assert set(PROMISED) | {"nobody_works_beside_another", "records_are_processed_once"} == own


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("committed_offsets_go_forward", {"commits": "before"}),
        ("one_consumer_a_partition", {"generations_checked": "off"}),
        ("records_are_processed_once", {"commits": "before", "deaths": 1}),
        ("nobody_works_beside_another", {"expirations": 0, "deaths": 1}),
    ],
)
def test_a_property_holds_where_something_else_is_broken(name: str, settings: dict[str, int | str]) -> None:
    assert check(group(**settings), properties=[name]).verdict == "holds"


def walk(*labels: str, **bounds: int | str) -> Walk:
    return Walk(group(**bounds), *labels)


def positions(walk: Walk, name: str) -> dict[str, int | None]:
    members = cast(dict[str, dict[str, dict[str, int | None]]], walk.state["member"])
    return {partition: at for partition, at in members[name]["position"].items() if at is not None}


BOTH = ("m1 joins", "m2 joins", "the group begins a generation")


def test_members_share_the_partitions_and_begin_where_the_group_has_committed() -> None:
    alone = walk("a record with k0 is written to p0", "m1 joins", "the group begins a generation")
    assert positions(alone, "m1") == {"p0": 0, "p1": 0}
    alone.take("m1 processes the next record of p0", "m1 commits its offset of p0", *BOTH[1:2])
    assert positions(alone, "m1") == {"p0": 1, "p1": 0}  # it has not heard of the rebalance
    alone.take("m1 joins")
    assert positions(alone, "m1") == {}
    alone.take("the group begins a generation")
    assert (positions(alone, "m1"), positions(alone, "m2")) == ({"p0": 1}, {"p1": 0})


def test_who_was_expelled_goes_on_until_it_hears_and_its_commit_is_refused() -> None:
    expelled = walk("a record with k0 is written to p0", *BOTH, "the session of m1 expires", "m2 joins")
    expelled.take("the group begins a generation", "m1 processes the next record of p0")
    assert (positions(expelled, "m1"), positions(expelled, "m2")) == ({"p0": 1}, {"p0": 0, "p1": 0})
    expelled.take("m1 commits its offset of p0")
    assert positions(expelled, "m1") == {}
    assert expelled.state["committed"] == {"p0": None, "p1": None}


def test_a_partition_that_is_added_takes_keys_and_is_read_once_the_group_has_joined_again() -> None:
    added = walk("m1 joins", "the group begins a generation", "operator adds a partition", additions=1)
    added.take("producer learns of the new partition", "a record with k0 is written to p2")
    assert positions(added, "m1") == {"p0": 0, "p1": 0}
    added.take("m1 joins", "the group begins a generation", "m1 processes the next record of p2")
    assert positions(added, "m1") == {"p0": 0, "p1": 0, "p2": 1}


def test_a_trace_shows_logs_what_is_committed_and_who_has_what() -> None:
    shown = walk("a record with k1 is written to p1", "m1 joins", "the group begins a generation", "m2 joins")
    shown.take("m1 processes the next record of p1", "m1 commits its offset of p1")
    assert shown.cells == {
        "p0": "[]",
        "p1": "[r0:k1 |]",
        "group": "1? m1 m2+",
        "m1": "1 p0@0 p1@1",
        "m2": "0",
        "processed": "r0",
    }

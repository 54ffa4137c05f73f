"""A log's ends: what lies within it, and what is left of them when it is cut."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from insync_nearby import walked
from insync_walk import Walk, shared_cluster

BOUNDS: dict[str, int | str] = {
    "replicas": 2,
    "min_insync_replicas": 1,
    "flush": "sometimes",
    "preferred_elections": 2,
    "fencings": 1,
    "crashes": 1,
    "metadata_lag": 1,
}
CASES: list[dict[str, int | str]] = [
    {"release": "0.10.2"},
    {"release": "0.11"},
    {"release": "2.1", "log_dir_moves": 1},
    {"release": "3.3", "log_dir_moves": 1},
    {"release": "4.1", "delete_records": 1},
    {"release": "4.1", "late_fetch_responses": "on"},
]


def steps(case: dict[str, int | str], walks: int, length: int) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The steps of random walks: the name of the action, and a broker before and after it."""
    model, chance = shared_cluster(**BOUNDS, **case), random.Random(str(case))
    for before, number, after in walked(model, chance, walks, length):
        old, new = (model.decode(codes) for codes in (before, after))
        name = model.program.actions[number].name
        yield from ((name, old["broker"][broker], new["broker"][broker]) for broker in new["broker"])
        assert all(_term_is_right(broker, new["epoch_of"]) for broker in new["broker"].values())


def _term_is_right(broker: dict[str, Any], epoch_of: dict[str, str]) -> bool:
    """Whether the newest epoch that a log knows is no older than that of its last record."""
    last = int(epoch_of[broker["log"][broker["leo"] - 1]])
    return bool(broker["leo"] <= broker.get("log_start", 0) or broker["latest_epoch"] >= last)


def ends(broker: dict[str, Any]) -> dict[str, int]:
    return {name: broker[name] for name in ("log_start", "hw", "flushed", "future_leo") if broker.get(name) is not None}


@pytest.mark.slow_but("{'release': '4.1', 'delete_records': 1}")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_end_lies_within_the_log_and_is_cut_with_it(case: dict[str, int | str]) -> None:
    cut = 0
    for name, old, new in steps(case, 60, 40):
        leo = new["leo"]
        assert all(end <= leo for end in ends(new).values()), (name, new)
        assert all(entry == "r0" for entry in new["log"][leo:]), (name, new)
        if leo < old["leo"]:
            cut += 1
            assert new["log"][:leo] == old["log"][:leo], name
            kept = {end: min(value, leo) for end, value in ends(old).items()}
            if name == "crash":  # what survives is on disk, and the copy is not looked for
                kept = {**kept, "flushed": leo}
                kept.pop("future_leo", None)
            assert ends(new) == kept, name
        elif name != "flush":
            assert new["flushed"] == old["flushed"] or name == "crash", name
    assert cut > 10


def test_a_crash_keeps_what_was_flushed_and_may_keep_more() -> None:
    model = shared_cluster(**BOUNDS, power_failures=1)
    walk = Walk(model, "b1 appends a record", "b1 flushes its log", "b1 appends a record")
    assert {label for label in walk.enabled if label.startswith("b1 crashes")} == {
        "b1 crashes, its log ends at 1",
        "b1 crashes, its log ends at 2",
    }
    assert "b1 flushes its log" in walk.enabled
    assert "b1 flushes its log" not in walk.take("b1 flushes its log").enabled
    assert {label for label in walk.enabled if label.startswith("b1 crashes")} == {"b1 crashes, its log ends at 2"}

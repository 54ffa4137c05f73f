"""Brokers that are down: nothing happens to them but what happens to a disk, whoever else is busy meanwhile."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

from insync.model.evaluator import Evaluator
from insync.model.tracing.program import BoundAction
from insync_walk import shared_cluster

Brokers = dict[str, dict[str, Any]]

CHOSEN: dict[str, dict[str, int | str]] = {
    "2.0.1": {
        "controller_failovers": 2,
        "crashes": 3,
        "controlled_shutdowns": 1,
        "fetch_sessions": "on",
        "log_dir_moves": 1,
        "log_dir_failures": 1,
    },
    "4.0": {
        "crashes": 3,
        "log_dir_failures": 2,
        "log_dir_moves": 2,
        "late_alter_partition_responses": "on",
        "late_fetch_responses": "on",
        "fetch_failures": 1,
    },
}
"""What is chosen besides the release: those of ZooKeeper's time, and those of directories that fail."""

TO_DISKS = {
    "lose_directory": {
        *("log", "log_start", "leo", "latest_epoch"),
        *("clean_shutdown", "failed_log_dir", "to_assign"),
    },
    "repair_directory": {"clean_shutdown", "failed_log_dir"},
}
"""The actions that change a disk, and what of it."""


def _steps(release: str) -> Iterator[tuple[BoundAction, Brokers, Brokers]]:
    """Take random walks, each action as likely as another, and yield steps with the brokers before and after them."""
    model, chance = shared_cluster(**CHOSEN[release], release=release), random.Random(release)
    actions, evaluator = model.program.actions, Evaluator(model.program)
    for _ in range(6):
        codes = model.program.initials[0]
        before: Brokers = model.decode(codes)["broker"]
        for _ in range(60):
            enabled = [list(bound) for _, bound in groupby(evaluator.enabled(codes), lambda n: actions[n].name)]
            if not enabled:
                break
            number = chance.choice(chance.choice(enabled))
            codes = evaluator.step(number, codes)
            after: Brokers = model.decode(codes)["broker"]
            yield actions[number], before, after
            before = after


@pytest.mark.slow_for("4.0")
@pytest.mark.parametrize("release", CHOSEN)
def test_of_a_broker_that_is_down_nothing_changes_but_its_disk(release: str) -> None:
    down = 0
    for action, before, after in _steps(release):
        for name, was in before.items():
            now = after[name]
            if not was["running"] and not now["running"]:
                down += 1
                changed = {field for field in was if was[field] != now[field]}
                assert changed <= TO_DISKS.get(action.name, set()), f"{action.label}, and {name} is down"
    assert down > 50

"""Walks with everything at once have all that the harness can take."""

from __future__ import annotations

from collections.abc import Mapping

from insync.conformance.comparing.conform import EVERYTHING, WALKS
from insync.conformance.steps.checkpoint_steps import OF_CHECKPOINTS
from insync.conformance.steps.consumer_steps import OF_CONSUMER
from insync.conformance.steps.directory_steps import OF_DIRECTORIES
from insync.conformance.steps.producer_steps import OF_PRODUCER
from insync.conformance.steps.schedule import _ACTIONS
from insync.kafka.cluster.model import Cluster

TAKEN = {*_ACTIONS, *OF_DIRECTORIES, *OF_PRODUCER, *OF_CHECKPOINTS, *OF_CONSUMER}


def left_out(bounds: Mapping[str, int | str]) -> set[str]:
    model = Cluster(**{"release": "4.1", **bounds})
    return TAKEN - {action.name for action in model.program.actions}


def test_everything_has_every_action_that_the_harness_can_take() -> None:
    assert left_out(EVERYTHING) == {"load_snapshot"}, "what a snapshot tells of directories is not modelled"
    assert left_out({**WALKS, "snapshots": 1}) == left_out(WALKS) - {"load_snapshot"}


def test_other_walks_have_not() -> None:
    assert {"consume", "copy_record", "evict_session", "lose_directory", "send_again"} <= left_out(WALKS)

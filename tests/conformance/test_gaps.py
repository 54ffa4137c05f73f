"""What the model has not got, each under its own condition and no wider."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from insync.conformance.classes.observation import Observation
from insync.conformance.gaps import NotSchedulable, require_ascending_order
from insync.conformance.schedule import Schedule
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.model import ReadableState
from insync_kafka import Recording


def state(leader: str | None, epoch: str) -> ReadableState:
    return cast(ReadableState, {"changes": [{"leader": leader, "epoch": epoch}]})


def kafka(leader: int, epoch: int) -> Observation:
    return cast(Observation, SimpleNamespace(controller=SimpleNamespace(leader=leader, leader_epoch=epoch)))


ELECTED: dict[str, Any] = {
    "order": [3, 1, 2],
    "before": state("b1", "1"),
    "model": state("b2", "2"),
    "seen": kafka(3, 2),
}


def test_kafka_elects_who_comes_first_in_the_order_that_a_reassignment_has_left() -> None:
    with pytest.raises(NotSchedulable, match="a reassignment has put b3 before b2"):
        require_ascending_order(**ELECTED)


@pytest.mark.parametrize(
    "changed",
    [
        {"order": [1, 2, 3]},
        {"order": [1, 2]},
        {"model": state(None, "2")},
        {"before": state("b1", "2")},
        {"seen": kafka(3, 3)},
        {"seen": kafka(2, 2)},
        {"seen": kafka(1, 2)},
    ],
    ids=["in order", "no replica", "nobody", "no election", "another epoch", "the same one", "a lower one"],
)
def test_any_other_difference_is_one(changed: dict[str, Any]) -> None:
    require_ascending_order(**{**ELECTED, **changed})


@pytest.mark.parametrize(
    ("action", "why"),
    [
        *((action, "the harness has no fetch sessions") for action in ("fetch", "lose_reply", "evict_session")),
        *((action, "the controller is a KRaft quorum's here") for action in ("fail_over", "elect_as_deposed")),
    ],
)
def test_the_harness_has_no_fetch_sessions_and_no_zookeeper(action: str, why: str) -> None:
    model = Cluster(**{**DEFECTS["N-01"].witness, "fetch_sessions": "on"})
    schedule, state = Schedule(Recording.read("N-01-4.3.1"), model), model.decode(model.program.initials[0])
    schedule.open()
    with pytest.raises(NotSchedulable, match=why):
        schedule.take(action, {"follower": "b2", "leader": "b1"}, state, state)

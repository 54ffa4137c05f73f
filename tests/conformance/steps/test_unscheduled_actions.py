"""Actions of the model for which the harness of Kafka's classes has no part: it says so, and does nothing else."""

from __future__ import annotations

import pytest

from insync.conformance.steps.gaps import NotSchedulable
from insync.conformance.steps.schedule import Schedule
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync_kafka import Recording


@pytest.mark.parametrize(
    ("action", "why"),
    [
        *((action, "have one directory here") for action in ("accept_copy", "hear_directory")),
        *((action, "the controller is a KRaft quorum's here") for action in ("fail_over", "elect_as_deposed")),
    ],
)
def test_the_harness_has_no_zookeeper_and_one_directory_where_nothing_is_about_them(action: str, why: str) -> None:
    model = Cluster(**DEFECTS["N-01"].witness)
    schedule, state = Schedule(Recording.read("N-01-4.3.1"), model), model.decode(model.program.initials[0])
    schedule.open()
    with pytest.raises(NotSchedulable, match=why):
        schedule.take(action, {"follower": "b2", "leader": "b1", "replica": "b1"}, state, state)

"""Actions of the model for which the harness of Kafka's classes has no part: it says so, and does nothing else."""

from __future__ import annotations

import pytest

from insync.conformance.replay import KafkaVerdict, replay_on_kafka
from insync.conformance.steps.gaps import NotSchedulable
from insync.conformance.steps.schedule import Schedule
from insync.explorer.evaluator.stepping import Stepper, Walk
from insync.explorer.traces.counterexample import trace_of
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync_kafka import Recording

QUORUM = ("commit_decisions", "lose_leadership", "become_active", "refuse_isr_as_deposed")


@pytest.mark.parametrize(
    ("action", "why"),
    [
        *((action, "have one directory here") for action in ("accept_copy", "hear_directory")),
        *((action, "the controller is a KRaft quorum's here") for action in ("fail_over", "elect_as_deposed")),
        *((action, "the harness has one controller") for action in QUORUM),
    ],
)
def test_the_harness_has_no_zookeeper_and_one_directory_where_nothing_is_about_them(action: str, why: str) -> None:
    model = Cluster(**DEFECTS["N-01"].witness)
    schedule, state = Schedule(Recording.read("N-01-4.3.1"), model), model.decode(model.program.initials[0])
    schedule.open()
    with pytest.raises(NotSchedulable, match=why):
        schedule.take(action, {"follower": "b2", "leader": "b1", "replica": "b1"}, state, state)


def test_a_trace_of_a_quorum_agrees_until_the_quorum_commits() -> None:
    recording = Recording.read("N-01-4.3.1")
    model = Cluster(**DEFECTS["N-01"].witness, controllers=3, failovers=1)
    walk = Walk(Stepper(model))
    decided = [step.label for step in recording.trace()[1].steps[1:5]]
    for label in (*decided, "controllers commit what is decided"):
        walk.step(next(n for n, action in enumerate(model.program.actions) if action.label == label))
    found = replay_on_kafka(trace_of(model, "walk", walk.moves, ""), model, recording)
    assert (found.verdict, found.steps, found.differences) == (KafkaVerdict.NOT_SCHEDULABLE, 4, ())
    assert found.reason == "the harness has one controller, and all that it decides is committed at once"

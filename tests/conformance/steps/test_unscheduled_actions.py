"""Actions of the model for which the harness of Kafka's classes has no part: it says so, and does nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from insync.conformance.classes.observation import KnownEnd
from insync.conformance.classes.subject import Answer, Argument
from insync.conformance.correspondence.known_differences import NotSchedulable, Unlike
from insync.conformance.replay import KafkaVerdict, replay_on_kafka
from insync.conformance.steps.schedule import Schedule
from insync.explorer.stepping.stepper import Stepper, Walk
from insync.explorer.traces.trace import trace_of
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync_kafka import Recording

QUORUM = ("commit_decisions", "lose_leadership", "become_active", "reject_as_stale_controller")


@pytest.mark.slow_for("elect_as_stale_controller-the controller is a KRaft quorum's here")
@pytest.mark.parametrize(
    ("action", "why"),
    [
        *((action, "have one directory here") for action in ("accept_copy", "hear_directory")),
        *((action, "the controller is a KRaft quorum's here") for action in ("fail_over", "elect_as_stale_controller")),
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
    model = Cluster(**DEFECTS["N-01"].witness, controller_failovers=1)
    walk = Walk(Stepper(model))
    decided = [step.label for step in recording.trace()[1].steps[1:5]]
    for label in (*decided, "controllers commit what is decided"):
        walk.step(next(n for n, action in enumerate(model.program.actions) if action.label == label))
    found = replay_on_kafka(trace_of(model, "walk", walk.moves, ""), model, recording)
    assert (found.verdict, found.steps, found.differences) == (KafkaVerdict.NOT_SCHEDULABLE, 4, ())
    assert found.reason == "the harness has one controller, and all that it decides is committed at once"


def answering(schedule: Schedule, recording: Recording, answer: Answer) -> list[str]:
    """Let a schedule have one answer from now on; return the commands that it gives."""
    given: list[str] = []

    def take(command: str, **arguments: Argument) -> Answer:
        given.append(command)
        return answer

    recording.take = take  # type: ignore[method-assign]
    schedule._kafka.seen = answer.state
    return given


@pytest.mark.parametrize(
    ("ends", "named"),
    [({2: -1, 3: -1}, True), ({2: -1, 3: 0}, False), ({2: 0, 3: 0}, False), ({2: 0, 3: -1}, False)],
    ids=["b3 is slow too", "b2 alone", "nobody", "another one"],
)
def test_only_others_who_are_slow_too_keep_a_leader_from_dropping_one(ends: dict[int, int], named: bool) -> None:
    recording, model = Recording.read("N-01-4.3.1"), Cluster(**DEFECTS["N-01"].witness)
    schedule, state = Schedule(recording, model), model.decode(model.program.initials[0])
    schedule.open()
    seen, leader = schedule.seen, schedule.seen.brokers[1]
    assert leader.leading is not None
    known = {number: KnownEnd(end, current=True, may_join=True) for number, end in ends.items()}
    leading = replace(leader.leading, isr=(1, 2, 3), known=known)
    brokers = {**seen.brokers, 1: replace(leader, leading=leading)}
    given = answering(schedule, recording, Answer("NONE", replace(seen, brokers=brokers), {}))
    step = "shrink_isr", {"leader": "b1", "follower": "b2"}, state, state
    if named:
        with pytest.raises(NotSchedulable, match="would take b2 and b3 out of the ISR at once"):
            schedule.take(*step)
        assert given == []
    else:
        schedule.take(*step)
        assert "shrink" in given


@pytest.mark.parametrize(("adding", "error"), [((3,), NotSchedulable), ((), Unlike)])
def test_only_a_reassignment_keeps_another_than_the_first_from_the_election(
    adding: tuple[int, ...], error: type[Exception]
) -> None:
    recording, model = Recording.read("N-01-4.3.1"), Cluster(**DEFECTS["N-01"].witness)
    schedule, state = Schedule(recording, model), model.decode(model.program.initials[0])
    schedule.open()
    seen = replace(schedule.seen, controller=replace(schedule.seen.controller, adding=adding))
    answering(schedule, recording, Answer("REASSIGNMENT_IN_PROGRESS", seen, {}))
    with pytest.raises(error):
        schedule.take("elect", {"replica": "b2"}, state, state)

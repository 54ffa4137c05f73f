"""Who sends what to whom when a step is drawn: the requests and replies of Kafka's protocol."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import groupby

import pytest

from insync.explorer.traces.trace import TraceStep, trace_of
from insync.kafka.cluster.drawing import draw_step
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.steps import CLIENTS, CONTROLLER
from insync.model import Arrow, Mark
from insync.model.evaluator import Evaluator
from insync_walk import shared_cluster

CHOSEN: dict[str, dict[str, int | str]] = {
    "2.4": {
        "consumer": "follower",
        "isr_shrinks": 2,
        "controlled_shutdowns": 1,
        "delete_records": 1,
        "late_fetch_responses": "on",
    },
    "3.9.1": {
        "spares": 1,
        "reassignments": 2,
        "late_alter_partition_responses": "on",
        "lost_alter_partition_responses": 2,
        "isr_shrinks": 2,
        "config_changes": 1,
        "retries": 1,
        "controlled_shutdowns": 1,
    },
}

REQUESTS = {
    "ask_epoch_end": ("follower", "leader"),
    "begin_stop": ("replica", CONTROLLER),
    "cancel_reassignment": (CLIENTS, CONTROLLER),
    "change_minimum": (CLIENTS, CONTROLLER),
    "consume": (CLIENTS, "replica"),
    "delete_record": (CLIENTS, "leader"),
    "expand_isr": ("leader", CONTROLLER),
    "fetch": ("follower", "leader"),
    "lose_fetch_response": ("follower", "leader"),
    "reassign": (CLIENTS, CONTROLLER),
    "register": ("replica", CONTROLLER),
    "send_again": (CLIENTS, "leader"),
    "shrink_isr": ("leader", CONTROLLER),
    "shrink_isr_by_several": ("leader", CONTROLLER),
    "validate_position": (CLIENTS, "leader"),
    "write": (CLIENTS, "leader"),
}
"""Who asks whom: OffsetForLeaderEpoch, BrokerHeartbeat, AlterPartitionReassignments, Fetch, Produce and the like."""

SENT = {"apply_metadata": (CONTROLLER, "replica"), "receive_alter_partition_response": (CONTROLLER, "leader")}
"""What comes without having been asked for in this step: metadata, and the reply to AlterPartition."""


def _steps(release: str) -> Iterator[list[TraceStep]]:
    """Take random walks, each action as likely as another, and yield the steps so far after each."""
    model, chance = shared_cluster(**CHOSEN[release], release=release), random.Random(4)
    actions, evaluator = model.program.actions, Evaluator(model.program)
    for _ in range(6):
        moves: list[tuple[int | None, tuple[int, ...]]] = [(None, model.program.initials[0])]
        while len(moves) < 50:
            enabled = [list(n) for _, n in groupby(evaluator.enabled(moves[-1][1]), lambda n: actions[n].name)]
            if not enabled:
                break
            number = chance.choice(chance.choice(enabled))
            moves.append((number, evaluator.step(number, moves[-1][1])))
        steps = trace_of(model, "explored", moves, "").steps
        yield from (list(steps[:taken]) for taken in range(2, len(steps) + 1))


@pytest.mark.slow_for("2.4")
@pytest.mark.parametrize("release", CHOSEN)
def test_requests_go_where_kafka_sends_them_and_replies_come_back(release: str) -> None:
    seen = set()
    for steps in _steps(release):
        named = {**steps[-1].parameters, CLIENTS: CLIENTS, CONTROLLER: CONTROLLER}
        arrows = [one for one in draw_step(Cluster, steps, steps[-1].label) if isinstance(one, Arrow)]
        asked = {(one.sender, one.receiver) for one in arrows if not one.reply}
        action = steps[-1].action or ""
        expected = {**REQUESTS, **SENT}.get(action)
        if expected is not None:
            seen.add(action)
            sender, receiver = expected
            assert (arrows[0].sender, arrows[0].receiver) == (named[sender], named[receiver]), steps[-1].label
        if action in REQUESTS:
            up = {CLIENTS, CONTROLLER, *(name for name, b in steps[-2].state["broker"].items() if b["running"])}
            assert {named[sender], named[receiver]} <= up or action == "register", steps[-1].label
            answers = {(one.receiver, one.sender) for one in arrows if one.reply and one.receiver != CLIENTS}
            assert asked == {(named[sender], named[receiver])}
            assert answers <= asked, steps[-1].label
    assert len(seen) > 10


def test_what_happens_to_nobody_in_particular_happens_at_the_controller() -> None:
    model = shared_cluster(release="2.7", replicas=2, records=1, controller_failovers=1)
    (number,) = (n for n, action in enumerate(model.program.actions) if action.name == "fail_over")
    first = model.program.initials[0]
    moves = [(None, first), (number, Evaluator(model.program).step(number, first))]
    steps = trace_of(model, "explored", moves, "").steps
    assert [
        (one.lifeline, one.text) for one in draw_step(Cluster, steps, steps[-1].label) if isinstance(one, Mark)
    ] == [(CONTROLLER, steps[-1].label)]


def test_a_quorum_commits_and_fails_at_the_controller_and_a_deposed_one_answers_whom_it_is_asked_by() -> None:
    model = shared_cluster(replicas=2, records=1, power_failures=0, fencings=0, controller_failovers=1)
    asked, accepted = "b1 drops b2 from the ISR", "controller accepts the ISR"
    committed, loses = "controllers commit what is decided", "the active controller loses its leadership"
    taken, drawn = (asked, accepted, committed, loses, "another controller becomes active"), []
    codes = model.program.initials[0]
    moves: list[tuple[int | None, tuple[int, ...]]] = [(None, codes)]
    for label in taken:
        number = next(n for n, action in enumerate(model.program.actions) if action.label == label)
        moves.append((number, Evaluator(model.program).step(number, moves[-1][1])))
        steps = trace_of(model, "explored", moves, "").steps
        drawn += [(one.lifeline, one.text) for one in draw_step(Cluster, steps, label) if isinstance(one, Mark)]
    texts = ("accepts ISR b1", "committed", "loses its leadership", "another one is active")
    assert drawn == [(CONTROLLER, text) for text in texts]
    refusal = [moves[0]]
    for label in (asked, loses, "stale controller refuses the ISR"):
        number = next(n for n, action in enumerate(model.program.actions) if action.label == label)
        refusal.append((number, Evaluator(model.program).step(number, refusal[-1][1])))
    steps = trace_of(model, "explored", refusal, "").steps
    (arrow,) = draw_step(Cluster, steps, steps[-1].label)
    assert isinstance(arrow, Arrow)
    assert (arrow.sender, arrow.receiver, arrow.text) == (CONTROLLER, "b1", "refused by a stale one")

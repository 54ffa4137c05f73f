"""What a trace of the cluster takes to happen, and that nothing takes a race where races are switched off."""

from __future__ import annotations

import random
from functools import cache

import pytest

from insync.explorer import check
from insync.explorer.stepping.stepper import Stepper, Walk
from insync.explorer.traces.trace import Trace, trace_of
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.model import GuardError, Model
from insync_walk import shared_cluster


@cache
def defect_trace(name: str) -> Trace:
    found = check(Cluster(**DEFECTS[name].witness), properties=[DEFECTS[name].breaks], threads=1)
    return found.violations[0].trace


def said(trace: Trace) -> list[tuple[int, str, str]]:
    return [(demand.step, demand.hardness.value, demand.text) for demand in trace.demands]


def walked(model: Model, *labels: str) -> Trace:
    walk = Walk(Stepper(model))
    for label in labels:
        walk.step(next(n for n, action in enumerate(model.program.actions) if action.label == label))
    return trace_of(model, "walk", walk.moves, "")


@pytest.mark.slow
def test_operators_and_missed_metadata() -> None:
    assert said(defect_trace("N-01")) == [
        (4, "operation", "b3 is made leader although nothing has failed, as the preferred one is"),
        (8, "operation", "b1 is made leader although nothing has failed, as the preferred one is"),
        (10, "delay", "b1 learns of steps 4 and 8 at once: its metadata was late"),
    ]


def test_a_lost_page_cache_and_a_race_of_the_controller() -> None:
    trace = defect_trace("R-26")
    assert [(step, hardness) for step, hardness, _ in said(trace)] == [(4, "failure"), (5, "race")]
    assert "loses what it has not flushed" in said(trace)[0][2]
    assert "the controller stalls in ClusterControlManager.registerBroker" in said(trace)[1][2]
    assert trace.takes_race


def test_a_directory_that_fails_ends_the_wait_for_late_metadata() -> None:
    model = shared_cluster(
        replicas=2,
        records=1,
        power_failures=0,
        crashes=1,
        fencings=0,
        isr_shrinks=0,
        preferred_elections=1,
        log_dir_failures=1,
    )
    steps = ("controller elects b2", "b1 appends a record", "b1's directory fails", "b1 crashes, its log ends at 1")
    assert said(walked(model, *steps, "b1's directory works again")) == [
        (1, "operation", "b2 is made leader although nothing has failed, as the preferred one is"),
        (3, "failure", "the directory of b1 with the log fails, and it runs on"),
        (4, "failure", "b1 is killed"),
        (5, "operation", "the directory of b1 that has failed is mended before it starts"),
    ]


def test_a_reader_between_a_high_watermark_and_a_truncation() -> None:
    assert [(step, hardness) for step, hardness, _ in said(defect_trace("R-21"))] == [
        (1, "delay"),
        (5, "delay"),
        (6, "race"),
    ]


def test_a_follower_that_is_looked_at_twice() -> None:
    model = shared_cluster(release="3.6", replicas=2, records=1)
    steps = ("b1 appends a record", "b1 drops b2 from the ISR", "controller accepts the ISR", "b1 applies metadata")
    looks = "b1 sees that b2 has caught up"
    again = ("b2 fetches from b1", "b2 fetches from b1", looks)
    assert "race" not in [hardness for _, hardness, _ in said(walked(model, *steps, *again, "b1 adds b2 to the ISR"))]
    raced = said(walked(model, *steps, *again, "b2 fetches from b1", "b1 adds b2 to the ISR"))
    assert raced[-1][:2] == (9, "race")
    assert raced[-1][2].endswith("looks at it a second time, having looked at step 7")


@pytest.mark.slow
def test_a_reply_before_the_metadata_that_says_the_same() -> None:
    assert (6, "delay", "metadata brings b1 only now what a response has told it in step 3") in said(
        defect_trace("N-06")
    )


def test_a_fetch_whose_answer_comes_later() -> None:
    late = shared_cluster(late_fetch_responses="on", records=1, replicas=2)
    steps = ("b1 appends a record", "b2 fetches from b1")
    assert said(walked(late, *steps, "b2 receives the response")) == [], "nothing has come between"
    between = "controller fences b2"
    assert said(walked(late, *steps, between, "b2 receives the response"))[-1] == (
        4,
        "delay",
        "b2 receives what was answered to its fetch of step 2",
    )


@pytest.mark.parametrize(
    ("steps", "demands"),
    [
        (["b1 crashes, its log ends at 0"], [(1, "failure", "b1 is killed")]),
        (["b2 crashes, its log ends at 0", "controller fences b2"], [(1, "failure", "b2 is killed")]),
        (
            ["controller fences b2"],
            [(1, "delay", "b2 runs, but the controller gets no heartbeat of it for broker.session.timeout.ms")],
        ),
        (["b1 appends a record", "b2 fetches from b1", "b2 fetches from b1"], []),
        (["b2 asks to stop", "b2 stops cleanly"], [(1, "operation", "b2 is told to stop")]),
    ],
)
def test_what_is_said_of_a_step(steps: list[str], demands: list[tuple[int, str, str]]) -> None:
    assert said(walked(shared_cluster(replicas=2, records=1, crashes=1, controlled_shutdowns=1), *steps)) == demands


def test_a_leader_that_acts_on_what_it_knew() -> None:
    model = shared_cluster(replicas=2, records=1, preferred_elections=1)
    steps = ("controller elects b2", "b1 appends a record", "b1 applies metadata")
    assert said(walked(model, *steps))[1:] == [
        (3, "delay", "b1 has acted until now by what held before step 1: its metadata was late")
    ]
    assert said(walked(model, *steps[:2]))[1:] == [
        (2, "delay", "b1 has acted to the end by what held before step 1: its metadata is late")
    ]
    assert said(walked(model, steps[0], "b1 applies metadata"))[1:] == []


def test_a_controller_that_fails_with_what_is_not_committed_and_one_that_is_asked_although_it_is_deposed() -> None:
    model = shared_cluster(replicas=2, records=1, power_failures=0, fencings=0, controller_failovers=1)
    loses, commits = "the active controller loses its leadership", "controllers commit what is decided"
    dropped, late = "b1 drops b2 from the ISR", "b1 drops b2, which has not caught up for replica.lag.time.max.ms"
    dies = "the active controller dies, or is cut off from the others"
    deposed = "the stale controller has not learned of the new one, and is asked what that one was not"
    asked = walked(model, dropped, loses, "stale controller refuses the ISR")
    assert said(asked) == [(1, "delay", late), (2, "failure", dies), (3, "delay", deposed)]
    lost = walked(model, dropped, "controller accepts the ISR", loses)
    assert said(lost)[1:] == [(3, "failure", f"{dies}, before a majority has what it has decided")]
    kept = walked(model, dropped, "controller accepts the ISR", "b1 appends a record", commits, "b1 applies metadata")
    assert said(kept)[1:] == [], "what is not committed makes nobody late"


def test_a_proposal_that_the_controller_answers_late() -> None:
    model, steps = shared_cluster(records=1, crashes=1), ("b1 appends a record", "b1 drops b2 from the ISR")
    accepts = "controller accepts the ISR"
    assert [step for step, _, _ in said(walked(model, *steps, accepts))] == [2]
    late = said(walked(model, *steps, "b2 crashes, its log ends at 0", accepts))
    assert late[-1] == (
        4,
        "delay",
        "the controller answers what it was asked in step 2, and brokers have come or gone since",
    )


RACES = {"replicas": 2, "records": 1, "power_failures": 1, "fencings": 1, "isr_shrinks": 1, "metadata_lag": 1}


def random_walk(model: Model, stepper: Stepper, seed: int) -> Walk:
    chosen, walk = random.Random(seed), Walk(stepper)
    for _ in range(20):
        numbers = [number for numbers in walk.enabled.values() for number in numbers]
        if not numbers:
            break
        walk.step(chosen.choice(numbers))
    return walk


@pytest.mark.slow
def test_a_walk_is_one_without_races_if_and_only_if_it_takes_none() -> None:
    model, calm = shared_cluster(release="3.9", **RACES), shared_cluster(release="3.9", races="off", **RACES)
    stepper, counted = Stepper(model), {True: 0, False: 0}
    for seed in range(50):
        walk = random_walk(model, stepper, seed)
        trace, again = trace_of(model, "walk", walk.moves, ""), Walk(Stepper(calm))
        try:
            for step in trace.steps[1:]:
                again.step(again.number_of(step.action or "", step.parameters))
            possible = True
        except GuardError:
            possible = False
        assert possible is not trace.takes_race
        counted[possible] += 1
    assert min(counted.values()) >= 8, "both must occur for this to say anything"


@pytest.mark.slow
@pytest.mark.parametrize("release", ["2.8", "3.3"])
def test_no_walk_takes_a_race_where_they_are_switched_off(release: str) -> None:
    races = dict.fromkeys(("on", "off"), 0)
    for switch in races:
        model = shared_cluster(release=release, races=switch, **RACES)
        stepper = Stepper(model)
        for seed in range(25):
            races[switch] += trace_of(model, "walk", random_walk(model, stepper, seed).moves, "").takes_race
    assert races["off"] == 0
    assert races["on"] >= 3

"""A truncation below the high watermark is seen: as a violation, with a reason, and as a mark in the grid."""

from __future__ import annotations

import random

import pytest

from insync.explorer import CheckResult, check
from insync.explorer.stepping.stepper import Stepper, Walk
from insync.explorer.traces.grid import render_grid
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.properties.invariants import StepInvariant
from insync.properties.kafka.cluster_truncation import watermarks_outlast_truncation
from insync.properties.registry import invariants_of
from insync_walk import shared_cluster

NAME = watermarks_outlast_truncation.__name__


def search(name: str, *, fixed: bool = False) -> CheckResult:
    entry = DEFECTS[name]
    return check(Cluster(**(entry.fixed_witness if fixed else entry.witness)), properties=[NAME], threads=1)


@pytest.mark.slow_but("R-26-8")
@pytest.mark.parametrize(("name", "length"), [("R-21", 8), ("R-26", 8), ("C-7", 12), ("R-12", 9), ("R-07", 13)])
def test_a_defect_has_a_broker_cut_below_its_high_watermark_and_its_fix_has_not(name: str, length: int) -> None:
    assert [violation.trace_length for violation in search(name).violations] == [length]
    assert search(name, fixed=True).verdict == "holds"


@pytest.mark.slow
def test_followers_of_an_unclean_leader_cut_below_their_high_watermark() -> None:
    assert [violation.trace_length for violation in search("C-6").violations] == [13]
    assert search("C-6", fixed=True).verdict == "holds"


def test_to_cut_at_the_high_watermark_is_not_to_cut_below_it() -> None:
    """Before KIP-101 a follower cuts off what is committed, and does not know that it is."""
    assert search("R-01").verdict == "holds"
    assert check(Cluster(**DEFECTS["R-01"].witness), properties=[DEFECTS["R-01"].breaks]).verdict == "violated"


@pytest.mark.slow
def test_the_newest_release_keeps_it_with_a_lossy_crash_and_a_broker_that_is_fenced() -> None:
    assert check(Cluster(records=1), properties=[NAME]).verdict == "holds"


@pytest.mark.slow
def test_a_log_that_a_crash_shortens_or_a_reassignment_deletes_does_not_count() -> None:
    bounds: dict[str, int | str] = {
        "replicas": 2,
        "records": 1,
        "min_insync_replicas": 1,
        "fencings": 0,
        "isr_shrinks": 0,
    }
    crash = Cluster(**bounds, power_failures=1)
    assert check(crash, properties=[NAME]).verdict == "holds"
    assert check(Cluster(**bounds, power_failures=0, spares=1, reassignments=1), properties=[NAME]).verdict == "holds"


@pytest.mark.slow
def test_the_reason_and_a_mark_say_whose_log_was_cut() -> None:
    trace = search("R-21").violations[0].trace
    assert trace.reason == "b1 cuts its log below its high watermark 1: of [r1@0 |] is left [|]."
    grid = render_grid(trace, Cluster(**DEFECTS["R-21"].witness).grid, width=500)
    *rows, legend = grid.split("\n\n")[1].splitlines()
    assert [number for number, row in enumerate(rows[1:]) if "!" in row] == [trace.length - 1]
    assert "[|] !" in rows[-1]
    assert legend.strip().endswith("; ! cuts its log below its own high watermark)")


@pytest.mark.parametrize("name", ["R-01", "C-10"])
def test_no_other_step_has_the_mark(name: str) -> None:
    """Not a cut at the high watermark, nor a crash."""
    found = check(Cluster(**DEFECTS[name].witness), properties=[DEFECTS[name].breaks]).violations[0].trace
    assert "!" not in render_grid(found, Cluster(**DEFECTS[name].witness).grid)


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        {
            "release": "3.3",
            "unclean_leader_election": "on",
            "elr": "off",
            "replicas": 2,
            "min_insync_replicas": 1,
            "late_fetch_responses": "on",
        },
        {
            "release": "3.9",
            "unclean_leader_election": "on",
            "replicas": 2,
            "spares": 1,
            "reassignments": 2,
            "min_insync_replicas": 1,
        },
    ],
)
def test_a_step_has_the_mark_if_and_only_if_it_breaks_the_property(chosen: dict[str, int | str]) -> None:
    model = shared_cluster(**chosen, metadata_lag=1, power_failures=2, fencings=2, preferred_elections=2, records=2)
    stepper, chance, marked = Stepper(model), random.Random(2), 0
    kept = invariants_of(model)[NAME]
    assert isinstance(kept, StepInvariant)
    for _ in range(150):
        walk = Walk(stepper)
        for _ in range(25):
            before = walk.codes
            numbers = [number for numbers in walk.enabled.values() for number in numbers]
            if not numbers:
                break
            walk.step(chance.choice(numbers))
            marks = model.step_marks(model.decode(before), model.decode(walk.codes))
            assert bool(marks) is not kept.met(model, before, walk.codes)
            marked += bool(marks)
    assert marked >= 3, "some step must have it for this to say anything"

"""Invariants of steps and confined searches on Spark: the verdicts, counts and traces of the local engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from insync.explorer import CheckResult, Limits
from insync.explorer import check as check_locally
from insync.explorer import simulate as simulate_locally
from insync.runtime.errors import UserError
from insync.spark_explore import SparkOptions, check, export, simulate
from insync_confined import Ladder, Mail, Plane
from insync_steps import Counter, Votes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("warm_states", "keep_going"),
    [(1, True), *(pytest.param(*both, marks=pytest.mark.slow) for both in ((4, False), (1, False), (4, True)))],
)
def test_a_bad_step_is_the_one_of_the_local_engine(spark: SparkSession, keep_going: bool, warm_states: int) -> None:
    options = SparkOptions(session=spark, partitions=2, warm_states=warm_states)
    for model in (Votes(voters=3), Counter()):
        found = check(model, options=options, keep_going=keep_going)
        assert facts(found) == facts(check_locally(model, keep_going=keep_going))
        assert found.violations[0].trace.steps[-1].action in ("forget", "leap")


def test_walks_on_spark_end_with_the_bad_step(spark: SparkSession) -> None:
    options = SparkOptions(session=spark, partitions=2)
    found = simulate(Votes(), options=options, walks=300, depth=9).violation
    assert found == simulate_locally(Votes(), walks=300, depth=9).violation
    assert found is not None
    assert found.trace_length == 4


@pytest.mark.slow
@pytest.mark.parametrize("warm_states", [1, 4])
def test_a_confined_search_counts_what_the_local_one_counts(spark: SparkSession, warm_states: int) -> None:
    options = SparkOptions(session=spark, partitions=2, warm_states=warm_states)
    found = check(Plane(), options=options)
    assert facts(found) == facts(check_locally(Plane()))
    assert (found.distinct_states, found.outside) == (10, 5)
    failing = check(Plane(), options=options, properties=["x_below_four"], keep_going=True)
    assert facts(failing) == facts(check_locally(Plane(), properties=["x_below_four"], keep_going=True))
    refused = check(Mail(), options=options, within=["few"], keep_going=True)
    assert facts(refused) == facts(check_locally(Mail(), keep_going=True))
    ends = check(Ladder(), options=options, within=["low"])
    assert (ends.deadlocks, ends.outside) == (1, 1)
    for depth in (4, 5):
        early = check(Mail(), options=options, limits=Limits(depth=depth), properties=[])
        assert facts(early) == facts(check_locally(Mail(), limits=Limits(depth=depth), properties=[]))
        assert early.outside == 1


@pytest.mark.slow
def test_a_run_that_is_confined_goes_on_as_such_and_is_exported_as_such(spark: SparkSession, tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    options = SparkOptions(session=spark, partitions=2, warm_states=1, run_dir=run)
    some = check(Mail(), options=options, limits=Limits(depth=6), properties=[])
    assert some.stopped_by == "depth"
    with pytest.raises(UserError, match="a search that was confined otherwise: within is few there and none here"):
        check(Mail(), options=replace(options, resume=True), within=(), properties=[])
    rest = check(Mail(), options=replace(options, resume=True), keep_going=True, properties=[])
    whole = check_locally(Mail(), keep_going=True, properties=[])
    assert facts(rest) == facts(whole)
    states, steps = export(run, str(tmp_path / "tables"), options=SparkOptions(session=spark))
    assert (states, steps) == (whole.distinct_states + whole.outside, whole.transitions)

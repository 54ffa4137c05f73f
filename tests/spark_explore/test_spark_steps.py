"""Invariants of steps on Spark: the verdicts and traces of the local engine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from insync.explorer import CheckResult
from insync.explorer import check as check_locally
from insync.explorer import simulate as simulate_locally
from insync.spark_explore import SparkOptions, check, simulate
from insync_steps import Counter, Votes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


@pytest.mark.parametrize("keep_going", [False, True])
@pytest.mark.parametrize("warm_states", [1, 4])
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

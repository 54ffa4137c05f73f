"""Representatives on Spark: the same counts, verdicts and traces as on this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from insync.explorer import CheckResult
from insync.explorer import check as check_locally
from insync.model import Model
from insync.runtime.errors import UserError
from insync.spark_explore import SparkOptions, check, export
from insync_symmetric import Gossip, Partial, TwoPhase
from insync_symmetric_protocols import Election

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [TwoPhase(managers=4), pytest.param(Gossip(nodes=3), marks=pytest.mark.slow), Election()],
    ids=["two_phase", "gossip", "election"],
)
def test_the_result_is_that_of_this_machine(spark: SparkSession, model: Model) -> None:
    options = SparkOptions(session=spark, partitions=2, warm_states=1)
    found = check(model, options=options, keep_going=True)
    assert found.representatives is not None
    assert found.representatives < found.distinct_states
    assert facts(found) == facts(check_locally(model, keep_going=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "broken"),
    [
        pytest.param(Gossip(nodes=3), "never_followed", id="gossip"),
        pytest.param(Election(messages=5), "few_votes_for_one", id="election", marks=pytest.mark.slow),
    ],
)
def test_a_trace_is_that_of_this_machine(spark: SparkSession, model: Model, broken: str) -> None:
    options = SparkOptions(session=spark, partitions=2, warm_states=1)
    found = check(model, options=options, properties=[broken])
    assert found.verdict == "violated"
    assert facts(found) == facts(check_locally(model, properties=[broken]))


def test_without_symmetry_every_state_is_visited(spark: SparkSession) -> None:
    model = TwoPhase()
    found = check(model, options=SparkOptions(session=spark, partitions=2), symmetry=False)
    assert found.representatives is None
    assert facts(found) == facts(check_locally(model, symmetry=False))


def test_members_that_are_not_alike_are_refused_before_spark_is_started() -> None:
    with pytest.raises(UserError, match="partial begins with a member singled out"):
        check(Partial(way=1))


def test_representatives_are_not_exported(spark: SparkSession, tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    check(TwoPhase(), options=SparkOptions(session=spark, partitions=2, run_dir=run))
    with pytest.raises(UserError, match=r"tables need every state\. Search again with symmetry=False"):
        export(run, str(tmp_path / "out"), options=SparkOptions(session=spark))

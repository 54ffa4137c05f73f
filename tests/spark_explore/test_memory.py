"""Memory is bounded by what the tables of an executor may take, not by the space."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from insync.explorer import CheckResult, Limits, StopReason
from insync.explorer import check as check_locally
from insync.explorer.progress import Phase
from insync.model.catalogue import find_model
from insync.spark_explore import SparkOptions, check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPACE = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)
_FIRST_TABLE = 256 << 10  # of an empty partition


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


@pytest.mark.slow
def test_more_partitions_than_fit_are_built_again_and_the_run_ends(spark: SparkSession) -> None:
    figures: list[dict[str, float]] = []
    found = check(
        SPACE,
        limits=Limits(memory_bytes=2 * _FIRST_TABLE + (100 << 10)),
        options=SparkOptions(session=spark, partitions=6, warm_states=1000),
        task_reporter=figures.append,
    )
    assert facts(found) == facts(check_locally(SPACE))
    assert sum(entry["loaded"] for entry in figures) > 3 * found.distinct_states


def test_a_search_that_ends_before_spark_is_needed_may_have_little(spark: SparkSession) -> None:
    options = SparkOptions(session=spark, partitions=2)
    assert facts(check(SPACE, limits=Limits(memory_bytes=1), options=options)) == facts(check_locally(SPACE))


@pytest.mark.parametrize("symmetry", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_sorted_files_find_what_tables_find(spark: SparkSession, symmetry: bool) -> None:
    options = SparkOptions(session=spark, partitions=3, warm_states=100, tables_on_disk=True)
    assert facts(check(SPACE, options=options, symmetry=symmetry)) == facts(check_locally(SPACE, symmetry=symmetry))


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, _FIRST_TABLE + 8 * 1500])
def test_what_does_not_fit_into_memory_goes_on_with_sorted_files(
    spark: SparkSession, limit: int, tmp_path: Path
) -> None:
    said: list[Phase] = []
    options = SparkOptions(session=spark, partitions=2, warm_states=100, run_dir=str(tmp_path / "run"))
    limits = Limits(memory_bytes=limit, states=3000)
    begun = check(SPACE, limits=limits, options=options, symmetry=False, reporter=lambda it: said.append(it.phase))
    assert (begun.stopped_by, said.count(Phase.DISK)) == (StopReason.STATES, 1)
    resumed = replace(options, resume=True)
    found = check(SPACE, limits=Limits(memory_bytes=limit), options=resumed, symmetry=False)
    assert facts(found) == facts(check_locally(SPACE, symmetry=False))


@pytest.mark.slow
def test_a_violation_is_found_in_sorted_files_with_the_trace_of_the_local_engine(spark: SparkSession) -> None:
    options = SparkOptions(session=spark, partitions=2, warm_states=10, tables_on_disk=True)
    kip101 = find_model("kip101")(replicas=3, log_size=1, max_records=2, max_leader_epoch=1)
    assert facts(check(kip101, options=options)) == facts(check_locally(kip101))

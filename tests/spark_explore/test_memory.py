"""Memory is bounded by what the tables of an executor may take, not by the space."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from insync.explorer import CheckResult, Limits
from insync.explorer import check as check_locally
from insync.model.catalogue import find_model
from insync.model.errors import UserError
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


def test_too_little_for_what_the_driver_searched_is_a_mistake(spark: SparkSession, tmp_path: Path) -> None:
    options = SparkOptions(session=spark, partitions=2, warm_states=100, run_dir=str(tmp_path / "run"))
    said = (
        r"A limit of 0 MiB on the memory is too little, as insync needs 0 MiB for the first \d+ states with "
        r"partitions=2; give 20M \(memory_bytes=20971520\) or more\."
    )
    with pytest.raises(UserError, match=said):
        check(SPACE, limits=Limits(memory_bytes=_FIRST_TABLE), options=options)
    found = check(SPACE, limits=Limits(memory_bytes=20 << 20), options=options)  # the directory is as good as new
    assert facts(found) == facts(check_locally(SPACE))
    resumed = replace(options, resume=True)
    assert check(SPACE, limits=Limits(memory_bytes=1), options=resumed).verdict == "holds", "it needs no memory"


def test_a_search_that_ends_before_spark_is_needed_may_have_little(spark: SparkSession) -> None:
    options = SparkOptions(session=spark, partitions=2)
    assert facts(check(SPACE, limits=Limits(memory_bytes=1), options=options)) == facts(check_locally(SPACE))


@pytest.mark.slow
def test_tables_on_disk(spark: SparkSession) -> None:
    options = SparkOptions(session=spark, partitions=2, warm_states=100, tables_on_disk=True)
    assert facts(check(SPACE, options=options)) == facts(check_locally(SPACE))


@pytest.mark.slow
def test_a_partition_that_does_not_fit_ends_the_search_with_what_is_complete(spark: SparkSession) -> None:
    found = check(
        SPACE,
        limits=Limits(memory_bytes=_FIRST_TABLE + 8 * 1500),
        options=SparkOptions(session=spark, partitions=2, warm_states=100),
        symmetry=False,
    )
    whole = check_locally(SPACE)
    assert (found.verdict, found.stopped_by) == ("incomplete", "memory")
    assert found.levels == whole.levels[: found.depth]
    assert 500 < found.distinct_states < 3000

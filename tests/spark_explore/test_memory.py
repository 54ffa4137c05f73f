"""Memory is bounded by what the tables of an executor may take, not by the space."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from insync.explorer import CheckResult, Limits
from insync.explorer import check as check_locally
from insync.model.catalogue import find_model
from insync.spark_explore import SparkOptions, check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPACE = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)
_FIRST_TABLE = 256 << 10  # of an empty partition


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


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


def test_tables_on_disk(spark: SparkSession) -> None:
    options = SparkOptions(session=spark, partitions=2, warm_states=100, tables_on_disk=True)
    assert facts(check(SPACE, options=options)) == facts(check_locally(SPACE))


def test_a_partition_that_does_not_fit_ends_the_search_with_what_is_complete(spark: SparkSession) -> None:
    found = check(
        SPACE,
        limits=Limits(memory_bytes=_FIRST_TABLE + 8 * 1500),
        options=SparkOptions(session=spark, partitions=2, warm_states=100),
    )
    whole = check_locally(SPACE)
    assert (found.verdict, found.stopped_by) == ("incomplete", "memory")
    assert found.levels == whole.levels[: found.depth]
    assert 500 < found.distinct_states < 3000

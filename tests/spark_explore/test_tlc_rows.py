"""Every row of TLC's counts, on Spark: the local engine's result in every field, for 2, 4 and 16 partitions."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from insync.explorer import CheckResult
from insync.explorer import check as check_locally
from insync.model.catalogue import find_model
from insync.spark_explore import SparkOptions, check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

PARITY = Path(__file__).parents[1] / "parity"
NOT_BOUNDS = {"model", "symmetry", "property", "verdict", "distinct_states", "depth", "trace_length"}
Row = dict[str, str]


def rows() -> Iterator[Row]:
    for name in ("tlc.csv", "async_isr.csv"):
        with (PARITY / name).open() as file:
            yield from csv.DictReader(file)


def identity(row: Row) -> str:
    bounds = ",".join(value for name, value in row.items() if name not in NOT_BOUNDS)
    return f"{row['model']}-{bounds}-{row['property']}"


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


@pytest.mark.parametrize("row", [pytest.param(row, id=identity(row)) for row in rows()])
def test_agrees_with_the_local_engine(spark: SparkSession, row: Row) -> None:
    bounds = {name: int(value) for name, value in row.items() if name not in NOT_BOUNDS}
    model = find_model(row["model"])(**bounds)
    names = [] if row["property"] == "none" else [row["property"]]
    local = facts(check_locally(model, properties=names))
    for partitions in (2, 4, 16):
        found = check(
            model, properties=names, options=SparkOptions(session=spark, partitions=partitions, warm_states=500)
        )
        assert facts(found) == local, f"{partitions} partitions"

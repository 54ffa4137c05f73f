"""An executor keeps no states: what it takes of memory is bounded, and its disk is empty between tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from insync.explorer import CheckResult, Limits
from insync.explorer import check as check_locally
from insync.machine.stores.known_files import most_files
from insync.model.catalogue import find_model
from insync.spark_explore import SparkOptions, check
from insync_played_spark import playing_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyarrow")

SPACE = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


@pytest.mark.parametrize("partitions", [1, 4])
def test_the_disk_of_an_executor_is_empty_after_each_job(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, partitions: int
) -> None:
    monkeypatch.setattr("insync.spark_explore.driver.search._LONGEST", ((1 << 62, 1),))
    kept: list[list[Path]] = []
    options = SparkOptions(partitions=partitions, warm_states=10, run_dir=str(tmp_path / "run"))
    with playing_spark(monkeypatch, tmp_path / "executor"):
        found = check(SPACE, options=options, reporter=lambda _: kept.append(list((tmp_path / "executor").rglob("*"))))
    assert len(kept) > 10
    assert not any(kept)
    assert facts(found) == facts(check_locally(SPACE))
    for partition in range(partitions):
        merged = list((tmp_path / "run" / "merged" / f"p{partition:05}").iterdir())
        assert len(merged) <= most_files(len(kept)) + 1, "one that was merged in the last job may still be there"


def test_a_level_reads_what_is_known_and_no_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("insync.spark_explore.driver.search._LONGEST", ((1 << 62, 8),))
    model = find_model("kip320")(replicas=3, log_size=2, max_records=2, max_leader_epoch=1)
    read: dict[int, float] = {}

    def note(figures: dict[str, float]) -> None:
        level = int(figures["level"])
        read[level] = read.get(level, 0) + figures["bytes_read"]

    options = SparkOptions(partitions=1, warm_states=2000, run_dir=str(tmp_path / "run"))
    with playing_spark(monkeypatch, tmp_path / "executor"):
        found = check(model, options=options, symmetry=False, task_reporter=note)
    known = sum(path.stat().st_size for path in (tmp_path / "run" / "states").rglob("0*-0*"))
    assert found.depth > 20
    assert 0.3 * known < max(read.values()) < 1.3 * known, "what is merged is read once"


def test_a_search_that_ends_before_spark_is_needed_may_have_little(spark: SparkSession) -> None:
    options = SparkOptions(session=spark, partitions=2)
    assert facts(check(SPACE, limits=Limits(memory_bytes=1), options=options)) == facts(check_locally(SPACE))


@pytest.mark.parametrize("symmetry", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_little_memory_changes_nothing_and_a_former_option_is_answered(spark: SparkSession, symmetry: bool) -> None:
    options = SparkOptions(session=spark, partitions=3, warm_states=100, tables_on_disk=True)
    found = check(SPACE, options=options, limits=Limits(memory_bytes=1), symmetry=symmetry)
    local = check_locally(SPACE, symmetry=symmetry)
    (warning,) = (text for text in found.warnings if text not in local.warnings)
    assert warning == "tables_on_disk has no meaning any more, as Spark's executors keep no states; leave it out."
    assert replace(facts(found), warnings=local.warnings) == facts(local)


@pytest.mark.slow
def test_a_violation_is_found_with_the_trace_of_the_local_engine(spark: SparkSession) -> None:
    options = SparkOptions(session=spark, partitions=2, warm_states=10)
    kip101 = find_model("kip101")(replicas=3, log_size=1, max_records=2, max_leader_epoch=1)
    assert facts(check(kip101, options=options)) == facts(check_locally(kip101))

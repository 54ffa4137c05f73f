"""The result on Spark is that of the local engine in every field but the engine, the times and the memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from insync.explorer import CheckResult, Limits, Progress
from insync.explorer import check as check_locally
from insync.explorer.progress import Phase
from insync.model import Model
from insync.model.catalogue import find_model
from insync.properties.registry import sentences_of
from insync.runtime.errors import UserError
from insync.spark_explore import SparkOptions, check
from insync_differential import model_of
from insync_drawn import drawn
from insync_drawn_text import model_text
from insync_initials import Cabinet, Probe, SelfStabilizing
from insync_toys import TOYS, DieHard, Overflow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KAFKA = [
    find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2),
    find_model("truncate_to_high_watermark")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2),
    find_model("async_isr")(replicas=3, max_offset=1, max_version=1),
]


def name_of(model: Model) -> str:
    return f"{model.name}-{'-'.join(map(str, dict(model.b).values()))}"


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


@pytest.mark.parametrize("partitions", [2, *(pytest.param(more, marks=pytest.mark.slow) for more in (4, 16))])
def test_a_whole_space_on_spark_from_its_first_state_on(spark: SparkSession, partitions: int) -> None:
    model = KAFKA[0]
    found = check(model, options=SparkOptions(session=spark, partitions=partitions, warm_states=1))
    assert (found.engine, found.verdict, found.distinct_states, found.depth) == ("spark", "holds", 5973, 18)
    assert facts(found) == facts(check_locally(model))


@pytest.mark.slow
def test_more_partitions_than_states_in_most_levels(spark: SparkSession) -> None:
    model = DieHard()
    found = check(model, options=SparkOptions(session=spark, partitions=6, warm_states=1), keep_going=True)
    assert facts(found) == facts(check_locally(model, keep_going=True))
    assert max(found.levels) < 6


@pytest.mark.parametrize("partitions", [2, *(pytest.param(more, marks=pytest.mark.slow) for more in (4, 16))])
def test_a_violation_has_the_trace_of_the_local_engine(spark: SparkSession, partitions: int) -> None:
    model = KAFKA[1]
    found = check(model, options=SparkOptions(session=spark, partitions=partitions, warm_states=100))
    assert facts(found) == facts(check_locally(model))
    assert found.verdict == "violated"


@pytest.mark.slow_for("die_hard--True", "grid-2-True", "async_isr-3-1-1-True")
@pytest.mark.parametrize("keep_going", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("model", [*TOYS, KAFKA[2]], ids=name_of)
def test_every_model_and_property(spark: SparkSession, model: Model, keep_going: bool) -> None:
    names = list(sentences_of(model))
    warm = 1 if isinstance(model, (DieHard, Overflow)) else 1000
    options = SparkOptions(session=spark, partitions=2, warm_states=warm)
    found = check(model, properties=names, options=options, keep_going=keep_going)
    assert facts(found) == facts(check_locally(model, properties=names, keep_going=keep_going))


@pytest.mark.slow_for("self_stabilizing-3-4-1")
@pytest.mark.parametrize("warm", [1, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "model", [Cabinet(), pytest.param(Probe(), marks=pytest.mark.slow), SelfStabilizing(nodes=3, most=4)], ids=name_of
)
def test_models_with_several_initial_states(spark: SparkSession, model: Model, warm: int) -> None:
    options = SparkOptions(session=spark, partitions=3, warm_states=warm)
    found = check(model, options=options, keep_going=True)
    assert facts(found) == facts(check_locally(model, keep_going=True))
    assert found.levels[0] == len(model.program.initials)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [42, 99, 119])
def test_random_models(spark: SparkSession, seed: int) -> None:
    model = model_of(model_text(drawn(seed)))
    options, limits = SparkOptions(session=spark, partitions=2, warm_states=1), Limits(depth=5)
    found = check(model, limits=limits, options=options, keep_going=True)
    assert facts(found) == facts(check_locally(model, limits=limits, keep_going=True))
    assert found.depth > 2


@pytest.mark.parametrize("limits", [Limits(depth=1), Limits(depth=7), Limits(states=1000), Limits(states=20)], ids=repr)
def test_limits_end_it_where_the_local_search_ends(spark: SparkSession, limits: Limits) -> None:
    model = KAFKA[0]
    found = check(model, limits=limits, options=SparkOptions(session=spark, partitions=3, warm_states=50))
    assert facts(found) == facts(check_locally(model, limits=limits))
    assert found.verdict == "incomplete"


def test_each_level_is_reported_once(spark: SparkSession) -> None:
    reports: list[Progress] = []
    options = SparkOptions(session=spark, partitions=2, warm_states=50)
    result = check(KAFKA[0], limits=Limits(depth=9), options=options, symmetry=False, reporter=reports.append)
    reports = [report for report in reports if report.phase is Phase.SEARCH]  # others tell that workers start
    assert [report.level for report in reports] == list(range(reports[0].level, 10))
    assert [report.frontier for report in reports] == list(result.levels[reports[0].level - 1 :])
    assert reports[-1].distinct_states == result.distinct_states


@pytest.mark.slow
def test_the_callers_session_stays_as_it_was(spark: SparkSession) -> None:
    model = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    spark.conf.set("spark.sql.adaptive.enabled", "true")
    try:
        # No session is named, and one is active.
        found = check(model, options=SparkOptions(partitions=2, warm_states=5))
        assert spark.conf.get("spark.sql.adaptive.enabled") == "true"
    finally:
        spark.conf.set("spark.sql.adaptive.enabled", "false")
    assert facts(found) == facts(check_locally(model))
    assert spark.range(3).count() == 3
    with pytest.raises(UserError, match="a SparkSession in this process already"):
        check(model, options=SparkOptions(master="local[1]"))

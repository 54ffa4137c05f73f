"""Walks on Spark are those of the local engine, whatever the number of partitions."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from insync.explorer import Limits, SimulationResult
from insync.explorer import simulate as simulate_locally
from insync.machine.walker import Strategy
from insync.model.catalogue import find_model
from insync.spark_explore import SparkOptions, simulate
from insync.spark_explore.executor.walk_task import Tour
from insync_initials import Cabinet
from insync_toys import Overflow, TokenRing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from insync.model import Model

KIP101 = find_model("kip101")(replicas=3, log_size=2, max_records=2, max_leader_epoch=2)


def facts(result: SimulationResult) -> SimulationResult:
    return replace(result, seconds={}, peak_memory_bytes=0)


@pytest.mark.slow_for("1")
@pytest.mark.parametrize("partitions", [1, 2, 5])
def test_walks_that_find_nothing(spark: SparkSession, partitions: int) -> None:
    options = SparkOptions(session=spark, partitions=partitions)
    found = simulate(TokenRing(), walks=20_001, depth=30, seed=7, options=options)
    assert facts(found) == facts(simulate_locally(TokenRing(), walks=20_001, depth=30, seed=7))
    assert found.walks == 20_001


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("model", [KIP101, Overflow(last=3), Cabinet()], ids=["kip101", "overflow", "cabinet"])
def test_the_first_walk_that_fails_is_found_and_shortened(spark: SparkSession, model: Model, partitions: int) -> None:
    options = SparkOptions(session=spark, partitions=partitions)
    given: dict[str, Any] = {"walks": 20_000, "depth": 60, "seed": 1, "strategy": list(Strategy)[partitions % 4]}
    found = simulate(model, **given, options=options)
    assert facts(found) == facts(simulate_locally(model, **given))
    assert found.verdict == "violated"


@pytest.mark.parametrize("partitions", [1, 5])
@pytest.mark.parametrize("patience", [None, 300])
def test_abstract_states_are_those_of_the_local_engine(
    spark: SparkSession, partitions: int, patience: int | None
) -> None:
    options = SparkOptions(session=spark, partitions=partitions)
    given: dict[str, Any] = {"properties": [], "walks": 30_000, "depth": 20, "seed": 3}
    found = simulate(KIP101, **given, abstract_states=True, until_saturated=patience, options=options)
    assert facts(found) == facts(simulate_locally(KIP101, **given, abstract_states=True, until_saturated=patience))
    assert found.stopped_by == (None if patience is None else "saturation")
    assert found.abstract_states is not None
    assert found.abstract_states.distinct > 500


def test_abstract_states_up_to_a_failure_are_those_of_the_local_engine(spark: SparkSession) -> None:
    given: dict[str, Any] = {"walks": 20_000, "depth": 60, "seed": 1, "abstract_states": True}
    found = simulate(KIP101, **given, options=SparkOptions(session=spark, partitions=3))
    assert facts(found) == facts(simulate_locally(KIP101, **given))
    assert found.verdict == "violated"


def test_a_violation_in_the_initial_state_needs_no_spark() -> None:
    model = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    found = simulate(model, properties=["leader_in_isr"], walks=10, options=SparkOptions(master="local[2]"))
    assert facts(found) == facts(simulate_locally(model, properties=["leader_in_isr"], walks=10))


def test_who_stops_it_after_the_last_walk_changes_nothing(spark: SparkSession) -> None:
    stop = threading.Event()
    options = SparkOptions(session=spark, partitions=2)
    found = simulate(TokenRing(), walks=50, depth=30, options=options, reporter=lambda _: stop.set(), stop=stop)
    assert stop.is_set()
    assert facts(found) == facts(simulate_locally(TokenRing(), walks=50, depth=30))


def test_each_job_takes_twice_as_many_walks_up_to_a_limit(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    from insync.spark_explore.driver import simulate as driver

    tours: list[Tour] = []

    def noted(*args: Any) -> Tour:
        tours.append(Tour(*args))
        return tours[-1]

    monkeypatch.setattr(driver, "Tour", noted)
    monkeypatch.setattr(driver, "_FIRST_SHARES", 1)
    monkeypatch.setattr(driver, "_MOST_SHARES", 2)
    found = simulate(TokenRing(), walks=50_000, depth=2, options=SparkOptions(session=spark, partitions=2))
    assert found.walks == 50_000
    sizes = [(tour.end - tour.first) / (2 * tour.share) for tour in tours]
    assert (sizes[:3], max(sizes)) == ([1, 2, 2], 2)
    assert [tour.first for tour in tours] == [0, *(tour.end for tour in tours[:-1])]


def test_time_ends_it(spark: SparkSession) -> None:
    found = simulate(
        TokenRing(), walks=10**9, limits=Limits(seconds=0.5), options=SparkOptions(session=spark, partitions=2)
    )
    assert (found.verdict, found.stopped_by) == ("incomplete", "time")

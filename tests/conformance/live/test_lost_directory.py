"""A broker that stops cleanly and starts with a directory less: what is executed of N-04, and what Kafka notices."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.operator import Operator
from insync.conformance.live.runs.recorder import Recorder
from insync.conformance.live.runs.run_model import run_model
from insync.conformance.live.runs.validation import validate
from insync.conformance.live.scenarios.lost_directory import LOST_DIRECTORY, stop_all
from insync.conformance.live.scenarios.scenario import outcome
from insync.kafka.releases import release_of
from insync.runtime.errors import UserError

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(400)]


@pytest.fixture
def operator(cluster_jars_of: Callable[[str], JarSet]) -> Iterator[Operator]:
    with LiveCluster(cluster_jars_of("4.3.1"), LOST_DIRECTORY.plan) as cluster:
        cluster.wait_for_brokers()
        yield Operator(cluster)


def test_a_directory_taken_out_is_not_missed_and_the_model_explains_it(operator: Operator) -> None:
    recorder = Recorder(operator)
    written = LOST_DIRECTORY.run(operator, lambda _: None)
    assert outcome(operator, written).lost == ("r0",)
    run = recorder.run(LOST_DIRECTORY.min_insync)
    release = release_of(operator.cluster.version)
    assert validate(run, run_model(run, release)).explained
    assert not validate(run, run_model(run, release, "N-04")).explained


def _replace_it(operator: Operator, place: Path) -> None:
    operator.cluster.replace_disk(1, place)


def _delete_the_mark_left(operator: Operator, place: Path) -> None:
    operator.take_out(1, place)
    (left,) = operator.cluster.log_disks(1)
    (left / ".kafka_cleanshutdown").unlink()


@pytest.mark.parametrize("done", [_replace_it, _delete_the_mark_left])
def test_an_empty_disk_in_its_place_or_a_mark_deleted_is_noticed(
    operator: Operator, done: Callable[[Operator, Path], None]
) -> None:
    cluster = operator.cluster
    _, place = stop_all(operator, lambda _: None)
    assert set(operator.now.elr) == {1, 2}
    done(operator, place)
    operator.start(1)
    cluster.until(lambda: operator.now.elr == (2,), "that b1 is eligible no more")
    assert operator.now.leader == -1
    operator.start(2)
    cluster.until(lambda: operator.now.leader == 2, "that b2 leads")
    assert operator.log(2) == ["r0"]


def test_a_disk_that_is_not_mounted_ends_the_broker(operator: Operator) -> None:
    cluster = operator.cluster
    _, place = stop_all(operator, lambda _: None)
    shutil.rmtree(place)
    place.mkdir()
    operator.start(1)
    with pytest.raises(UserError, match=r"Broker 1 .* has ended with exit code 1\. It says: .*"):
        cluster.until(lambda: operator.now.leader > 0, "a leader")
    assert "No `meta.properties` found in" in cluster.log(1).read_text() + (cluster.folder / "output-1").read_text()

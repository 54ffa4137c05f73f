"""Traces on brokers of Kafka 4.3.1, step by step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from insync.conformance.cluster_replay import plan_for, replay_on_cluster
from insync.conformance.given_trace import given_trace
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.broker_files import cut_log, log_on_disk
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.operator import Operator
from insync.conformance.live.wire.record_batches import made_batch
from insync.conformance.replay import KafkaVerdict


@pytest.mark.slow_for("N-02")
@pytest.mark.kafka
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", ["N-01", "N-02", "N-03"])
def test_a_trace_is_reproduced_on_brokers(cluster_jars_of: Callable[[str], JarSet], name: str) -> None:
    model, trace = given_trace(name)
    with LiveCluster(cluster_jars_of("4.3.1"), plan_for(model, "4.3.1")) as cluster:
        cluster.wait_for_brokers()
        replayed = replay_on_cluster(trace, model, Operator(cluster))
    assert (replayed.verdict, replayed.reason) == (KafkaVerdict.REPRODUCED, None)
    assert replayed.steps == trace.length - 1


def test_a_log_is_cut_at_a_batch(tmp_path: Path) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    first, second = made_batch([b"a"], 1), bytearray(made_batch([b"b"], 1))
    second[7] = 1  # its offset
    (folder / "00000000000000000000.log").write_bytes(first + second)
    (tmp_path / ".kafka_cleanshutdown").touch()
    cut_log(tmp_path, "t", 2)
    assert [record for record, _ in log_on_disk(tmp_path, "t")] == ["a", "b"]
    cut_log(tmp_path, "t", 1)
    assert [record for record, _ in log_on_disk(tmp_path, "t")] == ["a"]
    cut_log(tmp_path, "t", 0)
    assert log_on_disk(tmp_path, "t") == []
    assert not (tmp_path / ".kafka_cleanshutdown").exists()

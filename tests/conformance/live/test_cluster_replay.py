"""Traces on brokers of Kafka 4.3.1, step by step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from insync.conformance.cluster_replay import kafka_state, plan_for, replay_on_cluster
from insync.conformance.given_trace import given_trace
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.broker_files import cut_log, log_on_disk
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.operator import Operator
from insync.conformance.live.wire.record_batches import made_batch
from insync.conformance.replay import KafkaVerdict
from insync.kafka.cluster.model import Cluster


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


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_broker_has_the_log_that_is_on_its_disk(tmp_path: Path, count: int) -> None:
    """The model has one record there: whatever the disk has is compared with it, and not the model's own log."""
    model = Cluster(replicas=1, min_insync_replicas=1, records=2)
    state = model.decode(model.program.initials.example or ())
    state["broker"]["b1"] |= {"log": ["r0", None], "leo": 1}
    state["epoch_of"] = {"r0": "0", "r1": "0"}
    (tmp_path / "t-0").mkdir()
    written = [bytearray(made_batch([record], 0)) for record in (b"r0", b"r1")]
    written[1][7] = 1  # its offset
    for batch in written:
        batch[12:16] = bytes(4)  # its epoch
    (tmp_path / "t-0" / "00000000000000000000.log").write_bytes(b"".join(written[:count]))
    here = SimpleNamespace(running={1}, disk=lambda broker: tmp_path)
    members = {"isr": (1,), "replicas": (1,), "elr": (), "adding": (), "removing": (), "last_known": ()}
    now = SimpleNamespace(leader=1, leader_epoch=0, **members)
    operator = SimpleNamespace(cluster=here, topic="t", now=now, brokers={}, has_log=lambda broker: True)
    found = kafka_state(state, cast(Operator, operator), set())
    assert (found["broker"]["b1"]["leo"], found["broker"]["b1"]["log"][:count]) == (count, ["r0", "r1"][:count])

"""What operators do to brokers of Kafka 4.3.1: records are lost, and the model explains each run."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import cast

import pytest

from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.metadata_log import PartitionAt
from insync.conformance.live.nodes.node_files import CONTROLLER
from insync.conformance.live.operator import Operator
from insync.conformance.live.proxies import FETCH
from insync.conformance.live.runs.metadata_run import run_of_metadata
from insync.conformance.live.runs.recorder import Recorder
from insync.conformance.live.runs.run_model import run_model
from insync.conformance.live.runs.validation import validate
from insync.conformance.live.scenarios.abandoned_copy import ABANDONED_COPY
from insync.conformance.live.scenarios.failed_directory import FAILED_COPY, FAILED_MEMBER, UNNOTICED_FAILURE
from insync.conformance.live.scenarios.forgotten_change import FORGOTTEN_CHANGE
from insync.conformance.live.scenarios.forgotten_removal import REMOVED_LEADER
from insync.conformance.live.scenarios.known import SCENARIOS, scenario_for
from insync.conformance.live.scenarios.lost_directory import LOST_DIRECTORY
from insync.conformance.live.scenarios.missed_truncation import MISSED_TRUNCATION
from insync.conformance.live.scenarios.removed_replica import REPLICA_GIVEN_BACK, REPLICA_LEFT_ALONE
from insync.conformance.live.scenarios.replaced_reassignment import REASSIGNMENT_PUT_BACK, REPLICA_KEPT_BY_THE_SECOND
from insync.conformance.live.scenarios.scenario import Written, outcome
from insync.conformance.live.scenarios.stale_watermark import STALE_WATERMARK
from insync.kafka.defects import DEFECTS
from insync.kafka.releases import release_of
from insync.runtime.errors import UserError
from insync_brokers import ClusterOf
from insync_classes import JarsOf

LOST = {"n-01": ("r0",), "n-01-kill": ("r0",), "n-02": ("r0", "r1"), "n-02-kill": ("r0", "r1")}


@pytest.mark.slow_for("n-01-kill")
@pytest.mark.kafka
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", LOST)
def test_a_scenario_loses_what_was_acknowledged_and_the_model_explains_it(
    cluster_jars_of: JarsOf, cluster_of: ClusterOf, name: str
) -> None:
    scenario = SCENARIOS[name]
    told: list[str] = []
    with cluster_of(cluster_jars_of("4.3.1"), scenario.plan) as cluster:
        operator = Operator(cluster, f"scenario-{name}")
        recorder = Recorder(operator)
        written = scenario.run(operator, told.append)
        assert outcome(operator, written).lost == LOST[name]
        run = recorder.run(scenario.min_insync)
        folder = cluster.disk(CONTROLLER) / "__cluster_metadata-0"
        decided = run_of_metadata(cluster.schemas, folder, operator.topic)
    assert len(told) > 5
    release = release_of("4.3.1")
    assert validate(run, run_model(run, release)).explained
    assert not validate(run, run_model(run, release, scenario.defect)).explained
    assert (decided.min_insync, decided.replicas, decided.elr) == (2, (1, 2, 3), True)
    assert validate(decided, run_model(decided, release)).explained


class Deposed:
    """Looks on a partition whose leader serves clients when it is first asked, and is fenced after that."""

    def __init__(self) -> None:
        self.cluster = self
        self._leaders = iter((1, -1))

    def until(self, attempt: Callable[[], object], what: str, patience: float) -> object:
        return attempt()

    @property
    def now(self) -> PartitionAt:
        return PartitionAt(next(self._leaders), 1, 1, (1, 2), (), (), (1, 2), (), ())

    def high_watermark(self, broker: int) -> int:
        return broker

    def log(self, broker: int) -> list[str]:
        return {1: ["r0"]}[broker]

    def logs(self) -> dict[str, list[str]]:
        return {"b1": ["r0"]}


def test_what_is_there_is_what_the_leader_has_that_served() -> None:
    found = outcome(cast(Operator, Deposed()), Written(["r0", "r1"]))
    assert (found.leader, found.lost) == ("b1", ("r1",))


def test_every_scenario_is_run() -> None:
    of_their_own = [LOST_DIRECTORY, STALE_WATERMARK, MISSED_TRUNCATION, ABANDONED_COPY, REPLICA_LEFT_ALONE]
    of_their_own += [FORGOTTEN_CHANGE, REASSIGNMENT_PUT_BACK, REPLICA_KEPT_BY_THE_SECOND, REPLICA_GIVEN_BACK]
    of_their_own += [UNNOTICED_FAILURE, FAILED_MEMBER, FAILED_COPY, REMOVED_LEADER]
    assert set(SCENARIOS) == {*LOST, *(one.name for one in of_their_own)}, "which have test modules of their own"


def test_every_scenario_is_of_a_defect_of_the_catalogue() -> None:
    assert {scenario.defect for scenario in SCENARIOS.values()} <= set(DEFECTS)
    assert SCENARIOS["n-01-kill"].defect == "N-01"


def test_records_of_a_partition_without_a_leader_are_given_to_nobody() -> None:
    deposed = Deposed()
    led = outcome(cast(Operator, deposed), Written(["r0"], offline=True))
    found = outcome(cast(Operator, deposed), Written(["r0"], offline=True))
    assert (led.leader, led.isr) == ("b1", ("b1", "b2")), "the controller's leader, which serves nobody"
    assert (found.leader, found.lost, found.unread, found.shown) == ("nobody", (), ("r0",), ("r0",))


@pytest.mark.kafka
@pytest.mark.timeout(400)
def test_frames_are_held_and_released(cluster: LiveCluster) -> None:
    operator = Operator(cluster, "held")
    operator.create([1, 2, 3], min_insync=1)
    hold = cluster.proxies.hold(
        lambda frame: frame.link.broker == 1 and frame.key == FETCH and frame.client.startswith("broker-3-fetcher")
    )
    sending = operator.send(1, "r0")
    cluster.until(lambda: operator.log(2) == ["r0"], "that b2 copies r0")
    cluster.until(lambda: bool(hold.caught), "a fetch of b3")
    assert operator.log(3) == []
    assert operator.high_watermark(1) == 0
    hold.release()
    assert sending.wait() == 0
    assert operator.log(3) == ["r0"]


@pytest.mark.kafka
@pytest.mark.timeout(400)
def test_nothing_listens_but_on_the_loopback_address(cluster: LiveCluster) -> None:
    """The addresses of /proc/net/tcp are hexadecimal, the lowest byte first; 0A is LISTEN."""
    ports = {cluster.port(broker) + offset for broker in cluster.plan.numbers for offset in range(4)}
    for table, loopback in (("tcp", "0100007F"), ("tcp6", "0000000000000000FFFF00000100007F")):
        with open(f"/proc/net/{table}") as file:
            rows = [line.split() for line in file.readlines()[1:]]
        listening = [row[1].split(":") for row in rows if row[3] == "0A"]
        assert all(address == loopback for address, port in listening if int(port, 16) in ports)


@pytest.mark.kafka
@pytest.mark.timeout(400)
def test_a_broker_that_dies_is_said(cluster: LiveCluster) -> None:
    cluster.processes.signal("3", signal.SIGKILL)
    with pytest.raises(UserError, match=r"^Broker 3 of Kafka 4\.3\.1 was ended by SIGKILL, as the system does"):
        cluster.until(lambda: False, "anything")
    cluster.start(3)
    cluster.wait_for_brokers()
    assert cluster.disk(CONTROLLER).is_dir()


@pytest.mark.parametrize(
    ("name", "version", "said"),
    [("n-1", "4.3.1", "'n-1' is no scenario. Did you mean"), ("n-02", "3.9.2", "which Kafka 3.9.2 has not got")],
)
def test_a_scenario_that_cannot_be_is_said(name: str, version: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        scenario_for(name, version)

"""A partition whose one replica runs, and is not elected: what is executed of N-07, what avoids it, what mends it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from insync.conformance.live.operator import Operator
from insync.conformance.live.runs.recorder import Recorder
from insync.conformance.live.runs.run_model import run_model
from insync.conformance.live.runs.validation import validate
from insync.conformance.live.scenarios import removed_replica
from insync.conformance.live.scenarios.removed_replica import (
    REMOVED_REPLICA,
    REPLICA_GIVEN_BACK,
    REPLICA_LEFT_ALONE,
    left_alone,
)
from insync.conformance.live.scenarios.scenario import Scenario, Written, is_elected, outcome
from insync.kafka.releases import release_of
from insync_brokers import ClusterOf
from insync_classes import JarsOf
from insync_patched import with_patch

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(400)]

RELEASE = release_of("4.3.1")


def silently(_: str) -> None:
    pass


@pytest.fixture
def operator(
    request: pytest.FixtureRequest, cluster_jars_of: JarsOf, cluster_of: ClusterOf, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Operator]:
    monkeypatch.setattr(removed_replica, "_WATCHED", 5.0)
    with cluster_of(cluster_jars_of("4.3.1"), REPLICA_LEFT_ALONE.plan) as cluster:
        yield Operator(cluster, request.node.name[:60])


def test_nobody_leads_until_somebody_asks_for_an_unclean_election_and_the_model_explains_it(operator: Operator) -> None:
    recorder = Recorder(operator)
    found = outcome(operator, REPLICA_LEFT_ALONE.run(operator, silently))
    assert (found.leader, found.shown, found.logs) == ("nobody", ("r0", "r1"), {"b1": ["r0", "r1"]})
    run = recorder.run(REPLICA_LEFT_ALONE.min_insync)
    assert validate(run, run_model(run, RELEASE)).explained
    assert not validate(run, run_model(run, RELEASE, "N-07")).explained
    assert (operator.now.leader, operator.now.elr) == (-1, (2, 3)), "eligible, and no replicas"
    operator.elect_uncleanly()
    operator.cluster.until(lambda: operator.readable(1) == ["r0", "r1"], "that b1 gives consumers what it has")


def test_with_a_minimum_of_one_it_is_elected(operator: Operator) -> None:
    left_alone(operator, silently, min_insync=1)
    assert operator.now.elr == ()
    operator.kill(1)
    operator.cluster.until(lambda: operator.brokers[1].fenced, "that the session of b1 ends")
    operator.start(1)
    assert is_elected(operator, 1)


@pytest.mark.slow
def test_who_was_removed_and_killed_is_not_eligible_any_more(operator: Operator) -> None:
    """With `kill -9` of b2 in place of its clean stop N-02 loses nothing: it leaves the ELR as it registers."""
    promised = left_alone(operator, silently)
    operator.kill(2)
    operator.cluster.until(lambda: operator.brokers[2].fenced, "that the session of b2 ends")
    operator.stop(1)
    operator.cluster.until(lambda: operator.now.leader == -1, "that nobody leads")
    operator.reassign([1, 2])
    operator.start(2)
    assert not is_elected(operator, 2)
    assert 2 not in operator.now.elr
    operator.start(1)
    operator.cluster.until(lambda: set(operator.now.isr) == {1, 2}, "that both are in the ISR")
    found = outcome(operator, Written(promised))
    assert (found.leader, found.lost, found.logs["b2"]) == ("b1", (), ["r0", "r1"])


@pytest.mark.slow
@pytest.mark.parametrize(("partition", "lost"), [(1, ("r0", "r1")), (0, ())])
def test_a_replica_that_is_given_back_leads_empty_by_the_replicas_of_partition_0(
    cluster_jars_of: JarsOf, cluster_of: ClusterOf, partition: int, lost: tuple[str, ...]
) -> None:
    """Partition 0 itself has one replica when it is given back, so the controller empties the ELR."""
    with cluster_of(cluster_jars_of("4.3.1"), REPLICA_GIVEN_BACK.plan) as cluster:
        operator = Operator(cluster, f"given-back-{partition}", partition)
        assert outcome(operator, REPLICA_GIVEN_BACK.run(operator, silently)).lost == lost


FIXES = [
    (REPLICA_LEFT_ALONE, "N-02"),
    (REMOVED_REPLICA, "N-02"),
    (REPLICA_GIVEN_BACK, "N-02"),
    (REPLICA_GIVEN_BACK, "N-05"),
]


@pytest.mark.slow_for("n-07-N-02", "n-05-N-02", "n-05-N-05")
@pytest.mark.parametrize(("scenario", "patch"), FIXES, ids=[f"{scenario.name}-{patch}" for scenario, patch in FIXES])
def test_with_the_patch_the_replica_that_is_left_leads(
    cluster_jars_of: JarsOf, cluster_of: ClusterOf, scenario: Scenario, patch: str
) -> None:
    with cluster_of(with_patch(patch, cluster_jars_of("4.3.1")), scenario.plan) as cluster:
        operator = Operator(cluster, f"patched-{scenario.name}", scenario.partition)
        found = outcome(operator, scenario.run(operator, silently))
    assert (found.leader, found.shown, found.logs["b1"]) == ("b1", (), ["r0", "r1"])

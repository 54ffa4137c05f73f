"""KAFKA-16892 on running brokers: a removed leader that catches up by a snapshot, without the patch and with it."""

from __future__ import annotations

import pytest

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios import forgotten_removal
from insync.conformance.live.scenarios.forgotten_removal import REMOVED_LEADER
from insync.conformance.live.scenarios.scenario import Outcome, outcome
from insync.conformance.patches.patched_jars import read_patch
from insync_classes import JarsOf
from insync_patched import patched

pytestmark = [pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(autouse=True)
def _short_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgotten_removal, "_WATCHED", 5.0)


def found_on(jars: JarSet) -> Outcome:
    with LiveCluster(jars, REMOVED_LEADER.plan) as cluster:
        cluster.wait_for_brokers()
        operator = Operator(cluster)
        return outcome(operator, REMOVED_LEADER.run(operator, lambda _: None))


def test_it_acknowledges_what_the_leader_never_gets_and_with_acks_all_nothing(cluster_jars_of: JarsOf) -> None:
    found = found_on(cluster_jars_of("4.3.1"))
    assert (found.leader, found.shown) == ("b2", ("r1", "r3"))
    assert found.logs == {"b1": ["r0", "r1", "r2", "r3"], "b2": ["r0"], "b3": ["r0"]}


def test_with_the_patch_it_takes_nothing_and_its_log_is_gone(cluster_jars_of: JarsOf) -> None:
    found = found_on(patched(read_patch("R-70", "4.3.1"), cluster_jars_of("4.3.1")))
    assert (found.acknowledged, found.shown) == (("r0",), ())
    assert "b1" not in found.logs

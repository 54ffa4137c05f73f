"""N-06 on running brokers: a record is lost by a leader that drops a change of its ISR, and kept with the patch."""

from __future__ import annotations

import pytest

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.forgotten_change import FORGOTTEN_CHANGE
from insync.conformance.live.scenarios.scenario import Outcome, outcome
from insync.conformance.patches.patched_jars import read_patch
from insync_classes import JarsOf
from insync_patched import patched

pytestmark = [pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(400)]


def run_on(jars: JarSet) -> Outcome:
    with LiveCluster(jars, FORGOTTEN_CHANGE.plan) as cluster:
        cluster.wait_for_brokers()
        operator = Operator(cluster)
        return outcome(operator, FORGOTTEN_CHANGE.run(operator, lambda _: None))


def test_a_record_is_lost_that_a_member_of_the_isr_has_not(cluster_jars_of: JarsOf) -> None:
    found = run_on(cluster_jars_of("4.3.1"))
    assert (found.acknowledged, found.lost) == (("a", "b", "r0"), ("r0",))


def test_with_the_patch_it_is_kept(cluster_jars_of: JarsOf) -> None:
    found = run_on(patched(read_patch("N-06", "4.3.1"), cluster_jars_of("4.3.1")))
    assert (found.acknowledged, found.lost) == (("a", "b", "r0"), ())

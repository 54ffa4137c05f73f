"""N-09 on running brokers: reassignments that replace one in progress, without the patch and with it."""

from __future__ import annotations

import pytest

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.replaced_reassignment import REASSIGNMENT_PUT_BACK, REPLICA_KEPT_BY_THE_SECOND
from insync.conformance.live.scenarios.scenario import Scenario, outcome
from insync.conformance.patches.patched_jars import read_patch
from insync_classes import JarsOf
from insync_patched import patched

pytestmark = [pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(400)]

STUCK = "still reassigning, adding: b3, removing: b3"
REMOVED = "replicas b1 b3, where b1 b2 b3 were requested"
BOTH = [(REASSIGNMENT_PUT_BACK, STUCK), (REPLICA_KEPT_BY_THE_SECOND, REMOVED)]


def shown_on(jars: JarSet, scenario: Scenario) -> tuple[str, ...]:
    with LiveCluster(jars, scenario.plan) as cluster:
        cluster.wait_for_brokers()
        operator = Operator(cluster)
        return outcome(operator, scenario.run(operator, lambda _: None)).shown


@pytest.mark.parametrize(("scenario", "said"), BOTH, ids=["n-09", "n-09-removed"])
def test_the_replicas_are_not_those_that_were_requested_last(
    cluster_jars_of: JarsOf, scenario: Scenario, said: str
) -> None:
    assert shown_on(cluster_jars_of("4.3.1"), scenario) == (said,)


@pytest.mark.parametrize(("scenario", "_said"), BOTH, ids=["n-09", "n-09-removed"])
def test_with_the_patch_they_are(cluster_jars_of: JarsOf, scenario: Scenario, _said: str) -> None:
    assert shown_on(patched(read_patch("N-09", "4.3.1"), cluster_jars_of("4.3.1")), scenario) == ()

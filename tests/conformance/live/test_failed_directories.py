"""A directory that fails while a request about it is on its way: N-13, N-14 and N-19 on running brokers, and fixes."""

from __future__ import annotations

import pytest

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.failed_directory import FAILED_COPY, FAILED_MEMBER, UNNOTICED_FAILURE
from insync.conformance.live.scenarios.scenario import Outcome, Scenario, outcome
from insync.conformance.patches.patched_jars import read_patch
from insync_classes import JarsOf
from insync_patched import patched

pytestmark = [pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(600)]

LEADERS = {UNNOTICED_FAILURE.name: ("b2", ("b1", "b2")), FAILED_MEMBER.name: ("nobody", ("b2",))}
_TRIES = 4
"""The controller may have the old directory of a log that moves again, before the new one fails."""
SCENARIOS = pytest.mark.parametrize(
    "scenario", [UNNOTICED_FAILURE, FAILED_MEMBER, FAILED_COPY], ids=lambda one: one.name
)


def run_on(jars: JarSet, scenario: Scenario) -> Outcome:
    with LiveCluster(jars, scenario.plan) as cluster:
        cluster.wait_for_brokers()
        operator = Operator(cluster)
        return outcome(operator, scenario.run(operator, lambda _: None))


@SCENARIOS
def test_nobody_serves_clients(cluster_jars_of: JarsOf, scenario: Scenario) -> None:
    runs = (run_on(cluster_jars_of("4.3.1"), scenario) for _ in range(_TRIES))
    found = next((found for found in runs if found.shown), None)
    assert found is not None, f"somebody serves clients in {_TRIES} runs"
    assert (found.shown, found.lost) == (("r0",), ())
    assert (found.leader, found.isr) == LEADERS.get(scenario.name, ("nobody", ()))


@SCENARIOS
def test_with_the_patch_somebody_does(cluster_jars_of: JarsOf, scenario: Scenario) -> None:
    found = run_on(patched(read_patch(scenario.defect, "4.3.1"), cluster_jars_of("4.3.1")), scenario)
    assert (found.shown, found.lost, found.leader) == ((), (), "b1")

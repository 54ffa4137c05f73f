"""What a consumer of 4.3.1 is not given: by a follower's old high watermark, and by a truncation that it misses."""

from __future__ import annotations

import pytest

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.missed_truncation import MISSED_TRUNCATION
from insync.conformance.live.scenarios.scenario import Outcome, Scenario, outcome
from insync.conformance.live.scenarios.stale_watermark import STALE_WATERMARK
from insync.conformance.patches.patched_jars import read_patch
from insync_classes import JarsOf
from insync_patched import patched

FIXES = [(STALE_WATERMARK, "N-10"), (STALE_WATERMARK, "N-10-NAMED"), (MISSED_TRUNCATION, "N-11")]


def run_on(jars: JarSet, scenario: Scenario) -> Outcome:
    with LiveCluster(jars, scenario.plan) as cluster:
        cluster.wait_for_brokers()
        operator = Operator(cluster)
        return outcome(operator, scenario.run(operator, lambda _: None))


@pytest.mark.slow_for("n-11")
@pytest.mark.kafka
@pytest.mark.timeout(400)
@pytest.mark.parametrize("scenario", [STALE_WATERMARK, MISSED_TRUNCATION], ids=lambda one: one.name)
def test_a_consumer_is_not_given_what_is_there(cluster_jars_of: JarsOf, scenario: Scenario) -> None:
    found = run_on(cluster_jars_of("4.3.1"), scenario)
    assert found.unread == found.shown == ("r0",)


@pytest.mark.slow_for("N-10-NAMED", "N-11")
@pytest.mark.kafka
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("scenario", "name"), FIXES, ids=[name for _, name in FIXES])
def test_with_the_patch_it_is_given_all_or_told(cluster_jars_of: JarsOf, scenario: Scenario, name: str) -> None:
    found = run_on(patched(read_patch(name, "4.3.1"), cluster_jars_of("4.3.1")), scenario)
    assert found.unread == found.shown == ()


@pytest.mark.parametrize(
    ("lost", "unread", "shown"), [(("r0",), None, ("r0",)), (("r1",), ("r0",), ("r0",)), (("r1",), (), ())]
)
def test_a_scenario_about_consumers_is_judged_by_what_they_get(
    lost: tuple[str, ...], unread: tuple[str, ...] | None, shown: tuple[str, ...]
) -> None:
    assert Outcome(("r0", "r1"), lost, unread, "b1", ("b1",), {}).shown == shown

"""What a cluster does in the end. The largest of these spaces has 28,000 states."""

from __future__ import annotations

from dataclasses import replace

import pytest

from insync.explorer import Verdict
from insync.explorer.liveness import liveness
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.properties import Fairness
from insync.properties.kafka import cluster_runs
from insync.properties.registry import run_properties_of

pytest.importorskip("scipy")

ALL = [
    "a_dead_leader_is_replaced",
    "a_leader_again",
    "all_acknowledged",
    "running_is_back_in_isr",
    "slow_followers_stay_out",
    "acknowledged_is_on_all_running",
    "written_is_settled",
    "followers_learn_the_watermark",
]


def verdicts(model: Cluster, fairness: Fairness | None = None) -> dict[str, Verdict]:
    return {found.name: found.verdict for found in liveness(model, properties=None, fairness=fairness).properties}


def test_the_properties_are_those_of_the_module() -> None:
    assert sorted(run_properties_of(Cluster)) == sorted(ALL) == sorted(cluster_runs.__all__)


@pytest.mark.slow
def test_a_cluster_of_today_heals_when_no_more_failures_come() -> None:
    assert verdicts(Cluster(replicas=2, records=1)) == dict.fromkeys(ALL, Verdict.HOLDS)
    three = Cluster(replicas=3, records=1, power_failures=0, isr_shrinks=0, metadata_lag=1)
    assert verdicts(three) == dict.fromkeys(ALL, Verdict.HOLDS)


def test_without_eligible_leader_replicas_an_acknowledged_record_may_be_gone() -> None:
    found = verdicts(Cluster(release="2.0", replicas=2, records=1))
    assert found == {**dict.fromkeys(ALL, Verdict.HOLDS), "acknowledged_is_on_all_running": Verdict.VIOLATED}


class NeverTold(Cluster):
    """A failed directory that nobody reports (KAFKA-19289)."""

    name = "never_told"
    report_directory = None


def test_who_reports_no_failed_directory_stays_the_leader() -> None:
    bounds = {name: value for name, value in DEFECTS["L-11"].bounds.items() if name != "defect"}
    (found,) = liveness(NeverTold(**bounds), properties=["a_dead_leader_is_replaced"]).properties
    assert found.verdict is Verdict.VIOLATED
    assert found.trace is not None
    assert [step.label for step in found.trace.steps[1:]] == ["b1's directory fails"]
    assert "report_directory" not in str(found.fairness)
    (heals,) = liveness(Cluster(**bounds), properties=["a_dead_leader_is_replaced"]).properties
    assert heals.verdict is Verdict.HOLDS


@pytest.mark.parametrize("name", ["fence(replica)", "report_directory(replica)"])
def test_a_dead_leader_is_replaced_because_the_controller_notices(name: str) -> None:
    model = Cluster(**DEFECTS["L-11"].bounds, crashes=1)
    fairness = run_properties_of(model)["a_dead_leader_is_replaced"].fairness
    without = replace(fairness, strong=tuple(one for one in fairness.strong if one != name))
    for given, verdict in ((fairness, Verdict.HOLDS), (without, Verdict.VIOLATED)):
        (found,) = liveness(model, properties=["a_dead_leader_is_replaced"], fairness=given).properties
        assert found.verdict is verdict


@pytest.mark.slow_but("expand_isr(follower)")
@pytest.mark.parametrize(
    "name", ["fetch(follower)", "apply_metadata(replica)", "unfence(replica)", "expand_isr(follower)"]
)
def test_what_heals_is_needed_for_it(name: str) -> None:
    model = Cluster(replicas=2, records=1, power_failures=0)
    fairness = run_properties_of(model)["running_is_back_in_isr"].fairness
    assert name in fairness.strong
    assert verdicts(model)["running_is_back_in_isr"] is Verdict.HOLDS
    without = replace(fairness, strong=tuple(one for one in fairness.strong if one != name))
    assert verdicts(model, without)["running_is_back_in_isr"] is Verdict.VIOLATED


@pytest.mark.slow
def test_a_replica_that_is_removed_need_not_come_back() -> None:
    model = Cluster(replicas=2, records=1, reassignments=1, power_failures=0, fencings=0, isr_shrinks=1, metadata_lag=1)
    (found,) = liveness(model, properties=["running_is_back_in_isr"]).properties
    assert found.verdict == "holds"


@pytest.mark.slow
@pytest.mark.parametrize(("bounds", "fixed"), [
    ({"replicas": 2, "reassignments": 1, "crashes": 1, "fencings": 0}, "N-07"),
    ({"replicas": 2, "config_changes": 1, "crashes": 0, "fencings": 2}, "N-08"),
])  # fmt: skip
def test_a_partition_may_stay_without_a_leader_for_good(bounds: dict[str, int | str], fixed: str) -> None:
    calm: dict[str, int | str] = {"records": 1, "power_failures": 0, "isr_shrinks": 0, "metadata_lag": 1, **bounds}
    (found,) = liveness(Cluster(**calm), properties=["a_leader_again"]).properties
    assert found.verdict is Verdict.VIOLATED
    (found,) = liveness(Cluster(**calm, defect=fixed, fixed="on"), properties=["a_leader_again"]).properties
    assert found.verdict is Verdict.HOLDS

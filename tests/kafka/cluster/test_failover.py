"""A controller that is deposed and does not know it: what ZooKeeper and brokers refuse, and what comes of it."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.explorer.liveness import liveness
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.properties.kafka import cluster
from insync_walk import Walk, shared_cluster

CALM: dict[str, int | str] = {
    "release": "2.0.1",
    "replicas": 2,
    "records": 1,
    "power_failures": 0,
    "fencings": 0,
    "isr_shrinks": 0,
    "min_insync_replicas": 1,
    "controller_failovers": 1,
}
DEPOSED, DECIDES = "another controller is elected", "stale controller elects b2"
HEARD = "b2 learns of the new controller"


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**CALM, **bounds}), *labels)


def test_before_6082_a_deposed_controller_decides_once_and_whoever_knows_better_does_not_listen() -> None:
    walk = pair(DEPOSED, HEARD, DECIDES)
    assert walk.cells["controller"] == "b2@1 ISR b1 b2 by a stale one"
    assert "b1 applies metadata" in walk.enabled, "b1 has not learned of the new one"
    assert "b2 applies metadata" not in walk.enabled
    assert "stale controller elects b1" not in walk.enabled


def test_who_has_not_heard_of_the_new_controller_listens_to_the_old_one() -> None:
    walk = pair(DEPOSED, DECIDES, "b2 applies metadata", HEARD)
    assert walk.cells["b2"] == "L1 [|]"


def test_what_the_new_controller_writes_is_heard_and_ends_the_old_one() -> None:
    later = pair(DEPOSED, HEARD, DECIDES, "controller elects b1", preferred_elections=1)
    assert "b2 applies metadata" in later.enabled
    assert "b2 applies metadata but the last 1" not in later.enabled, "in between is what b2 refuses"
    written = pair(DEPOSED, "controller elects b2", preferred_elections=1)
    assert "stale controller elects b1" not in written.enabled
    assert not written.state["controller"]["stale_controller"]


def test_an_isr_that_a_leader_writes_does_not_end_the_old_controller() -> None:
    walk = pair(DEPOSED, "b1 appends a record", "b1 drops b2 from the ISR", isr_shrinks=1)
    assert walk.state["controller"]["stale_controller"]
    assert DECIDES not in walk.enabled, "it reads the ISR of now"


def test_it_elects_nobody_whom_it_takes_for_dead() -> None:
    fenced = pair("controller fences b2", DEPOSED, fencings=1, unclean_leader_election="on")
    assert fenced.state["controller"]["stale_controller_fenced"] == ["b2"]
    assert DECIDES not in fenced.take("controller unfences b2", "b2 fetches from b1").enabled


def test_another_failover_lets_everybody_hear_what_was_decided() -> None:
    walk = pair(DEPOSED, HEARD, DECIDES, DEPOSED, controller_failovers=2)
    assert walk.cells["controller"] == "b2@1 ISR b1 b2 and a stale one"
    assert "b2 applies metadata" in walk.take(HEARD).enabled


@pytest.mark.parametrize("release", ["2.1", "2.6", "2.7", "3.2"])
def test_since_6082_zookeeper_refuses_what_a_deposed_controller_writes(release: str) -> None:
    walk = pair(DEPOSED, release=release)
    assert not [label for label in walk.enabled if "deposed" in label]
    assert "stale_controller" not in walk.state["controller"]


@pytest.mark.slow_for("2.0.1-violated", "2.1-holds")
@pytest.mark.parametrize(("release", "verdict"), [("0.10.2", "violated"), ("2.0.1", "violated"), ("2.1", "holds")])
def test_a_decision_that_nobody_hears_takes_a_release_before_2_1(release: str, verdict: str) -> None:
    bounds = {**CALM, "release": release, "isr_shrinks": 1, "fencings": 1}
    result = check(Cluster(**bounds), properties=["decisions_can_be_heard"])
    assert result.verdict == verdict
    if verdict == "violated":
        assert result.violations[0].trace.reason == (
            "b2 knows the new controller, and will not learn of what the stale one has decided: the leader is b2, the "
            "ISR {b1, b2}, and fenced are {}."
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "verdict"), [pytest.param("2.0.1", "violated", marks=pytest.mark.slow), ("2.1", "holds")]
)
def test_a_leader_that_cannot_hear_takes_nobody_back_into_the_isr(release: str, verdict: str) -> None:
    pytest.importorskip("scipy")
    model = Cluster(**{**CALM, "replicas": 3, "release": release, "isr_shrinks": 1})
    (found,) = liveness(model, properties=["running_is_back_in_isr"]).properties
    assert found.verdict == verdict


@pytest.mark.slow
def test_a_deposed_controller_that_is_not_fenced_does_no_more_than_elect() -> None:
    """It may elect one whom the new controller takes for dead. The rules around it are those of 4.1."""
    model = Cluster(**DEFECTS["M-14"].fixed_witness)
    kept = [name for name in cluster.__all__ if name not in ("leader_is_eligible", "isr_and_elr_are_sound")]
    result = check(model, properties=["decisions_can_be_heard", *kept], keep_going=True)
    assert [violation.property for violation in result.violations] == ["decisions_can_be_heard"]


def test_all_holds_of_2_1_and_a_deposed_controller_that_holds_without() -> None:
    kept = [name for name in cluster.__all__ if name not in ("isr_and_elr_are_sound", "watermark_never_goes_back")]
    model = Cluster(**{**CALM, "release": "2.1", "isr_shrinks": 1, "preferred_elections": 1})
    assert check(model, properties=kept).verdict == "holds"


@pytest.mark.slow
def test_where_there_is_no_such_controller_it_costs_nothing() -> None:
    assert not Cluster(controller_failovers=1).features.fails_over
    assert Cluster(controller_failovers=1).remarks() == []
    late = "A stale controller's decisions reach brokers only with metadata_lag 2 or more."
    assert Cluster(**{**CALM, "metadata_lag": 1}).remarks() == [late]
    assert not [label for label in pair(DEPOSED, metadata_lag=1).enabled if "deposed controller" in label]

"""Fetches that fail (row 12 of the mission) and throttled followers (row 13): what they may cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from insync.explorer import Verdict
from insync.explorer.liveness import liveness
from insync.kafka.cluster.model import Cluster
from insync.properties.registry import run_properties_of
from insync_evaluator import reached
from insync_walk import Walk

pytest.importorskip("scipy")

SMALL: dict[str, int | str] = {"replicas": 2, "records": 1, "power_failures": 0, "metadata_lag": 1}


class ThrottlesAnybody(Cluster):
    """A cluster whose quota holds back members of the ISR as well."""

    name = "throttles_anybody"

    def __init__(self, **bounds: int | str) -> None:
        super().__init__(**bounds)
        self.guards = replace(self.guards, throttle_spares_isr=False)


def apart_from(left_out: set[str], model: Cluster) -> set[tuple[int, ...]]:
    """The reachable states without the cells whose paths end in these names."""
    return reached(model, lambda path: path.split(".")[-1] not in left_out)


@pytest.mark.slow_for("fetch_failures-fetch_delayed-Cluster", "throttles-throttled-Cluster")
@pytest.mark.parametrize(
    ("budget", "flag", "model"),
    [
        ("fetch_failures", "fetch_delayed", Cluster),
        ("throttles", "throttled", Cluster),
        ("throttles", "throttled", ThrottlesAnybody),
    ],
)
def test_holding_back_a_follower_reaches_nothing_that_is_not_reached_without(
    budget: str, flag: str, model: type[Cluster]
) -> None:
    """So no property of states can break by it, and a throttled replica cannot lose data."""
    left_out = {flag, budget}
    assert apart_from(left_out, model(**{**SMALL, budget: 1})) == apart_from(left_out, model(**SMALL))


def test_a_replica_whose_fetches_fail_may_leave_the_isr_and_comes_back() -> None:
    model = Cluster(**{**SMALL, "fetch_failures": 1})
    walk = Walk(model, "b1 appends a record", "b2's fetcher stops")
    assert "b2 fetches from b1" not in walk.enabled
    walk.take("b1 drops b2 from the ISR", "controller accepts the ISR", "b1 applies metadata", "b2's fetcher goes on")
    walk.take("b2 fetches from b1", "b2 fetches from b1", "b1 adds b2 to the ISR", "controller accepts the ISR")
    assert walk.cells["controller"] == "b1@0 ISR b1 b2"


def verdict(model: Cluster, name: str, *unfair: str) -> Verdict:
    """Whether a property of runs holds if these actions may be put off for ever."""
    fairness = run_properties_of(model)[name].fairness
    assert set(unfair) <= set(fairness.strong)
    fair = replace(fairness, strong=tuple(one for one in fairness.strong if one not in unfair))
    return next(
        found for found in liveness(model, properties=[name], fairness=fair).properties if found.name == name
    ).verdict


@pytest.mark.slow
def test_a_partition_that_has_failed_must_be_tried_again() -> None:
    model = Cluster(**{**SMALL, "fetch_failures": 1})
    assert verdict(model, "running_is_back_in_isr") is Verdict.HOLDS
    assert verdict(model, "running_is_back_in_isr", "resume_fetching(follower)") is Verdict.VIOLATED


@pytest.mark.slow
def test_a_quota_costs_time_only_and_that_is_why_it_spares_the_isr() -> None:
    bounds: dict[str, int | str] = {**SMALL, "throttles": 1, "isr_shrinks": 0, "fencings": 0}
    for model in (Cluster(**bounds), ThrottlesAnybody(**bounds)):
        assert verdict(model, "written_is_settled") is Verdict.HOLDS
    forever = "unthrottle(follower)"
    assert verdict(Cluster(**bounds), "written_is_settled", forever) is Verdict.HOLDS
    assert verdict(ThrottlesAnybody(**bounds), "written_is_settled", forever) is Verdict.VIOLATED


@pytest.mark.slow
def test_a_throttled_replica_outside_the_isr_stays_outside_while_its_quota_is_used_up() -> None:
    model = Cluster(**{**SMALL, "throttles": 1})
    assert verdict(model, "running_is_back_in_isr") is Verdict.HOLDS
    assert verdict(model, "running_is_back_in_isr", "unthrottle(follower)") is Verdict.VIOLATED

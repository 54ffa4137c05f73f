"""Writes that are stored and answered with an error, as too few replicas have them by then."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.model.evaluator import evaluate
from insync.properties.kafka.cluster_producers import refused_writes_are_not_read
from insync.properties.registry import invariants_of
from insync_walk import Walk, shared_cluster

BOUNDS: dict[str, int | str] = {"replicas": 2, "records": 1, "power_failures": 0, "isr_shrinks": 1, "fencings": 1}
SHRUNK = ("b1 appends a record", "b1 drops b2 from the ISR", "controller accepts the ISR", "b1 applies metadata")
NAME = refused_writes_are_not_read.__name__


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**BOUNDS, **bounds}), *labels)


def is_read_though_refused(walk: Walk) -> bool:
    return not evaluate(invariants_of(walk.model)[NAME].node(walk.model), walk.codes)


def test_before_3_7_a_record_is_read_of_which_the_producer_is_told_an_error() -> None:
    walk = pair(*SHRUNK[:-1], release="3.6")
    assert not is_read_though_refused(walk)
    walk.take(SHRUNK[-1])
    assert (walk.state["acked"], walk.state["seen"]) == ([], ["r0"])
    assert is_read_though_refused(walk)


def test_since_3_7_the_producer_waits_and_may_be_told_that_it_is_written() -> None:
    walk = pair(*SHRUNK, release="3.7")
    assert (walk.state["acked"], walk.state["seen"]) == ([], [None])
    back = ("b2 fetches from b1", "b2 fetches from b1", "b1 adds b2 to the ISR", "controller accepts the ISR")
    walk.take(*back, "b1 applies metadata")
    assert walk.state["acked"] == ["r0"]
    assert not is_read_though_refused(walk)


def test_nobody_is_told_an_error_who_does_not_wait_any_more() -> None:
    """The leader lost its leadership meanwhile, and the one that has it now has no such producer."""
    moved = ("b1 appends a record", "b2 fetches from b1", "controller elects b2", "b2 applies metadata")
    walk = pair(*moved, "b2 drops b1 from the ISR", "controller accepts the ISR", "b2 applies metadata",
                release="3.6", preferred_elections=1)  # fmt: skip
    assert walk.state["seen"] == ["r0"]
    assert not is_read_though_refused(walk)


@pytest.mark.slow_but("3.6-violated")
@pytest.mark.parametrize(("release", "verdict"), [
    ("2.0", "violated"), ("2.7", "violated"), ("3.6", "violated"), ("3.7", "holds"), ("4.1", "holds"),
])  # fmt: skip
def test_it_is_so_in_releases_before_3_7(release: str, verdict: str) -> None:
    assert check(Cluster(**BOUNDS, release=release), properties=[NAME]).verdict == verdict


def test_the_reason_names_the_record() -> None:
    (found,) = check(Cluster(**BOUNDS, release="3.6"), properties=[NAME]).violations
    assert found.trace.reason == (
        "The producer was told that too few replicas have r0, and consumers get it at offset 0."
    )


def test_a_producer_that_sends_again_is_told_of_success_once_there_are_enough() -> None:
    """The error says that it should: the leader has the record already, and answers for it."""
    bounds: dict[str, int | str] = {"release": "3.6", "retries": 1, "races": "off"}
    back = ("b2 fetches from b1", "b2 fetches from b1", "b1 adds b2 to the ISR", "controller accepts the ISR")
    walk = pair(*SHRUNK, *back, "b1 applies metadata", **bounds)
    assert walk.state["acked"] == []
    walk.take("b1 has r0 already, and says so")
    assert walk.state["acked"] == ["r0"]


def test_it_is_about_acks_all_alone() -> None:
    assert not is_read_though_refused(pair("b1 appends a record", release="3.6", acks="0", min_insync_replicas=1))
    found = check(Cluster(**BOUNDS, release="3.6", acks="1"), properties=[NAME])
    assert found.verdict == "holds"

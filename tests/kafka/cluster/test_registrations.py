"""A broker that registers once more while it runs (KAFKA-16952)."""

from __future__ import annotations

from insync_walk import Walk, shared_cluster

PAIR: dict[str, int | str] = {"replicas": 2, "records": 1, "min_insync_replicas": 1, "power_failures": 0, "fencings": 0}
BACK = (
    "b1 drops b2 from the ISR",
    "controller accepts the ISR",
    "b1 applies metadata",
    "b2 fetches from b1",
    "b1 adds b2 to the ISR",
)


def test_a_second_registration_makes_a_request_late_that_names_the_epoch_before() -> None:
    walk = Walk(shared_cluster(**PAIR, defect="R-65"), *BACK)
    assert "controller accepts the ISR" in walk.enabled
    walk.take("b2 registers once more")
    assert "controller accepts the ISR" not in walk.enabled
    walk.take("controller refuses the ISR")
    walk.take("b2 fetches from b1", BACK[-1], "controller accepts the ISR")
    assert walk.cells["controller"] == "b1@0 ISR b1 b2"


def test_the_request_of_a_leader_that_registers_once_more_is_dropped() -> None:
    walk = Walk(shared_cluster(**PAIR, defect="R-65"), *BACK, "b1 registers once more")
    assert not {label for label in walk.enabled if label.startswith("controller ")}


def test_with_the_fix_there_is_no_such_step() -> None:
    walk = Walk(shared_cluster(**PAIR, defect="R-65", fixed="on"), *BACK)
    assert not any("once more" in label for label in walk.enabled)

from __future__ import annotations

from insync.kafka.published import AsyncIsr
from insync_walk import Walk


def test_the_leader_counts_with_a_replica_from_the_moment_it_asks_for_it() -> None:
    walk = Walk(AsyncIsr(replicas=2), "controller drops b2", "b1 learns v1", "b1 writes a record")
    assert walk.cells["leader's view"] == "v1 HW 1  ISR b1"
    assert "b1 asks to add b2" not in walk.enabled
    walk.take("b2 fetches a record", "b1 asks to add b2", "b1 writes a record")
    assert walk.cells["leader's view"] == "v1 HW 1  ISR b1 + b2"


def test_the_leader_counts_with_a_member_until_it_learns_that_it_was_dropped() -> None:
    walk = Walk(AsyncIsr(replicas=2), "b1 writes a record", "b1 asks to drop b2", "controller accepts ISR {b1}")
    assert walk.cells["leader's view"] == "v0 HW 0  ISR b1 b2 asked"
    assert walk.cells["controller"] == "v1  ISR b1"
    assert walk.take("b1 learns v1").cells["leader's view"] == "v1 HW 1  ISR b1"


def test_a_request_for_an_old_version_is_refused_for_good() -> None:
    walk = Walk(AsyncIsr(), "b1 asks to drop b3", "controller drops b2")
    assert "controller accepts ISR {b1, b2}" not in walk.enabled
    assert walk.state["requests"]["v0"] == ["{b1, b2}"]


def test_several_requests_may_be_on_their_way() -> None:
    walk = Walk(AsyncIsr(), "b1 asks to drop b2", "b1 asks to drop b3")
    assert {"controller accepts ISR {b1, b3}", "controller accepts ISR {b1, b2}"} <= walk.enabled
    assert walk.state["leader"]["pending_version"] == "v0"


def test_updates_may_be_skipped_and_old_ones_are_ignored() -> None:
    walk = Walk(AsyncIsr(), "controller drops b2", "controller drops b3", "b1 learns v2")
    assert walk.cells["leader's view"] == "v2 HW 0  ISR b1"
    assert not {label for label in walk.enabled if "learns" in label}
    assert walk.state["leader"]["pending_version"] is None


def test_the_bounds_stop_the_leader_and_the_controller() -> None:
    walk = Walk(AsyncIsr(max_offset=1, max_version=1), "b1 writes a record", "controller drops b2")
    assert not {label for label in walk.enabled if "writes" in label or "controller" in label}


def test_nobody_drops_the_leader() -> None:
    enabled = Walk(AsyncIsr()).enabled
    assert "controller drops b1" not in enabled
    assert "b1 asks to drop b1" not in enabled

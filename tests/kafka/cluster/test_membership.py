"""The ISR: who joins and leaves it, by whose word."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync_walk import Walk, shared_cluster

DROPPED = ("b1 drops b3 from the ISR", "controller accepts the ISR", "b1 applies metadata")


def trio(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{"power_failures": 1, "fencings": 1, **bounds}), *labels)


def test_a_leader_drops_a_member_that_is_behind_and_the_controller_decides() -> None:
    walk = trio("b1 drops b3 from the ISR")
    assert walk.cells["b1"] == "L0 [|] -b3"
    assert walk.cells["controller"] == "b1@0 ISR b1 b2 b3"
    walk.take("controller accepts the ISR")
    assert walk.cells["controller"] == "b1@0 ISR b1 b2"
    assert walk.cells["b1"] == "L0 [|] -b3 ~1", "the leader waits for both ISRs until it has heard of the new one"
    walk.take("b1 applies metadata")
    assert walk.cells["b1"] == "L0 [|]"


def test_a_follower_joins_again_once_it_has_fetched_at_the_leaders_log_end() -> None:
    assert "b1 adds b3 to the ISR" not in trio(*DROPPED).enabled
    walk = trio(*DROPPED, "b3 fetches from b1", "b1 adds b3 to the ISR", "controller accepts the ISR")
    assert walk.cells["controller"] == "b1@0 ISR b1 b2 b3"


def test_a_follower_below_the_high_watermark_does_not_join() -> None:
    walk = trio(*DROPPED, "b3 fetches from b1", "b1 appends a record", "b2 fetches from b1", "b2 fetches from b1")
    assert walk.cells["b1"] == "L0 [r0@0 |]"
    assert "b1 adds b3 to the ISR" not in walk.enabled
    walk.take("b3 fetches from b1", "b3 fetches from b1")
    assert "b1 adds b3 to the ISR" in walk.enabled


def test_before_2_7_a_leader_writes_the_isr_itself() -> None:
    walk = trio("b1 drops b3 from the ISR", release="2.1")
    assert walk.cells["controller"] == "b1@0 ISR b1 b2"
    assert walk.cells["b1"] == "L0 [|]"


def test_a_shrink_bumps_the_epoch_in_kraft_before_3_6() -> None:
    shrink = ("b1 drops b3 from the ISR", "controller accepts the ISR")
    assert trio(*shrink, release="3.5").cells["controller"] == "b1@1 ISR b1 b2"
    assert trio(*shrink, release="3.7").cells["controller"] == "b1@0 ISR b1 b2"


def test_a_proposal_is_refused_once_the_partition_has_changed() -> None:
    steps = ("b1 drops b3 from the ISR", "controller fences b3")
    assert "controller accepts the ISR" not in trio(*steps).enabled
    assert "controller accepts the ISR" in trio(*steps, defect="R-13").enabled


FENCED = ("controller fences b3", "b1 applies metadata", "b3 fetches from b1", "b1 adds b3 to the ISR")


def test_a_fenced_member_is_refused_and_the_leader_goes_back() -> None:
    walk = trio(*FENCED)
    assert "controller accepts the ISR" not in walk.enabled
    walk.take("controller refuses the ISR")
    assert walk.cells["b1"] == "L0 [|]"
    assert "controller accepts the ISR" in trio(*FENCED, defect="R-15").enabled


RESTARTED = (*DROPPED, "b3 fetches from b1", "b3 crashes, its log ends at 0", "b3 starts and registers")


def test_what_is_known_of_a_former_life_is_refused() -> None:
    steps = (*RESTARTED, "controller unfences b3", "b1 adds b3 to the ISR")
    assert "controller accepts the ISR" not in trio(*steps).enabled
    assert "controller accepts the ISR" in trio(*steps, defect="R-16").enabled


def test_a_fetch_in_the_new_life_makes_the_follower_welcome_again() -> None:
    steps = (*RESTARTED, "controller unfences b3", "b3 fetches from b1", "b1 adds b3 to the ISR")
    assert "controller accepts the ISR" in trio(*steps).enabled


ZOMBIE = ("controller elects b2", "b2 applies metadata", "b2 drops b3 from the ISR")


def test_the_proposal_of_a_broker_that_leads_no_more_takes_nothing_from_that_of_the_leader() -> None:
    walk = trio(*ZOMBIE, "b1 drops b3 from the ISR", preferred_elections=1, isr_shrinks=2)
    assert (walk.cells["b1"], walk.cells["b2"]) == ("L0 [|] -b3 ~1", "L1 [|] -b3")
    walk.take("controller accepts the ISR")
    assert walk.cells["controller"] == "b2@1 ISR b1 b2"
    assert "controller refuses the ISR" not in walk.enabled, "what is late is refused without any effect"


def test_a_proposal_waits_for_the_controller_and_then_for_the_metadata() -> None:
    walk = trio("b1 drops b3 from the ISR", isr_shrinks=2)
    assert "b1 drops b2 from the ISR" not in walk.enabled
    walk.take("controller accepts the ISR")
    assert "b1 drops b2 from the ISR" not in walk.enabled
    walk.take("b1 applies metadata")
    assert "b1 drops b2 from the ISR" in walk.enabled


def test_a_request_of_a_former_life_of_the_leader_is_not_accepted() -> None:
    steps = ("b1 drops b3 from the ISR", "b1 crashes, its log ends at 0", "b1 starts and registers")
    assert "controller accepts the ISR" in trio(*steps[:2], release="3.4").enabled
    assert "controller accepts the ISR" not in trio(*steps, release="3.4").enabled


BOTH = "b1 drops {b2, b3} from the ISR at once"


def test_a_leader_drops_all_that_are_slow_in_one_proposal() -> None:
    walk = trio(BOTH, "controller accepts the ISR", isr_shrinks=2)
    assert walk.cells["controller"] == "b1@0 ISR b1 ELR b2 b3"
    walk.take("b1 applies metadata")
    assert walk.state["spent"]["isr_shrinks"] == 2


def test_several_are_dropped_at_once_only_if_all_are_slow_and_the_budget_has_room() -> None:
    assert BOTH not in trio().enabled, "by default one follower is slow"
    assert BOTH not in trio("b1 drops b3 from the ISR", isr_shrinks=2).enabled
    assert BOTH in trio(isr_shrinks=2).enabled
    assert BOTH not in trio("b2 fetches from b1", isr_shrinks=2).enabled, "b2 has all that there is"
    labels = trio(isr_shrinks=3).enabled
    assert "b1 drops {b1, b2} from the ISR at once" not in labels


@pytest.mark.slow
@pytest.mark.parametrize(("fixed", "verdict"), [("off", "violated"), ("on", "holds")])
def test_several_members_dropped_at_once_make_an_isr_too_small_to_commit(fixed: str, verdict: str) -> None:
    """The shortest way takes them in one proposal: from three members to one without an ISR of two between."""
    calm: dict[str, int | str] = {"power_failures": 0, "fencings": 0, "isr_shrinks": 2, "records": 1, "acks": "1"}
    model = Cluster(**calm, defect="R-27", fixed=fixed)
    result = check(model, properties=["electable_replicas_are_complete"])
    assert result.verdict == verdict
    assert all(found.trace.steps[1].action == "shrink_isr_by_several" for found in result.violations)


@pytest.mark.parametrize(("fixed", "joins"), [("off", True), ("on", False)])
def test_a_follower_at_a_high_watermark_that_stands_still_joins_though_it_lacks_records(
    fixed: str, joins: bool
) -> None:
    """With fewer members than min.insync.replicas (KAFKA-19996); one that has all joins in any case."""
    bounds: dict[str, int | str] = {"replicas": 2, "records": 1, "isr_shrinks": 1, "defect": "L-9", "fixed": fixed}
    dropped = ("b1 drops b2 from the ISR", "controller accepts the ISR", "b1 applies metadata")
    walk = trio("b2 fetches from b1", "b1 appends a record", *dropped, **bounds)
    assert ("b1 adds b2 to the ISR" in walk.enabled) is joins
    walk.take("b2 fetches from b1", "b2 fetches from b1", "b1 adds b2 to the ISR", "controller accepts the ISR")
    assert walk.cells["controller"] == "b1@0 ISR b1 b2"


def test_without_a_budget_a_follower_is_slow_again_and_again_unless_nobody_is_ever_slow() -> None:
    again = ("b1 drops b2 from the ISR", "controller accepts the ISR", "b1 applies metadata", "b1 adds b2 to the ISR")
    bounds: dict[str, int | str] = {"replicas": 2, "records": 1, "defect": "L-9"}
    walk = trio("b2 fetches from b1", "b1 appends a record", **bounds, isr_shrinks=1)
    before = walk.codes
    walk.take(*again, "controller accepts the ISR", "b1 applies metadata")
    assert walk.codes == before
    assert "b1 drops b2 from the ISR" not in trio("b1 appends a record", **bounds, isr_shrinks=0).enabled

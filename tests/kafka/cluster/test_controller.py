"""The controller: elections, fencing, registration, eligible leader replicas; and brokers that crash."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync_walk import Walk, shared_cluster


def trio(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{"power_failures": 1, "fencings": 3, "metadata_lag": 4, **bounds}), *labels)


def test_a_fenced_leader_is_replaced_by_the_first_live_member_in_a_new_epoch() -> None:
    assert trio("controller fences b1").cells["controller"] == "b2@1 ISR b2 b3 fenced b1"


def test_a_fenced_follower_leaves_the_isr_within_the_epoch() -> None:
    assert trio("controller fences b2").cells["controller"] == "b1@0 ISR b1 b3 fenced b2"


def test_the_last_member_stays_in_the_isr_without_eligible_leader_replicas() -> None:
    walk = trio("controller fences b3", "controller fences b2", "controller fences b1", elr="off")
    assert walk.cells["controller"] == "none@1 ISR b1 fenced b1 b2 b3"
    walk.take("controller unfences b2")
    assert walk.cells["controller"] == "none@1 ISR b1 fenced b1 b3", "it is not in the ISR"
    walk.take("controller unfences b1")
    assert walk.cells["controller"] == "b1@2 ISR b1 fenced b3"


def test_members_that_leave_a_small_isr_stay_eligible() -> None:
    walk = trio("controller fences b3", "controller fences b2")
    assert walk.cells["controller"] == "b1@0 ISR b1 ELR b2 fenced b2 b3"
    walk.take("controller fences b1")
    assert walk.cells["controller"] == "none@1 ISR  ELR b1 b2 fenced b1 b2 b3 last b1"
    walk.take("controller unfences b2")
    assert walk.cells["controller"] == "b2@2 ISR b2 ELR b1 fenced b1 b3"


@pytest.mark.parametrize(("zero", "eligible"), [(1, ""), (3, " ELR b2")])
def test_the_minimum_by_partition_0_is_never_above_the_one_that_is_set(zero: int, eligible: str) -> None:
    """As many replicas as partition 0 has are enough, and so are as many as were asked for."""
    walk = trio("controller fences b3", partition_zero_replicas=zero)
    assert walk.cells["controller"] == "b1@0 ISR b1 b2 fenced b3"
    assert walk.take("controller fences b2").cells["controller"] == f"b1@0 ISR b1{eligible} fenced b2 b3"


@pytest.mark.slow
def test_an_unclean_election_takes_whoever_lives() -> None:
    steps = ("controller fences b3", "controller fences b2", "controller unfences b3", "controller fences b1")
    assert trio(*steps, elr="off").cells["controller"] == "none@1 ISR b1 fenced b1 b2"
    assert trio(*steps, elr="off", unclean_leader_election="on").cells["controller"] == "b3@1 ISR b3 fenced b1 b2"
    ignored = trio(*steps, release="3.8", unclean_leader_election="on")
    assert ignored.cells["controller"] == "none@1 ISR b1 fenced b1 b2", "KRaft before 3.9 does not look at the setting"


@pytest.mark.slow
@pytest.mark.parametrize(("fixed", "elected"), [("off", "b3"), ("on", "b2")])
def test_an_unclean_election_may_take_the_longest_log_of_those_who_are_there(fixed: str, elected: str) -> None:
    """KIP-966, part 2, which no release has."""
    with patch.dict(DEFECTS, {"C-20": replace(DEFECTS["C-20"], rules=DEFECTS["C-20"].base, base={})}):
        walk = trio("controller fences b2", "controller fences b3", "controller unfences b2", "controller unfences b3",
                    elr="off", unclean_leader_election="on", defect="C-20", fixed=fixed)  # fmt: skip
    walk.take("b1 appends a record", "b3 fetches from b1", "controller fences b1")
    assert walk.cells["controller"] == f"{elected}@1 ISR {elected} fenced b1"


@pytest.mark.parametrize(("fixed", "leads"), [("off", "b2@1 ISR b2"), ("on", "none@1 ISR  ELR b1 b3")])
def test_an_unclean_election_may_wait_for_those_who_have_all_that_is_committed(fixed: str, leads: str) -> None:
    """The strategy Balanced of KIP-966, part 2, which no release has."""
    bounds: dict[str, int | str] = {**DEFECTS["C-21"].witness, "replicas": 3, "fixed": fixed}
    late = ("controller fences b2", "b1 applies metadata", "controller unfences b2", "controller fences b3")
    walk = trio(*late, **bounds)
    walk.take("controller fences b1")
    assert walk.cells["controller"].startswith(leads)
    if fixed == "on":
        walk.take("controller unfences b1")
        assert walk.cells["controller"].startswith("b1@2 ISR b1"), "who comes back with all of it leads"


def test_two_are_fenced_at_once_only_where_the_second_one_is_in_the_isr() -> None:
    """Whoever has left the ISR before is fenced alone, as its session expires: there is nothing to bring back."""
    bounds: dict[str, int | str] = {"defect": "R-39", "crashes": 2, "isr_shrinks": 1}
    both = "controller fences b2 and b3 at once"
    down = ("b2 crashes, its log ends at 0", "b3 crashes, its log ends at 0")
    assert both in trio(*down, **bounds).enabled
    dropped = trio("b1 drops b3 from the ISR", "controller accepts the ISR", *down, **bounds)
    assert both not in dropped.enabled
    assert "controller fences b3 and b2 at once" in dropped.enabled


def test_a_crash_goes_unnoticed_until_the_session_expires() -> None:
    walk = trio("b1 crashes, its log ends at 0")
    assert walk.cells["controller"] == "b1@0 ISR b1 b2 b3"
    assert walk.cells["b1"] == "down [|]"
    assert trio("b1 crashes, its log ends at 0", "controller fences b1").state["spent"]["fencings"] == 0


def test_a_crash_spares_a_prefix_of_the_log() -> None:
    two = ("b1 appends a record", "b1 appends a record")
    crashes = {f"b1 crashes, its log ends at {end}" for end in (0, 1, 2)}
    assert crashes <= trio(*two).enabled
    assert trio(*two, "b1 crashes, its log ends at 1").cells["b1"] == "down [| r0@0]"
    assert trio(*two, flush="always").enabled & crashes == {"b1 crashes, its log ends at 2"}


def test_a_crash_spares_what_was_flushed() -> None:
    steps = ("b1 appends a record", "b1 flushes its log", "b1 appends a record")
    ends = {label for label in trio(*steps, flush="sometimes").enabled if label.startswith("b1 crashes")}
    assert ends == {"b1 crashes, its log ends at 1", "b1 crashes, its log ends at 2"}


def test_a_crash_that_loses_something_needs_its_budget() -> None:
    walk = trio("b1 appends a record", power_failures=0, crashes=1)
    ends = {label for label in walk.enabled if label.startswith("b1 crashes")}
    assert ends == {"b1 crashes, its log ends at 1"}


CRASHED = ("b1 crashes, its log ends at 0", "b1 starts and registers")


def test_who_registers_after_a_crash_leaves_the_isr_since_4_0() -> None:
    assert trio(*CRASHED).cells["controller"] == "b2@1 ISR b2 b3 fenced b1"
    assert trio(*CRASHED, release="3.9").cells["controller"] == "b1@0 ISR b1 b2 b3 fenced b1"


@pytest.mark.slow
def test_before_kraft_a_broker_comes_back_only_after_its_session_has_expired() -> None:
    crash = "b1 crashes, its log ends at 0"
    assert "b1 starts and registers" not in trio(crash, release="2.7").enabled
    assert "b1 starts and registers" in trio(crash, "controller fences b1", release="2.7").enabled


SMALL = ("controller fences b3", "controller fences b2")


def test_who_has_crashed_leaves_the_elr_and_who_has_stopped_does_not() -> None:
    crashed = trio(*SMALL, "b2 crashes, its log ends at 0", "b2 starts and registers")
    assert crashed.cells["controller"] == "b1@0 ISR b1 fenced b2 b3"
    stopped = trio(
        "controller fences b3", "b2 asks to stop", "b2 stops cleanly", "b2 starts and registers", controlled_shutdowns=1
    )
    assert stopped.cells["controller"] == "b1@0 ISR b1 ELR b2 fenced b2 b3"


def test_in_3_9_who_was_stopped_cleanly_leaves_the_elr_as_it_registers() -> None:
    steps = ("b2 asks to stop", "b3 asks to stop", "b3 stops cleanly", "b3 starts and registers")
    bounds: dict[str, int | str] = {"controlled_shutdowns": 2, "min_insync_replicas": 2, "elr": "on"}
    assert trio(*steps, release="3.8", **bounds).cells["controller"] == "b1@0 ISR b1 ELR b3 fenced b2 b3"
    assert trio(*steps, release="3.9", **bounds).cells["controller"] == "b1@0 ISR b1 fenced b2 b3"
    assert trio(*steps, release="4.0", **bounds).cells["controller"] == "b1@0 ISR b1 ELR b3 fenced b2 b3"


def test_a_clean_stop_hands_over_and_loses_nothing() -> None:
    walk = trio("b1 appends a record", "b1 asks to stop", controlled_shutdowns=1)
    assert walk.cells["controller"] == "b2@1 ISR b2 b3 fenced b1"
    assert walk.cells["b1"] == "L0 [| r0@0] ~1", "it leads as far as it knows"
    assert "b1 asks to stop" not in walk.enabled
    assert "controller unfences b1" not in walk.enabled
    walk.take("b1 stops cleanly")
    assert walk.cells["b1"] == "down [| r0@0]"


def test_a_broker_stops_only_after_it_has_asked_and_may_crash_before() -> None:
    assert "b1 stops cleanly" not in trio(controlled_shutdowns=1).enabled
    asked = trio("b2 asks to stop", "b1 applies metadata", controlled_shutdowns=1)
    assert asked.cells["controller"] == "b1@0 ISR b1 b3 fenced b2"
    crashed = asked.take("b2 crashes, its log ends at 0", "b2 starts and registers")
    assert "b2 stops cleanly" not in crashed.enabled
    assert "controller unfences b2" in crashed.enabled


def test_what_a_leader_takes_while_it_stops_is_acknowledged_by_acks_1_and_lost() -> None:
    walk = trio("b1 asks to stop", "b1 appends a record", acks="1", controlled_shutdowns=1)
    assert walk.cells["clients"] == "acked r0"
    walk.take("b2 applies metadata")
    assert walk.cells["b2"] == "L1 [|]"
    calm: dict[str, int | str] = {
        "records": 1,
        "controlled_shutdowns": 1,
        "power_failures": 0,
        "fencings": 0,
        "isr_shrinks": 0,
    }
    kept = "no_acknowledged_record_is_lost"
    assert check(Cluster(**calm, acks="1"), properties=[kept]).violations[0].trace_length == 4
    assert check(Cluster(**calm), properties=[kept]).verdict == "holds"


def test_the_last_known_leader_is_elected_once_nobody_is_eligible() -> None:
    both = ("b1 crashes, its log ends at 0", "b2 crashes, its log ends at 0", "controller fences b2")
    walk = trio(*both, "controller fences b1", replicas=2, power_failures=2)
    assert walk.cells["controller"] == "none@1 ISR  ELR b1 b2 fenced b1 b2 last b1"
    walk.take("b1 starts and registers", "b2 starts and registers", "controller unfences b2")
    assert walk.cells["controller"] == "none@1 ISR  fenced b1 last b1"
    walk.take("controller unfences b1")
    assert walk.cells["controller"] == "b1@2 ISR b1"


def test_the_last_known_leader_waits_while_somebody_else_is_eligible_though_fenced() -> None:
    down = ("b1 crashes, its log ends at 0", "controller fences b2", "controller fences b1", "b1 starts and registers")
    walk = trio(*down, "controller unfences b1", replicas=2, power_failures=2)
    assert walk.cells["controller"] == "none@1 ISR  ELR b2 fenced b2 last b1"
    walk.take("controller unfences b2")
    assert walk.cells["controller"] == "b2@2 ISR b2"


@pytest.mark.slow
def test_a_change_of_min_insync_empties_the_elr() -> None:
    walk = trio(*SMALL, "min.insync.replicas changes", config_changes=1)
    assert walk.cells["controller"] == "b1@0 ISR b1 fenced b2 b3"
    kept = trio(*SMALL, "min.insync.replicas changes", config_changes=1, defect="R-29")
    assert kept.cells["controller"] == "b1@0 ISR b1 ELR b2 fenced b2 b3"


def test_a_change_of_min_insync_forgets_the_last_known_leader() -> None:
    both = ("b1 crashes, its log ends at 0", "b2 crashes, its log ends at 0", "controller fences b2")
    fenced = (*both, "controller fences b1")
    bounds: dict[str, int | str] = {"replicas": 2, "power_failures": 2, "config_changes": 1}
    assert trio(*fenced, **bounds).cells["controller"] == "none@1 ISR  ELR b1 b2 fenced b1 b2 last b1"
    changed = trio(*fenced, "min.insync.replicas changes", **bounds)
    assert changed.cells["controller"] == "none@1 ISR  fenced b1 b2"


PROPOSED = ("b1 drops b3 from the ISR", "min.insync.replicas changes")


def test_a_change_of_min_insync_is_no_change_of_the_partition_with_kraft() -> None:
    accepts, drops = "controller accepts the ISR", "b1 drops b3 from the ISR"
    assert accepts in trio(*PROPOSED, config_changes=1).enabled
    assert accepts not in trio(*PROPOSED, config_changes=1, release="3.2").enabled
    late = ("min.insync.replicas changes", drops)
    assert accepts in trio(*late, config_changes=1).enabled, "the leader has not heard of it, and need not"
    assert accepts not in trio(*late, config_changes=1, release="3.2").enabled
    kept = trio(*PROPOSED, "b1 applies metadata", config_changes=1)
    assert kept.cells["b1"] == "L0 [|] -b3", "its proposal stays on its way"


def test_a_change_of_min_insync_that_empties_the_elr_makes_proposals_stale() -> None:
    fenced = (*SMALL, "b1 applies metadata", "b3 fetches from b1", "b1 adds b3 to the ISR")
    steps = (*fenced, "controller unfences b3")
    assert "controller accepts the ISR" in trio(*steps, config_changes=1).enabled
    changed = trio(*steps, "min.insync.replicas changes", config_changes=1)
    assert "controller accepts the ISR" not in changed.enabled


def test_a_broker_takes_configuration_after_the_topics_of_the_same_batch() -> None:
    raised = ("min.insync.replicas changes", "b1 applies metadata", "min.insync.replicas changes")
    steps = (*raised, "controller fences b2", "b1 appends a record", "b1 applies metadata")
    bounds: dict[str, int | str] = {"replicas": 2, "config_changes": 2, "defect": "N-03"}
    walk = trio(*steps, **bounds)
    assert walk.cells["b1"] == "L0 [r0@0 |]", "alone in the ISR, while it still knows a minimum of 1"
    assert walk.cells["controller"] == "b1@0 ISR b1 ELR b2 fenced b2"
    assert "b1 appends a record" not in walk.enabled, "now it knows better"
    assert trio(*steps, **bounds, fixed="on").cells["b1"] == "L0 [| r0@0]"
    apart = (*steps[:-2], "b1 applies metadata but the last 1", "b1 appends a record", "b1 applies metadata")
    assert "b1 appends a record" in trio(*apart[:-2], **bounds).enabled
    assert trio(*apart, **bounds).cells["b1"] == "L0 [| r0@0]", "in two batches the configuration came first"


def test_metadata_reaches_brokers_late_and_in_batches() -> None:
    walk = trio("controller fences b1", "controller fences b2")
    assert walk.cells["b3"] == "F0 [|] ~2"
    assert walk.take("b3 applies metadata but the last 1").cells["b3"] == "F1 [|] ~1"
    assert walk.take("b3 applies metadata").cells["b3"] == "L2 [|]"
    skipped = trio("controller fences b1", "controller fences b2", "b3 applies metadata")
    assert skipped.cells["b3"] == "L2 [|]"


def test_a_change_of_the_isr_alone_counts_as_known_to_followers() -> None:
    walk = trio("controller fences b3")
    assert walk.cells["b1"] == "L0 [|] ~1", "it is news to the leader"
    assert walk.cells["b2"] == "F0 [|]"


def test_the_controller_waits_for_metadata_that_is_as_late_as_the_bound_allows() -> None:
    walk = trio("controller fences b1", metadata_lag=1)
    assert "controller fences b2" not in walk.enabled


COMMITTED = ("b1 appends a record", "b2 fetches from b1", "b2 fetches from b1")


def test_a_crashed_broker_may_find_an_older_high_watermark_and_one_that_stopped_does_not() -> None:
    bounds: dict[str, int | str] = {"replicas": 2, "controlled_shutdowns": 1, "stale_checkpoints": "on"}
    older = "b1 finds an older checkpoint"
    walk = trio(*COMMITTED, "b1 crashes, its log ends at 1", **bounds)
    assert walk.cells["b1"] == "down [r0@0 |]"
    walk.take(older)
    assert walk.cells["b1"] == "down [| r0@0]"
    assert older not in walk.enabled
    assert older not in trio(*COMMITTED, "b1 asks to stop", "b1 stops cleanly", **bounds).enabled
    assert older not in trio(*COMMITTED, **bounds).enabled
    assert older not in trio(*COMMITTED, "b1 crashes, its log ends at 1", replicas=2).enabled


@pytest.mark.slow
def test_an_older_checkpoint_breaks_nothing_in_the_newest_release() -> None:
    small: dict[str, int | str] = {"replicas": 2, "records": 1, "power_failures": 0, "crashes": 1, "fencings": 1}
    kept = ["no_acknowledged_record_is_lost", "electable_replicas_are_complete", "no_divergence", "reads_repeat"]
    assert check(Cluster(**small, stale_checkpoints="on"), properties=kept).verdict == "holds"

"""A replica that a reassignment adds: when its broker names the directory, of which the controller knows nothing."""

from __future__ import annotations

import pytest

from insync.kafka.cluster.broker_state import is_offline, unassigned_in
from insync_walk import Walk, shared_cluster

CALM: dict[str, int | str] = {
    "replicas": 2,
    "power_failures": 0,
    "fencings": 0,
    "isr_shrinks": 0,
    "records": 1,
    "log_dir_failures": 1,
    "spares": 1,
    "reassignments": 1,
    "min_insync_replicas": 1,
    "metadata_lag": 3,
}


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**CALM, **bounds}), *labels)


def unassigned(walk: Walk) -> list[str]:
    return unassigned_in(walk.state)


JOINED = (
    "operator assigns the partition to {b1, b2}",
    "b1 applies metadata",
    "b2 applies metadata",
    "b2 fetches from b1",
    "b1 adds b2 to the ISR",
    "controller accepts the ISR",
    "b1 applies metadata",
)
LEADS = (
    *JOINED,
    "controller fences b1",
    "b2 applies metadata",
    "controller unfences b1",
    "b1 applies metadata",
    "b1 fetches from b2",
    "b2 adds b1 to the ISR",
    "controller accepts the ISR",
    "b2 applies metadata",
)
FENCED: dict[str, int | str] = {"fencings": 1, "crashes": 1}
TELLS = "controller learns of b2's failed directory"


def test_a_replica_that_was_added_leads_on_without_its_directory_which_is_n_18() -> None:
    walk = pair(*LEADS, "b2's directory fails", **FENCED)
    assert walk.cells["controller"] == "b2@1 ISR b1 b2 of b1 b2 in no directory b2"
    assert TELLS not in walk.enabled
    told = pair(*LEADS, "b2's directory fails", TELLS, **FENCED, defect="N-18", fixed="on")
    assert told.cells["controller"] == "b1@2 ISR b1 of b1 b2 offline b2"


def test_its_broker_names_a_directory_when_it_starts_and_begins_anew_where_that_has_failed() -> None:
    again = ("b2 crashes, its log ends at 0", "b2 starts and registers")
    walk = pair(*LEADS, "b2's directory fails", *again, **FENCED)
    assert "no directory" not in walk.cells["controller"]
    assert not is_offline(walk.state["broker"]["b2"])
    assert TELLS in pair(*LEADS, *again, "b2's directory fails", **FENCED).enabled


def test_it_does_so_too_where_that_directory_is_gone_of_which_the_controller_knows_nothing() -> None:
    gone = ("b2 appends a record", "b2 crashes, its log ends at 1", "b2 loses its directory", "b2 starts and registers")
    walk = pair(*LEADS, *gone, **FENCED)
    assert unassigned(walk) == walk.state["controller"]["offline_replicas"] == []
    assert not walk.state["broker"]["b2"]["to_assign"]
    assert "b2 names the directory of its log" not in walk.enabled


SWAPPED = tuple(label.replace("b2", "b3") for label in JOINED[1:])
THREE: dict[str, int | str] = {"replicas": 3}


def test_one_that_replaces_another_names_its_directory_as_it_hears_that_the_reassignment_has_ended() -> None:
    walk = pair("operator assigns the partition to {b1, b3}", *SWAPPED, **THREE)
    assert walk.cells["controller"] == "b1@1 ISR b1 b3 of b1 b3 in no directory b3"
    walk.take("b3 applies metadata")
    assert unassigned(walk) == []
    walk.take("b3's directory fails")
    assert "controller learns of b3's failed directory" in walk.enabled


def test_it_names_none_by_a_change_of_the_isr_or_of_the_leader_alone() -> None:
    assert unassigned(pair(*JOINED)) == unassigned(pair(*LEADS, **FENCED)) == ["b2"]


def test_who_is_put_first_to_be_elected_names_its_directory_and_who_is_first_does_not() -> None:
    walk = pair(*JOINED, "controller elects b2", preferred_elections=1)
    assert unassigned(walk) == ["b2"]
    walk.take("b2 applies metadata")
    assert unassigned(walk) == []
    first = pair(*LEADS, "controller elects b1", "b2 applies metadata", **FENCED, preferred_elections=1)
    assert unassigned(first) == ["b2"]


def test_another_order_of_the_replicas_makes_whoever_has_applied_all_else_name_its_directory_at_once() -> None:
    assert unassigned(pair(*JOINED, "operator puts b2 first", replica_order_changes=1)) == []
    late = pair(JOINED[0], "operator puts b2 first", replica_order_changes=1)
    assert unassigned(late) == ["b2"]
    late.take("b2 applies metadata but the last 1")
    assert unassigned(late) == ["b2"], "its metadata had it as no replica before"
    late.take("b2 applies metadata")
    assert unassigned(late) == []


def test_in_one_batch_with_its_addition_it_finds_nothing_anew() -> None:
    late = pair(JOINED[0], "operator puts b2 first", "b2 applies metadata", replica_order_changes=1)
    assert unassigned(late) == ["b2"]


TWO_ADDED = ("operator assigns the partition to {b1, b2, b3}", "b2 applies metadata")
TWO: dict[str, int | str] = {"replicas": 3, "spares": 2, "crashes": 1, "replica_order_changes": 1}
NAMES = ("b2 crashes, its log ends at 0", "b2 starts and registers")


def test_a_directory_that_another_broker_names_makes_it_name_its_own() -> None:
    assert unassigned(pair(*TWO_ADDED, "b3 applies metadata", *NAMES, **TWO)) == []
    late = pair(*TWO_ADDED, *NAMES, **TWO)
    assert unassigned(late) == ["b3"], "its metadata has it as no replica"
    late.take("b3 applies metadata")
    assert unassigned(late) == ["b3"], "and lists it for the first time"


def test_where_the_list_stays_as_it_is_those_find_themselves_anew_who_have_another_place_in_it() -> None:
    applied = (*TWO_ADDED, "b3 applies metadata")
    assert unassigned(pair(*applied, "operator puts b3 first", **TWO)) == []
    last = pair("operator assigns the partition to {b2, b3}", *applied[1:], "operator puts b3 first", **TWO)
    assert unassigned(last) == []


def test_a_change_of_places_among_those_behind_it_tells_a_broker_nothing() -> None:
    four: dict[str, int | str] = {"replicas": 4, "spares": 3, "replica_order_changes": 2}
    added = ("operator assigns the partition to {b2, b3, b4}", *(f"{b} applies metadata" for b in ("b2", "b3", "b4")))
    walk = pair(*added, **four)
    assert unassigned(walk) == ["b2", "b3", "b4"], "b1 is to go, and last"
    walk.take("operator puts b3 first")
    assert unassigned(walk) == ["b4"]


def test_one_that_is_taken_out_and_added_again_before_it_hears_of_either_names_its_directory() -> None:
    again = ("operator assigns the partition to {b2}", "operator assigns the partition to {b1, b2}")
    walk = pair(*again, spares=0, reassignments=2)
    assert unassigned(walk) == ["b1"]
    walk.take("b1 applies metadata")
    assert unassigned(walk) == []
    apart = pair(again[0], "b1 applies metadata", again[1], "b1 applies metadata", spares=0, reassignments=2)
    assert unassigned(apart) == ["b1"]


def test_of_what_it_applies_of_before_it_was_taken_out_it_names_nothing() -> None:
    ordered = (
        "operator puts b2 first",
        "operator assigns the partition to {b2}",
        "operator assigns the partition to {b1, b2}",
    )
    walk = pair(*ordered, "b1 applies metadata but the last 2", spares=0, reassignments=2, replica_order_changes=1)
    assert unassigned(walk) == ["b1"], "its directory is known in the metadata that it has"
    walk.take("b1 applies metadata")
    assert unassigned(walk) == []


def test_a_leader_that_knows_its_isr_by_a_reply_hears_of_a_list_with_the_metadata_that_it_knows() -> None:
    replied = ("b2 receives the AlterPartition response",)
    walk = pair(
        *LEADS[:-1],
        *replied,
        "operator puts b2 first",
        **FENCED,
        late_alter_partition_responses="on",
        replica_order_changes=1,
    )
    assert unassigned(walk) == ["b2"]
    walk.take("b2 applies metadata")
    assert unassigned(walk) == []


@pytest.mark.parametrize("reordered", [True, False])
def test_where_all_hear_at_once_it_names_its_directory_at_once(reordered: bool) -> None:
    added = JOINED[:1]
    walk = pair(*added, *(("operator puts b2 first",) if reordered else ()), metadata_lag=0, replica_order_changes=1)
    assert unassigned(walk) == ([] if reordered else ["b2"])


@pytest.mark.parametrize(("release", "elr"), [("4.1", []), ("4.3", ["b1", "b2"])])
def test_up_to_4_2_the_controller_forgets_by_that_who_is_eligible(release: str, elr: list[str]) -> None:
    walk = pair(
        "operator assigns the partition to {b2}",
        "b1 asks to stop",
        "b1 applies metadata",
        "b2's directory fails",
        "controller learns of b2's failed directory",
        "operator assigns the partition to {b1, b2}",
        "b1 stops cleanly",
        "b1 starts and registers",
        release=release,
        reassignments=2,
        metadata_lag=5,
        controlled_shutdowns=1,
        unclean_leader_election="off",
        spares=0,
        min_insync_replicas=2,
    )
    assert walk.state["controller"]["elr"] == elr


def test_who_is_taken_out_is_in_no_directory_no_more() -> None:
    walk = pair(*JOINED[:1], "operator cancels the reassignment", reassignments=2)
    assert unassigned(walk) == []


def test_before_3_7_no_controller_knows_directories() -> None:
    assert "directory" not in pair(*JOINED[:1], release="3.6", elr="off").state["broker"]["b2"]

"""Replies to fetches that arrive late: which are used, which are dropped, and what they bring."""

from __future__ import annotations

import pytest

from insync_walk import Walk, shared_cluster


def pair(*labels: str, **bounds: int | str) -> Walk:
    narrow = {"replicas": 2, "power_failures": 0, "fencings": 1, "late_fetch_responses": "on"}
    return Walk(shared_cluster(**{**narrow, **bounds}), *labels)


ASKED = ("b1 appends a record", "b2 fetches from b1")
RECEIVES, RECEIVES_3 = "b2 receives the response", "b3 receives the response"
GOT = (*ASKED, RECEIVES)
OTHER_LEADER = ("controller elects b2", "b2 applies metadata")
SAME_LEADER = ("controller elects b2", "controller elects b1", "b2 applies metadata")
"""Another leader epoch, in which b2 follows the same leader; that another one led in between it has not heard."""


def test_a_late_reply_is_dropped_once_the_epoch_has_moved() -> None:
    assert RECEIVES in pair(*ASKED).enabled
    assert RECEIVES not in pair(*ASKED, *OTHER_LEADER, preferred_elections=1).enabled


DIVERGED = (
    *OTHER_LEADER,
    "b2 appends a record",
    "controller elects b1",
    "b1 applies metadata",
    "b2 applies metadata",
    "b2 fetches from b1",
)


def test_that_logs_diverge_is_heard_whatever_has_become_of_the_follower_where_that_is_a_defect() -> None:
    walk = pair(*DIVERGED, *OTHER_LEADER, preferred_elections=3, defect="R-20")
    assert walk.cells["b2"] == "L3 [| r0@1]"
    assert walk.take(RECEIVES).cells["b2"] == "L3 [|]"
    assert RECEIVES not in pair(*GOT, *ASKED, *OTHER_LEADER, preferred_elections=1, defect="R-20").enabled, (
        "it has a record"
    )


def test_by_release_a_late_reply_is_dropped_with_the_epoch_or_with_the_leader() -> None:
    kept = {
        release: tuple(
            RECEIVES in pair(*GOT, *ASKED, *steps, preferred_elections=2, release=release).enabled
            for steps in (SAME_LEADER, OTHER_LEADER)
        )
        for release in ("2.8", "2.8.1", "3.9", "3.9.1", "4.0", "4.0.1", "4.1")
    }
    by_leader, by_epoch = (True, False), (False, False)
    assert kept == {
        "2.8": by_leader, "2.8.1": by_leader, "3.9": by_leader, "3.9.1": by_epoch,
        "4.0": by_leader, "4.0.1": by_epoch, "4.1": by_epoch,
    }  # fmt: skip


SYNCED = (*GOT, "b2 fetches from b1", RECEIVES)
DELETED = (*SYNCED, "b1 deletes a record", "b2 fetches from b1", RECEIVES)
FORGOTTEN = (*DELETED, "b2 crashes, its log ends at 1", "b2 starts and registers", "controller unfences b2")


@pytest.mark.parametrize(
    ("release", "before", "kept"),
    [
        pytest.param("3.9", (), False, id="it is empty"),
        pytest.param("3.9", GOT, True, id="it has a record"),
        pytest.param("3.9", DELETED, True, id="all is deleted, and its last epoch is known"),
        pytest.param("3.9", FORGOTTEN, False, id="all is deleted, and its last epoch is not known"),
        pytest.param("2.8", (), False, id="it is empty, as in later releases"),
        pytest.param("2.8", GOT, True, id="it has a record, as in later releases"),
    ],
)
def test_whose_log_has_no_epoch_truncates_first_in_a_new_one_and_so_drops_a_late_reply(
    release: str, before: tuple[str, ...], *, kept: bool
) -> None:
    bounds: dict[str, int | str] = {
        "preferred_elections": 2,
        "crashes": 1,
        "delete_records": 1,
        "min_insync_replicas": 1,
        "release": release,
    }
    assert (RECEIVES in pair(*before, *ASKED, *SAME_LEADER, **bounds).enabled) is kept


def test_who_is_no_replica_any_more_drops_a_late_reply() -> None:
    led = ("controller elects b2", "b1 applies metadata", "b2 applies metadata")  # b1 has an epoch and no record
    asked = (*led, "b2 appends a record", "b1 fetches from b2")
    removed = ("operator assigns the partition to {b2, b3}", "b1 applies metadata")
    bounds: dict[str, int | str] = {"replicas": 3, "preferred_elections": 1, "reassignments": 1, "release": "3.9"}
    assert "b1 receives the response" in pair(*asked, **bounds).enabled
    assert "b1 receives the response" not in pair(*asked, *removed, **bounds).enabled


ELSEWHERE = (*OTHER_LEADER, "b2 appends a record")
REWRITTEN = (
    *ELSEWHERE,
    "b1 appends a record",
    "b3 fetches from b1",
    "b1 applies metadata",
    "b1 fetches from b2",
    "b1 receives the response",
    "b1 fetches from b2",
    "b1 receives the response",
)
"""b3 has asked b1 for r1 in epoch 0; b1 has truncated it since then, and has r0 of epoch 1 in its place."""


@pytest.mark.slow
def test_before_3_9_1_and_4_0_1_a_reply_may_bring_what_the_leader_has_written_since() -> None:
    wide: dict[str, int | str] = {"replicas": 3, "preferred_elections": 1}
    sends = "b3 receives the response that b1 sends now"
    walks = {release: pair(*REWRITTEN, **wide, release=release) for release in ("3.9", "3.9.1", "4.0", "4.0.1", "4.1")}
    assert walks["4.1"].cells["b1"] == "F1 [| r0@1]"
    taken = {release: walk.take(sends).cells["b3"] for release, walk in walks.items()}
    late, skipped = "F0 [| r0@1] ~1", "F0 [|] ~1"
    assert taken == {"3.9": late, "3.9.1": skipped, "4.0": late, "4.0.1": skipped, "4.1": skipped}
    kept = pair(*REWRITTEN, "b3 receives the response", **wide, release="3.9")
    assert kept.cells["b3"] == "F0 [| r1@0] ~1", "the bytes may have been sent before"


def test_a_leader_that_goes_down_sends_nothing_any_more() -> None:
    wide: dict[str, int | str] = {"replicas": 3, "preferred_elections": 1, "crashes": 1, "release": "3.9"}
    sends, crashed = "b3 receives the response that b1 sends now", (*REWRITTEN, "b1 crashes, its log ends at 1")
    assert sends in pair(*REWRITTEN, **wide).enabled
    back = pair(*crashed, "b1 starts and registers", **wide)
    assert sends not in back.enabled
    assert "b3 receives the response" in back.enabled


def test_a_reply_whose_record_is_still_there_comes_as_it_was_made() -> None:
    walk = pair("b1 appends a record", "b2 fetches from b1")
    assert {label for label in walk.enabled if label.startswith("b2 receives")} == {"b2 receives the response"}


BELOW_THE_START = (
    "b1 appends a record",
    "b1 drops b3 from the ISR",
    "controller accepts the ISR",
    "b1 applies metadata",
    "b2 fetches from b1",
    "b2 receives the response",
    "b2 fetches from b1",
    "b1 deletes a record",
    "b3 fetches from b1",
)
"""b3 has asked for an offset that b1 has deleted, and OFFSET_OUT_OF_RANGE is on its way."""


def test_after_an_offset_out_of_range_a_former_leader_does_not_say_where_its_log_begins() -> None:
    wide: dict[str, int | str] = {
        "replicas": 3,
        "records": 1,
        "isr_shrinks": 1,
        "delete_records": 1,
        "preferred_elections": 1,
    }
    wide |= {"min_insync_replicas": 1, "fencings": 0}
    assert pair(*BELOW_THE_START, RECEIVES_3, **wide).cells["b3"] == "F0 [x |]"
    led = (*BELOW_THE_START, "controller elects b2", "b1 applies metadata")
    assert pair(*led, **wide).cells["b1"] == "F1 [x |]"
    late = pair(*led, RECEIVES_3, **wide)
    assert late.cells["b3"] == "F0 [|] ~1", "FENCED_LEADER_EPOCH, so b3 stays as it was"
    assert RECEIVES_3 not in late.enabled

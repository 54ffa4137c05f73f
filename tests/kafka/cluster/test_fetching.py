"""Fetching, truncation, the high watermark: what leader and follower do to each other."""

from __future__ import annotations

import pytest

from insync.model import GuardError
from insync_walk import Walk, shared_cluster

COPIED = ("b1 appends a record", "b2 fetches from b1")
COMMITTED = (*COPIED, "b2 fetches from b1")


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{"replicas": 2, "lossy_crashes": 0, "fencings": 1, **bounds}), *labels)


def test_a_follower_appends_what_it_fetches_and_learns_of_the_commit_one_fetch_later() -> None:
    walk = pair(*COPIED)
    assert (walk.cells["b1"], walk.cells["b2"]) == ("L0 [| r0@0]", "F0 [| r0@0]")
    walk.take("b2 fetches from b1")
    assert (walk.cells["b1"], walk.cells["b2"]) == ("L0 [r0@0 |]", "F0 [| r0@0]")
    walk.take("b2 fetches from b1")
    assert walk.cells["b2"] == "F0 [r0@0 |]"


def test_a_record_is_acknowledged_when_the_whole_isr_has_it() -> None:
    assert pair(*COPIED).state["acked"] == []
    assert pair(*COMMITTED).state["acked"] == ["r0"]


def test_a_record_is_acknowledged_by_the_leader_alone_with_acks_1() -> None:
    assert pair("b1 appends a record", acks="1").state["acked"] == ["r0"]


def test_nothing_is_acknowledged_with_acks_0() -> None:
    assert pair(*COMMITTED, acks="0").state["acked"] == []


def test_a_write_with_acks_all_needs_min_insync_replicas() -> None:
    steps = ("controller fences b2", "b1 applies metadata 0")
    assert "b1 appends a record" not in pair(*steps).enabled
    assert "b1 appends a record" in pair(*steps, acks="1").enabled


def test_a_write_is_not_thin_where_a_single_replica_was_asked_for() -> None:
    """The minimum is 1 by then, and the leader knows it; how many replicas there are does not matter."""
    steps = ("min.insync.replicas changes", "controller fences b2", "b1 applies metadata 0", "b1 appends a record")
    state = pair(*steps, minimum_changes=1, metadata_lag=2).state
    assert (state["acked"], state["thin_ack"]) == (["r0"], False)


def test_the_high_watermark_stands_still_below_min_insync_replicas_since_3_7() -> None:
    steps = ("controller fences b2", "b1 applies metadata 0", "b1 appends a record")
    assert pair(*steps, acks="1").cells["b1"] == "L0 [| r0@0]"
    assert pair(*steps, acks="1", release="3.5").cells["b1"] == "L1 [r0@1 |]", "3.5 bumps the epoch when an ISR shrinks"


def test_a_follower_of_an_earlier_epoch_is_not_served() -> None:
    steps = ("controller elects b2", "controller elects b1", "b1 applies metadata 0")
    assert "b2 fetches from b1" not in pair(*steps, elections=2).enabled
    assert "b2 fetches from b1" in pair(*steps, elections=2, defect="R-09").enabled


DIVERGED = (
    "controller elects b2",
    "b2 applies metadata 0",
    "b2 appends a record",
    "b1 appends a record",
    "b1 applies metadata 0",
)


def test_a_diverging_follower_truncates_before_it_fetches() -> None:
    walk = pair(*DIVERGED, elections=1)
    assert (walk.cells["b1"], walk.cells["b2"]) == ("F1 [| r1@0]", "L1 [| r0@1]")
    walk.take("b1 fetches from b2")
    assert walk.cells["b1"] == "F1 [|]"
    walk.take("b1 fetches from b2")
    assert walk.cells["b1"] == "F1 [| r0@1]"


LEADS_ALONE = (
    "b1 appends a record",
    "controller fences b1",
    "b2 applies metadata 0",
    "b2 appends a record",
    "b1 applies metadata 0",
)


def test_before_3_5_a_diverging_reply_raises_the_high_watermark_before_the_truncation() -> None:
    """Where it does not rise, the reply truncates at once."""
    walk = pair(*LEADS_ALONE, min_insync=1, defect="R-21")
    assert (walk.cells["b1"], walk.cells["b2"]) == ("F1 [| r0@0]", "L1 [r1@1 |]")
    assert walk.take("b1 fetches from b2").cells["b1"] == "F1 [r0@0 |]"
    assert walk.take("b1 fetches from b2").cells["b1"] == "F1 [|]"
    assert pair(*LEADS_ALONE, "b1 fetches from b2", min_insync=1).cells["b1"] == "F1 [|]"
    assert pair(*DIVERGED, "b1 fetches from b2", elections=1, defect="R-21").cells["b1"] == "F1 [|]"


def test_a_diverging_fetch_does_not_count() -> None:
    walk = pair(*DIVERGED, "b1 fetches from b2", elections=1)
    assert walk.cells["b2"] == "L1 [| r0@1]"
    walk = pair(*DIVERGED, "b1 fetches from b2", elections=1, defect="R-19")
    assert walk.cells["b2"] == "L1 [r0@1 |]"


def test_until_2_8_a_follower_asks_where_to_truncate_before_its_first_fetch() -> None:
    walk = pair(*DIVERGED, elections=1, release="2.1")
    assert "b1 fetches from b2" not in walk.enabled
    walk.take("b1 asks b2 where to truncate")
    assert walk.cells["b1"] == "F1 [|]"
    assert "b1 fetches from b2" in walk.enabled


TWO_LOGS = ("b1 appends a record", "controller elects b2", "b2 applies metadata 0", "b2 appends a record")
BACK = ("controller elects b1", "b1 applies metadata 0", "b2 applies metadata 0", "b2 asks b1 where to truncate")


@pytest.mark.parametrize("release", ["0.11", "2.0"])
def test_who_asks_for_an_epoch_above_all_that_the_leader_has_falls_back_to_its_high_watermark(release: str) -> None:
    walk = pair(*TWO_LOGS, elections=2, release=release)
    assert (walk.cells["b1"], walk.cells["b2"]) == ("L0 [| r0@0] ~1", "L1 [| r1@1]")
    walk.take(*BACK)
    assert (walk.cells["b1"], walk.cells["b2"]) == ("L2 [| r0@0]", "F2 [|]")


def test_before_kip_101_a_follower_truncates_to_its_high_watermark() -> None:
    steps = (*COMMITTED, "controller elects b2", "b1 applies metadata 0")
    walk = pair(*COMMITTED, "controller elects b2", "b2 applies metadata 0", elections=2, release="0.10.2")
    walk.take("controller elects b1", "b2 applies metadata 0")
    assert walk.cells["b2"] == "F2 [|]", "it had the record, and had not heard that it was committed"
    assert pair(*steps, elections=1, release="0.10.2").cells["b1"] == "F1 [r0@0 |]"


def test_a_late_reply_is_dropped_once_the_epoch_has_moved() -> None:
    steps = ("b1 appends a record", "b2 fetches from b1")
    assert "b2 receives the reply" in pair(*steps, late_replies="on").enabled
    moved = (*steps, "controller elects b2", "b2 applies metadata 0")
    assert "b2 receives the reply" not in pair(*moved, late_replies="on", elections=1).enabled
    assert "b2 receives the reply" in pair(*moved, late_replies="on", elections=1, defect="R-20").enabled


def test_a_fetcher_that_has_stopped_fetches_again_only_when_it_goes_on() -> None:
    walk = pair("b1 appends a record", "b2's fetcher stops", pauses=1)
    assert "b2 fetches from b1" not in walk.enabled
    walk.take("b2's fetcher goes on")
    assert "b2 fetches from b1" in walk.enabled


def test_a_log_is_replaced_by_its_copy_once_the_copy_is_whole() -> None:
    walk = pair(*COMMITTED, "b2 begins to copy its log", moves=1)
    assert "b2 replaces its log by the copy" not in walk.enabled
    walk.take("b2 copies a record", "b2 replaces its log by the copy")
    assert walk.cells["b2"] == "F0 [| r0@0]"


ALONE = ("controller fences b2", "b1 applies metadata 0", "b1 appends a record", "b1 appends a record")


def test_a_follower_deletes_what_the_leader_has_deleted() -> None:
    walk = pair(*COMMITTED, "b2 fetches from b1", "b1 deletes a record", deletions=1)
    assert (walk.cells["b1"], walk.cells["b2"]) == ("L0 [x |]", "F0 [r0@0 |]")
    assert walk.take("b2 fetches from b1").cells["b2"] == "F0 [x |]"


def test_a_follower_that_ends_before_the_leaders_log_begins_starts_anew_there() -> None:
    walk = pair(*ALONE, "b1 deletes a record", deletions=1, min_insync=1)
    assert (walk.cells["b1"], walk.cells["b2"]) == ("L0 [x r1@0 |]", "F0 [|]")
    assert walk.take("b2 fetches from b1").cells["b2"] == "F0 [x |]"
    assert walk.take("b2 fetches from b1").cells["b2"] == "F0 [x r1@0 |]"


def test_a_log_that_is_cut_below_its_start_begins_where_it_ends() -> None:
    """An unclean leader has nothing, and who follows it has deleted what it had."""
    steps = ("controller fences b2", "b1 applies metadata 0", "b1 appends a record", "b1 deletes a record")
    walk = pair(*steps, deletions=1, min_insync=1, unclean="on", crashes=1)
    walk.take("b1 crashes, its log ends at 1", "controller unfences b2", "controller fences b1")
    walk.take("b2 applies metadata 0", "b1 starts and registers")
    assert (walk.cells["b1"], walk.cells["b2"]) == ("F1 [x |]", "L1 [|]")
    assert walk.take("b1 fetches from b2").cells["b1"] == "F1 [|]"
    broker = walk.state["broker"]["b1"]
    assert (broker["start"], broker["leo"], broker["hw"]) == (0, 0, 0)


def test_only_what_is_committed_is_deleted() -> None:
    walk = pair(*COPIED, deletions=1)
    assert "b1 deletes a record" not in walk.enabled
    assert "b1 deletes a record" in walk.take("b2 fetches from b1").enabled


def test_a_new_leader_notes_its_epoch_before_it_writes() -> None:
    walk = pair("controller elects b2", "b2 applies metadata 0", elections=1)
    assert walk.state["broker"]["b2"]["term"] == 1
    walk = pair("controller elects b2", "b2 applies metadata 0", elections=1, release="2.0")
    assert walk.state["broker"]["b2"]["term"] == -1


def test_who_does_not_lead_cannot_write() -> None:
    with pytest.raises(GuardError):
        pair().take("b2 appends a record")

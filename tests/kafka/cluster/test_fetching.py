"""Fetching, truncation, the high watermark: what leader and follower do to each other."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.model import GuardError
from insync_walk import Walk, shared_cluster

COPIED = ("b1 appends a record", "b2 fetches from b1")
COMMITTED = (*COPIED, "b2 fetches from b1")


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{"replicas": 2, "power_failures": 0, "fencings": 1, **bounds}), *labels)


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
    steps = ("controller fences b2", "b1 applies metadata")
    assert "b1 appends a record" not in pair(*steps).enabled
    assert "b1 appends a record" in pair(*steps, acks="1").enabled


def test_before_3_7_a_minimum_above_the_replicas_refuses_every_write_and_since_then_it_means_all_of_them() -> None:
    alone: dict[str, int | str] = {"replicas": 1, "min_insync_replicas": 2}
    assert "b1 appends a record" not in pair(release="3.6", **alone).enabled
    assert pair("b1 appends a record", release="3.7", **alone).state["acked"] == ["r0"]
    assert "b1 appends a record" in pair(release="3.6", acks="1", **alone).enabled


def test_a_minimum_above_the_replicas_loses_nothing_before_3_7_and_a_record_since() -> None:
    """The one replica crashes; with 3.6 nothing was acknowledged."""
    bounds: dict[str, int | str] = {
        "replicas": 1,
        "min_insync_replicas": 2,
        "records": 1,
        "power_failures": 1,
        "fencings": 0,
    }
    lost = ["no_acknowledged_record_is_lost"]
    assert check(Cluster(release="3.6", **bounds), properties=lost).verdict == "holds"
    assert check(Cluster(release="3.7", **bounds), properties=lost).verdict == "violated"


def test_a_write_is_not_thin_where_a_single_replica_was_asked_for() -> None:
    """The minimum is 1 by then, and the leader knows it; how many replicas there are does not matter."""
    steps = ("min.insync.replicas changes", "controller fences b2", "b1 applies metadata", "b1 appends a record")
    state = pair(*steps, config_changes=1, metadata_lag=2).state
    assert (state["acked"], state["acked_under_min_isr"]) == (["r0"], False)


def test_a_lower_minimum_moves_the_high_watermark_with_the_next_log_end_that_a_fetch_shows() -> None:
    steps = ("b1 appends a record", "controller fences b2", "min.insync.replicas changes")
    walk = pair(*steps, "b1 applies metadata but the last 1", config_changes=1, metadata_lag=3)
    assert walk.cells["b1"] == "L0 [| r0@0] ~1", "the ISR is b1, and the minimum is still 2"
    walk.take("b1 applies metadata", "b2 fetches from b1")
    assert walk.cells["b1"] == "L0 [r0@0 |]", "the leader had not known any log end of b2"
    same = pair(*steps[1:2], "b1 applies metadata", "b2 fetches from b1", config_changes=1, metadata_lag=3, acks="1")
    same.take("b1 appends a record", "min.insync.replicas changes", "b1 applies metadata", "b2 fetches from b1")
    assert same.cells["b1"] == "L0 [| r0@0]", "b2 fetches where it did before"
    assert same.take("b2 fetches from b1").cells["b1"] == "L0 [r0@0 |]"


def test_a_leader_waits_for_who_may_join_with_the_fetch_that_shows_its_log_end() -> None:
    """Kafka's leader asks for it within that fetch, before its high watermark moves."""
    bounds: dict[str, int | str] = {"config_changes": 1, "metadata_lag": 3, "acks": "1"}
    steps = ("controller fences b2", "b1 applies metadata", "b1 appends a record", "min.insync.replicas changes")
    joins = pair(*steps, "b1 applies metadata", "controller unfences b2", "b2 fetches from b1", **bounds)
    assert joins.cells["b1"] == "L0 [| r0@0]", "though b1 is alone in the ISR, and that is enough"
    assert joins.take("b1 adds b2 to the ISR").cells["b1"] == "L0 [| r0@0] +b2"
    fenced = pair(*steps, "b1 applies metadata", "b2 fetches from b1", **bounds)
    assert fenced.cells["b1"] == "L0 [r0@0 |]"


def test_a_leader_that_has_crashed_since_answers_no_producer() -> None:
    """It leads on in its epoch, as before 4.0 it may, and has forgotten who waits."""
    written = ("b1 appends a record", "b1 crashes, its log ends at 1", "b1 starts and registers")
    bounds: dict[str, int | str] = {"release": "3.9", "crashes": 1}
    walk = pair(*written, "b2 fetches from b1", "b2 fetches from b1", **bounds)
    assert walk.cells["b1"] == "L0 [r0@0 |]"
    assert walk.state["acked"] == []


def test_the_high_watermark_stands_still_below_min_insync_replicas_since_3_7() -> None:
    steps = ("controller fences b2", "b1 applies metadata", "b1 appends a record")
    assert pair(*steps, acks="1").cells["b1"] == "L0 [| r0@0]"
    assert pair(*steps, acks="1", release="3.5").cells["b1"] == "L1 [r0@1 |]", "3.5 bumps the epoch when an ISR shrinks"


def test_a_follower_of_an_earlier_epoch_is_not_served() -> None:
    steps = ("controller elects b2", "controller elects b1", "b1 applies metadata")
    assert "b2 fetches from b1" not in pair(*steps, preferred_elections=2).enabled
    assert "b2 fetches from b1" in pair(*steps, preferred_elections=2, defect="R-09").enabled


DIVERGED = (
    "controller elects b2",
    "b2 applies metadata",
    "b2 appends a record",
    "b1 appends a record",
    "b1 applies metadata",
)


def test_a_diverging_follower_truncates_before_it_fetches() -> None:
    walk = pair(*DIVERGED, preferred_elections=1)
    assert (walk.cells["b1"], walk.cells["b2"]) == ("F1 [| r1@0]", "L1 [| r0@1]")
    walk.take("b1 fetches from b2")
    assert walk.cells["b1"] == "F1 [|]"
    walk.take("b1 fetches from b2")
    assert walk.cells["b1"] == "F1 [| r0@1]"


LEADS_ALONE = (
    "b1 appends a record",
    "controller fences b1",
    "b2 applies metadata",
    "b2 appends a record",
    "b1 applies metadata",
)


DEPOSED = ("controller elects b2", "b2 applies metadata", "controller elects b1")


def test_a_deposed_leader_that_never_wrote_is_served_at_once() -> None:
    """The new leader knows no epoch up to the one asked for and names its first, at 0: nothing parts below 0."""
    walk = pair(*DEPOSED, "b1 applies metadata", "b2 applies metadata", "b1 appends a record", preferred_elections=2)
    assert walk.state["broker"]["b2"]["latest_epoch"] == 1
    assert walk.take("b2 fetches from b1").cells["b2"] == "F2 [| r0@2]"


def test_a_leader_that_knows_later_epochs_alone_names_where_they_begin() -> None:
    """It has copied only what b3 wrote in epoch 1, and b1 asks for the end of epoch 0."""
    steps = ("b1 appends a record", "controller elects b3", "b3 applies metadata", "b3 appends a record")
    copied = ("b2 applies metadata", "b2 fetches from b3", "controller elects b2", "b2 applies metadata")
    walk = pair(*steps, *copied, "b1 applies metadata", replicas=3, preferred_elections=2)
    assert (walk.cells["b1"], walk.cells["b2"]) == ("F2 [| r0@0]", "L2 [| r1@1]")
    assert walk.take("b1 fetches from b2").cells["b1"] == "F2 [|]", "its own record begins where theirs do"


def test_before_3_5_a_diverging_reply_raises_the_high_watermark_before_the_truncation() -> None:
    """Where it does not rise, the reply truncates at once."""
    walk = pair(*LEADS_ALONE, min_insync_replicas=1, defect="R-21")
    assert (walk.cells["b1"], walk.cells["b2"]) == ("F1 [| r0@0]", "L1 [r1@1 |]")
    assert walk.take("b1 fetches from b2").cells["b1"] == "F1 [r0@0 |]"
    assert walk.take("b1 fetches from b2").cells["b1"] == "F1 [|]"
    assert pair(*LEADS_ALONE, "b1 fetches from b2", min_insync_replicas=1).cells["b1"] == "F1 [|]"
    assert pair(*DIVERGED, "b1 fetches from b2", preferred_elections=1, defect="R-21").cells["b1"] == "F1 [|]"


def test_a_diverging_fetch_does_not_count() -> None:
    walk = pair(*DIVERGED, "b1 fetches from b2", preferred_elections=1)
    assert walk.cells["b2"] == "L1 [| r0@1]"
    walk = pair(*DIVERGED, "b1 fetches from b2", preferred_elections=1, defect="R-19")
    assert walk.cells["b2"] == "L1 [r0@1 |]"


def test_until_2_8_a_follower_asks_where_to_truncate_before_its_first_fetch() -> None:
    walk = pair(*DIVERGED, preferred_elections=1, release="2.1")
    assert "b1 fetches from b2" not in walk.enabled
    walk.take("b1 asks b2 where to truncate")
    assert walk.cells["b1"] == "F1 [|]"
    assert "b1 fetches from b2" in walk.enabled


TWO_LOGS = ("b1 appends a record", "controller elects b2", "b2 applies metadata", "b2 appends a record")
BACK = ("controller elects b1", "b1 applies metadata", "b2 applies metadata", "b2 asks b1 where to truncate")


@pytest.mark.parametrize("release", ["0.11", "2.0"])
def test_who_asks_for_an_epoch_above_all_that_the_leader_has_falls_back_to_its_high_watermark(release: str) -> None:
    walk = pair(*TWO_LOGS, preferred_elections=2, release=release)
    assert (walk.cells["b1"], walk.cells["b2"]) == ("L0 [| r0@0] ~1", "L1 [| r1@1]")
    walk.take(*BACK)
    assert (walk.cells["b1"], walk.cells["b2"]) == ("L2 [| r0@0]", "F2 [|]")


def test_before_kip_101_a_follower_truncates_to_its_high_watermark() -> None:
    steps = (*COMMITTED, "controller elects b2", "b1 applies metadata")
    walk = pair(*COMMITTED, "controller elects b2", "b2 applies metadata", preferred_elections=2, release="0.10.2")
    walk.take("controller elects b1", "b2 applies metadata")
    assert walk.cells["b2"] == "F2 [|]", "it had the record, and had not heard that it was committed"
    assert pair(*steps, preferred_elections=1, release="0.10.2").cells["b1"] == "F1 [r0@0 |]"


def test_a_fetcher_that_has_stopped_fetches_again_only_when_it_goes_on() -> None:
    walk = pair("b1 appends a record", "b2's fetcher stops", fetch_failures=1)
    assert "b2 fetches from b1" not in walk.enabled
    walk.take("b2's fetcher goes on")
    assert "b2 fetches from b1" in walk.enabled


def test_a_log_is_replaced_by_its_copy_once_the_copy_is_whole() -> None:
    walk = pair(*COMMITTED, "b2 begins to copy its log", log_dir_moves=1)
    assert "b2 replaces its log by the copy" not in walk.enabled
    walk.take("b2 copies a record", "b2 replaces its log by the copy")
    assert walk.cells["b2"] == "F0 [| r0@0]"


ALONE = ("controller fences b2", "b1 applies metadata", "b1 appends a record", "b1 appends a record")


def test_a_follower_deletes_what_the_leader_has_deleted() -> None:
    walk = pair(*COMMITTED, "b2 fetches from b1", "b1 deletes a record", delete_records=1)
    assert (walk.cells["b1"], walk.cells["b2"]) == ("L0 [x |]", "F0 [r0@0 |]")
    assert walk.take("b2 fetches from b1").cells["b2"] == "F0 [x |]"


def test_a_follower_that_ends_before_the_leaders_log_begins_starts_anew_there() -> None:
    walk = pair(*ALONE, "b1 deletes a record", delete_records=1, min_insync_replicas=1)
    assert (walk.cells["b1"], walk.cells["b2"]) == ("L0 [x r1@0 |]", "F0 [|]")
    assert walk.take("b2 fetches from b1").cells["b2"] == "F0 [x |]"
    assert walk.take("b2 fetches from b1").cells["b2"] == "F0 [x r1@0 |]"


def test_a_log_that_is_cut_below_its_start_begins_where_it_ends() -> None:
    """An unclean leader has nothing, and who follows it has deleted what it had."""
    steps = ("controller fences b2", "b1 applies metadata", "b1 appends a record", "b1 deletes a record")
    walk = pair(*steps, delete_records=1, min_insync_replicas=1, unclean_leader_election="on", crashes=1)
    walk.take("b1 crashes, its log ends at 1", "controller unfences b2", "controller fences b1")
    walk.take("b2 applies metadata", "b1 starts and registers")
    assert (walk.cells["b1"], walk.cells["b2"]) == ("F1 [x |]", "L1 [|]")
    assert walk.take("b1 fetches from b2").cells["b1"] == "F1 [|]"
    broker = walk.state["broker"]["b1"]
    assert (broker["log_start"], broker["leo"], broker["hw"]) == (0, 0, 0)


def test_a_followers_high_watermark_is_not_below_the_start_of_its_log() -> None:
    """It has led, and the new leader has not heard yet how far its high watermark had come."""
    first = ("b1 appends a record", "b2 fetches from b1", "b3 fetches from b1", "b2 fetches from b1")
    steps = (*first, "b3 fetches from b1", "b1 deletes a record", "controller elects b2", "b1 applies metadata")
    bounds: dict[str, int | str] = {"replicas": 3, "delete_records": 1, "preferred_elections": 1}
    walk = pair(*steps, "b2 applies metadata", **bounds)
    assert walk.cells["b1"] == "F1 [x |]"
    assert walk.cells["b2"] == "L1 [| r0@0]"
    assert walk.take("b1 fetches from b2").cells["b1"] == "F1 [x |]"


def test_only_what_is_committed_is_deleted() -> None:
    walk = pair(*COPIED, delete_records=1)
    assert "b1 deletes a record" not in walk.enabled
    assert "b1 deletes a record" in walk.take("b2 fetches from b1").enabled


def test_a_new_leader_notes_its_epoch_before_it_writes() -> None:
    walk = pair("controller elects b2", "b2 applies metadata", preferred_elections=1)
    assert walk.state["broker"]["b2"]["latest_epoch"] == 1
    walk = pair("controller elects b2", "b2 applies metadata", preferred_elections=1, release="2.0")
    assert walk.state["broker"]["b2"]["latest_epoch"] == -1


def test_who_does_not_lead_cannot_write() -> None:
    with pytest.raises(GuardError):
        pair().take("b2 appends a record")


LOST_EPOCH = (
    "b1 appends a record",
    "controller elects b2",
    "b2 applies metadata",
    "b2 appends a record",
    "b2 appends a record",
    "controller elects b1",
    "b1 applies metadata",
    "b2 applies metadata",
    "b1 begins to copy its log",
    "b1 copies a record",
    "b1 replaces its log by the copy",
)
"""b1 leads in epoch 2, of which its epoch cache has lost the entry, and b2 has records of epoch 1."""


def test_a_leader_that_does_not_know_the_epoch_has_the_follower_truncate_to_its_end_whatever_is_there() -> None:
    bounds: dict[str, int | str] = {
        "preferred_elections": 2,
        "log_dir_moves": 1,
        "records": 4,
        "min_insync_replicas": 1,
    }
    walk = pair(*LOST_EPOCH, "b2 fetches from b1", **bounds)
    assert walk.cells["b1"] == "L2 [| r0@0]"
    assert walk.cells["b2"] == "F2 [| r1@1]", "its end is the leader's, its record is not"
    assert "b2 fetches from b1" not in walk.enabled, "it asks again and again"
    walk.take("b1 appends a record", "b2 fetches from b1")
    assert walk.cells["b2"] == "F2 [|]", "as soon as the leader knows a later epoch it says where the logs part"


def test_a_leader_that_knows_its_epoch_says_where_the_logs_part() -> None:
    walk = pair(
        *LOST_EPOCH[:8], "b2 fetches from b1", preferred_elections=2, log_dir_moves=1, records=4, min_insync_replicas=1
    )
    assert walk.cells["b2"] == "F2 [|]"


def test_who_asks_for_an_unknown_epoch_and_ends_before_the_leaders_log_begins_starts_anew_there() -> None:
    """It finds no end of its own between those of the leader's log, and so it does not ask again and again."""
    bounds: dict[str, int | str] = {
        "preferred_elections": 2,
        "log_dir_moves": 1,
        "records": 4,
        "min_insync_replicas": 1,
        "delete_records": 2,
        "metadata_lag": 3,
    }
    copied = ("b1 begins to copy its log", *["b1 copies a record"] * 2, "b1 replaces its log by the copy")
    moved = ("controller elects b2", "b2 applies metadata", "b2 appends a record", "controller elects b1")
    known = ("b1 applies metadata", "b2 applies metadata")
    alone = ("controller fences b2", "b1 applies metadata")
    steps = (*["b1 appends a record"] * 2, *moved, *known, *copied, *alone)
    walk = pair(*steps, "b1 deletes a record", **bounds)
    assert "b2 fetches from b1" not in walk.enabled
    walk.take("b1 deletes a record")
    assert walk.take("b2 fetches from b1").cells["b2"] == "F2 [x x |]"

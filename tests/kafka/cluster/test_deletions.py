"""What an operator is told who deletes records: the leader waits for the log starts of all replicas that are alive."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.properties.kafka.cluster_deletions import answered_deletions_are_done, deleted_records_stay_away
from insync_walk import Walk, shared_cluster

DONE, AWAY = answered_deletions_are_done.__name__, deleted_records_stay_away.__name__
BOUNDS: dict[str, int | str] = {
    "replicas": 2, "records": 2, "power_failures": 0, "isr_shrinks": 0, "delete_records": 2,
}  # fmt: skip
DELETED = ("b1 appends a record", "b2 fetches from b1", "b2 fetches from b1", "b1 deletes a record")
FENCED = (*DELETED[:3], "controller fences b2", "b1 applies metadata", DELETED[3])


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**BOUNDS, **bounds}), *labels)


def told(walk: Walk) -> int:
    found: int = walk.state["deleted_below"]
    return found


def test_the_leader_answers_when_a_fetch_says_that_the_follower_has_deleted_it() -> None:
    walk = pair(*DELETED)
    assert (told(walk), walk.state["broker"]["b1"]["deleting"]) == (0, 1)
    walk.take("b2 fetches from b1")
    assert walk.cells["b2"] == "F0 [x |]"
    assert told(walk) == 0, "the leader does not know it yet"
    walk.take("b2 fetches from b1")
    assert (told(walk), walk.state["broker"]["b1"]["deleting"]) == (1, 0)
    assert walk.cells["clients"] == "acked r0, seen r0, deleted below 1"


def test_an_operator_waits_for_the_answer_before_the_next_deletion() -> None:
    steps = ("b1 appends a record", *DELETED[:3], "b2 fetches from b1", DELETED[3])
    walk = pair(*steps)
    assert DELETED[3] not in walk.enabled
    assert DELETED[3] in walk.take("b2 fetches from b1", "b2 fetches from b1").enabled


def test_the_leader_does_not_wait_for_a_replica_that_it_knows_to_be_fenced() -> None:
    assert told(pair(*FENCED)) == 1
    late = (*DELETED[:3], "controller fences b2", DELETED[3])
    assert told(pair(*late)) == 0, "it has not heard of it"


def test_who_loses_the_leadership_answers_nobody_and_the_next_leader_knows_nothing() -> None:
    walk = pair(*DELETED, "controller elects b2", "b2 applies metadata", "b1 applies metadata", preferred_elections=1)
    assert walk.state["broker"]["b1"]["deleting"] == 0
    assert told(walk.take("b1 fetches from b2", "b1 fetches from b2")) == 0


def test_a_leader_that_is_elected_again_still_waits_and_knows_log_starts() -> None:
    """Replica.resetReplicaState keeps the log start unless the leader is a new one."""
    again = ("controller elects b2", "controller elects b1", "b1 applies metadata")
    walk = pair(*DELETED, "b2 fetches from b1", *again, preferred_elections=2)
    assert walk.cells["b1"] == "L2 [x |]"
    assert walk.state["broker"]["b1"]["deleting"] == 1
    assert told(walk.take("b2 applies metadata", "b2 fetches from b1")) == 1


def test_a_leader_that_crashes_answers_nobody() -> None:
    walk = pair(*DELETED, "b1 crashes, its log ends at 1", crashes=1)
    assert walk.state["broker"]["b1"]["deleting"] == 0
    assert walk.cells["b1"] == "down [x |]"


@pytest.mark.slow_for("2.1", "4.1")
@pytest.mark.parametrize("release", ["2.1", "3.5", "4.1"])
def test_what_was_answered_is_done_on_all_live_replicas(release: str) -> None:
    bounds: dict[str, int | str] = {
        **BOUNDS,
        "records": 1,
        "isr_shrinks": 1,
        "crashes": 1,
        "fencings": 1,
        "delete_records": 1,
    }
    assert check(Cluster(**bounds, release=release), properties=[DONE]).verdict == "holds"


@pytest.mark.slow
def test_it_is_done_on_those_that_come_and_go() -> None:
    bounds: dict[str, int | str] = {**BOUNDS, "replicas": 3, "spares": 1, "records": 1, "delete_records": 1}
    model = Cluster(**bounds, reassignments=2, fencings=0, log_dir_failures=1, controlled_shutdowns=1, metadata_lag=1)
    assert check(model, properties=[DONE]).verdict == "holds"


@pytest.mark.slow_for("M-17-answered_deletions_are_done-An oper...")
@pytest.mark.parametrize(("defect", "name", "reason"), [
    ("M-17", DONE, "An operator was told that all records below 1 are deleted, and a live replica had one then."),
    ("N-15", AWAY, (
        "An operator was told that r0 at offset 0 is deleted, and b2, which leads now, has it: its log is [| r0@0]."
    )),
])  # fmt: skip
def test_the_reason_says_what_was_told(defect: str, name: str, reason: str) -> None:
    bounds: dict[str, int | str] = {**BOUNDS, "records": 1, "delete_records": 1, "fencings": 1, "crashes": 1}
    more = {"min_insync_replicas": 1, "isr_shrinks": 1, "fencings": 0} if defect == "M-17" else {}
    (found,) = check(Cluster(**{**bounds, **more}, defect=defect), properties=[name], threads=1).violations
    assert found.trace.reason == reason


@pytest.mark.slow
def test_without_an_elr_a_deleted_record_comes_back_with_a_follower_that_joins_too_early() -> None:
    """The leader has asked for it before the deletion; nobody looks at log starts then."""
    bounds: dict[str, int | str] = {**BOUNDS, "records": 1, "crashes": 1, "delete_records": 1, "elr": "off"}
    assert check(Cluster(**bounds), properties=[AWAY]).violations[0].trace_length == 13
    fixed = Cluster(**bounds, defect="N-15", fixed="on")
    assert check(fixed, properties=[AWAY]).verdict == "holds"


CRASHED: dict[str, int | str] = {
    **BOUNDS, "records": 1, "delete_records": 1, "fencings": 0, "controlled_shutdowns": 1, "stale_checkpoints": "on",
}  # fmt: skip
OLDER = "b1 finds an older log start"


def test_a_crashed_broker_may_find_an_older_log_start_and_one_that_stopped_does_not() -> None:
    walk = pair(*DELETED, "b1 crashes, its log ends at 1", **CRASHED, crashes=1)
    assert walk.cells["b1"] == "down [x |]"
    assert walk.take(OLDER).cells["b1"] == "down [r0@0 |]"
    assert walk.state["broker"]["b1"]["latest_epoch"] == -1, "the epoch cache has lost it with the deletion"
    assert OLDER not in walk.enabled
    assert OLDER not in pair(*DELETED, **CRASHED, crashes=1).enabled
    assert OLDER not in pair(*DELETED, "b1 asks to stop", "b1 stops cleanly", **CRASHED, crashes=1).enabled
    assert OLDER not in pair(*DELETED, "b1 crashes, its log ends at 1", crashes=1).enabled


def test_a_follower_without_epochs_cuts_what_it_has_found_again_back_to_its_high_watermark() -> None:
    bounds: dict[str, int | str] = {**CRASHED, "late_fetch_responses": "on", "crashes": 1}
    fetched = ("b2 fetches from b1", "b2 receives the response")
    crashed = ("b2 crashes, its log ends at 1", "b2 finds an older log start")
    first = (DELETED[0], *fetched, "b2 fetches from b1", DELETED[3], "b2 receives the response", *fetched, *crashed)
    found = pair(*first, "b2 starts and registers", "b1 applies metadata", **bounds)
    assert found.take("b2 fetches from b1").cells["b2"] == "F0 [r0@0 |]"
    older = pair(*first, "b2 finds an older checkpoint", "b2 starts and registers", "b1 applies metadata", **bounds)
    assert older.cells["b2"] == "F0 [| r0@0]"
    assert older.take("b2 fetches from b1").cells["b2"] == "F0 [|]"


def test_a_log_that_has_begun_anew_has_nothing_deleted_in_its_file() -> None:
    alone = ("controller fences b2", "b1 applies metadata", DELETED[0], DELETED[3], "b2 fetches from b1")
    walk = pair(*alone, **{**CRASHED, "fencings": 1, "min_insync_replicas": 1}, crashes=1)
    assert walk.cells["b2"] == "F0 [x |]"
    walk.take("b2 crashes, its log ends at 1")
    assert "b2 finds an older log start" not in walk.enabled


def test_who_starts_with_a_copy_in_place_of_its_log_finds_no_older_start_of_that() -> None:
    moving: dict[str, int | str] = {**CRASHED, "crashes": 1, "log_dir_moves": 1, "log_dir_failures": 1}
    begun = (*DELETED, "b1 begins to copy its log", "b1 copies a record")
    assert OLDER in pair(*begun, "b1 crashes, its log ends at 1", **moving).enabled
    accepted = pair(*begun, "controller accepts b1's copy", "b1 crashes, its log ends at 1", **moving)
    assert OLDER not in accepted.enabled
    assert accepted.take("b1 starts and registers").cells["b1"] == "F1 [x |]"


@pytest.mark.slow
def test_a_deletion_is_forgotten_only_if_all_in_sync_replicas_crash() -> None:
    """As a comment in UnifiedLog.maybeIncrementLogStartOffset says."""
    once = {**CRASHED, "controlled_shutdowns": 0, "crashes": 1}
    assert check(Cluster(**once), properties=[AWAY]).verdict == "holds"
    twice = {**CRASHED, "controlled_shutdowns": 0, "crashes": 2}
    found = check(Cluster(**twice), properties=[AWAY], threads=1).violations[0]
    assert (found.trace_length, [step.action for step in found.trace.steps].count("crash")) == (13, 2)
    assert ("failure", "b1 has died within log.flush.start.offset.checkpoint.interval.ms of a deletion") in [
        (demand.hardness.value, demand.text) for demand in found.trace.demands
    ]


def test_an_older_log_start_breaks_nothing_else() -> None:
    kept = ["no_divergence", "electable_replicas_are_complete", "no_acknowledged_record_is_lost", DONE]
    model = Cluster(**{**CRASHED, "controlled_shutdowns": 0, "crashes": 2, "fencings": 1, "records": 2})
    assert check(model, properties=[*kept, "follower_reads_repeat", "leaders_know_their_followers"]).verdict == "holds"

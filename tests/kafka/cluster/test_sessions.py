"""Fetch sessions: what a reply leaves out, when a session ends, and where Kafka leaves out what nobody knows."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.explorer.liveness import liveness
from insync.kafka.cluster.broker.fetch_response import FetchResponse
from insync.kafka.cluster.broker.fetch_session import FetchSessions
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import If, Or, part
from insync.model.evaluator import evaluate
from insync.properties.kafka import cluster
from insync.properties.registry import invariants_of
from insync_walk import Walk, shared_cluster

CALM: dict[str, int | str] = {
    "replicas": 2,
    "records": 2,
    "power_failures": 0,
    "fencings": 0,
    "isr_shrinks": 0,
    "min_insync_replicas": 1,
    "preferred_elections": 2,
    "fetch_sessions": "on",
}
KNOWN = "replies_leave_out_what_is_known"


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**CALM, **bounds}), *labels)


FETCH = "b2 fetches from b1"
COMMITTED = ("b1 appends a record", FETCH, FETCH)


def test_a_reply_leaves_out_what_the_session_has_told() -> None:
    walk = pair(*COMMITTED)
    assert walk.state["broker"]["b2"]["hw"] == 0, "the reply was made before the fetch counted"
    walk.take(FETCH)
    assert (walk.state["broker"]["b2"]["hw"], walk.state["broker"]["b2"]["session_high_watermark"]) == (1, 1)
    before = walk.codes
    assert walk.take(FETCH).codes == before, "nothing is new"


def test_a_leader_keeps_its_sessions_when_a_directory_fails_and_loses_them_when_it_crashes() -> None:
    fetched = ("b1 appends a record", FETCH)
    failed = pair(*fetched, "b1's directory fails", log_dir_failures=1)
    assert failed.state["broker"]["b2"]["session"]
    assert not pair(*fetched, "b1 crashes, its log ends at 1", crashes=1).state["broker"]["b2"]["session"]


def test_a_reply_that_leaves_the_partition_out_never_arrives() -> None:
    arrives = "b2 receives the response"
    walk = pair("b1 appends a record", FETCH, arrives, FETCH, late_fetch_responses="on")
    assert arrives not in walk.enabled, "the high watermark had not moved when the leader made it"
    assert walk.cells["b1"] == "L0 [r0@0 |]", "the leader counts a fetch that it does not answer"
    assert arrives in walk.take(FETCH).enabled


@pytest.mark.parametrize(
    "ends", ["b2's fetch session is evicted", "b1 answers a fetch of b2, and the response is lost"]
)
def test_after_the_end_of_a_session_the_next_reply_is_full(ends: str) -> None:
    walk = pair(*COMMITTED, FETCH, ends, lost_fetch_responses=1)
    assert walk.state["broker"]["b2"]["session_high_watermark"] is None
    assert ends not in walk.enabled, "the budget is spent"
    assert walk.take(FETCH).state["broker"]["b2"]["session_high_watermark"] == 1


def test_a_log_start_that_has_moved_is_told_although_the_session_knows_all_else() -> None:
    walk = pair(*COMMITTED, FETCH, "b1 deletes a record", delete_records=1)
    told = walk.state["broker"]["b2"]
    assert (told["session_high_watermark"], told["session_log_start"], told["log_start"]) == (1, 0, 0)
    told = walk.take(FETCH).state["broker"]["b2"]
    assert (told["session_high_watermark"], told["session_log_start"], told["log_start"]) == (1, 1, 1)
    before = walk.take(FETCH).codes
    assert walk.state["deleted_below"] == 1, "the fetch has told the leader of it"
    assert walk.take(FETCH).codes == before, "nothing is new"


def test_a_lost_reply_counts_for_the_leader_and_brings_the_follower_nothing() -> None:
    walk = pair(
        "b1 appends a record", FETCH, "b1 answers a fetch of b2, and the response is lost", lost_fetch_responses=1
    )
    assert walk.cells["b1"] == "L0 [r0@0 |]"
    assert walk.cells["b2"] == "F0 [| r0@0]"


def test_a_session_ends_with_its_leader_and_with_another_leader() -> None:
    told = pair(*COMMITTED, "b1 crashes, its log ends at 1", crashes=1)
    assert told.state["broker"]["b2"]["session_high_watermark"] is None
    told = pair(*COMMITTED, "controller elects b2", "b2 applies metadata")
    assert not told.state["broker"]["b2"]["session"]


@pytest.mark.slow
def test_without_the_setting_and_before_1_1_there_are_no_sessions() -> None:
    assert Cluster(lost_fetch_responses=1).program.schema.bits == Cluster().program.schema.bits
    assert Cluster(lost_fetch_responses=1).remarks() == [
        "lost_fetch_responses is looked at only with fetch_sessions=on."
    ]
    old = Cluster(release="1.0", fetch_sessions="on")
    assert old.remarks()[-1] == "Kafka 1.0 has no fetch sessions, which came with 1.1 (KIP-227)."
    assert old.program.schema.bits == Cluster(release="1.0").program.schema.bits
    assert Cluster(release="1.1", fetch_sessions="on").program.schema.bits > old.program.schema.bits


@pytest.mark.slow_but("2.4-holds")
@pytest.mark.parametrize(("release", "verdict"), [
    ("1.1", "holds"), ("2.4", "holds"), ("2.7", "holds"), ("3.3", "holds"), ("3.4.1", "violated"), ("4.1", "violated"),
])  # fmt: skip
def test_until_3_4_a_reply_leaves_out_what_is_known(release: str, verdict: str) -> None:
    assert check(Cluster(**CALM, lost_fetch_responses=1, release=release), properties=[KNOWN]).verdict == verdict


@pytest.mark.slow
@pytest.mark.parametrize("late", ["off", "on"])
def test_who_answers_what_is_named_leaves_out_what_is_known(late: str) -> None:
    model = Cluster(**CALM, lost_fetch_responses=1, late_fetch_responses=late, defect="N-10", fixed="on")
    assert check(model, properties=[KNOWN]).verdict == "holds"


def not_told(what: str = "", **broker: object) -> bool:
    """Whether the property fails where b2 has missed what its session was told, and what else holds of it is as given.

    Args:
        what: the broker of whom that is given; b2 if it is not said.
        broker: fields of that broker.
    """
    walk = pair(*COMMITTED, FETCH)
    state = walk.model.decode(walk.codes)
    state["broker"]["b2"]["hw"] = 0
    state["broker"][what or "b2"] |= broker
    return not evaluate(invariants_of(walk.model)[KNOWN].node(walk.model), walk.model.encode(state))


def test_it_is_asked_of_a_fetch_that_would_be_answered() -> None:
    assert not_told()
    assert not not_told(hw=1), "it knows"
    assert not not_told(session_high_watermark=None), "the next reply is full"
    assert not not_told(running=False)
    assert not not_told("b1", running=False)
    assert not not_told(latest_epoch=1), "the leader knows no such epoch, and answers with an error"


class ForgetsWhatADivergingReplyTold(FetchSessions):
    """A smaller fix of N-10: a reply that says where the logs part has told the session nothing."""

    def note_told(self, s: ClusterState, follower: Replica, response: FetchResponse) -> None:
        super().note_told(s, follower, response)
        s.broker[follower].session_high_watermark = If(Or(response.refused, response.diverging), None, response.hw)


class WithTheSmallerFix(Cluster):
    sessions = part(ForgetsWhatADivergingReplyTold)


@pytest.mark.slow
@pytest.mark.parametrize(("late", "verdict"), [("off", "holds"), ("on", "violated")])
def test_to_forget_what_a_diverging_reply_told_is_enough_but_for_dropped_replies(late: str, verdict: str) -> None:
    model = WithTheSmallerFix(**CALM, late_fetch_responses=late)
    assert check(model, properties=[KNOWN]).verdict == verdict


@pytest.mark.slow
def test_a_reply_that_is_dropped_has_told_the_session_as_well() -> None:
    found = check(Cluster(**CALM, late_fetch_responses="on"), properties=[KNOWN]).violations[0]
    assert found.trace_length == 10
    assert found.trace.reason == (
        "The session of b2 has told it the high watermark 1 of b1, so the next response leaves it out, but b2 has 0: "
        "its log is [| r0@0]."
    )


@pytest.mark.slow
def test_a_follower_may_never_learn_the_high_watermark() -> None:
    pytest.importorskip("scipy")
    name, bounds = "followers_learn_the_watermark", {**CALM, "records": 1}
    for chosen, verdict in (({}, "violated"), ({"fixed": "on"}, "holds")):
        (found,) = liveness(Cluster(**bounds, defect="N-10", **chosen), properties=[name]).properties
        assert found.verdict == verdict
    (found,) = liveness(Cluster(**{**bounds, "fetch_sessions": "off"}), properties=[name]).properties
    assert found.verdict == "holds"


@pytest.mark.slow
def test_all_else_holds_with_sessions_that_end() -> None:
    model = Cluster(
        **{
            **CALM,
            "preferred_elections": 0,
            "lost_fetch_responses": 1,
            "crashes": 1,
            "fencings": 1,
            "min_insync_replicas": 2,
        }
    )
    assert check(model, properties=cluster.__all__).verdict == "holds"

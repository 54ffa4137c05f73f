"""A consumer with a position: what it reads, where it goes back to, and when nobody tells it of another log."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.clients.consumer import Consumer
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, If, Not, Or, ReadableState, action, part, require, when
from insync_walk import Walk, shared_cluster

ALONE: dict[str, int | str] = {
    "replicas": 1,
    "records": 3,
    "min_insync_replicas": 1,
    "fencings": 0,
    "isr_shrinks": 0,
    "metadata_lag": 0,
    "consumer": "leader",
}
PAIR: dict[str, int | str] = {
    **ALONE, "replicas": 2, "power_failures": 0, "fencings": 2, "unclean_leader_election": "on", "elr": "off",
}  # fmt: skip
ONE_LOG = "consumer_reads_one_log"
WRITE, READ, RESET = "b1 appends a record", "the consumer reads from b1", "the consumer is reset by b1"
ASK = "the consumer asks b1 where the epoch of its last record ends"
LOST = (WRITE, WRITE, READ, READ, "b1 crashes, its log ends at 1")
BACK = ("b1 starts and registers", "controller unfences b1")


def walk(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**bounds), *labels)


def consumer(walk: Walk) -> ReadableState:
    found: ReadableState = walk.state["consumer"]
    return found


def test_a_consumer_reads_what_is_below_the_high_watermark_of_the_leader() -> None:
    w = walk("b1 appends a record", **PAIR)
    assert READ not in w.enabled, "b2 is in the ISR and does not have it"
    w.take("b2 fetches from b1", "b2 fetches from b1", READ)
    assert consumer(w) == {
        "position": 1, "begin": 0, "got": ["r0", "r0", "r0"], "last_epoch": 0, "leader_epoch": "0", "misled": False,
    }  # fmt: skip
    assert READ not in w.enabled
    assert w.cells["clients"].endswith("consumer at 1, got r0@0")


@pytest.mark.parametrize("reset", ["latest", "none"])
def test_a_consumer_hears_of_a_new_leader_whose_log_ends_earlier(reset: str) -> None:
    w = walk(*LOST, *BACK, **ALONE, auto_offset_reset=reset)
    assert READ not in w.enabled, "it is not in the leader's epoch"
    if reset == "none":
        assert ASK not in w.enabled, "it gets LogTruncationException, and reads nothing more"
        return
    seen = consumer(w.take(ASK))
    assert (seen["position"], seen["begin"], seen["got"], seen["last_epoch"]) == (1, 0, ["r0", "r0", "r0"], 0)
    assert w.cells["clients"].endswith("consumer at 1, got r0@0")
    assert consumer(w.take(WRITE, READ))["got"][:2] == ["r0", "r2"]
    assert not consumer(w)["misled"]


@pytest.mark.parametrize(("reset", "position"), [("earliest", 0), ("latest", 1), ("none", None)])
def test_a_position_outside_the_log_is_reset_as_the_setting_says(reset: str, position: int | None) -> None:
    fenced = ("controller fences b1", "b1 starts and registers", "controller unfences b1")
    w = walk(*LOST, *fenced, **ALONE, auto_offset_reset=reset, release="2.2")
    assert READ not in w.enabled
    assert (RESET in w.enabled) == (position is not None)
    if position is not None:
        seen = consumer(w.take(RESET))
        assert (seen["position"], seen["begin"], seen["last_epoch"]) == (position, position, -1)


def test_a_position_that_is_deleted_is_reset() -> None:
    w = walk(WRITE, WRITE, "b1 deletes a record", **{**ALONE, "delete_records": 1, "auto_offset_reset": "earliest"})
    assert consumer(w.take(RESET))["position"] == 1
    assert consumer(w.take(READ))["got"][1] == "r1"


def test_before_2_3_a_consumer_passes_over_what_was_written_below_its_position() -> None:
    model = Cluster(**ALONE, release="2.2")
    found = check(model, properties=[ONE_LOG]).violations[0]
    assert found.trace_length == 10
    assert found.trace.reason == (
        "From offset 0 on the consumer has got r0@0, r2@2, and was told of nothing between: b1: its log is "
        "[r1@2 r2@2 |]."
    )
    assert check(Cluster(**ALONE, release="2.3"), properties=[ONE_LOG]).verdict == "holds"


@pytest.mark.slow_but("follower-earliest")
@pytest.mark.parametrize("reset", ["earliest", "latest", "none"])
@pytest.mark.parametrize("reads_from", ["leader", "follower"])
def test_without_unclean_elections_the_newest_consumer_reads_one_log(reset: str, reads_from: str) -> None:
    calm = {
        **PAIR,
        "unclean_leader_election": "off",
        "records": 2,
        "preferred_elections": 1,
        "metadata_lag": 1,
        "power_failures": 0,
    }
    model = Cluster(**{**calm, "auto_offset_reset": reset, "consumer": reads_from, "release": "4.4"})
    assert check(model, properties=[ONE_LOG]).verdict == "holds"


def test_where_nobody_is_elected_uncleanly_an_older_consumer_reads_one_log() -> None:
    assert check(Cluster(**{**PAIR, "release": "3.8"}), properties=[ONE_LOG]).verdict == "holds"


@pytest.mark.slow_for("2.3")
@pytest.mark.parametrize("release", ["2.3", "4.4"])
def test_the_newest_consumer_takes_the_end_of_an_earlier_epoch_for_that_of_its_own(release: str) -> None:
    found = check(Cluster(**{**PAIR, "release": release}), properties=[ONE_LOG]).violations[0]
    assert found.trace_length == 11
    assert found.trace.reason.startswith("From offset 0 on the consumer has got r1@1, r2@2, and was told of nothing")


@pytest.mark.slow_for("latest", "none")
@pytest.mark.parametrize("reset", ["earliest", "latest", "none"])
def test_who_compares_the_epoch_as_well_reads_one_log(reset: str) -> None:
    model = Cluster(**{**PAIR, "auto_offset_reset": reset}, defect="N-11", fixed="on")
    assert check(model, properties=[ONE_LOG]).verdict == "holds"


class GoesBackToTheEndOfAnEarlierEpoch(Consumer):
    """A smaller fix of N-11: an earlier epoch counts only where its end is not below the position."""

    @action(label="the consumer asks {leader} where the epoch of its last record ends")
    def validate_position(self, s: ClusterState, leader: Replica) -> None:
        cluster = self.cluster
        require(self.features.consumes)
        c, known = s.consumer, s.broker[leader].latest_epoch
        epoch = cluster.image.registration_of(s, leader).epoch
        require(cluster.image.leads(s, leader), epoch > c.leader_epoch)
        floor, end = cluster.log.floor_epoch(s, leader, c.last_epoch), cluster.log.end_of_epoch(s, leader, c.last_epoch)
        earlier = And(floor >= 0, floor < c.last_epoch, end >= c.position)
        unknown = And(c.last_epoch >= 0, Or(c.last_epoch > known, earlier))
        with when(unknown):
            self.move_position(s, self.reset_offset(s, leader))
        with when(And(c.last_epoch >= 0, Not(unknown), end < c.position)):
            self.go_back(s, end, If(floor < 0, c.last_epoch, floor))
        c.leader_epoch = epoch


class WithTheSmallerFix(Cluster):
    consumer = part(GoesBackToTheEndOfAnEarlierEpoch)


@pytest.mark.slow_for("4-violated")
@pytest.mark.parametrize(("records", "verdict"), [(3, "holds"), (4, "violated")])
def test_to_go_back_to_the_end_of_an_earlier_epoch_is_not_enough(records: int, verdict: str) -> None:
    model = WithTheSmallerFix(**{**PAIR, "records": records})
    assert check(model, properties=[ONE_LOG]).verdict == verdict
    fixed = Cluster(**{**PAIR, "records": records}, defect="N-11", fixed="on")
    assert check(fixed, properties=[ONE_LOG]).verdict == "holds"


def test_a_consumer_reads_from_followers_since_2_4() -> None:
    fetched = ("b1 appends a record", *["b2 fetches from b1"] * 3)
    from_b2 = "the consumer reads from b2"
    assert from_b2 in walk(*fetched, **{**PAIR, "consumer": "follower"}).enabled
    assert from_b2 not in walk(*fetched[:3], **{**PAIR, "consumer": "follower"}).enabled, "b2 has no high watermark yet"
    assert from_b2 not in walk(*fetched, **PAIR).enabled
    down = walk(*fetched, "b2 crashes, its log ends at 1", **{**PAIR, "consumer": "follower", "crashes": 1})
    assert {one for one in down.enabled if "b2" in one} == {"b2 starts and registers", "controller fences b2"}
    old = walk(*fetched, **{**PAIR, "consumer": "follower", "release": "2.3"})
    assert from_b2 not in old.enabled
    assert old.model.remarks() == [
        "Consumers of Kafka 2.3 read from the leader alone; from followers since 2.4 (KIP-392)."
    ]


def test_a_read_to_the_end_of_the_log_gets_what_is_appended_meanwhile_in_2_0_to_2_5_0() -> None:
    committed = ("b1 appends a record", "b2 fetches from b1", "b2 fetches from b1")
    beyond = "the consumer reads from b1 what is appended meanwhile"
    bounds: dict[str, int | str] = {**PAIR, "unclean_leader_election": "off"}
    old = walk(*committed, **bounds, release="2.5")
    assert beyond not in old.enabled, "nothing was appended"
    old.take("b1 appends a record", beyond)
    assert (consumer(old)["position"], consumer(old)["got"][:2]) == (2, ["r0", "r1"])
    for release, races in (("2.5", "off"), ("2.5.1", "on")):
        other = walk(*committed, "b1 appends a record", **bounds, release=release, races=races)
        assert beyond not in other.enabled, release
    both = walk(*committed, "b1 appends a record", READ, **bounds, release="2.5")
    assert beyond not in both.enabled, "a read that has nothing below the high watermark to read is empty"


def test_without_the_setting_there_is_no_consumer_and_no_bit_of_one() -> None:
    model = Cluster(auto_offset_reset="earliest")
    assert model.remarks() == ["auto_offset_reset is looked at only with consumer=leader or follower."]
    assert "consumer" not in model.decode(model.program.initials[0])
    assert not {"consume", "validate_position", "reset_position"} & {action.name for action in model.program.actions}
    assert check(Cluster(**{**ALONE, "consumer": "off", "records": 1}), properties=[ONE_LOG]).verdict == "holds"

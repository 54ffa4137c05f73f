"""Reassignment: who has a replica, when it ends, what becomes of those who go; and taking it back."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.configuration import BOUNDS, ISR_ASKED_SINCE
from insync.kafka.cluster.controller.reassignment import Assigned, Reassignment
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.model import And, Condition, SetValue, UserError, minimum, part
from insync.properties.kafka import cluster
from insync_walk import Walk, shared_cluster


def move(*labels: str, **bounds: int | str) -> Walk:
    wide: dict[str, int | str] = {"reassignments": 2, "spares": 1, "fencings": 2, "metadata_lag": 4, "records": 1}
    return Walk(shared_cluster(**{**wide, **bounds}), *labels)


@pytest.mark.slow
def test_spares_have_no_replica_and_follow_nobody() -> None:
    walk = move()
    assert walk.cells["controller"] == "b1@0 ISR b1 b2 of b1 b2"
    assert walk.cells["b3"] == "out [|]"
    assert "b3 fetches from b1" not in walk.enabled
    assert Walk(shared_cluster(spares=1)).cells["controller"] == "b1@0 ISR b1 b2", "also without reassignments"


def test_reassignments_begin_where_leaders_ask_for_an_isr_and_the_guide_says_which_release_that_is() -> None:
    first = ISR_ASKED_SINCE
    before = list(Release)[list(Release).index(first) - 1]
    assert Cluster(release=first.value, reassignments=1).features.can_reassign
    assert not Cluster(release=before.value, reassignments=1).features.can_reassign
    assert f"({first.value} and later)" in BOUNDS["reassignments"].doc


def test_at_least_one_broker_has_a_replica() -> None:
    with pytest.raises(UserError, match="spares 3 is too many"):
        Cluster(spares=3)


class EndsWithTheMinimum(Reassignment):
    """A fix of R-46: a reassignment ends as in 4.3, but not with fewer than min.insync.replicas members of the ISR."""

    def may_end(self, left: SetValue, assigned: Assigned) -> Condition:
        least = minimum(self.needed, (assigned.replicas - assigned.removing).count())
        return And(super().may_end(left, assigned), left.count() >= least)


class KeepsRedundancy(Cluster):
    reassignment = part(EndsWithTheMinimum)


@pytest.mark.slow
def test_to_end_with_the_minimum_keeps_redundancy() -> None:
    bounds = {"records": 1, "power_failures": 0, "isr_shrinks": 0, "fencings": 1, "reassignments": 1, "spares": 1}
    claims = ["reassignments_keep_redundancy", "no_acknowledged_record_is_lost"]
    assert check(KeepsRedundancy(**bounds, release="4.3"), properties=claims).verdict == "holds"
    assert check(Cluster(**bounds, release="4.3"), properties=claims[:1]).verdict == "violated"


STARTED = ("operator assigns the partition to {b2, b3}", "b1 applies metadata", "b3 applies metadata")


def test_replicas_are_added_at_once_and_removed_when_all_that_stay_are_in_the_isr() -> None:
    walk = move(*STARTED)
    assert walk.cells["controller"] == "b1@0 ISR b1 b2 of b1 b2 b3 adding b3 removing b1"
    walk.take("b3 fetches from b1", "b1 adds b3 to the ISR", "controller accepts the ISR")
    assert walk.cells["controller"] == "b2@1 ISR b2 b3 of b2 b3", "the leader was removed, so another one leads"
    assert walk.take("b1 applies metadata").cells["b1"] == "out [|]"


def test_who_is_removed_deletes_its_log() -> None:
    walk = move("b1 appends a record", "b2 fetches from b1", "operator assigns the partition to {b1}")
    assert walk.cells["b2"] == "F0 [| r0@0] ~1"
    assert walk.take("b2 applies metadata").cells["b2"] == "out [|]"


def test_a_removal_bumps_the_epoch_and_an_addition_does_not() -> None:
    assert move("operator assigns the partition to {b1}").cells["controller"].startswith("b1@1 ISR b1 of b1")
    more = move("operator assigns the partition to {b1, b2, b3}")
    assert more.cells["controller"] == "b1@0 ISR b1 b2 of b1 b2 b3 adding b3"


FENCED = ("controller fences b2", *STARTED, "b3 fetches from b1", "b1 adds b3 to the ISR", "controller accepts the ISR")


def test_a_reassignment_waits_for_replicas_that_stay_since_3_8() -> None:
    assert move(*FENCED).cells["controller"] == "b1@0 ISR b1 b3 of b1 b2 b3 adding b3 removing b1 fenced b2"
    assert move(*FENCED, elr="off", release="3.7").cells["controller"] == "b3@1 ISR b3 of b2 b3 fenced b2"


FEWER = (
    "controller fences b2",
    "operator assigns the partition to {b2, b4}",
    "b1 applies metadata",
    "b4 applies metadata",
    "b4 fetches from b1",
    "b1 adds b4 to the ISR",
    "controller accepts the ISR",
)


@pytest.mark.slow
def test_since_4_3_a_reassignment_waits_for_those_that_stay_only_if_fewer_are_added_than_removed() -> None:
    assert (
        move(*FENCED, elr="off", release="4.2").cells["controller"]
        == "b1@0 ISR b1 b3 of b1 b2 b3 adding b3 removing b1 fenced b2"
    )
    assert move(*FENCED, elr="off", release="4.3").cells["controller"] == "b3@1 ISR b3 of b2 b3 fenced b2"
    bounds: dict[str, int | str] = {"replicas": 4, "elr": "off"}
    waits = move(*FEWER, **bounds, release="4.3").cells["controller"]
    assert waits == "b1@0 ISR b1 b3 b4 of b1 b2 b3 b4 adding b4 removing b1 b3 fenced b2"
    assert move(*FEWER, **bounds, release="3.7").cells["controller"] == "b4@1 ISR b4 of b2 b4 fenced b2"


def test_what_a_second_reassignment_leaves_empty_stays_as_the_first_one_has_it() -> None:
    again = ("operator assigns the partition to {b1, b3}", "operator assigns the partition to {b1, b2, b3}")
    assert move(*again).cells["controller"] == "b1@0 ISR b1 b2 of b1 b2 b3 adding b3 removing b2", (
        "b2 goes though it is asked for"
    )
    walk = move(*again, "b1 applies metadata", "b3 applies metadata")
    walk.take("b3 fetches from b1", "b1 adds b3 to the ISR", "controller accepts the ISR")
    assert walk.cells["controller"] == "b1@1 ISR b1 b3 of b1 b3"


BACK = ("operator assigns the partition to {b1, b3}", "operator assigns the partition to {b1, b2}")


@pytest.mark.slow
def test_since_4_3_a_reassignment_that_is_put_back_by_another_one_does_not_end() -> None:
    back = move(*BACK, release="4.3", reassignments=3)
    assert back.cells["controller"] == "b1@0 ISR b1 b2 of b1 b2 b3 adding b3 removing b3", "b3 is to come and to go"
    back.take("b3 applies metadata", "b1 applies metadata", "b3 fetches from b1", "b1 adds b3 to the ISR")
    assert (
        back.take("controller accepts the ISR").cells["controller"]
        == "b1@0 ISR b1 b2 b3 of b1 b2 b3 adding b3 removing b3"
    )
    assert move(*BACK, release="4.2", elr="on").cells["controller"] == "b1@1 ISR b1 b2 of b1 b2"
    cancelled = back.take("operator cancels the reassignment")
    assert cancelled.cells["controller"] == "b1@1 ISR b1 b2 of b1 b2"


def test_the_controller_takes_the_minimum_by_the_replicas_of_partition_0() -> None:
    alone = ("operator assigns the partition to {b1}", "b1 applies metadata", "b1 appends a record")
    bounds: dict[str, int | str] = {"replicas": 2, "spares": 0, "min_insync_replicas": 2}
    back = (*alone, "operator assigns the partition to {b1, b2}")
    assert move(*back, **bounds).cells["controller"] == "b1@1 ISR b1 of b1 b2 adding b2"
    zero = move(*back, **bounds, partition_zero_replicas=2)
    assert zero.cells["controller"] == "b1@1 ISR b1 of b1 b2 adding b2 ELR b2", (
        "to the controller an ISR of one is too small"
    )
    assert zero.state["acked"] == ["r0"], "to the broker it is all replicas"
    assert [text[:23] for text in Cluster(elr="off", partition_zero_replicas=2).remarks()] == [
        "partition_zero_replicas"
    ]


@pytest.mark.slow
def test_who_is_to_go_is_elected_last() -> None:
    moving = ("operator assigns the partition to {b2, b3}", "controller fences b2", "controller fences b1")
    walk = move(*moving, "controller unfences b1", replicas=3, fencings=3)
    assert walk.cells["controller"].startswith("b1@"), "nobody else can lead"
    both = ("b3 applies metadata", "b1 applies metadata", "b3 fetches from b1", "b1 adds b3 to the ISR")
    walk = move(
        *both[:0],
        "operator assigns the partition to {b3, b4}",
        "b1 applies metadata",
        "b3 applies metadata",
        *both[2:],
        "controller accepts the ISR",
        "controller fences b1",
        replicas=4,
        spares=2,
    )
    assert walk.cells["controller"].startswith("b3@1 ISR b2 b3"), "b2 is to go, and b3 stays"


def test_a_cancelled_reassignment_removes_who_was_added() -> None:
    walk = move(*STARTED, "operator cancels the reassignment")
    assert walk.cells["controller"] == "b1@1 ISR b1 b2 of b1 b2"
    assert "operator cancels the reassignment" not in move().enabled


def test_whoever_asks_for_fewer_replicas_than_the_minimum_is_not_left_with_too_few() -> None:
    walk = move("operator assigns the partition to {b1}", "b1 applies metadata")
    assert walk.cells["controller"].startswith("b1@1 ISR b1 of b1 ")
    assert not walk.state["reassigned_under_min_isr"]


def test_cancelling_may_leave_too_few_in_the_isr_and_is_refused_then_by_the_fix() -> None:
    cancel = "operator cancels the reassignment"
    assert move(*FENCED, cancel).state["reassigned_under_min_isr"]
    assert cancel not in move(*FENCED, defect="C-15", fixed="on").enabled
    assert not move(*STARTED, cancel).state["reassigned_under_min_isr"]


ADDED_ALONE = (
    "operator assigns the partition to {b1, b2, b3}",
    "b1 applies metadata",
    "b2 applies metadata",
    "b2 fetches from b1",
    "b1 adds b2 to the ISR",
    "controller accepts the ISR",
    "controller fences b1",
)


@pytest.mark.slow
def test_cancelling_is_refused_while_only_added_replicas_are_in_the_isr_unless_unclean_elections_are_allowed() -> None:
    bounds: dict[str, int | str] = {"spares": 2, "min_insync_replicas": 1}
    assert "operator cancels the reassignment" not in move(*ADDED_ALONE, **bounds).enabled
    walk = move(
        *ADDED_ALONE,
        "controller unfences b1",
        "operator cancels the reassignment",
        unclean_leader_election="on",
        **bounds,
    )
    assert walk.cells["controller"] == "b1@2 ISR b1 of b1"


MOVED_TO_THE_LAST = (
    *("operator assigns the partition to {b3}", "b1 applies metadata", "b3 applies metadata", "b3 fetches from b1"),
    *("b1 adds b3 to the ISR", "controller accepts the ISR", "b1 applies metadata", "b3 applies metadata"),
)
ADDED_BEFORE_IT = (
    *("operator assigns the partition to {b1, b2, b3}", "b1 applies metadata", "b2 applies metadata"),
    *("b3 applies metadata", "b1 fetches from b3", "b3 adds b1 to the ISR", "controller accepts the ISR"),
)


def test_a_cancellation_that_leaves_no_member_makes_one_of_the_first_that_stays_and_not_of_one_that_was_added() -> None:
    fenced = ("controller fences b3", "operator cancels the reassignment")
    bounds: dict[str, int | str] = {
        "spares": 2,
        "min_insync_replicas": 1,
        "reassignments": 3,
        "unclean_leader_election": "on",
    }
    walk = move(*MOVED_TO_THE_LAST, *ADDED_BEFORE_IT, **bounds)
    assert walk.cells["controller"] == "b3@1 ISR b1 b3 of b1 b2 b3 adding b1 b2"
    assert walk.take(*fenced).cells["controller"] == "none@3 ISR b3 of b3 fenced b3"


def test_who_stops_and_is_put_back_into_the_isr_by_a_cancellation_leaves_it_when_it_ends_or_starts() -> None:
    asked = ("controller fences b2", "controller fences b3", "b1 asks to stop")
    back = ("operator assigns the partition to {b1}", "operator cancels the reassignment")
    bounds: dict[str, int | str] = {
        "spares": 0,
        "controlled_shutdowns": 1,
        "unclean_leader_election": "on",
        "metadata_lag": 5,
    }
    walk = move(*asked, *back, **bounds)
    assert walk.cells["controller"] == "none@1 ISR b1 of b1 b2 b3 ELR b3 fenced b1 b2 b3 last b1"
    walk.take("b1 stops cleanly")
    assert walk.cells["controller"] == "none@1 ISR  of b1 b2 b3 ELR b1 b3 fenced b1 b2 b3 last b1"
    walk = move(*asked, "b1 stops cleanly", *back, **bounds)
    assert walk.cells["controller"].startswith("none@1 ISR b1 ")
    walk.take("b1 starts and registers")
    assert walk.cells["controller"].startswith("none@1 ISR  ")


def test_nobody_is_elected_in_the_change_that_adds_it() -> None:
    """Kafka 3.9.2 and 4.1.2 were seen to do the same."""
    bounds: dict[str, int | str] = {
        "replicas": 2,
        "spares": 1,
        "min_insync_replicas": 1,
        "unclean_leader_election": "on",
        "elr": "off",
    }
    walk = move("controller fences b1", "operator assigns the partition to {b2}", **bounds)
    assert walk.cells["controller"] == "none@1 ISR b1 of b1 b2 adding b2 removing b1 fenced b1"


@pytest.mark.slow
def test_the_leader_forgets_who_was_removed_but_not_who_was_removed_and_added_again_in_one_batch() -> None:
    twice = ("operator assigns the partition to {b1}", "operator assigns the partition to {b1, b2}")
    fetched = ("b2 fetches from b1", *twice, "b2 applies metadata but the last 1")
    known = [move(*fetched, "b1 applies metadata", defect=name).state["broker"]["b1"] for name in ("none", "R-18")]
    assert [one["remote_replicas"]["b2"]["leo"] for one in known] == [None, 0]


def test_without_a_budget_reassignment_costs_nothing() -> None:
    model = Cluster()
    assert not [action for action in model.program.actions if "operator assigns" in action.label]
    assert model.program.schema.words == 3


def test_there_is_no_reassignment_while_leaders_write_the_isr_themselves() -> None:
    assert not any("operator" in label for label in move(release="2.1", power_failures=0).enabled)


SOUND = "isr_and_elr_are_sound"
OTHERS = sorted({*cluster.__all__} - {SOUND})
"""What holds with one reassignment; N-02 breaks the other, and only with two reassignments a record is lost by it."""


@pytest.mark.slow
@pytest.mark.parametrize("spares", [0, 1])
def test_all_other_properties_hold_with_one_reassignment(spares: int) -> None:
    model = Cluster(reassignments=1, spares=spares, power_failures=0, isr_shrinks=0, records=1)
    assert check(model, properties=OTHERS).verdict == "holds"


@pytest.mark.slow
@pytest.mark.parametrize("spares", [0, 1])
def test_all_properties_hold_with_one_reassignment_if_who_is_removed_leaves_the_elr(spares: int) -> None:
    fixed: dict[str, int | str] = {"defect": "N-02", "fixed": "on"}
    model = Cluster(reassignments=1, spares=spares, power_failures=0, isr_shrinks=0, records=1, **fixed)
    assert check(model, properties=cluster.__all__).verdict == "holds"


@pytest.mark.slow
def test_who_is_removed_stays_in_the_elr_which_breaks_what_the_published_specification_says() -> None:
    result = check(Cluster(reassignments=1, records=1, power_failures=0, isr_shrinks=0), properties=[SOUND])
    (found,) = result.violations
    assert found.trace_length == 2
    assert found.trace.reason == (
        "ISR and ELR do not go with the replicas {b1} and who is fenced: the leader is b1, the ISR {b1}, "
        "the ELR {b2, b3}, and fenced are {}."
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_all_other_properties_hold_with_one_reassignment_and_all_default_budgets() -> None:
    result = check(Cluster(reassignments=1, records=1), properties=OTHERS)
    assert (result.verdict, result.distinct_states) == ("holds", 9_584_023)


def test_a_reassignment_elects_nobody_who_may_lack_records_whatever_the_topic_allows() -> None:
    bounds: dict[str, int | str] = {
        "spares": 0,
        "release": "3.9",
        "unclean_leader_election": "on",
        "crashes": 1,
        "replicas": 2,
    }
    walk = move("controller fences b1", "controller unfences b1", "b2 crashes, its log ends at 0", **bounds)
    walk.take("b2 starts and registers")
    assert walk.cells["controller"] == "b2@1 ISR b2 of b1 b2 fenced b2", "who registers stays in the ISR before 4.0"
    walk.take("operator assigns the partition to {b2}")
    assert walk.cells["controller"] == "none@2 ISR b2 of b2 fenced b2"

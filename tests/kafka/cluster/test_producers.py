"""Producers that send a record again: with idempotence a leader takes it once and in order, without it does not."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.properties.kafka import cluster
from insync_walk import Walk, shared_cluster

CALM: dict[str, int | str] = {"replicas": 2, "power_failures": 0, "isr_shrinks": 0, "records": 3, "retries": 1}


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**CALM, "preferred_elections": 1, **bounds}), *labels)


OLD: dict[str, int | str] = {"release": "2.8"}
AGAIN = ("b1 appends a record", "r0 is sent again to b1")


def test_without_idempotence_a_leader_appends_what_it_has() -> None:
    walk = pair(*AGAIN, **OLD)
    assert walk.cells["b1"] == "L0 [| r0@0 r1@0]"
    assert walk.state["sent"]["r1"] == "r0"


def test_with_idempotence_it_says_so_once_its_high_watermark_has_passed_it() -> None:
    walk = pair("b1 appends a record", "b2 fetches from b1")
    assert not [label for label in walk.enabled if "again" in label or "already" in label]
    moved = ("controller elects b2", "b2 applies metadata", "b1 applies metadata", "b1 fetches from b2")
    walk = pair("b1 appends a record", "b2 fetches from b1", *moved)
    assert walk.state["acked"] == [], "b1 leads no more, and has told nobody"
    assert walk.take("b2 has r0 already, and says so").state["acked"] == ["r0"]


ALONE = ("controller fences b1", "b2 applies metadata", "min.insync.replicas changes", "b2 applies metadata")


def test_a_record_that_a_leader_has_already_moves_its_high_watermark_as_one_that_it_appends() -> None:
    moved = ("controller elects b2", "b1 applies metadata", "b2 applies metadata")
    walk = pair("b1 appends a record", "b2 fetches from b1", *moved, *ALONE, fencings=1, config_changes=1)
    assert walk.cells["b2"] == "L1 [| r0@0]", "a lower minimum alone does not move it"
    walk.take("b2 has r0 already, and says so")
    assert (walk.cells["b2"], walk.state["acked"]) == ("L1 [r0@0 |]", ["r0"])


def test_a_record_that_a_leader_has_already_gives_its_epoch_to_a_log_that_a_copy_has_replaced() -> None:
    moved = ("controller elects b2", "b2 applies metadata", "b1 applies metadata", "b1 fetches from b2")
    copied = ("b2 begins to copy its log", "b2 copies a record", "b2 replaces its log by the copy")
    walk = pair("b1 appends a record", "b2 fetches from b1", *moved, *copied, log_dir_moves=1)
    assert walk.state["broker"]["b2"]["latest_epoch"] == 0
    walk.take("b2 has r0 already, and says so")
    assert walk.state["broker"]["b2"]["latest_epoch"] == 1


LOST = ("b1 appends a record", "controller elects b2", "b2 applies metadata")


def test_a_record_that_the_new_leader_lacks_is_appended_there_in_order() -> None:
    walk = pair(*LOST, "r0 is sent again to b2", "b2 appends a record")
    assert walk.cells["b2"] == "L1 [| r1@1 r2@1]"
    assert [walk.state["sent"][record] for record in ("r1", "r2")] == ["r0", "r2"]


def test_what_comes_late_is_refused_with_idempotence_and_out_of_order_without() -> None:
    late = (*LOST, "b2 appends a record")
    assert "r0 is sent again to b2" not in pair(*late).enabled
    walk = pair(*late, "r0 is sent again to b2", **OLD)
    assert [walk.state["sent"][record] for record in ("r1", "r2")] == ["r1", "r0"]


def test_a_gap_is_refused_with_idempotence() -> None:
    gap = ("b1 appends a record", "b2 fetches from b1", "b1 appends a record", *LOST[1:])
    assert "b2 appends a record" not in pair(*gap, records=4).enabled
    assert "b2 appends a record" in pair(*gap, "r1 is sent again to b2", records=4).enabled
    assert "b2 appends a record" in pair(*gap, **OLD).enabled


TWICE: dict[str, int | str] = {**CALM, "preferred_elections": 1, "fencings": 0, "retries": 2, "metadata_lag": 1}


@pytest.mark.slow
def test_with_idempotence_a_record_is_stored_once_and_in_order() -> None:
    assert check(Cluster(**TWICE), properties=["records_are_stored_once"]).verdict == "holds"


@pytest.mark.parametrize("idempotence", ["release", "off", "on"])
@pytest.mark.parametrize("acks", ["0", "1"])
def test_without_acks_of_all_nobody_is_idempotent(acks: str, idempotence: str) -> None:
    assert not Cluster(**TWICE, acks=acks, idempotence=idempotence).features.is_idempotent


def test_with_acks_of_the_leader_a_record_is_stored_twice() -> None:
    assert check(Cluster(**TWICE, acks="1"), properties=["records_are_stored_once"]).verdict == "violated"


# As KafkaProducer of kafka-clients was seen to have it: 2.8.0, 2.8.2, 3.0.0, 3.0.1, 3.1.0, 3.1.1, 3.2.0, 3.9.2, 4.1.2,
# 4.3.1 and 4.4.0 were asked with acks=all whether they have a TransactionManager.
@pytest.mark.parametrize(
    ("release", "idempotent"),
    [("2.8", False), ("2.8.1", False), ("3.0", False), ("3.0.1", True), ("3.1", False), ("3.1.1", True), ("3.2", True)]
    + [(newer, True) for newer in ("3.9", "4.1", "4.3", "4.4")],
)
def test_producers_are_idempotent_by_default_from_the_release_on_that_has_it(release: str, *, idempotent: bool) -> None:
    assert Cluster(release=release).features.is_idempotent == idempotent
    assert Cluster(release=release, idempotence="on").features.is_idempotent
    assert not Cluster(release=release, idempotence="off").features.is_idempotent


def test_before_there_were_numbers_nobody_is_idempotent() -> None:
    assert not Cluster(release="0.10.2", idempotence="on").features.is_idempotent
    assert Cluster(release="0.11", idempotence="on").features.is_idempotent


@pytest.mark.slow
def test_all_that_holds_without_retries_holds_with_them() -> None:
    model = Cluster(**{**CALM, "records": 2, "fencings": 1, "metadata_lag": 1})
    assert check(model, properties=cluster.__all__).verdict == "holds"


def test_without_idempotence_the_reason_names_what_was_sent_again() -> None:
    (found,) = check(Cluster(**CALM, **OLD), properties=["records_are_stored_once"]).violations
    assert found.trace.reason == (
        "b1 has what was sent twice, or out of order: its log is [| r0@0 r1@0], where r1 is r0 again."
    )


RESTARTS: dict[str, int | str] = {"producer_restarts": 1, "retries": 2}
ANEW = ("b1 appends a record", "the producer starts anew", "b1 appends a record")


def test_a_producer_that_starts_anew_counts_from_the_beginning_and_the_former_one_is_fenced() -> None:
    walk = pair(*ANEW, **RESTARTS)
    assert walk.state["producer_epoch"]["r0"] == 0
    assert walk.state["producer_epoch"]["r1"] == 1
    assert walk.cells["clients"] == "producer epoch 1"
    assert not [label for label in walk.enabled if "again" in label or "already" in label]
    assert "r0 is sent again to b1" in pair(*ANEW, **RESTARTS, defect="M-15").enabled
    assert "r0 is sent again to b1" not in pair(*ANEW, **RESTARTS, defect="C-17").enabled, "it has that number already"


def test_until_a_leader_has_a_record_of_the_new_epoch_it_takes_those_of_the_former() -> None:
    moved = ("b1 appends a record", "the producer starts anew", "controller elects b2", "b2 applies metadata")
    walk = pair(*moved, "r0 is sent again to b2", "b2 appends a record", **RESTARTS)
    assert [walk.state["producer_epoch"][record] for record in ("r1", "r2")] == [0, 1]


def test_a_leader_that_has_the_record_of_a_former_producer_no_longer_says_so() -> None:
    copied = ("b1 appends a record", "b2 fetches from b1", "the producer starts anew", *LOST[1:])
    hears = ("b1 applies metadata", "b1 fetches from b2")
    assert "b2 has r0 already, and says so" in pair(*copied, *hears, **RESTARTS).enabled
    anew = (*copied, "b2 appends a record", *hears, "b1 fetches from b2", "b1 fetches from b2")
    later = pair(*anew, **RESTARTS)
    assert later.cells["b2"] == "L1 [r0@0 r1@1 |]"
    assert "b2 has r0 already, and says so" not in later.enabled, "its epoch is over there"
    same = pair(*anew, **RESTARTS, defect="C-17")
    assert "b2 has r0 already, and says so" in same.enabled, "it is another producer's, who has sent nothing since"


def test_a_new_epoch_begins_with_its_first_record() -> None:
    second = (*ANEW[:2], "b1 appends a record", *LOST[1:])
    walk = pair(*second, **RESTARTS, records=4)
    assert "b2 appends a record" in walk.enabled, "of this producer it knows nothing"
    walk = pair("b1 appends a record", "b2 fetches from b1", *second[1:], **RESTARTS, records=4)
    assert walk.cells["b2"] == "L1 [| r0@0]"
    assert "b2 appends a record" not in walk.enabled
    assert "b2 appends a record" in walk.take("r1 is sent again to b2").enabled


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"producer_restarts": 2, "retries": 1, "records": 4}])
def test_zombies_are_fenced_and_records_stored_once(more: dict[str, int | str]) -> None:
    model = Cluster(**{**CALM, **RESTARTS, "preferred_elections": 1, "fencings": 0, "metadata_lag": 1, **more})
    names = ["records_are_stored_once", "zombies_are_fenced", "logs_keep_write_order"]
    assert check(model, properties=names).verdict == "holds"


@pytest.mark.slow
@pytest.mark.parametrize(("defect", "sent"), [("C-17", "r1 in 1, r2 in 0"), ("M-15", "r0 in 0, r1 in 1, r2 in 0")])
def test_the_reason_names_the_epochs_of_the_producer(defect: str, sent: str) -> None:
    (found,) = check(Cluster(**DEFECTS[defect].witness), properties=["zombies_are_fenced"], threads=1).violations
    assert found.trace.reason == (
        f"b1 has taken a record of a producer of which it has later ones: by producer epoch {sent}."
    )
    said = [(demand.hardness.value, demand.text) for demand in found.trace.demands]
    assert ("operation", "the producer is started anew") in said
    assert ("delay", "r0, which the former producer has sent, comes late or is sent again by it") in said


def test_what_comes_again_of_the_producer_itself_is_no_delay() -> None:
    model = Cluster(**{**CALM, **RESTARTS, **OLD})
    (found,) = check(model, properties=["records_are_stored_once"], threads=1).violations
    assert found.trace.demands == ()


@pytest.mark.slow
def test_without_retries_a_producer_that_starts_anew_is_no_step() -> None:
    model = Cluster(producer_restarts=1)
    assert "restart_producer" not in {action.name for action in model.program.actions}
    assert model.program.schema.bits == Cluster().program.schema.bits


def test_without_retries_nothing_is_sent_again() -> None:
    assert not [action for action in Cluster().program.actions if "alter_partition_retry" in action.label]

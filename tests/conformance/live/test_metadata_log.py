"""The metadata log, folded: records as Kafka 4.3.1 has written them in N-02, in a few fields."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from insync.conformance.live.metadata_log import MetadataRecord, decisions, first_on_disk, metadata_records
from insync.conformance.live.runs.metadata_run import run_of_metadata
from insync.conformance.live.wire.message_codec import encode
from insync.conformance.live.wire.record_batches import made_batch
from insync.runtime.errors import UserError
from insync_schemas import schemas

WHOLE = made_batch([b"\1\x63\0"], 1000)
"""A batch with a record of a kind that nobody knows, which is passed over."""

TOPIC = "11111111-0000-0000-0000-000000000000"
UNCHANGED = {"Isr": None, "Leader": -2, "Replicas": None, "EligibleLeaderReplicas": None}


def record(offset: int, batch: int, name: str, **body: Any) -> MetadataRecord:
    return MetadataRecord(offset, batch, 1000 + batch, name, body)


def registered(offset: int, batch: int, broker: int, epoch: int) -> MetadataRecord:
    body = {"BrokerId": broker, "BrokerEpoch": epoch, "IncarnationId": "i", "Fenced": True}
    return record(offset, batch, "RegisterBrokerRecord", **body)


def registration_changed(offset: int, batch: int, broker: int, fenced: int, stopping: int = 0) -> MetadataRecord:
    body = {"BrokerId": broker, "Fenced": fenced, "InControlledShutdown": stopping}
    return record(offset, batch, "BrokerRegistrationChangeRecord", **body)


def changed(offset: int, batch: int, **body: Any) -> MetadataRecord:
    whole = {"TopicId": TOPIC, "PartitionId": 0, **UNCHANGED, **body}
    return record(offset, batch, "PartitionChangeRecord", **whole)


CREATED = [
    record(4, 4, "TopicRecord", Name="t", TopicId=TOPIC),
    record(
        5,
        4,
        "PartitionRecord",
        TopicId=TOPIC,
        PartitionId=0,
        Leader=1,
        LeaderEpoch=0,
        PartitionEpoch=0,
        Isr=[1, 2],
        Replicas=[1, 2],
        EligibleLeaderReplicas=None,
    ),
]


def test_what_is_decided_at_once_is_one_decision() -> None:
    log = [registered(1, 1, 1, 15), *CREATED, registration_changed(6, 6, 1, 0, 1), changed(7, 6, Leader=2, Isr=[2])]
    made = decisions(log, "t")
    assert [one.kinds for one in made] == [("registered 1",), ("created",), ("stopping 1", "changed")]
    last = made[-1].partition
    assert last is not None
    assert (last.leader, last.leader_epoch, last.partition_epoch, last.isr) == (2, 1, 1, (2,))
    assert (made[-1].offset, made[-1].milliseconds) == (7, 1006)
    assert made[-1].brokers[1].stopping
    assert made[0].partition is None


def test_two_decisions_of_one_batch_are_two() -> None:
    log = [registered(1, 1, 1, 1), registered(2, 1, 2, 2), *CREATED]
    log += [changed(6, 6, Leader=2), registration_changed(7, 6, 1, 1)]
    log += [changed(8, 6, Leader=-1, Isr=[]), registration_changed(9, 6, 2, 1)]
    kinds = [one.kinds for one in decisions(log, "t")]
    assert kinds[-2:] == [("changed", "fenced 1"), ("changed", "fenced 2")]
    assert kinds[:2] == [("registered 1",), ("registered 2",)]


def test_a_change_after_a_fencing_is_of_the_next_one() -> None:
    """A broker with nothing to lead is fenced in the same batch as one that leads: the change before its fencing."""
    log = [*CREATED, registered(4, 4, 1, 1), registered(5, 5, 2, 2)]
    log += [registration_changed(6, 6, 2, 1), changed(7, 6, Leader=-1, Isr=[]), registration_changed(8, 6, 1, 1)]
    assert [one.kinds for one in decisions(log, "t")][-2:] == [("fenced 2",), ("changed", "fenced 1")]


def test_a_change_that_names_no_leader_keeps_its_epoch() -> None:
    made = decisions([*CREATED, changed(6, 6, EligibleLeaderReplicas=[2], Isr=[1])], "t")[-1].partition
    assert made is not None
    assert (made.leader, made.leader_epoch, made.partition_epoch, made.isr, made.elr) == (1, 0, 1, (1,), (2,))


def test_who_is_named_again_leads_in_another_epoch() -> None:
    """Kafka: PartitionRegistration.merge, which asks whether a leader is named, and not whether it is another one."""
    log = [*CREATED, changed(6, 6, Leader=1, Isr=[1]), changed(7, 7, Leader=1)]
    epochs = [one.partition.leader_epoch for one in decisions(log, "t") if one.partition is not None]
    assert epochs == [0, 1, 2]


def test_other_partitions_and_topics_are_not_looked_at() -> None:
    assert decisions(CREATED, "t", 1) == []
    assert decisions(CREATED, "u") == []


def test_records_are_read_from_a_segment(tmp_path: Path) -> None:
    known = schemas(tmp_path)
    note = b"\1\3\0" + encode(known.records[3], 0, {"Text": "hello"})
    unknown = b"\1\x63\0"
    (found,) = metadata_records(known, made_batch([unknown, note], 42))
    assert found == MetadataRecord(1, 0, 42, "NoteRecord", {"Text": "hello"})


def test_what_is_known_of_a_broker_follows_its_registration_and_its_changes() -> None:
    log = [registered(1, 1, 1, 15), registration_changed(2, 2, 1, -1), registration_changed(3, 3, 1, 1)]
    log += [registration_changed(4, 4, 1, 0, 1), registration_changed(5, 5, 1, 0), registration_changed(6, 6, 2, 1)]
    made = decisions(log, "t")
    assert [one.kinds for one in made] == [("registered 1",), ("unfenced 1",), ("fenced 1",), ("stopping 1",)]
    assert [one.brokers[1].fenced for one in made] == [True, False, True, True]
    assert [one.brokers[1].stopping for one in made] == [False, False, False, True]


def test_each_change_counts_and_only_one_that_names_a_leader_begins_an_epoch() -> None:
    log = [*CREATED, changed(6, 6, Isr=[1]), changed(7, 7, Leader=-1, Isr=[]), changed(8, 8, Leader=1, Replicas=[1])]
    found = [one.partition for one in decisions(log, "t")]
    assert [one and (one.leader, one.leader_epoch, one.partition_epoch) for one in found] == [
        (1, 0, 0), (1, 0, 1), (-1, 1, 2), (1, 2, 3)
    ]  # fmt: skip
    assert [one and (one.isr, one.replicas) for one in found] == [
        ((1, 2), (1, 2)), ((1,), (1, 2)), ((), (1, 2)), ((), (1,))
    ]  # fmt: skip


def of_segment(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "0.log").write_bytes(data)
    run_of_metadata(schemas(tmp_path), tmp_path, "t")


@pytest.mark.parametrize(
    ("data", "place"),
    [(b"no batch, but a text that somebody has put here" * 3, 0), (WHOLE + b"\x07" * 90, len(WHOLE)), (b"x", 0)],
    ids=["text", "after a batch", "a byte"],
)
def test_what_is_no_metadata_log_is_refused_with_its_place(tmp_path: Path, data: bytes, place: int) -> None:
    said = f"0.log: at byte {place} is no batch of records, so this is no metadata log, or a damaged one."
    with pytest.raises(UserError, match=re.escape(said)):
        of_segment(tmp_path, data)


def test_a_record_that_cannot_be_read_is_told_of_with_the_release(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"0\.log: a record cannot be read as one of Kafka .*with --kafka, or copy it"):
        of_segment(tmp_path, made_batch([b"\1\3\0\x7f"], 1000))


@pytest.mark.parametrize("end", [b"", b"\0" * 500, WHOLE[:-2], WHOLE[:40]], ids=["nothing", "room", "part", "less"])
def test_a_batch_that_is_being_written_and_room_for_more_are_no_damage(tmp_path: Path, end: bytes) -> None:
    with pytest.raises(UserError, match="lacks the creation of t-0"):
        of_segment(tmp_path, WHOLE + end)


def test_what_is_before_the_oldest_snapshot_is_deleted(tmp_path: Path) -> None:
    assert first_on_disk(tmp_path) == 0
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    for name in ("00000000000000000062-0000000001.checkpoint", "00000000000000000107-0000000001.checkpoint"):
        (folder / name).touch()
    (folder / "00000000000000000012-0000000001.checkpoint.deleted").touch()
    assert first_on_disk(tmp_path) == 62

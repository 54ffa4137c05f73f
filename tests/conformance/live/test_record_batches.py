"""Batches of records; the first one here was written by a broker of Kafka 4.3.1."""

from __future__ import annotations

from pathlib import Path

from insync.conformance.live.broker_files import epochs_on_disk, has_replica, log_on_disk
from insync.conformance.live.wire.record_batches import LoggedRecord, batches, made_batch

BATCH_OF_KAFKA = bytes.fromhex(
    "00000000000000010000003a0000000202023132b1000000000000000001a202ec4f14000001a202ec4f14ffffffffffffffffffffffffffff000000011000000001046e3000"
)


def test_a_batch_of_kafka_is_read() -> None:
    (batch,) = batches(BATCH_OF_KAFKA)
    assert (batch.base, batch.last, batch.epoch, batch.is_control) == (1, 1, 2, False)
    assert batch.records == (LoggedRecord(1, None, b"n0"),)


def test_a_batch_that_we_make_has_the_checksum_of_kafka() -> None:
    (batch,) = batches(BATCH_OF_KAFKA)
    made = made_batch([b"n0"], batch.milliseconds)
    assert made[17:] == BATCH_OF_KAFKA[17:]  # before that are the offset and the epoch, which the leader fills in


def test_records_have_offsets_one_after_the_other() -> None:
    (batch,) = batches(made_batch([b"a", b"", b"c"], 5))
    assert [(record.offset, record.value) for record in batch.records] == [(0, b"a"), (1, b""), (2, b"c")]


def test_a_batch_without_records_is_read_where_it_is_the_last() -> None:
    """Compaction leaves such batches."""
    empty = made_batch([], 5)
    assert [batch.records for batch in batches(BATCH_OF_KAFKA + empty)] == [(LoggedRecord(1, None, b"n0"),), ()]
    assert list(batches(empty[:-1])) == []


def test_a_batch_that_is_not_there_whole_is_not_read() -> None:
    assert [batch.base for batch in batches(BATCH_OF_KAFKA + BATCH_OF_KAFKA[:-1])] == [1]


def test_the_files_of_a_partition(tmp_path: Path) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    (folder / "00000000000000000000.log").write_bytes(BATCH_OF_KAFKA + BATCH_OF_KAFKA[:30])
    (folder / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n2 1\n")
    assert log_on_disk(tmp_path, "t") == [("n0", 2)]
    assert epochs_on_disk(tmp_path, "t") == [(0, 0), (2, 1)]
    assert (has_replica(tmp_path, "t"), has_replica(tmp_path, "u")) == (True, False)
    assert (log_on_disk(tmp_path, "u"), epochs_on_disk(tmp_path, "u")) == ([], [])


def test_a_record_without_a_value_is_one_without_a_text(tmp_path: Path) -> None:
    """Compaction takes such a record for the word that its key is deleted."""
    empty = made_batch([b""], 5)
    assert empty.endswith(bytes.fromhex("0000000100 00"))
    without = empty[:-2] + bytes.fromhex("01 00")  # the length of the value is -1, as that of the key is
    folder = tmp_path / "t-0"
    folder.mkdir()
    (folder / "00000000000000000000.log").write_bytes(without + BATCH_OF_KAFKA)
    assert [record.value for batch in batches(without) for record in batch.records] == [None]
    assert log_on_disk(tmp_path, "t") == [("", -1), ("n0", 2)]

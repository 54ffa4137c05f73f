"""Batches of records as Kafka writes them to disk and sends them: magic 2, and no compression.

Source: DefaultRecordBatch, DefaultRecord.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from insync.conformance.live.wire.message_codec import Reader, unsigned_varint, zigzag_varint

__all__ = ["Batch", "LoggedRecord", "batches", "made_batch", "no_batch_at"]

_HEAD = struct.Struct(">qi")
_EPOCH = struct.Struct(">ib")
_AFTER_CRC = struct.Struct(">hiqqqhii")
_CRC_END = 21
_RECORDS = 61
_COMPRESSED = 7
_CONTROL = 32
_MAGIC = 2


@dataclass(frozen=True, slots=True)
class LoggedRecord:
    """A record at an offset; a null key or value is None."""

    offset: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of records.

    Attributes:
        place: where it begins, in bytes.
        base: the offset of its first record.
        last: the offset of its last one.
        epoch: the leader epoch in which it was written.
        milliseconds: the greatest timestamp in it.
        is_control: whether Kafka has written it for itself.
        records: its records; none where they are compressed.
    """

    place: int
    base: int
    last: int
    epoch: int
    milliseconds: int
    is_control: bool
    records: tuple[LoggedRecord, ...]


def batches(data: bytes) -> Iterator[Batch]:
    """Yield the batches of a segment or of a field with records, up to one that is not there whole."""
    place = 0
    while place + _RECORDS <= len(data):
        base, size = _HEAD.unpack_from(data, place)
        end = place + _HEAD.size + size
        epoch, magic = _EPOCH.unpack_from(data, place + _HEAD.size)
        if size < _RECORDS - _HEAD.size or end > len(data) or magic != _MAGIC:
            return
        flags, last, _, newest, _, _, _, count = _AFTER_CRC.unpack_from(data, place + _CRC_END)
        records = () if flags & _COMPRESSED else tuple(_records(data[place + _RECORDS : end], base, count))
        yield Batch(place, base, base + last, epoch, newest, bool(flags & _CONTROL), records)
        place = end


def no_batch_at(data: bytes) -> int | None:
    """Return the place in a segment at which something else than a batch is; None if there is no such.

    A batch that is not there whole is one that is being written, and zeros are room for more.
    """
    place = 0
    while place + _RECORDS <= len(data):
        _, size = _HEAD.unpack_from(data, place)
        _, magic = _EPOCH.unpack_from(data, place + _HEAD.size)
        if size < _RECORDS - _HEAD.size or magic != _MAGIC:
            return place if data[place:].strip(b"\0") else None
        place += _HEAD.size + size
    return None if place or not data.strip(b"\0") else 0


def _records(data: bytes, base: int, count: int) -> Iterator[LoggedRecord]:
    reader = Reader(data)
    for _ in range(count):
        size = reader.zigzag_varint()
        end = reader.place + size
        reader.take(1)
        reader.zigzag_varint()
        offset = base + reader.zigzag_varint()
        yield LoggedRecord(offset, _text(reader), _text(reader))
        reader.place = end  # headers, which nobody here reads


def _text(reader: Reader) -> bytes | None:
    size = reader.zigzag_varint()
    return None if size < 0 else reader.take(size)


def made_batch(values: Iterable[bytes], milliseconds: int) -> bytes:
    """Return a batch as a producer sends it, without an id of its own."""
    records = [_record(number, value) for number, value in enumerate(values)]
    count = len(records)
    rest = _AFTER_CRC.pack(0, count - 1, milliseconds, milliseconds, -1, -1, -1, count) + b"".join(records)
    body = _EPOCH.pack(-1, _MAGIC) + struct.pack(">I", _crc32c(rest)) + rest
    return _HEAD.pack(0, len(body)) + body


def _record(number: int, value: bytes) -> bytes:
    body = b"\0" + zigzag_varint(0) + zigzag_varint(number) + zigzag_varint(-1)
    body += zigzag_varint(len(value)) + value + unsigned_varint(0)
    return zigzag_varint(len(body)) + body


@cache
def _crc_table() -> tuple[int, ...]:
    table = []
    for number in range(256):
        crc = number
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return tuple(table)


def _crc32c(data: bytes) -> int:
    """The checksum of Castagnoli, which the standard library has not got."""
    table, crc = _crc_table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF

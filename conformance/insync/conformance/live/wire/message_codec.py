"""Messages of Kafka's protocol as bytes and back, by their schemas.

Source: the serialization that Kafka's message generator makes (MessageDataGenerator, kafka.apache.org/protocol).
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Sequence
from typing import Any

from insync.conformance.live.wire.message_schemas import Field, Message, MessageSchema

__all__ = ["Reader", "decode", "encode", "unsigned_varint", "zigzag_varint"]

_NUMBERS = {
    "int8": struct.Struct(">b"),
    "int16": struct.Struct(">h"),
    "uint16": struct.Struct(">H"),
    "int32": struct.Struct(">i"),
    "uint32": struct.Struct(">I"),
    "int64": struct.Struct(">q"),
    "float64": struct.Struct(">d"),
}
_SHORT, _LONG = _NUMBERS["int16"], _NUMBERS["int32"]
_TEXTS = ("string", "bytes", "records")
_NO_ID = str(uuid.UUID(int=0))


class Reader:
    """Bytes, and the place up to which they were read.

    Raises:
        EOFError: in every method: the bytes end before what is to be read does.
    """

    __slots__ = ("data", "place")

    def __init__(self, data: bytes, place: int = 0) -> None:
        self.data, self.place = data, place

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        end = self.place + size
        if size < 0 or end > len(self.data):
            message = f"{size} bytes are wanted at {self.place}, and there are {len(self.data)} in all"
            raise EOFError(message)
        taken = self.data[self.place : end]
        self.place = end
        return taken

    def number(self, form: struct.Struct) -> Any:
        """Return the next number of a form."""
        return form.unpack(self.take(form.size))[0]

    def unsigned_varint(self) -> int:
        """Return the next number, of seven bits a byte, the lowest first."""
        shift = value = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag_varint(self) -> int:
        """Return the next number that may be negative: its sign is the lowest bit."""
        value = self.unsigned_varint()
        return (value >> 1) ^ -(value & 1)

    def skip_tagged(self) -> None:
        """Pass over tagged fields."""
        for _ in range(self.unsigned_varint()):
            self.unsigned_varint()
            self.take(self.unsigned_varint())


def unsigned_varint(value: int) -> bytes:
    """Return what `Reader.unsigned_varint` reads."""
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def zigzag_varint(value: int) -> bytes:
    """Return what `Reader.zigzag_varint` reads, of a number of 64 bits."""
    return unsigned_varint((value << 1) ^ (value >> 63))


# ------------------------------------------------------------------------------------------------------------ decoding


def decode(schema: MessageSchema, version: int, reader: Reader) -> Message:
    """Read a message.

    Args:
        schema: its schema.
        version: its version.
        reader: where it begins.

    Raises:
        EOFError: the bytes end before it does.
        ValueError: a text of it is none.
    """
    return _decode_fields(reader, schema.fields, version, version in schema.flexible)


def _decode_fields(reader: Reader, fields: Sequence[Field], version: int, flexible: bool) -> Message:
    made: Message = {}
    tagged: dict[int, Field] = {}
    for field in fields:
        if version not in field.versions:
            continue
        if version in field.tagged:
            tagged[field.tag] = field
            made[field.name] = _default(field)
        else:
            made[field.name] = _decode_field(reader, field, version, flexible)
    if flexible:
        for _ in range(reader.unsigned_varint()):
            tag, size = reader.unsigned_varint(), reader.unsigned_varint()
            inner = Reader(reader.take(size))
            if tag in tagged:
                made[tagged[tag].name] = _decode_field(inner, tagged[tag], version, flexible)
    return made


def _decode_field(reader: Reader, field: Field, version: int, flexible: bool) -> Any:
    if field.is_array:
        size = reader.unsigned_varint() - 1 if flexible else reader.number(_LONG)
        return None if size < 0 else [_decode_one(reader, field, version, flexible) for _ in range(size)]
    if field.fields and version in field.nullable and reader.take(1) == b"\xff":
        return None
    return _decode_one(reader, field, version, flexible)


def _decode_one(reader: Reader, field: Field, version: int, flexible: bool) -> Any:
    form = _NUMBERS.get(field.kind)
    if form is not None:
        return reader.number(form)
    if field.kind == "bool":
        return reader.take(1) != b"\0"
    if field.kind == "uuid":
        return str(uuid.UUID(bytes=reader.take(16)))
    if field.kind not in _TEXTS:
        return _decode_fields(reader, field.fields, version, flexible)
    if flexible and field.compact:
        size = reader.unsigned_varint() - 1
    else:
        size = reader.number(_SHORT if field.kind == "string" else _LONG)
    if size < 0:
        return None
    taken = reader.take(size)
    return taken.decode() if field.kind == "string" else taken


# ------------------------------------------------------------------------------------------------------------ encoding


def encode(schema: MessageSchema, version: int, message: Message) -> bytes:
    """Return a message as bytes; a field that it lacks has its default.

    Raises:
        struct.error, TypeError: a value does not fit its field.
    """
    return _encode_fields(schema.fields, message, version, version in schema.flexible)


def _encode_fields(fields: Sequence[Field], message: Message, version: int, flexible: bool) -> bytes:
    made, tagged = [], []
    for field in fields:
        if version not in field.versions:
            continue
        value = message.get(field.name, _default(field))
        if version not in field.tagged:
            made.append(_encode_field(field, value, version, flexible))
        elif value != _default(field):
            tagged.append((field.tag, _encode_field(field, value, version, flexible)))
    if flexible:
        made.append(unsigned_varint(len(tagged)))
        made += [unsigned_varint(tag) + unsigned_varint(len(data)) + data for tag, data in sorted(tagged)]
    return b"".join(made)


def _encode_field(field: Field, value: Any, version: int, flexible: bool) -> bytes:
    if field.is_array:
        if value is None:
            return b"\0" if flexible else _LONG.pack(-1)
        size = unsigned_varint(len(value) + 1) if flexible else _LONG.pack(len(value))
        return size + b"".join(_encode_one(field, one, version, flexible) for one in value)
    if field.fields and version in field.nullable:
        return b"\xff" if value is None else b"\1" + _encode_one(field, value, version, flexible)
    return _encode_one(field, value, version, flexible)


def _encode_one(field: Field, value: Any, version: int, flexible: bool) -> bytes:
    form = _NUMBERS.get(field.kind)
    if form is not None:
        return form.pack(value)
    if field.kind == "bool":
        return b"\1" if value else b"\0"
    if field.kind == "uuid":
        return uuid.UUID(value).bytes
    if field.kind not in _TEXTS:
        return _encode_fields(field.fields, value, version, flexible)
    data = value.encode() if isinstance(value, str) else value
    if flexible and field.compact:
        return b"\0" if data is None else unsigned_varint(len(data) + 1) + data
    size = _SHORT if field.kind == "string" else _LONG
    return size.pack(-1) if data is None else size.pack(len(data)) + bytes(data)


def _default(field: Field) -> Any:
    told = field.default
    if told == "null":
        return None
    if field.is_array:
        return []
    if field.kind == "float64":
        return float(told or 0)
    if field.kind in _NUMBERS:
        return int(str(told), 0) if told not in (None, "") else 0
    if field.kind == "bool":
        return str(told).lower() == "true"
    if field.kind == "uuid":
        return _NO_ID
    if field.kind == "string":
        return told or ""
    if field.kind in _TEXTS:
        return b""
    return {inner.name: _default(inner) for inner in field.fields}

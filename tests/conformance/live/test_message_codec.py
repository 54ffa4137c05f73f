"""Messages by their schemas: of a small protocol of our own here, and of Kafka's where its jars are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.wire.message_codec import Reader, decode, encode, unsigned_varint, zigzag_varint
from insync.conformance.live.wire.message_schemas import MessageSchemas, Span
from insync.conformance.live.wire.request_frames import request_frame, request_head, response_body
from insync.runtime.errors import UserError
from insync_schemas import ANSWER, schema_jars, schemas

ID = "00000000-0000-0001-0000-000000000002"
WHOLE: dict[str, Any] = {
    "Name": "n",
    "Count": 300,
    "Parts": [{"Id": ID, "Ends": [1, -2], "Data": b"\1\2"}, {"Id": ID, "Ends": None, "Data": None}],
    "Inner": {"Small": -3},
    "Weight": 0.5,
}


@pytest.mark.parametrize(
    ("text", "within", "beyond"),
    [("0+", [0, 9], []), ("2", [2], [1, 3]), ("1-3", [1, 3], [0, 4]), ("none", [], [0, 1]), (None, [0, 5], [])],
)
def test_a_span_of_versions(text: str | None, within: list[int], beyond: list[int]) -> None:
    span = Span.of(text)
    assert all(version in span for version in within)
    assert not any(version in span for version in beyond)


@pytest.mark.parametrize("value", [0, 1, 127, 128, 129, 255, 16383, 16384, 2**31 - 1, 2**31, 2**63 - 1])
def test_numbers_of_seven_bits_a_byte(value: int) -> None:
    written = unsigned_varint(value)
    assert len(written) == max(1, -(-value.bit_length() // 7))
    assert Reader(written).unsigned_varint() == value
    for signed in (value, -value, -value - 1):
        reader = Reader(zigzag_varint(signed))
        assert (reader.zigzag_varint(), reader.place) == (signed, len(reader.data))


def test_bytes_are_taken_up_to_the_last_one_and_not_beyond() -> None:
    reader = Reader(b"abc", 1)
    assert (reader.take(0), reader.take(2), reader.take(0), reader.place) == (b"", b"bc", b"", 3)
    for size in (1, -1):
        with pytest.raises(EOFError):
            reader.take(size)


def test_what_is_written_is_what_the_protocol_says(tmp_path: Path) -> None:
    schema = schemas(tmp_path).by_name["AskRequest"]
    old = {"Name": "ab", "Old": True, "Parts": [{"Id": ID, "Ends": [5]}]}
    part = ID.replace("-", "") + "00000001" + f"{5:016x}"
    assert encode(schema, 0, old).hex() == "00026162" + "01" + "00000001" + part
    new = {"Name": "ab", "Parts": [], "Weight": 0.0}
    assert encode(schema, 1, new).hex() == "036162" + "ffffffff" + "01" + "ff" + "00"
    assert encode(schema, 1, {**new, "Weight": 0.5}).hex() == "036162ffffffff01ff" + "01" + "0308" + "3fe0000000000000"


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    schema = schemas(tmp_path).by_name["AskRequest"]
    reader = Reader(encode(schema, 1, WHOLE))
    assert decode(schema, 1, reader) == WHOLE
    assert reader.place == len(reader.data)


def test_tagged_fields_that_nobody_knows_are_passed_over(tmp_path: Path) -> None:
    schema = schemas(tmp_path).by_name["AskResponse"]
    assert decode(schema, 1, Reader(bytes.fromhex("0005" + "01" + "0902aabb"))) == {"ErrorCode": 5}


def test_a_tag_that_is_written_as_text_is_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 4.0 the tag of LogDirs in RegisterBrokerRecord is "0"."""
    hint = {"name": "Hint", "type": "int8", "versions": "1+", "taggedVersions": "1+", "tag": "2"}
    monkeypatch.setitem(ANSWER, "fields", [*ANSWER["fields"], hint])
    schema = schemas(tmp_path).by_name["AskResponse"]
    assert decode(schema, 1, Reader(bytes.fromhex("0005" + "01" + "020107"))) == {"ErrorCode": 5, "Hint": 7}


def test_a_message_that_ends_too_soon_is_noticed(tmp_path: Path) -> None:
    schema = schemas(tmp_path).by_name["AskRequest"]
    with pytest.raises(EOFError):
        decode(schema, 1, Reader(encode(schema, 1, WHOLE)[:-9]))


@pytest.mark.parametrize("version", [0, 1])
def test_a_request_has_a_head_and_its_answer_too(tmp_path: Path, version: int) -> None:
    known = schemas(tmp_path)
    frame = request_frame(known, "Ask", version, 77, "somebody", {"Name": "x"})
    head = request_head(known, frame)
    assert (head.key, head.version, head.correlation, head.client) == (7, version, 77, "somebody")
    assert decode(known.requests[7], version, Reader(frame, head.body))["Name"] == "x"
    answer = bytes.fromhex("0000004d" + ("00" if version else "") + "0009" + ("00" if version else ""))
    assert decode(known.responses[7], version, response_body(known, 7, version, answer)) == {"ErrorCode": 9}


def test_a_request_that_no_schema_knows_has_its_body_behind_its_client(tmp_path: Path) -> None:
    frame = bytes.fromhex("0063" + "0001" + "0000004d" + "0002") + b"me" + b"rest"
    head = request_head(schemas(tmp_path), frame)
    assert (head.key, head.client, frame[head.body :]) == (99, "me", b"rest")


def test_jars_without_a_protocol_are_refused(tmp_path: Path) -> None:
    jars = schema_jars(tmp_path)
    with pytest.raises(UserError, match=r"have no kafka-metadata-VERSION\.jar"):
        MessageSchemas.of_jars(JarSet("9.9.9", jars.paths[:1], ("",)))
    jars.paths[0].write_bytes(b"no jar")
    with pytest.raises(UserError, match="this is no jar that can be read"):
        MessageSchemas.of_jars(jars)


@pytest.mark.kafka
@pytest.mark.parametrize("version", ["3.9.2", "4.1.2", "4.3.1"])
def test_every_message_of_kafka_is_written_and_read(jars_of: Callable[[str], JarSet], version: str) -> None:
    known = MessageSchemas.of_jars(jars_of(version))
    every = [*known.requests.values(), *known.responses.values(), *known.records.values()]
    assert len(every) > 180
    for schema in every:
        for number in range(schema.versions.first, schema.versions.last + 1):
            data = encode(schema, number, {})
            reader = Reader(data)
            message = decode(schema, number, reader)
            assert (reader.place, encode(schema, number, message)) == (len(data), data), (schema.name, number)

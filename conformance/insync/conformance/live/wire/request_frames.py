"""Frames: what stands before the body of a request and of a response.

Source: RequestHeader, ResponseHeader; a response of ApiVersions has the oldest header, whatever its version.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from insync.conformance.live.wire.message_codec import Reader, encode
from insync.conformance.live.wire.message_schemas import Message, MessageSchemas

__all__ = ["RequestHead", "request_frame", "request_head", "response_body"]

_HEAD = struct.Struct(">hhih")
_API_VERSIONS = 18
_CORRELATION = 4


@dataclass(frozen=True, slots=True)
class RequestHead:
    """What stands before a request's body, which begins at `body`."""

    key: int
    version: int
    correlation: int
    client: str
    body: int


def request_head(schemas: MessageSchemas, frame: bytes) -> RequestHead:
    """Read the head of a request; one that the schemas do not know has no tagged fields.

    Raises:
        struct.error, EOFError: this is no request.
    """
    key, version, correlation, size = _HEAD.unpack_from(frame)
    reader = Reader(frame, _HEAD.size)
    client = reader.take(max(size, 0)).decode(errors="replace")
    schema = schemas.requests.get(key)
    if schema is not None and version in schema.flexible:
        reader.skip_tagged()
    return RequestHead(key, version, correlation, client, reader.place)


def request_frame(
    schemas: MessageSchemas, name: str, version: int, correlation: int, client: str, body: Message
) -> bytes:
    """Return a request, without the four bytes of its length before it."""
    schema = schemas.by_name[f"{name}Request"]
    head = _HEAD.pack(schema.key, version, correlation, len(client)) + client.encode()
    return head + (b"\0" if version in schema.flexible else b"") + encode(schema, version, body)


def response_body(schemas: MessageSchemas, key: int, version: int, frame: bytes) -> Reader:
    """Return a reader at the body of the response to a request of this key and version."""
    reader = Reader(frame, _CORRELATION)
    if key != _API_VERSIONS and version in schemas.responses[key].flexible:
        reader.skip_tagged()
    return reader

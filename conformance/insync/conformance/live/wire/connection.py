"""A client's connection to a broker: a request, and the answer to it."""

from __future__ import annotations

import select
import socket
import struct
from types import TracebackType

from insync.conformance.live.wire.message_codec import decode
from insync.conformance.live.wire.message_schemas import Message, MessageSchemas
from insync.conformance.live.wire.request_frames import request_frame, response_body

__all__ = ["Connection"]

_LENGTH = struct.Struct(">i")
_CLIENT = "insync"


class Connection:
    """A connection to a port of this machine; as a context manager it is closed with its block.

    Args:
        schemas: the messages of the broker's release.
        port: the port.
        patience: the seconds after which an answer is not waited for any more.

    Raises:
        OSError: in every method: nobody listens, or the connection ends, or the answer takes too long.
    """

    def __init__(self, schemas: MessageSchemas, port: int, patience: float = 15.0) -> None:
        self._schemas, self._correlation = schemas, 0
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=patience)
        self._waiting: list[tuple[str, int]] = []

    def send(self, name: str, body: Message, version: int | None = None) -> None:
        """Send a request, in its newest version if none is given."""
        if version is None:
            version = self._schemas.by_name[f"{name}Request"].versions.last
        self._correlation += 1
        frame = request_frame(self._schemas, name, version, self._correlation, _CLIENT, body)
        self._socket.sendall(_LENGTH.pack(len(frame)) + frame)
        self._waiting.append((name, version))

    def receive(self) -> Message:
        """Wait for the answer to the oldest request that has none yet."""
        name, version = self._waiting.pop(0)
        schema = self._schemas.by_name[f"{name}Response"]
        frame = self._read(_LENGTH.unpack(self._read(_LENGTH.size))[0])
        return decode(schema, version, response_body(self._schemas, schema.key, version, frame))

    def call(self, name: str, body: Message, version: int | None = None) -> Message:
        """Send a request and wait for its answer."""
        self.send(name, body, version)
        return self.receive()

    def is_answered(self) -> bool:
        """Whether something has come that nobody has read, or the connection has ended."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            if not more:
                message = "the broker has closed the connection"
                raise ConnectionError(message)
            data += more
        return data

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

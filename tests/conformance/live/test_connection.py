"""A client's connection, to a server of our own that answers when it is told to."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from insync.conformance.live.wire.connection import Connection
from insync.conformance.live.wire.message_schemas import Message, MessageSchemas
from insync.conformance.live.wire.request_frames import RequestHead, request_head
from insync_schemas import schemas

BODY: Message = {"Name": "n", "Old": False, "Parts": []}
OLD, NEW = 0, 1
"""The versions of the request; the second is flexible."""


class Server:
    """Reads requests, and answers the oldest that has no answer yet with an error of its own."""

    def __init__(self, known: MessageSchemas, server: socket.socket) -> None:
        self.known, self._server = known, server

    def accept(self) -> None:
        self.peer, _ = self._server.accept()
        self.peer.settimeout(10)

    def read(self) -> RequestHead:
        (size,) = struct.unpack(">i", self.peer.recv(4, socket.MSG_WAITALL))
        return request_head(self.known, self.peer.recv(size, socket.MSG_WAITALL))

    def answer(self, head: RequestHead, error: int) -> None:
        body = struct.pack(">i", head.correlation) + (b"\0" if head.version == NEW else b"") + struct.pack(">h", error)
        body += b"\0" if head.version == NEW else b""
        self.peer.sendall(struct.pack(">i", len(body)) + body)


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[Connection, Server]]:
    known = schemas(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Server(known, listening)
        with Connection(known, listening.getsockname()[1], patience=10) as client:
            server.accept()
            yield client, server
            server.peer.close()


def looks(client: Connection) -> bool | None:
    """What it says of an answer; None where it has not said it after a while."""
    said: list[bool] = []
    thread = threading.Thread(target=lambda: said.append(client.is_answered()), daemon=True)
    thread.start()
    thread.join(5)
    return said[0] if said else None


def comes(client: Connection) -> bool:
    end = time.monotonic() + 5
    while not (said := looks(client)) and said is not None and time.monotonic() < end:
        time.sleep(0.01)
    return bool(said)


def test_a_request_is_sent_in_its_newest_version_unless_another_is_given(both: tuple[Connection, Server]) -> None:
    client, server = both
    client.send("Ask", BODY)
    client.send("Ask", BODY, OLD)
    assert [server.read().version, server.read().version] == [NEW, OLD]


def test_answers_belong_to_requests_in_their_order_and_versions(both: tuple[Connection, Server]) -> None:
    client, server = both
    versions = [NEW, OLD, OLD, NEW]
    for version in versions:
        client.send("Ask", BODY, version)
    heads = [server.read() for _ in versions]
    assert len({head.correlation for head in heads}) == len(versions)
    for error, head in enumerate(heads):
        server.answer(head, error)
    assert [client.receive() for _ in versions] == [{"ErrorCode": error} for error in range(len(versions))]


def test_whether_there_is_an_answer_is_told_without_waiting_for_one(both: tuple[Connection, Server]) -> None:
    client, server = both
    client.send("Ask", BODY)
    assert looks(client) is False
    server.answer(server.read(), 7)
    assert comes(client)
    assert client.receive() == {"ErrorCode": 7}
    assert looks(client) is False
    server.peer.close()
    assert comes(client)
    client.send("Ask", BODY)
    with pytest.raises(OSError):  # noqa: PT011  (the system's, or that of a connection that has ended)
        client.receive()

"""A link before a server of our own: frames are told, held, let pass one by one, and their connections ended."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from insync.conformance.live.nodes.ports import LOOPBACK, free_ports
from insync.conformance.live.proxies import Frame, Link, Proxies
from insync.conformance.live.wire.connection import Connection
from insync.conformance.live.wire.message_schemas import MessageSchemas
from insync_schemas import schemas

LINK = Link(1, to_controller=False)


def until(attempt: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not attempt():
        assert time.monotonic() < end
        time.sleep(0.01)


def answer(server: socket.socket) -> None:
    """Answer every request of the protocol of the tests with error 0."""

    def serve(connection: socket.socket) -> None:
        with connection:
            while head := connection.recv(4):
                frame = connection.recv(struct.unpack(">i", head)[0])
                connection.sendall(struct.pack(">i", 8) + frame[4:8] + bytes(4))

    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


@pytest.fixture
def known(tmp_path: Path) -> MessageSchemas:
    return schemas(tmp_path)


@pytest.fixture
def link(known: MessageSchemas) -> Iterator[tuple[Proxies, int]]:
    """Proxies with one link, and its port."""
    with socket.create_server((LOOPBACK, 0)) as server:
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        proxies, (port,) = Proxies(known), free_ports(1)
        proxies.open(LINK, port, server.getsockname()[1])
        yield proxies, port
        proxies.close()
        server.shutdown(socket.SHUT_RDWR)


def test_frames_pass_and_are_told(known: MessageSchemas, link: tuple[Proxies, int]) -> None:
    proxies, port = link
    told: list[Frame] = []
    proxies.listeners.append(told.append)
    with Connection(known, port) as connection:
        assert connection.call("Ask", {"Name": "x"}) == {"ErrorCode": 0}
        assert connection.call("Ask", {"Name": "y"}, 0) == {"ErrorCode": 0}
    assert [(one.is_request, one.key, one.client, one.correlation) for one in told] == [
        (True, 7, "insync", 1),
        (False, 7, "insync", 1),
        (True, 7, "insync", 2),
        (False, 7, "insync", 2),
    ]
    assert [one.moment for one in told] == sorted(one.moment for one in told)


def test_what_is_held_waits_until_it_is_let_pass(known: MessageSchemas, link: tuple[Proxies, int]) -> None:
    proxies, port = link
    hold = proxies.hold(lambda frame: frame.is_request)
    with Connection(known, port) as connection:
        connection.send("Ask", {})
        connection.send("Ask", {})
        until(lambda: hold.waiting)
        assert not connection.is_answered()
        hold.let_pass()
        assert connection.receive() == {"ErrorCode": 0}
        until(lambda: [frame.correlation for frame in hold.waiting] == [2])
        assert not connection.is_answered()
        hold.release()
        assert connection.receive() == {"ErrorCode": 0}
    assert [frame.correlation for frame in hold.caught] == [1, 2]


def test_what_was_let_pass_beforehand_does_not_wait(known: MessageSchemas, link: tuple[Proxies, int]) -> None:
    proxies, port = link
    hold = proxies.hold(lambda frame: not frame.is_request)
    hold.let_pass(2)
    with Connection(known, port) as connection:
        assert connection.call("Ask", {}) == connection.call("Ask", {}) == {"ErrorCode": 0}
        connection.send("Ask", {})
        until(lambda: hold.waiting)


def test_a_frame_that_two_hold_waits_for_both(known: MessageSchemas, link: tuple[Proxies, int]) -> None:
    proxies, port = link
    holds = [proxies.hold(lambda frame: frame.is_request) for _ in range(2)]
    with Connection(known, port) as connection:
        for first, second in (holds, holds[::-1]):
            connection.send("Ask", {})
            until(lambda: all(hold.waiting for hold in holds))
            first.let_pass()
            assert not connection.is_answered(), "one of them holds it still"
            second.let_pass()
            assert connection.receive() == {"ErrorCode": 0}
            assert not any(hold.waiting or hold.passes for hold in holds)


def test_a_connection_is_ended_whose_frame_waits(known: MessageSchemas, link: tuple[Proxies, int]) -> None:
    proxies, port = link
    hold = proxies.hold(lambda frame: frame.is_request)
    with Connection(known, port) as former, Connection(known, port) as later:
        former.send("Ask", {})
        until(lambda: hold.waiting)
        hold.drop()
        assert hold.waiting == []
        with pytest.raises(OSError, match=r"closed|reset"):
            former.receive()
        later.send("Ask", {})
        until(lambda: hold.waiting)
        hold.let_pass()
        assert later.receive() == {"ErrorCode": 0}


def test_all_ends_with_the_proxies(known: MessageSchemas, link: tuple[Proxies, int]) -> None:
    proxies, port = link
    proxies.hold(lambda frame: frame.is_request)
    with Connection(known, port) as connection:
        connection.send("Ask", {})
        proxies.close()
        with pytest.raises(OSError, match=r"closed|reset"):
            connection.receive()
    with pytest.raises(ConnectionRefusedError):
        Connection(known, port)

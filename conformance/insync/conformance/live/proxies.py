"""Proxies between the brokers of a cluster, and before its controller, which read each frame and can hold it.

A link is a port of this machine in front of another one. A frame that goes through it is decoded as far as a listener
needs it, passed to the listeners, and sent on unchanged, at once or when it is released. Only the controller's own port
is replaced by that of the link in front of it.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from insync.conformance.live.nodes.ports import LOOPBACK
from insync.conformance.live.wire.message_codec import Reader, decode, encode
from insync.conformance.live.wire.message_schemas import Message, MessageSchemas
from insync.conformance.live.wire.request_frames import request_head, response_body

__all__ = [
    "ALTER_PARTITION",
    "ASSIGN_DIRECTORIES",
    "FETCH",
    "HEARTBEAT",
    "REGISTRATION",
    "Frame",
    "Hold",
    "Link",
    "Proxies",
    "to_controller",
]

FETCH = 1
ALTER_PARTITION = 56
REGISTRATION = 62
HEARTBEAT = 63
ASSIGN_DIRECTORIES = 73
_DECODED = (FETCH, ALTER_PARTITION, REGISTRATION, HEARTBEAT)
_LENGTH = struct.Struct(">i")


@dataclass(frozen=True, slots=True)
class Link:
    """A way of frames: of other brokers to a broker, or of a broker to the controller."""

    broker: int
    to_controller: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """A request or a response on its way.

    Attributes:
        moment: the time, in seconds since 1970.
        link: where it goes through.
        is_request: whether it goes to the port behind; a response comes from there.
        client: the sender of the request, such as `broker-2-fetcher-0`, `raft-client-2`, or a broker's number.
        key: the kind of the request.
        body: its fields; empty where no listener needs them.
        correlation: what tells which response belongs to which request of a connection.
    """

    moment: float
    link: Link
    is_request: bool
    client: str
    key: int
    body: Message
    correlation: int


def to_controller(broker: int, key: int, request: bool) -> Callable[[Frame], bool]:
    """Return what matches the requests of a broker to the controller with a key, or the responses to them."""

    def matches(frame: Frame) -> bool:
        of_broker = frame.link.to_controller and frame.link.broker == broker
        return of_broker and frame.key == key and frame.is_request is request

    return matches


class Hold:
    """Frames that wait until this is released.

    Attributes:
        matches: which frames.
        caught: those that have come so far.
        waiting: those that wait now.
        released: whether all go on.
    """

    def __init__(self, matches: Callable[[Frame], bool], changed: threading.Condition) -> None:
        self.matches, self._changed = matches, changed
        self.caught: list[Frame] = []
        self.waiting: list[Frame] = []
        self.passes = 0
        self.drops = 0
        self.released = False

    def let_pass(self, count: int = 1) -> None:
        """Release the frame that waits, or that comes next, and hold those after it again."""
        with self._changed:
            self.passes += count
            self._changed.notify_all()

    def drop(self) -> None:
        """End the connections of the frames that wait; their senders connect again."""
        with self._changed:
            self.drops += 1
            self.waiting.clear()
            self._changed.notify_all()

    def release(self) -> None:
        """Let all go on."""
        with self._changed:
            self.released = True
            self._changed.notify_all()


class Proxies:
    """The links of a cluster.

    Args:
        schemas: the messages of its release.
    """

    def __init__(self, schemas: MessageSchemas) -> None:
        self._schemas = schemas
        self._changed = threading.Condition()
        self._holds: list[Hold] = []
        self._listening: list[socket.socket] = []
        self._open: set[socket.socket] = set()
        self._over = False
        self._ports: dict[Link, int] = {}
        self.listeners: list[Callable[[Frame], None]] = []
        """Who is told of each frame, when it passes on, in the thread of its connection."""

    def open(self, link: Link, port: int, target: int) -> None:
        """Listen at a port, and pass what comes there on to another one."""
        self._ports[link] = port
        server = socket.create_server((LOOPBACK, port))
        self._listening.append(server)
        threading.Thread(target=self._accept, args=(link, server, target), daemon=True).start()

    def hold(self, matches: Callable[[Frame], bool]) -> Hold:
        """Hold frames from now on; those behind them on their connection wait as well."""
        hold = Hold(matches, self._changed)
        with self._changed:
            self._holds = [one for one in self._holds if not one.released] + [hold]
        return hold

    def close(self) -> None:
        """End all connections, and listen no more."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
            sockets = [*self._listening, *self._open]
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    # --------------------------------------------------------------------------------------------------- in its threads

    def _accept(self, link: Link, server: socket.socket, target: int) -> None:
        while True:
            try:
                near, _ = server.accept()
            except OSError:
                return
            try:
                far = socket.create_connection((LOOPBACK, target))
            except OSError:
                near.close()
                continue
            with self._changed:
                self._open |= {near, far}
            for one in (near, far):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            asked: queue.SimpleQueue[tuple[int, int, str, int]] = queue.SimpleQueue()
            for pump in (self._pass_requests, self._pass_responses):
                threading.Thread(target=self._until_over, args=(pump, link, near, far, asked), daemon=True).start()

    def _until_over(
        self,
        pump: Callable[[Link, socket.socket, socket.socket, queue.SimpleQueue[tuple[int, int, str, int]]], None],
        link: Link,
        near: socket.socket,
        far: socket.socket,
        asked: queue.SimpleQueue[tuple[int, int, str, int]],
    ) -> None:
        with contextlib.suppress(OSError, EOFError, struct.error):
            pump(link, near, far, asked)
        with self._changed:
            self._open -= {near, far}
        for one in (near, far):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _pass_requests(
        self, link: Link, near: socket.socket, far: socket.socket, asked: queue.SimpleQueue[tuple[int, int, str, int]]
    ) -> None:
        while True:
            data = _read_frame(near)
            head = request_head(self._schemas, data)
            body: Message = {}
            if head.key in _DECODED:
                body = decode(self._schemas.requests[head.key], head.version, Reader(data, head.body))
            self._gate(Frame(0.0, link, True, head.client, head.key, body, head.correlation))
            asked.put((head.key, head.version, head.client, head.correlation))
            far.sendall(_LENGTH.pack(len(data)) + data)

    def _pass_responses(
        self, link: Link, near: socket.socket, far: socket.socket, asked: queue.SimpleQueue[tuple[int, int, str, int]]
    ) -> None:
        while True:
            data = _read_frame(far)
            key, version, client, correlation = asked.get()
            body: Message = {}
            if key in _DECODED:
                body = decode(self._schemas.responses[key], version, response_body(self._schemas, key, version, data))
            if link.to_controller and body.get("NodeEndpoints"):
                data = self._with_own_port(link, key, version, data, body)
            self._gate(Frame(0.0, link, False, client, key, body, correlation))
            near.sendall(_LENGTH.pack(len(data)) + data)

    def _with_own_port(self, link: Link, key: int, version: int, data: bytes, body: Message) -> bytes:
        """Have an answer that names the controller's port name that of the link: the broker would go round it later."""
        start = response_body(self._schemas, key, version, data).place
        places = [{**place, "Port": self._ports[link]} for place in body["NodeEndpoints"]]
        return data[:start] + encode(self._schemas.responses[key], version, {**body, "NodeEndpoints": places})

    def _gate(self, frame: Frame) -> None:
        """Wait while anybody holds this frame, and tell of it when it goes on."""
        with self._changed:
            holding = [(hold, hold.drops) for hold in self._holds if not hold.released and hold.matches(frame)]
            for hold, _ in holding:
                hold.caught.append(frame)
                hold.waiting.append(frame)
            try:
                while True:
                    if self._over or any(hold.drops > drops for hold, drops in holding):
                        message = "the connection is ended"
                        raise OSError(message)
                    if self._may_pass(frame):
                        break
                    self._changed.wait()
            finally:
                for hold, _ in holding:
                    hold.waiting[:] = [one for one in hold.waiting if one is not frame]
            passed = Frame(time.time(), *(getattr(frame, name) for name in Frame.__slots__[1:]))
            for listener in self.listeners:
                listener(passed)

    def _may_pass(self, frame: Frame) -> bool:
        holding = [hold for hold in self._holds if not hold.released and hold.matches(frame)]
        if any(hold.passes == 0 for hold in holding):
            return False
        for hold in holding:
            hold.passes -= 1
        return True


def _read_frame(source: socket.socket) -> bytes:
    size = _LENGTH.unpack(_read(source, _LENGTH.size))[0]
    return _read(source, size)


def _read(source: socket.socket, size: int) -> bytes:
    parts, missing = [], size
    while missing:
        part = source.recv(missing)
        if not part:
            raise EOFError
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)

"""Connections of TCP: the TLA+ module tcp, after RFC 9293, and MCtcp, by Markus Kuppe.

Sequence numbers, windows and retransmission are left out.
"""

from __future__ import annotations

import enum

from insync.model import And, Array, Bool, Bound, BoundValues, Bounds, Condition, Implies, Index, Model, Not, Or, Seq
from insync.model import State, StateView, action, for_all, initial, invariant, require, when


class Peer(Index):
    """One of the two ends of a connection."""

    size = 2

    @property
    def other(self) -> Peer:
        """The other end."""
        return Peer(1 - self)


class At(enum.Enum):
    """The state of an end, by its name in the RFC."""

    CLOSED = 0
    LISTEN = 1
    SYN_SENT = 2
    SYN_RECEIVED = 3
    ESTABLISHED = 4
    FIN_WAIT_1 = 5
    FIN_WAIT_2 = 6
    CLOSING = 7
    CLOSE_WAIT = 8
    LAST_ACK = 9
    TIME_WAIT = 10


class Segment(enum.Enum):
    """What is sent."""

    SYN = 0
    SYN_ACK = 1
    ACK = 2
    FIN = 3
    ACK_OF_FIN = 4
    RST = 5


class Tcp(Model):
    """Both ends are closed in the beginning; a segment that is sent twice in a row is followed no further."""

    bounds = Bounds(segments=Bound(5, 2, 12, "segments on their way to an end"))
    headline = ("established_together",)
    within = ("no_repetition", "room")

    def declare(self, b: BoundValues) -> State:
        return State(
            at=Array(Peer, At),
            block=Array(Peer, Bool),  # whether it has a transmission control block
            inbox=Array(Peer, Seq(Segment, b.segments)),
        )

    def go(self, s: StateView, p: Peer, arrows: dict[At, At]) -> None:
        """Change the state of an end along one of the arrows of the RFC's diagram."""
        here = s.at[p]
        require(Or(*(here == start for start in arrows)))
        for start, end in arrows.items():
            with when(here == start):
                s.at[p] = end

    def send(self, s: StateView, p: Peer, segment: Segment) -> None:
        s.inbox[p.other].append(segment)

    def receive(self, s: StateView, p: Peer, segment: Segment) -> None:
        require(Not(s.inbox[p].is_empty()), s.inbox[p].first == segment)
        s.inbox[p].take_first()

    # what users ask for

    @action
    def open_passively(self, s: StateView, p: Peer) -> None:
        self.go(s, p, {At.CLOSED: At.LISTEN})
        s.block[p] = True

    @action
    def open_actively(self, s: StateView, p: Peer) -> None:
        self.go(s, p, {At.CLOSED: At.SYN_SENT})
        s.block[p] = True
        self.send(s, p, Segment.SYN)

    @action
    def begin_to_send(self, s: StateView, p: Peer) -> None:
        self.go(s, p, {At.LISTEN: At.SYN_SENT})
        self.send(s, p, Segment.SYN)

    @action
    def close_at_once(self, s: StateView, p: Peer) -> None:
        self.go(s, p, {At.SYN_SENT: At.CLOSED, At.LISTEN: At.CLOSED})
        s.block[p] = False

    @action
    def close(self, s: StateView, p: Peer) -> None:
        self.go(s, p, {At.SYN_RECEIVED: At.FIN_WAIT_1, At.ESTABLISHED: At.FIN_WAIT_1, At.CLOSE_WAIT: At.LAST_ACK})
        self.send(s, p, Segment.FIN)

    # what segments do

    @action
    def get_syn(self, s: StateView, p: Peer) -> None:
        self.go(s, p, {At.LISTEN: At.SYN_RECEIVED, At.SYN_SENT: At.SYN_RECEIVED})
        self.receive(s, p, Segment.SYN)
        self.send(s, p, Segment.SYN_ACK)

    @action
    def get_syn_ack(self, s: StateView, p: Peer) -> None:
        self.go(s, p, {At.SYN_SENT: At.ESTABLISHED})
        self.receive(s, p, Segment.SYN_ACK)
        self.send(s, p, Segment.ACK)

    @action
    def get_ack(self, s: StateView, p: Peer) -> None:
        self.go(s, p, {At.SYN_RECEIVED: At.ESTABLISHED})
        self.receive(s, p, Segment.ACK)

    @action
    def get_fin(self, s: StateView, p: Peer) -> None:
        self.go(s, p, {At.ESTABLISHED: At.CLOSE_WAIT, At.FIN_WAIT_1: At.CLOSING, At.FIN_WAIT_2: At.TIME_WAIT})
        self.receive(s, p, Segment.FIN)
        self.send(s, p, Segment.ACK_OF_FIN)

    @action
    def get_ack_of_fin(self, s: StateView, p: Peer) -> None:
        self.go(s, p, {At.FIN_WAIT_1: At.FIN_WAIT_2, At.CLOSING: At.TIME_WAIT, At.LAST_ACK: At.CLOSED})
        self.receive(s, p, Segment.ACK_OF_FIN)

    @action
    def get_fin_and_its_ack(self, s: StateView, p: Peer) -> None:
        """Note 2 of the RFC: skip CLOSING."""
        self.go(s, p, {At.FIN_WAIT_1: At.TIME_WAIT})
        self.receive(s, p, Segment.FIN)
        self.receive(s, p, Segment.ACK_OF_FIN)
        self.send(s, p, Segment.ACK_OF_FIN)

    @action
    def time_out(self, s: StateView, p: Peer) -> None:
        self.go(s, p, {At.TIME_WAIT: At.CLOSED})
        require(s.block[p])
        s.block[p] = False

    # resets: note 3, and note 1 for those during the handshake

    @action
    def send_reset(self, s: StateView, p: Peer) -> None:
        require(s.block[p])
        s.at[p] = At.TIME_WAIT
        self.send(s, p, Segment.RST)

    @action
    def get_reset(self, s: StateView, p: Peer, listen: bool) -> None:
        self.receive(s, p, Segment.RST)
        s.at[p] = At.LISTEN if listen else At.CLOSED

    @action
    def get_reset_in_handshake(self, s: StateView, p: Peer) -> None:
        self.go(s, p, {At.SYN_RECEIVED: At.LISTEN})
        self.receive(s, p, Segment.RST)

    @invariant
    def established_together(self, s: StateView, p: Peer) -> Condition:
        """When nothing is on its way, either both ends are established or neither is."""
        quiet = And(s.inbox[p].is_empty(), s.inbox[p.other].is_empty())
        return Implies(quiet, (s.at[p] == At.ESTABLISHED) == (s.at[p.other] == At.ESTABLISHED))

    @invariant
    def no_repetition(self, s: StateView, p: Peer) -> Condition:
        """No segment stands twice in a row."""
        queue = s.inbox[p]
        return for_all(range(1, self.b.segments), lambda i: Or(i >= queue.length, queue[i] != queue[i - 1]))

    @invariant
    def room(self, s: StateView, p: Peer) -> Condition:
        """There is room for one segment more."""
        return s.inbox[p].length < self.b.segments


class OneOpening(Tcp):
    """One end has sent its SYN, and the other listens; nobody opens a connection again."""

    open_passively = open_actively = begin_to_send = None

    @initial
    def one_listens(self, s: StateView, p: Peer) -> None:
        s.block[0] = s.block[1] = True
        s.at[p] = At.SYN_SENT
        s.at[p.other] = At.LISTEN
        self.send(s, p, Segment.SYN)

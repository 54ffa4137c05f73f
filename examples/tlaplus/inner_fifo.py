"""A queue between two channels: the TLA+ module InnerFIFO of "Specifying Systems", by Leslie Lamport."""

from __future__ import annotations

from insync.model import ANY, Bool, Bound, BoundValues, Bounds, Condition, Index, Model, Not, Num, Record, RecordView
from insync.model import Seq, State, StateView, action, bound, initial, invariant, require


class Message(Index):
    """What is sent."""

    size = bound("messages")


class InnerFifo(Model):
    """A sender, a buffer and a receiver; a channel is free while its two bits are equal (the module Channel)."""

    bounds = Bounds(messages=Bound(3, 1, 4, "different messages"), length=Bound(3, 1, 6, "messages in the buffer"))
    within = ("short_queue",)

    def declare(self, b: BoundValues) -> State:
        channel = Record(value=Message, ready=Bool, acknowledged=Bool)
        return State(inward=channel, outward=channel, queue=Seq(Message, b.length + 1))

    @initial
    def free_channels(self, s: StateView) -> None:
        s.inward = s.outward = ANY
        require(s.inward.ready == s.inward.acknowledged, s.outward.ready == s.outward.acknowledged)

    def put(self, channel: RecordView, message: Message | Num) -> None:
        require(channel.ready == channel.acknowledged)
        channel.value = message
        channel.ready = Not(channel.ready)

    def take(self, channel: RecordView) -> None:
        require(channel.ready != channel.acknowledged)
        channel.acknowledged = Not(channel.acknowledged)

    @action
    def send(self, s: StateView, message: Message) -> None:
        self.put(s.inward, message)

    @action
    def enqueue(self, s: StateView) -> None:
        self.take(s.inward)
        s.queue.append(s.inward.value)

    @action
    def dequeue(self, s: StateView) -> None:
        require(Not(s.queue.is_empty()))
        self.put(s.outward, s.queue.take_first())

    @action
    def receive(self, s: StateView) -> None:
        self.take(s.outward)

    @invariant
    def short_queue(self, s: StateView) -> Condition:
        return s.queue.length <= self.b.length

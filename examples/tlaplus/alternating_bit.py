"""The alternating bit protocol: the TLA+ module AlternatingBit of "Specifying Systems", by Leslie Lamport."""

from __future__ import annotations

from insync.model import ANY, And, Bool, Bound, BoundValues, Bounds, Condition, Implies, Index, Model, Not, Range
from insync.model import Record, Seq, State, StateView, action, bound, initial, invariant, maximum, require
from insync.model import step_invariant


class Value(Index):
    """What is sent."""

    size = bound("inputs")


class Place(Range):
    """Where something is on its line."""

    lo, hi = 0, bound("places") - 1


class AlternatingBit(Model):
    """A sender repeats each value until its bit is acknowledged, over lines that lose messages."""

    bounds = Bounds(
        inputs=Bound(2, 1, 4, "different values"),
        places=Bound(2, 1, 4, "messages, and acknowledgements, on their way"),
    )
    headline = ("acknowledged_is_received",)
    within = ("short_lines",)

    def declare(self, b: BoundValues) -> State:
        return State(
            messages=Seq(Record(bit=Bool, value=Value), b.places + 1),
            acknowledgements=Seq(Bool, b.places + 1),
            bit=Bool,  # of the value that is sent now
            acknowledged=Bool,
            received_bit=Bool,
            sent=Value,
            received=Value,
        )

    @initial
    def idle(self, s: StateView) -> None:
        s.bit = s.sent = s.received = ANY
        s.acknowledged = s.received_bit = s.bit

    @action
    def send(self, s: StateView, value: Value) -> None:
        require(s.acknowledged == s.bit)
        s.sent = value
        s.bit = Not(s.bit)
        s.messages.append(bit=s.bit, value=value)

    @action
    def repeat(self, s: StateView) -> None:
        require(s.acknowledged != s.bit)
        s.messages.append(bit=s.bit, value=s.sent)

    @action
    def receive(self, s: StateView) -> None:
        require(Not(s.messages.is_empty()))
        message = s.messages.take_first()
        s.received_bit = message.bit
        s.received = message.value

    @action
    def acknowledge(self, s: StateView) -> None:
        s.acknowledgements.append(s.received_bit)

    @action
    def receive_acknowledgement(self, s: StateView) -> None:
        require(Not(s.acknowledgements.is_empty()))
        s.acknowledged = s.acknowledgements.take_first()

    @action
    def lose_message(self, s: StateView, place: Place) -> None:
        require(place < s.messages.length)
        s.messages.take(place)

    @action
    def lose_acknowledgement(self, s: StateView, place: Place) -> None:
        require(place < s.acknowledgements.length)
        s.acknowledgements.take(place)

    @invariant
    def short_lines(self, s: StateView) -> Condition:
        return maximum(s.messages.length, s.acknowledgements.length) <= self.b.places

    @step_invariant
    def acknowledged_is_received(self, before: StateView, after: StateView) -> Condition:
        """When the sender gets its acknowledgement, the receiver has the value."""
        acknowledged = And(before.acknowledged != before.bit, after.acknowledged == after.bit)
        return Implies(acknowledged, after.received == after.sent)

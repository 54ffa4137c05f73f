"""One producer and many consumers of a ring buffer: the TLA+ modules Disruptor_SPMC and RingBuffer."""

from __future__ import annotations

from insync.model import And, Array, Bound, BoundValues, Bounds, Condition, Implies, Index, Int, Model, Not, Num
from insync.model import Option, Or, Record, RecordView, Seq, Set, State, StateView, action, bound, for_all, invariant
from insync.model import minimum, require


class Reader(Index, symmetric=True):
    """Somebody who reads every event."""

    size = bound("readers")


class Writer(Index):
    """Somebody who publishes events."""

    size = bound("writers")


class DisruptorSpmc(Model):
    """The producer waits for the slowest consumer before it uses a slot again; to use a slot takes two steps."""

    bounds = Bounds(
        readers=Bound(3, 1, 4, "consumers"),
        writers=Bound(1, 1, 2, "producers; more than one is a mistake"),
        events=Bound(10, 1, 12, "events that are published"),
        slots=Bound(4, 1, 6, "slots of the ring buffer"),
    )
    headline = ("no_data_races", "all_is_read_in_order")
    within = ("few_events",)

    def declare(self, b: BoundValues) -> State:
        event = Int(0, b.events)
        return State(
            slot=Array(b.slots, Record(value=Option(event), readers=Set(Reader), writers=Set(Writer))),
            published=Int(0, b.events + 1),  # how many events
            read=Array(Reader, Int(0, b.events + 1)),  # how many events
            consumed=Array(Reader, Seq(event, b.events + 1)),
            reading=Set(Reader),  # who is at a slot
            writing=Set(Writer),
        )

    def slot(self, s: StateView, event: Num) -> RecordView:
        return s.slot[event % self.b.slots]

    @action
    def begin_write(self, s: StateView, w: Writer) -> None:
        slowest = minimum(*s.read)
        require(Not(s.writing.contains(w)), slowest + self.b.slots > s.published)
        s.writing |= {w}
        self.slot(s, s.published).writers |= {w}
        self.slot(s, s.published).value = s.published

    @action
    def end_write(self, s: StateView, w: Writer) -> None:
        require(s.writing.contains(w))
        s.writing -= {w}
        self.slot(s, s.published).writers -= {w}
        s.published += 1

    @action
    def begin_read(self, s: StateView, r: Reader) -> None:
        require(Not(s.reading.contains(r)), s.read[r] < s.published)
        s.reading |= {r}
        self.slot(s, s.read[r]).readers |= {r}
        s.consumed[r].append(self.slot(s, s.read[r]).value.value)

    @action
    def end_read(self, s: StateView, r: Reader) -> None:
        require(s.reading.contains(r))
        s.reading -= {r}
        self.slot(s, s.read[r]).readers -= {r}
        s.read[r] += 1

    @invariant
    def all_is_read_in_order(self, s: StateView, r: Reader) -> Condition:
        """What a consumer has read is what was published, from the first event on."""
        consumed = s.consumed[r]
        return for_all(range(self.b.events + 1), lambda i: Implies(i < consumed.length, consumed[i] == i))

    @invariant
    def few_events(self, s: StateView) -> Condition:
        return s.published <= self.b.events

    @invariant
    def no_data_races(self, s: StateView) -> Condition:
        """Nobody else is at a slot that somebody writes to."""
        return for_all(
            s.slot, lambda slot: Or(slot.writers.is_empty(), And(slot.writers.count() == 1, slot.readers.is_empty()))
        )

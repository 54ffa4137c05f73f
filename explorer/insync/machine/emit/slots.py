"""The table of one partition, for generated code: where a store finds a state's place by its hash, and how it grows.

A table has slots of 64 bits in buckets of one cache line. The high half of a slot is the low half of a state's hash
(the tag), the low half 1 + the state's place among the states, and 0 is an empty slot. A bucket is filled from its
first slot on; a state whose bucket is full goes to the next one, and beyond the last one there are a few spare ones.
The home of a tag, the bucket that its search begins with, is tag * buckets / 2^32: a larger table has the same order,
so a table grows in place, in one pass from its end, and no memory is touched that is not part of the final table.
"""

from __future__ import annotations

from insync.machine.emit.builder import I8, I64, NOALIAS, PTR, Function, Module, Value
from insync.machine.emit.memory import Elements, Fields
from insync.machine.stores.hash_table import BUCKET_SLOTS, SPARE_BUCKETS, StoreField

__all__ = ["Bucket", "SlotTable", "slot_of", "widen_function"]

_LINE = f"<{BUCKET_SLOTS} x i64>"
_LOW = 2**32 - 1
_NOTES = 64


class Bucket:
    """The slots of one bucket, as they were when it was read.

    Attributes:
        slots: the bucket in memory.
    """

    def __init__(self, b: Function, address: Value) -> None:
        self._b, self.slots = b, Elements(b, address)
        self._line = b.load(_LINE, address, align=8 * BUCKET_SLOTS)

    def with_tag(self, tag: Value) -> Value:
        """Return a bit for each slot that has this tag."""
        same = (self._line >> 32).equals(self._b.splat(tag, _LINE))
        return self._bits(same & self._line.differs(0))

    @property
    def empty(self) -> Value:
        """A bit for each slot that is empty."""
        return self._bits(self._line.equals(0))

    def place(self, slot: Value) -> Value:
        """Return the place among the states that a slot leads to."""
        return (self.slots[slot] & _LOW) - 1

    def _bits(self, truths: Value) -> Value:
        return self._b.convert("zext", self._b.convert("bitcast", truths, I8), I64)


class SlotTable:
    """The table of a store.

    Attributes:
        buckets: how many there are.
        end: the number after the last bucket, spare ones included.
        slots: all slots.
    """

    def __init__(self, b: Function, store: Fields) -> None:
        self._b = b
        self.slots = store.array(StoreField.TABLE)
        self.buckets = store[StoreField.BUCKETS]
        self.end = self.buckets + SPARE_BUCKETS

    def home(self, tag: Value) -> Value:
        """Return the number of the bucket that the search for a tag begins with."""
        return tag * self.buckets >> 32

    def address(self, bucket: Value) -> Value:
        """Return where a bucket lies."""
        return self.slots.at(bucket * BUCKET_SLOTS)

    def bucket(self, bucket: Value) -> Bucket:
        """Read a bucket."""
        return Bucket(self._b, self.address(bucket))


def slot_of(tag: Value, place: Value) -> Value:
    """Return the slot of a state."""
    return tag << 32 | place + 1


class _Fills:
    """How full the buckets are that were filled lately: one note of (bucket, count) for every so many buckets.

    To read a whole line that was just written in part stalls the processor, so `widen` does not count the slots of a
    bucket again that it has just put one into.
    """

    def __init__(self, b: Function, table: SlotTable) -> None:
        self._b, self._table = b, table
        self._notes = Elements(b, b.space(I64, _NOTES, 64))
        with b.loop(_NOTES) as number:
            self._notes[number] = 2**64 - 1  # of no bucket

    def of(self, bucket: Value) -> Value:
        """Return how many slots of a bucket are full."""
        note = self._notes[bucket & _NOTES - 1]
        count = self._b.variable(note & 15)
        with self._b.when((note >> 4).differs(bucket)):
            empty = self._b.ones(self._table.bucket(bucket).empty)
            count.set(self._b.typed(I64, BUCKET_SLOTS) - empty)
        return count.value

    def note(self, bucket: Value, count: Value) -> None:
        """Note that so many are full now."""
        self._notes[bucket & _NOTES - 1] = bucket << 4 | count


def widen_function(m: Module) -> None:
    """Define `widen`; see `storing.store_module`.

    Slots are taken from the last one on. A slot whose new home lies beyond the bucket it is in can be put there at
    once, for everything from there on has been taken already; the few others, near the table's start, wait until all
    are taken.
    """
    b = m.function("widen", I64, (PTR, I64, NOALIAS, I64), exported=True)
    store, before, memory, most = b.arguments
    table, waiting, waits = SlotTable(b, Fields(b, store)), Elements(b, memory), b.variable(0)
    fills = _Fills(b, table)
    count = (before + SPARE_BUCKETS) * BUCKET_SLOTS
    with b.loop(count) as taken:
        number = count - 1 - taken
        slot = table.slots[number]
        with b.when(slot.equals(0)):
            b.again()
        table.slots[number] = 0
        with b.when(table.home(slot >> 32) > number // BUCKET_SLOTS):
            _put(b, table, fills, slot)
            b.again()
        with b.when(waits.value.equals(most)):
            b.give(0)
        waiting[waits.value] = slot
        waits += 1
    with b.loop(waits.value) as number:
        _put(b, table, fills, waiting[number])
    b.give(1)


def _put(b: Function, table: SlotTable, fills: _Fills, slot: Value) -> None:
    """Put a slot into the first bucket from its home on that has room; give 0 if none has."""
    bucket = b.variable(table.home(slot >> 32))
    with b.forever() as search:
        here = bucket.value
        count = fills.of(here)
        with b.when(count < BUCKET_SLOTS):
            table.slots[here * BUCKET_SLOTS + count] = slot
            fills.note(here, count + 1)
            search.leave()
        bucket += 1
        with b.when(bucket.value.equals(table.end)):
            b.give(0)

"""Kernels of two exact hash sets with open addressing: the states of a partition, and the abstract states of walks.

Both keep entries whole in an array, in the order of insertion, and find them through a table of slots. A slot has some
bits of a hash and the index of an entry.
"""

from __future__ import annotations

from insync.machine.emit.builder import I8, I64, NOALIAS, PTR, Function, Module, Value
from insync.machine.emit.memory import Elements, Fields, Rows, owner_of, part_hash, read_row, row_hash, rows_equal
from insync.machine.stores.hash_table import BUCKET_BYTES, BUCKET_SLOTS, SPARE_BUCKETS, StoreField
from insync.machine.walker import SightField

__all__ = [
    "see_function",
    "sightings_module",
    "store_module",
]


# --------------------------------------------------------------------------------------------------------------- states

_BLOCK = 128  # candidates whose memory accesses overlap
_LOW = 2**32 - 1


def store_module(words: int) -> str:
    """Return the IR module of the store for states of `words` words.

    - `insert(store, candidates, count) -> done`: add the candidates (rows) that are new, in their order; stop early
      when the store is at its limit.
    - `widen(store, before, waiting, most) -> done`: move all slots of a table that had `before` buckets to their places
      in the grown table; `waiting` is scratch memory for `most` slots. Gives 0 when there was no room.
    - `owner(state, partitions) -> partition`: which partition stores a state.
    - `select(rows, count, masks, partitions, partition, owned) -> count`: copy the states that a partition owns to
      `owned`, where ownership depends on the bits in `masks`, one mask per word.
    - `find(rows, count, state) -> place`: the first index of a state in an array of rows, or `count`.
    """
    m = Module()
    _insert_function(m, words)
    widen_function(m)
    _find_function(m, words)
    _owner_function(m, words)
    _select_function(m, words)
    return m.text


def _insert_function(m: Module, words: int) -> None:
    """Define `insert`: it takes a block of candidates at a time.

    The memory of a candidate, its bucket and then the state with its tag, is fetched while others are processed. Most
    candidates are known, which is found out without a branch. The others are searched for.
    """
    b = m.function("insert", I64, (PTR, NOALIAS, I64), exported=True)
    store, candidates, total = Fields(b, b.arguments[0]), Rows(b, b.arguments[1], words), b.arguments[2]
    insertion = _Insertion(b, store, words)
    with b.loop(total, _BLOCK) as done:
        size = b.least(total - done, _BLOCK)
        block = Rows(b, candidates.at(done), words)
        insertion.hash(block, size)
        insertion.guess(size)
        unknown = insertion.list_unknown(block, size)
        with b.loop(unknown) as number:
            insertion.add(block, insertion.candidate(number), done)
    insertion.end(total)


class _Insertion:
    """The registers and scratch memory of `insert`.

    Attributes:
        held: how many states the store has.
    """

    def __init__(self, b: Function, store: Fields, words: int) -> None:
        self._b, self._store = b, store
        self._states = Rows(b, store.pointer(StoreField.STATES), words)
        self._limit = store[StoreField.LIMIT]
        self._table = SlotTable(b, store)
        self.held = b.variable(store[StoreField.COUNT])
        self._tags = Elements(b, b.space(I64, _BLOCK, 64))
        self._guesses = Elements(b, b.space(I64, _BLOCK, 64))

    def hash(self, block: Rows, size: Value) -> None:
        """Store the tag of every candidate, and prefetch its home bucket."""
        b = self._b
        with b.loop(size) as number:
            tag = row_hash(b, block[number]) & _LOW
            self._tags[number] = tag
            b.prefetch(self._table.address(self._table.home(tag)), write=True)

    def guess(self, size: Value) -> None:
        """Store for every candidate the first state with its tag, or state 0, and prefetch that state.

        If the home bucket is full, the search may go on in the next one, which is prefetched as well.
        """
        b = self._b
        with b.loop(size) as number:
            tag = self._tags[number]
            home = self._table.address(self._table.home(tag))
            bucket = Bucket(b, home)
            hits = bucket.with_tag(tag)
            first = b.lowest_bit(hits | 1 << BUCKET_SLOTS - 1)  # of some slot, if there is no hit
            guess = b.select(hits.differs(0), bucket.place(first), 0)
            self._guesses[number] = guess
            b.prefetch(self._states.at(guess), write=False)
            further = b.select(bucket.empty.equals(0), BUCKET_BYTES, 0)
            b.prefetch(b.element(I8, home, further), write=True)

    def list_unknown(self, block: Rows, size: Value) -> Value:
        """List the candidates that differ from their guesses, without a branch; return how many there are.

        The list overwrites the guesses: it grows no faster than they are read. A candidate without a guess is compared
        with state 0, which is harmless unless the store is empty.
        """
        b = self._b
        count, some = b.variable(0), self.held.value.differs(0)
        with b.loop(size) as number:
            known = rows_equal(block[number], self._states[self._guesses[number]]) & some
            self._guesses[count.value] = number
            count += b.select(known, 0, 1)
        return count.value

    def candidate(self, number: Value) -> Value:
        """Return the position in the block of a listed candidate."""
        return self._guesses[number]

    def add(self, block: Rows, place: Value, done: Value) -> None:
        """Search all slots with the tag of a candidate, and append it if it is new; return from `insert` when full."""
        b, table = self._b, self._table
        with b.when(self.held.value >= self._limit):
            self.end(done + place)
        candidate, tag = block[place], self._tags[place]
        number = b.variable(table.home(tag))
        with b.forever() as search:
            bucket = table.bucket(number.value)
            with b.bits(bucket.with_tag(tag)) as slot:
                with b.when(rows_equal(candidate, self._states[bucket.place(slot)])):
                    search.leave()
            empty = bucket.empty
            with b.when(empty.differs(0)):
                held = self.held.value
                self._states[held] = candidate
                bucket.slots[b.lowest_bit(empty)] = slot_of(tag, held)
                self.held += 1
                search.leave()
            number += 1
            with b.when(number.value.equals(table.end)):
                self.end(done + place)

    def end(self, done: Value) -> None:
        """Return from `insert` after `done` candidates."""
        self._store[StoreField.COUNT] = self.held.value
        self._b.give(done)


def _find_function(m: Module, words: int) -> None:
    b = m.function("find", I64, (PTR, I64, PTR), exported=True)
    rows, count, state = Rows(b, b.arguments[0], words), b.arguments[1], b.arguments[2]
    wanted = read_row(b, state, words)
    with b.loop(count) as place:
        with b.when(rows_equal(rows[place], wanted)):
            b.give(place)
    b.give(count)


def _owner_function(m: Module, words: int) -> None:
    b = m.function("owner", I64, (PTR, I64), exported=True)
    state, partitions = b.arguments
    b.give(owner_of(row_hash(b, read_row(b, state, words)), partitions))


def _select_function(m: Module, words: int) -> None:
    b = m.function("select", I64, (PTR, I64, PTR, I64, I64, PTR), exported=True)
    rows, count, masks, partitions, partition, owned = b.arguments
    states, selected, owning = Rows(b, rows, words), Rows(b, owned, words), Elements(b, masks)
    found = b.variable(0)
    with b.loop(count) as place:
        row = states[place]
        selected[found.value] = row
        found += b.select(owner_of(part_hash(b, row, owning), partitions).equals(partition), 1, 0)
    b.give(found.value)


# ------------------------------------------------------------------------------------------------- the table of a store

# The high half of a slot of 64 bits is the low half of a state's hash (the tag); the low half is 1 + the index of the
# state. An empty slot is 0. A bucket of one cache line is filled from its first slot on. A state whose bucket is full
# goes to the next one; a few spare buckets follow the last one. The home of a tag, the bucket in which its search
# begins, is tag * buckets / 2^32. Homes have the same order in a larger table, so a table grows in place, in one pass
# from its end, and touches no memory outside the final table.


_LINE = f"<{BUCKET_SLOTS} x i64>"

_NOTES = 64


class Bucket:
    """The slots of one bucket, loaded once.

    Attributes:
        slots: the bucket in memory.
    """

    def __init__(self, b: Function, address: Value) -> None:
        self._b, self.slots = b, Elements(b, address)
        self._line = b.load(_LINE, address, align=8 * BUCKET_SLOTS)

    def with_tag(self, tag: Value) -> Value:
        """Return a bit for each slot with this tag."""
        same = (self._line >> 32).equals(self._b.splat(tag, _LINE))
        return self._bits(same & self._line.differs(0))

    @property
    def empty(self) -> Value:
        """A bit for each empty slot."""
        return self._bits(self._line.equals(0))

    def place(self, slot: Value) -> Value:
        """Return the index of the state in a slot."""
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
        """Return the number of the home bucket of a tag."""
        return tag * self.buckets >> 32

    def address(self, bucket: Value) -> Value:
        """Return the address of a bucket."""
        return self.slots.at(bucket * BUCKET_SLOTS)

    def bucket(self, bucket: Value) -> Bucket:
        """Read a bucket."""
        return Bucket(self._b, self.address(bucket))


def slot_of(tag: Value, place: Value) -> Value:
    """Return the slot of a state."""
    return tag << 32 | place + 1


class _Fills:
    """A cache of how full recently filled buckets are: (bucket, count) pairs by bucket modulo `_NOTES`.

    A vector load of a line that was just written in part stalls the processor, so `widen` does not count the slots of
    such a bucket again.
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
        """Store how many slots of a bucket are full."""
        self._notes[bucket & _NOTES - 1] = bucket << 4 | count


def widen_function(m: Module) -> None:
    """Define `widen`; see `store_module`.

    Slots are taken out from the last one on. A slot whose new home lies after its bucket can be put there at once, as
    all slots from there on were taken out before. The few others, near the start of the table, wait until the end.
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
    """Put a slot into the first bucket with room, from its home on; return 0 from `widen` if none has."""
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


# ------------------------------------------------------------------------------------------------------ abstract states

# An entry is an abstract state that walks saw, with the number of the first walk that saw it. A slot is 0 if it is
# empty, else the high 24 bits of a hash (the tag) above 1 + the index of an entry. The low bits of the hash are the
# slot in which a search begins; it goes on to the next slot.


_PLACE_BITS = 40


def sightings_module(words: int) -> str:
    """Return the IR module for abstract states of `words` words.

    - `absorb(sightings, entries, count, new, first) -> done`: add entries; for each new abstract state of walk w, raise
      the counter `new[w - first]`. It stops early when there is no room.
    - `spread(sightings)`: enter all entries into the slots, which are all empty.
    """
    m = Module()
    see = see_function(m, words)
    b = m.function("absorb", I64, (PTR, NOALIAS, I64, NOALIAS, I64), exported=True)
    sightings, given, count, counters, first = b.arguments
    fields, entries, new = Fields(b, sightings), Rows(b, given, words + 1), Elements(b, counters)
    with b.loop(count) as number:
        with b.when(fields[SightField.COUNT] >= fields[SightField.LIMIT]):
            b.give(number)
        entry = entries.at(number)
        walk = Elements(b, entry)[words]
        new[walk - first] = new[walk - first] + b.call(see, sightings, entry, walk)
    b.give(count)
    _spread_function(m, words)
    return m.text


def see_function(m: Module, words: int) -> Function:
    """Define `see(sightings, row, walk) -> new`: record that a walk saw an abstract state; 1 if no walk saw it before.

    There must be room for an entry.
    """
    b = m.function("see", I64, (PTR, PTR, I64), inline=False)
    fields, row, walk = Fields(b, b.arguments[0]), read_row(b, b.arguments[1], words), b.arguments[2]
    entries, slots = _entries(b, fields, words), fields.array(SightField.SLOTS)
    hashed, mask = row_hash(b, row), fields[SightField.MASK]
    tag, place = _tag(hashed), b.variable(hashed & mask)
    with b.forever():
        slot = slots[place.value]
        with b.when(slot.equals(0)):
            count = fields[SightField.COUNT]
            entries[count] = [*row, walk]
            slots[place.value] = tag | count + 1
            fields[SightField.COUNT] = count + 1
            b.give(1)
        with b.when((slot ^ tag) < 1 << _PLACE_BITS):
            entry = entries.at((slot & (1 << _PLACE_BITS) - 1) - 1)
            with b.when(rows_equal(read_row(b, entry, words), row)):
                first = Elements(b, entry)
                with b.when(walk < first[words]):
                    first[words] = walk
                b.give(0)
        place.set(place.value + 1 & mask)
    b.give(0)
    return b


def _spread_function(m: Module, words: int) -> None:
    b = m.function("spread", I64, (PTR,), exported=True)
    fields = Fields(b, b.arguments[0])
    entries, slots = _entries(b, fields, words), fields.array(SightField.SLOTS)
    count, mask = fields[SightField.COUNT], fields[SightField.MASK]
    with b.loop(count) as number:
        hashed = row_hash(b, read_row(b, entries.at(number), words))
        place = b.variable(hashed & mask)
        with b.forever() as search:
            with b.when(slots[place.value].equals(0)):
                search.leave()
            place.set(place.value + 1 & mask)
        slots[place.value] = _tag(hashed) | number + 1
    b.give(count)


def _entries(b: Function, fields: Fields, words: int) -> Rows:
    return Rows(b, fields.pointer(SightField.ENTRIES), words + 1)


def _tag(hashed: Value) -> Value:
    return hashed >> _PLACE_BITS << _PLACE_BITS

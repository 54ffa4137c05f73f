"""The store of one partition: `insert` states that are not there yet, `widen` its table, `find` a state.

The states of a partition lie in one array, in order of discovery, and are found through the table of `slots`.
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


_BLOCK = 128  # candidates whose memory accesses overlap
_LOW = 2**32 - 1


def store_module(words: int) -> str:
    """Return the IR module of the store for states of so many words.

    - `insert(store, candidates, count) -> done`: add those of the candidates (rows) that are new, in their order; stop
      early when the store is at its limit.
    - `widen(store, before, waiting, most) -> done`: move all slots of a table that had `before` buckets to their places
      among the store's, now more; `waiting` is scratch memory for `most` slots. 0 when there was no room.
    - `owner(state, partitions) -> partition`: which partition stores a state.
    - `select(rows, count, masks, partitions, partition, owned) -> count`: write those of some states that a partition
      stores where the bits of the masks, one a word, say which one stores a state.
    - `find(rows, count, state) -> place`: the first place of a state in an array of rows, or count.
    """
    m = Module()
    _insert_function(m, words)
    widen_function(m)
    _find_function(m, words)
    _owner_function(m, words)
    _select_function(m, words)
    return m.text


def _insert_function(m: Module, words: int) -> None:
    """Define `insert`: open addressing, a block of candidates at a time.

    The memory that a candidate needs, its bucket and then the state that its tag leads to, is fetched while others are
    looked at. Most candidates are known, and found to be so without a branch; only the rest is searched for in full.
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
    """What `insert` works with.

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
        """Note the tag of every candidate and have its home fetched."""
        b = self._b
        with b.loop(size) as number:
            tag = row_hash(b, block[number]) & _LOW
            self._tags[number] = tag
            b.prefetch(self._table.address(self._table.home(tag)), write=True)

    def guess(self, size: Value) -> None:
        """Note for every candidate the first state with its tag, and have it fetched; state 0 if there is none.

        Where the home is full, the search may go on in the next bucket, so that is fetched as well.
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
        """List the candidates that are not the states that were guessed, without a branch; return how many there are.

        The list is written over the guesses: it grows no faster than they are read. A candidate without a guess is
        compared with state 0, which is harmless unless the store is empty.
        """
        b = self._b
        count, some = b.variable(0), self.held.value.differs(0)
        with b.loop(size) as number:
            known = rows_equal(block[number], self._states[self._guesses[number]]) & some
            self._guesses[count.value] = number
            count += b.select(known, 0, 1)
        return count.value

    def candidate(self, number: Value) -> Value:
        """Return the place in the block of a candidate on the list."""
        return self._guesses[number]

    def add(self, block: Rows, place: Value, done: Value) -> None:
        """Look for a candidate through all slots with its tag, and append it if it is new; end if there is no room."""
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
        """End `insert`: so many candidates are done."""
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


# The table of one partition, for generated code: where a store finds a state's place by its hash, and how it grows.
#
# A table has slots of 64 bits in buckets of one cache line. The high half of a slot is the low half of a state's hash
# (the tag), the low half 1 + the state's place among the states, and 0 is an empty slot. A bucket is filled from its
# first slot on; a state whose bucket is full goes to the next one, and beyond the last one there are a few spare
# ones. The home of a tag, the bucket that its search begins with, is tag * buckets / 2^32: a larger table has the
# same order, so a table grows in place, in one pass from its end, and no memory is touched that is not part of the
# final table.


_LINE = f"<{BUCKET_SLOTS} x i64>"

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


# The abstract states that walks see, for generated code: each once, with the first walk that saw it.
#
# An entry is the words of an abstract state and the number of a walk; entries follow each other in the order in which
# they came. A slot is 0 where it is empty, else the high 24 bits of a hash (the tag) above 1 + the place of an entry.
# The search for an abstract state begins in the slot that the low bits of its hash name, and goes on to the next one.


_PLACE_BITS = 40


def sightings_module(words: int) -> str:
    """Return the IR module for abstract states of so many words.

    - `absorb(sightings, entries, count, new, first) -> done`: enter entries; the counter at place w - first of `new` is
      raised for an abstract state that was not there and came from walk w. It stops early where there is no room.
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
    """Define `see(sightings, row, walk) -> new`: note that a walk saw an abstract state; 1 if no walk had.

    There must be room for it.
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

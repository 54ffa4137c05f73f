"""The store of one partition: `insert` states that are not there yet, `widen` its table, `find` a state.

The states of a partition lie in one array, in order of discovery, and are found through the table of `slots`.
"""

from __future__ import annotations

from insync.machine.emit.builder import I8, I64, NOALIAS, PTR, Function, Module, Value
from insync.machine.emit.memory import Elements, Fields, Rows, owner_of, part_hash, read_row, row_hash, rows_equal
from insync.machine.emit.slots import Bucket, SlotTable, slot_of, widen_function
from insync.machine.stores.hash_table import BUCKET_BYTES, BUCKET_SLOTS, StoreField

__all__ = ["store_module"]

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

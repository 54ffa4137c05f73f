"""Kernels of a quotient hash table (Cleary 1984): `insert` new codes, `unload` the codes of some lines.

A code is mixed, one to one, into a number of the same width. The highest bits determine its home, the line in which its
search begins. A slot keeps the other bits and its distance from home. So a slot and its position give the code back,
and equality is exact. A code that finds its home full goes to the next line, and after `MOST_DISTANCE` full lines to
the overflow, a small table of whole codes. Slots are never removed, so a line with an empty slot ends a search. Homes
are in the order of mixed codes, for any number of lines: so a table grows in one sequential pass.
"""

from __future__ import annotations

from insync.machine.emit.builder import I8, I16, I32, I64, NOALIAS, PTR, Function, Module, Value
from insync.machine.emit.memory import Elements, Fields
from insync.machine.stores.quotient_table import BLOCK, HOME_BITS, LINE_BYTES, MOST_DISTANCE, SLOTS_OF, CodeTableField

__all__ = [
    "quotient_module",
]


_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # of SplitMix64: odd, with about half their bits set
_NOTES = 64
_RING = 8  # a power of 2, more than MOST_DISTANCE


def quotient_module(width: int) -> str:
    """Return the IR module of tables with slots of `width` bits.

    - `insert(table, codes, count, fresh) -> done`: add the codes that are new, and copy them, in their order, to
      `fresh`; stop early when the table or its overflow is at its limit. COUNT grows by the number of new codes.
    - `refill(table, codes, count) -> done`: add codes that are all new, in about the order of their homes; stop early
      when the overflow is at its limit.
    - `unload(table, first, last, codes) -> count`: write the codes in the lines from `first` to before `last`.
    - `unspill(table, codes) -> count`: write the codes in the overflow; the word after them may be overwritten.
    - `respill(table, codes, count)`: add codes to the overflow.
    """
    m = Module()
    spill = _spill_function(m)
    _insert_function(m, width, spill)
    _refill_function(m, width, spill)
    _unload_function(m, width)
    _unspill_function(m)
    _respill_function(m, spill)
    return m.text


class _Mixing:
    """Mixes codes by steps that have an inverse, so that different codes stay different."""

    def __init__(self, b: Function, table: Fields) -> None:
        self._b = b
        self._mask, self._half = table[CodeTableField.MASK], table[CodeTableField.HALF]

    def mixed(self, code: Value) -> Value:
        """Return the mixed code."""
        for multiplier in (_FIRST, _SECOND, _FIRST):
            code = self._folded(code) * multiplier & self._mask
        return self._folded(code)

    def unmixed(self, mixed: Value) -> Value:
        """Return the code that mixes to `mixed`."""
        for multiplier in (_FIRST, _SECOND, _FIRST):
            mixed = self._folded(mixed) * pow(multiplier, -1, 2**64) & self._mask
        return self._folded(mixed)

    def _folded(self, number: Value) -> Value:
        """Xor the high half into the low half: its own inverse, as the shift is by half of the bits or more."""
        return number ^ number >> self._half


def _insert_function(m: Module, width: int, spill: Function) -> None:
    """Define `insert`: it takes a block of codes at a time, so that the lines of all are fetched together.

    Most codes are known and in their home line, which is found out without a branch. The others are searched for.
    """
    b = m.function("insert", I64, (PTR, NOALIAS, I64, NOALIAS), exported=True)
    table, codes, total, fresh = Fields(b, b.arguments[0]), Elements(b, b.arguments[1]), b.arguments[2], b.arguments[3]
    insertion = _CodeInsertion(b, table, width, Elements(b, fresh), spill)
    with b.loop(total, BLOCK) as done:
        size = b.least(total - done, BLOCK)
        with b.when(insertion.is_full(size)):
            insertion.end(done)
        block = Elements(b, codes.at(done))
        insertion.mix(block, size)
        unknown = insertion.list_unknown(size)
        with b.loop(unknown) as number:
            insertion.add(block, insertion.listed(number))
    insertion.end(total)


class _CodeInsertion:
    """The registers and scratch memory of `insert`."""

    def __init__(self, b: Function, table: Fields, width: int, fresh: Elements, spill: Function) -> None:
        self._b, self._table, self._width, self._fresh, self._spill = b, table, width, fresh, spill
        self._mixing = _Mixing(b, table)
        self._lines, self._count = table.pointer(CodeTableField.LINES), table[CodeTableField.BUCKETS]
        self._lift = table[CodeTableField.BITS] - HOME_BITS
        self._rest, self._limit = table[CodeTableField.REST], table[CodeTableField.LIMIT]
        self._distance = b.typed(I64, 1 << width - 3)
        self._before = table[CodeTableField.COUNT]
        self._new = b.variable(0)
        self._homes = Elements(b, b.space(I64, BLOCK, 64))
        self._slots = Elements(b, b.space(I64, BLOCK, 64))
        self._listed = Elements(b, b.space(I64, BLOCK, 64))

    def is_full(self, size: Value) -> Value:
        """Return whether `size` more codes might exceed a limit."""
        spilled = self._table[CodeTableField.SPILLED] + size > self._table[CodeTableField.SPILL_LIMIT]
        return (self._before + self._new.value + size > self._limit) | spilled

    def mix(self, block: Elements, size: Value) -> None:
        """Store the home of every code and its slot there, and prefetch the line."""
        with self._b.loop(size) as number:
            mixed = self._mixing.mixed(block[number])
            home = (mixed >> self._lift) * self._count >> HOME_BITS
            self._homes[number] = home
            self._slots[number] = mixed & self._rest | self._distance
            self._b.prefetch(self._line_at(home), write=True)

    def list_unknown(self, size: Value) -> Value:
        """List the codes that are not in their home line, without a branch; return how many there are."""
        b = self._b
        count = b.variable(0)
        with b.loop(size) as number:
            known = Line(b, self._line_at(self._homes[number]), self._width).having(self._slots[number])
            self._listed[count.value] = number
            count += b.select(known.differs(0), 0, 1)
        return count.value

    def listed(self, number: Value) -> Value:
        """Return the position in the block of a listed code."""
        return self._listed[number]

    def add(self, block: Elements, place: Value) -> None:
        """Search all lines where a code may be, and add it if it is new."""
        b = self._b
        line, slot = b.variable(self._homes[place]), b.variable(self._slots[place])
        last = self._homes[place] + MOST_DISTANCE
        with b.forever() as search:
            here = Line(b, self._line_at(line.value), self._width)
            with b.when(here.having(slot.value).differs(0)):
                search.leave()
            empty = here.empty
            with b.when(empty.differs(0)):
                here.set(b.lowest_bit(empty), slot.value)
                self._keep(block[place])
                search.leave()
            line += 1
            slot += self._distance
            with b.when(line.value.equals(last)):
                with b.when(b.call(self._spill, self._table.address, block[place]).differs(0)):
                    self._keep(block[place])
                search.leave()

    def end(self, done: Value) -> None:
        """Return from `insert` after `done` codes."""
        self._table[CodeTableField.COUNT] = self._before + self._new.value
        self._b.give(done)

    def _keep(self, code: Value) -> None:
        self._fresh[self._new.value] = code
        self._new += 1

    def _line_at(self, number: Value) -> Value:
        return self._b.element(I8, self._lines, number * LINE_BYTES)


def _spill_function(m: Module) -> Function:
    """Define `spill(table, code) -> new`: add a code to the overflow, an open-addressing table of 1 + code."""
    b = m.function("spill", I64, (PTR, I64), inline=False)
    table, code = Fields(b, b.arguments[0]), b.arguments[1]
    slots, mask = table.array(CodeTableField.OVERFLOW), table[CodeTableField.OVERFLOW_MASK]
    place = b.variable((code * _SECOND >> 32) & mask)
    with b.forever():
        slot = slots[place.value]
        with b.when(slot.equals(code + 1)):
            b.give(0)
        with b.when(slot.equals(0)):
            slots[place.value] = code + 1
            table[CodeTableField.SPILLED] = table[CodeTableField.SPILLED] + 1
            b.give(1)
        place.set(place.value + 1 & mask)
    b.give(0)
    return b


class _TakenSlots:
    """A cache of how many slots of recently filled lines are taken: (line, count) pairs by line modulo `_NOTES`.

    Most codes go to the line of the code before, and a vector load of a line that was just written in part stalls the
    processor.
    """

    def __init__(self, b: Function, width: int) -> None:
        self._b, self._width = b, width
        self._notes = Elements(b, b.space(I64, _NOTES, 64))
        with b.loop(_NOTES) as number:
            self._notes[number] = 2**64 - 1  # of no line

    def of(self, number: Value, address: Value) -> Value:
        """Return how many slots of a line are taken."""
        note = self._notes[number & _NOTES - 1]
        count = self._b.variable(note & 31)
        with self._b.when((note >> 5).differs(number)):
            empty = self._b.ones(Line(self._b, address, self._width).empty)
            count.set(self._b.typed(I64, SLOTS_OF[self._width]) - empty)
        return count.value

    def note(self, number: Value, count: Value) -> None:
        """Store how many slots of a line are taken."""
        self._notes[number & _NOTES - 1] = number << 5 | count


def _refill_function(m: Module, width: int, spill: Function) -> None:
    b = m.function("refill", I64, (PTR, NOALIAS, I64), exported=True)
    table, codes, total = Fields(b, b.arguments[0]), Elements(b, b.arguments[1]), b.arguments[2]
    lines, homes = table.pointer(CodeTableField.LINES), table[CodeTableField.BUCKETS]
    mixing, lift, rest = _Mixing(b, table), table[CodeTableField.BITS] - HOME_BITS, table[CodeTableField.REST]
    taken, held, full = _TakenSlots(b, width), table[CodeTableField.COUNT], table[CodeTableField.SPILL_LIMIT]
    with b.loop(total) as place:
        table[CodeTableField.COUNT] = held + place
        with b.when(table[CodeTableField.SPILLED] >= full):
            b.give(place)
        mixed = mixing.mixed(codes[place])
        home = (mixed >> lift) * homes >> HOME_BITS
        line, slot = b.variable(home), b.variable(mixed & rest | 1 << width - 3)
        with b.forever() as search:
            here = b.element(I8, lines, line.value * LINE_BYTES)
            count = taken.of(line.value, here)
            with b.when(count < SLOTS_OF[width]):
                Line(b, here, width).set(count, slot.value)
                taken.note(line.value, count + 1)
                search.leave()
            line += 1
            slot += 1 << width - 3
            with b.when(line.value.equals(home + MOST_DISTANCE)):
                b.call(spill, table.address, codes[place])
                search.leave()
    table[CodeTableField.COUNT] = held + total
    b.give(total)


def _unload_function(m: Module, width: int) -> None:
    """Define `unload`.

    It keeps the least mixed code of the last few homes, as a code may be that many lines from home: so it needs one
    division per line.
    """
    b = m.function("unload", I64, (PTR, I64, I64, NOALIAS), exported=True)
    table, first, last, codes = Fields(b, b.arguments[0]), b.arguments[1], b.arguments[2], Elements(b, b.arguments[3])
    lines, starts = table.pointer(CodeTableField.LINES), Elements(b, b.space(I64, _RING, 64))
    mixing, rest = _Mixing(b, table), table[CodeTableField.REST]
    homes, lift = table[CodeTableField.BUCKETS], table[CodeTableField.BITS] - HOME_BITS

    def note_start(home: Value) -> None:
        # The spare lines after the last home are no homes: their start is never used.
        starts[home & _RING - 1] = ((home << HOME_BITS) + homes - 1) // homes << lift

    before = b.select(first < MOST_DISTANCE, first, MOST_DISTANCE)
    with b.loop(before) as back:
        note_start(first - back - 1)
    written = b.variable(0)
    with b.loop(last - first) as number:
        place = first + number
        note_start(place)
        line = Line(b, b.element(I8, lines, place * LINE_BYTES), width)
        with b.bits(line.empty ^ (1 << SLOTS_OF[width]) - 1) as each:
            slot = line.slot(each)
            start = starts[place - (slot >> width - 3) + 1 & _RING - 1]
            mixed = start + ((slot & rest) - start & rest)
            codes[written.value] = mixing.unmixed(mixed)
            written += 1
    b.give(written.value)


def _unspill_function(m: Module) -> None:
    b = m.function("unspill", I64, (PTR, NOALIAS), exported=True)
    table, codes = Fields(b, b.arguments[0]), Elements(b, b.arguments[1])
    slots, written = table.array(CodeTableField.OVERFLOW), b.variable(0)
    with b.loop(table[CodeTableField.OVERFLOW_MASK] + 1) as place:
        slot = slots[place]
        codes[written.value] = slot - 1
        written += b.select(slot.differs(0), 1, 0)
    b.give(written.value)


def _respill_function(m: Module, spill: Function) -> None:
    b = m.function("respill", I64, (PTR, NOALIAS, I64), exported=True)
    codes = Elements(b, b.arguments[1])
    with b.loop(b.arguments[2]) as place:
        b.call(spill, b.arguments[0], codes[place])
    b.give(b.arguments[2])


# ---------------------------------------------------------------------------------------------------------------- lines

# A line is a cache line of 64 bytes with slots of 32, 40, 48 or 64 bits. The low 32 bits of all slots come first, then
# their high bits, so that a line is compared with a slot in one or two vector instructions.


_HIGH = {40: I8, 48: I16}
"""The type of the bits of a slot above its low 32 bits, by the width of a slot."""


class Line:
    """The slots of a line; each method reads memory.

    Args:
        b: where instructions are appended.
        address: of the line.
        width: bits per slot.
    """

    def __init__(self, b: Function, address: Value, width: int) -> None:
        self._b, self._address, self._width = b, address, width
        self._count = SLOTS_OF[width]
        self._all = (1 << self._count) - 1

    def having(self, slot: Value) -> Value:
        """Return a bit for each slot that is equal to `slot`, which must not be empty."""
        if self._width == 64:
            return self._same(I64, 0, 0, slot)
        low = self._same(I32, 0, 0, self._b.convert("trunc", slot, I32))
        return low if self._width == 32 else low & self._same_high(slot >> 32)

    @property
    def empty(self) -> Value:
        """A bit for each empty slot. A taken slot has a nonzero distance in its high bits, so these suffice."""
        nothing = self._b.typed(I64, 0)
        return self._same_high(nothing) if self._width in _HIGH else self.having(nothing)

    def slot(self, number: Value) -> Value:
        """Return a slot."""
        if self._width == 64:
            return Elements(self._b, self._address)[number]
        low = self._b.convert("zext", Elements(self._b, self._address, I32)[number], I64)
        if self._width == 32:
            return low
        return low | self._b.convert("zext", self._highs[number], I64) << 32

    def set(self, number: Value, slot: Value) -> None:
        """Write a slot."""
        if self._width == 64:
            Elements(self._b, self._address)[number] = slot
            return
        Elements(self._b, self._address, I32)[number] = self._b.convert("trunc", slot, I32)
        if self._width in _HIGH:
            self._highs[number] = self._b.convert("trunc", slot >> 32, _HIGH[self._width])

    @property
    def _highs(self) -> Elements:
        start = self._b.element(I8, self._address, 4 * self._count)
        return Elements(self._b, start, _HIGH[self._width])

    def _same_high(self, high: Value) -> Value:
        """Compare high parts: they are read as the end of an aligned vector, and its first elements are ignored."""
        kind = _HIGH[self._width]
        size = int(kind[1:]) // 8
        start = LINE_BYTES - 16 * size
        return self._same(kind, start, (4 * self._count - start) // size, self._b.convert("trunc", high, kind))

    def _same(self, kind: str, start: int, first: int, wanted: Value) -> Value:
        """Return a bit for each slot whose part equals `wanted`.

        Args:
            kind: the type of a part.
            start: the offset of the vector of parts in the line, in bytes.
            first: the element of the vector that belongs to the first slot.
            wanted: the part to compare with.
        """
        b = self._b
        lanes = min(16, 8 * (LINE_BYTES - start) // int(kind[1:]))
        vector = f"<{lanes} x {kind}>"
        parts = b.load(vector, b.element(I8, self._address, start), align=min(LINE_BYTES, LINE_BYTES - start))
        truths = b.convert("bitcast", parts.equals(b.splat(wanted, vector)), f"i{lanes}")
        return b.convert("zext", truths, I64) >> first & self._all

"""The abstract states that walks see, for generated code: each once, with the first walk that saw it.

An entry is the words of an abstract state and the number of a walk; entries follow each other in the order in which
they came. A slot is 0 where it is empty, else the high 24 bits of a hash (the tag) above 1 + the place of an entry. The
search for an abstract state begins in the slot that the low bits of its hash name, and goes on to the next one.
"""

from __future__ import annotations

from insync.machine.emit.builder import I64, NOALIAS, PTR, Function, Module, Value
from insync.machine.emit.memory import Elements, Fields, Rows, read_row, row_hash, rows_equal
from insync.machine.walker import SightField

__all__ = ["see_function", "sightings_module"]

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

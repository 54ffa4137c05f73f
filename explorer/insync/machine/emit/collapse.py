"""Kernels of collapse compression (Holzmann 1997): `encode` states as numbers of their components, and `decode` them.

See `machine.stores.collapse` for the terms.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.machine.emit.builder import GOLDEN_RATIO, I64, NOALIAS, PTR, Function, Module, Value
from insync.machine.emit.memory import Elements, Fields, Row, Rows, write_row
from insync.machine.stores.collapse import (
    MOST_NUMBERS,
    NUMBER_BITS,
    PAIRED_BITS,
    Component,
    DictionaryField,
    Digit,
    dictionaries_of,
)

__all__ = ["coding_module"]


def coding_module(components: Sequence[Component], words: int, digits: Sequence[Digit]) -> str:
    """Return the IR module for codes of states of `words` words.

    A layout is an array of two words per digit: its shift in a code, and its mask.
    `dictionaries` is an array of records of `DictionaryField`, one per shape.

    - `encode(dictionaries, layout, rows, count, codes) -> done`: write the codes of states, in their order, and number
      new values. It stops early at a state with a new value whose dictionary is at its limit.
    - `decode(dictionaries, layout, codes, count, rows)`: write the states of codes.
    - `lay(before, after, codes, count)`: convert codes from one layout to another, in place.
    - `spread(dictionary)`: enter all values of a dictionary into its slots, which are all empty.
    """
    m = Module()
    enter = _enter_function(m)
    _encode_function(m, components, words, digits, enter)
    _decode_function(m, components, words, digits)
    _lay_function(m, len(digits))
    _spread_function(m)
    return m.text


class _Dictionary:
    """The dictionary of one shape: an open-addressing hash table."""

    def __init__(self, b: Function, record: Value) -> None:
        self._b, self.fields = b, Fields(b, record)
        self.slots, self.values = self.fields.array(DictionaryField.SLOTS), self.fields.array(DictionaryField.VALUES)
        self._turn = self.fields[DictionaryField.TURN]

    def home(self, value: Value) -> Value:
        """Return the slot in which the search for a value begins."""
        return value * GOLDEN_RATIO >> self._turn


def _dictionaries(b: Function, digits: Sequence[Digit], records: Value) -> list[_Dictionary]:
    shapes = range(dictionaries_of(digits))
    return [_Dictionary(b, b.element(I64, records, shape * len(DictionaryField))) for shape in shapes]


def _is_number(difference: Value) -> Value:
    """Whether a slot xor a value is a bare number: the slot is neither empty nor of another value."""
    return difference - 1 < MOST_NUMBERS


def _enter_function(m: Module) -> Function:
    """Define `enter(record, value) -> number`: 1 + the number of a value, or 0 for a new value without room."""
    b = m.function("enter", I64, (PTR, I64), inline=False)
    dictionary, value = _Dictionary(b, b.arguments[0]), b.arguments[1]
    mask = dictionary.fields[DictionaryField.MASK]
    place = b.variable(dictionary.home(value))
    with b.forever():
        slot = dictionary.slots[place.value]
        difference = slot ^ value << NUMBER_BITS
        with b.when(slot.differs(0) & _is_number(difference)):
            b.give(difference)
        with b.when(slot.equals(0)):
            held = dictionary.fields[DictionaryField.COUNT]
            with b.when(held >= dictionary.fields[DictionaryField.LIMIT]):
                b.give(0)
            dictionary.values[held] = value
            dictionary.fields[DictionaryField.COUNT] = held + 1
            dictionary.slots[place.value] = value << NUMBER_BITS | held + 1
            b.give(held + 1)
        place.set(place.value + 1 & mask)
    b.give(0)
    return b


def _encode_function(
    m: Module, components: Sequence[Component], words: int, digits: Sequence[Digit], enter: Function
) -> None:
    b = m.function("encode", I64, (PTR, PTR, NOALIAS, I64, NOALIAS), exported=True)
    records, layout, rows, total, codes = b.arguments
    states, places, made = Rows(b, rows, words), Elements(b, layout), Elements(b, codes)
    dictionaries = _dictionaries(b, digits, records)
    shifts = [places[2 * number] for number in range(len(digits))]
    with b.loop(total) as place:
        row, code = states[place], b.typed(I64, 0)

        def number_of(digit: Digit) -> Value:
            """Return a digit of the state; `encode` returns here if there is no room for a new number."""
            if digit.component is None:
                low, high = map(number_of, digit.halves)
                value = low | high << PAIRED_BITS
            else:
                value = _value(b, row, components[digit.component])
            dictionary = dictionaries[digit.shape]
            number = b.variable(dictionary.slots[dictionary.home(value)] ^ value << NUMBER_BITS)
            with b.when(~_is_number(number.value)):
                number.set(b.call(enter, dictionary.fields.address, value))
                with b.when(number.value.equals(0)):
                    b.give(place)
            return number.value - 1

        for digit, shift in zip(digits, shifts, strict=True):
            code = code | number_of(digit) << shift
        made[place] = code
    b.give(total)


def _value(b: Function, row: Row, component: Component) -> Value:
    value = b.typed(I64, 0)
    for piece in component.pieces:
        bits = row[piece.word] >> piece.shift & (1 << piece.bits) - 1
        value = value | bits << piece.at
    return value


def _decode_function(m: Module, components: Sequence[Component], words: int, digits: Sequence[Digit]) -> None:
    b = m.function("decode", I64, (PTR, PTR, NOALIAS, I64, NOALIAS), exported=True)
    records, layout, codes, total, rows = b.arguments
    given, places, made = Elements(b, codes), Elements(b, layout), Rows(b, rows, words)
    dictionaries = _dictionaries(b, digits, records)
    fields = [(places[2 * number], places[2 * number + 1]) for number in range(len(digits))]
    with b.loop(total) as place:
        code, row = given[place], [b.typed(I64, 0) for _ in range(words)]

        def write(digit: Digit, number: Value) -> None:
            value = dictionaries[digit.shape].values[number]
            if digit.component is None:
                for half, part in zip(
                    digit.halves, (value & (1 << PAIRED_BITS) - 1, value >> PAIRED_BITS), strict=True
                ):
                    write(half, part)
                return
            for piece in components[digit.component].pieces:
                bits = value >> piece.at & (1 << piece.bits) - 1
                row[piece.word] = row[piece.word] | bits << piece.shift

        for digit, (shift, mask) in zip(digits, fields, strict=True):
            write(digit, code >> shift & mask)
        write_row(b, made.at(place), row)
    b.give(total)


def _lay_function(m: Module, digits: int) -> None:
    b = m.function("lay", I64, (PTR, PTR, PTR, I64), exported=True)
    before, after, codes = (Elements(b, argument) for argument in b.arguments[:3])
    moves = [(before[2 * each], before[2 * each + 1], after[2 * each]) for each in range(digits)]
    with b.loop(b.arguments[3]) as place:
        code, made = codes[place], b.typed(I64, 0)
        for shift, mask, new in moves:
            made = made | (code >> shift & mask) << new
        codes[place] = made
    b.give(b.arguments[3])


def _spread_function(m: Module) -> None:
    b = m.function("spread", I64, (PTR,), exported=True)
    dictionary = _Dictionary(b, b.arguments[0])
    mask = dictionary.fields[DictionaryField.MASK]
    held = dictionary.fields[DictionaryField.COUNT]
    with b.loop(held) as number:
        value = dictionary.values[number]
        place = b.variable(dictionary.home(value))
        with b.forever() as search:
            with b.when(dictionary.slots[place.value].equals(0)):
                search.leave()
            place.set(place.value + 1 & mask)
        dictionary.slots[place.value] = value << NUMBER_BITS | number + 1
    b.give(held)

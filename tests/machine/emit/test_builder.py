from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from insync.machine.compiler import Library, object_code
from insync.machine.emit.builder import I1, I8, I32, I64, I128, PTR, VOID, Function, Module
from insync.machine.emit.memory import Elements, Fields
from insync.runtime.errors import InternalError


def compiled(m: Module, name: str, arguments: int) -> Callable[..., int]:
    return Library(object_code(m.text)).function(name, arguments)


def of_numbers(build: Callable[[Function], None], arguments: int = 2) -> Callable[..., int]:
    """The function of so many numbers whose body is built."""
    m = Module()
    build(m.function("made", I64, [I64] * arguments, exported=True))
    return compiled(m, "made", arguments)


OPERATIONS: dict[str, tuple[Callable[[Function], None], Callable[[int, int], int]]] = {
    "+": (lambda b: b.give(b.arguments[0] + b.arguments[1]), lambda x, y: x + y),
    "-": (lambda b: b.give(b.arguments[0] - b.arguments[1]), lambda x, y: x - y),
    "*": (lambda b: b.give(b.arguments[0] * b.arguments[1]), lambda x, y: x * y),
    "//": (lambda b: b.give(b.arguments[0] // (b.arguments[1] | 1)), lambda x, y: x // (y | 1)),
    "&": (lambda b: b.give(b.arguments[0] & b.arguments[1]), lambda x, y: x & y),
    "|": (lambda b: b.give(b.arguments[0] | b.arguments[1]), lambda x, y: x | y),
    "^": (lambda b: b.give(b.arguments[0] ^ b.arguments[1]), lambda x, y: x ^ y),
    "<<": (lambda b: b.give(b.arguments[0] << (b.arguments[1] & 63)), lambda x, y: x << (y & 63)),
    ">>": (lambda b: b.give(b.arguments[0] >> (b.arguments[1] & 63)), lambda x, y: x >> (y & 63)),
    "~": (lambda b: b.give(~b.arguments[0]), lambda x, y: ~x),
    "<": (lambda b: b.give(b.select(b.arguments[0] < b.arguments[1], 1, 0)), lambda x, y: x < y),
    ">": (lambda b: b.give(b.select(b.arguments[0] > b.arguments[1], 1, 0)), lambda x, y: x > y),
    ">=": (lambda b: b.give(b.select(b.arguments[0] >= b.arguments[1], 1, 0)), lambda x, y: x >= y),
    "equals": (lambda b: b.give(b.select(b.arguments[0].equals(b.arguments[1]), 1, 0)), lambda x, y: x == y),
    "differs": (lambda b: b.give(b.select(b.arguments[0].differs(b.arguments[1]), 1, 0)), lambda x, y: x != y),
    "not": (lambda b: b.give(b.select(~(b.arguments[0] < b.arguments[1]), 1, 0)), lambda x, y: x >= y),
    "ones": (lambda b: b.give(b.ones(b.arguments[0])), lambda x, y: x.bit_count()),
    "least": (lambda b: b.give(b.least(b.arguments[0], 7)), lambda x, y: min(x, 7)),
    "a large constant": (lambda b: b.give(b.arguments[0] ^ 2**64 - 2), lambda x, y: x ^ 2**64 - 2),
    "high half": (
        lambda b: b.give(
            b.convert(
                "trunc", b.convert("zext", b.arguments[0], I128) * b.convert("zext", b.arguments[1], I128) >> 64, I64
            )
        ),
        lambda x, y: x * y >> 64,
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_means_what_it_means_on_unsigned_numbers(name: str) -> None:
    build, meant = OPERATIONS[name]
    function = of_numbers(build)
    numbers = [0, 1, 2, 7, 8, 63, 2**31, 2**63 - 1, 2**63, 2**64 - 1]
    for x in numbers:
        for y in numbers:
            assert function(x, y) % 2**64 == int(meant(x, y)) % 2**64, (x, y)


def test_loops_and_conditions_are_those_of_python() -> None:
    def build(b: Function) -> None:
        """The sum of the numbers below n in steps of 3, those that are divisible by k left out, up to 100."""
        end, divisor = b.arguments
        total = b.variable(0)
        with b.loop(end, 3) as number:
            with b.when((number // divisor * divisor).equals(number)):
                b.again()
            total += number
            with b.when(total.value > 100):
                b.give(100)
        b.give(total.value)

    function = of_numbers(build)
    for end in (0, 1, 3, 4, 10, 40):
        for divisor in (1, 2, 5):
            assert function(end, divisor) == min(100, sum(n for n in range(0, end, 3) if n % divisor))


def test_a_loop_is_left_from_within_another() -> None:
    def build(b: Function) -> None:
        """The first power of 2 from 1 on whose bits meet those of the mask in a bit above the third; 0 if none."""
        mask, _ = b.arguments
        power, found = b.variable(1), b.variable(0)
        with b.forever() as search:
            with b.bits(mask) as bit, b.when((b.typed(I64, 1) << bit).equals(power.value) & (bit > 2)):
                found.set(power.value)
                search.leave()
            power.set(power.value << 1)
            with b.when(power.value.equals(0)):
                search.leave()
        b.give(found.value)

    function = of_numbers(build)
    for mask, expected in [(0, 0), (7, 0), (8, 8), (0b110100, 16), (2**63, -(2**63))]:
        assert function(mask, 0) == expected


def test_the_bits_of_a_word_come_from_the_lowest_on() -> None:
    def build(b: Function) -> None:
        found = b.variable(0)
        with b.bits(b.arguments[0]) as bit:
            found.set(found.value * 100 + bit + 1)
        b.give(found.value)

    function = of_numbers(build, 1)
    assert [function(word) for word in (0, 1, 0b1010, 2**63 | 2)] == [0, 1, 204, 264]


def test_memory_is_read_and_written_by_type() -> None:
    m = Module()
    b = m.function("spread", VOID, (PTR, PTR))
    source, context = b.arguments
    small, fields = Elements(b, source, I8), Fields(b, context)
    fields[1] = b.convert("zext", small[3], I64)
    fields.array(0, I32)[1] = 7
    fields.set_pointer(0, fields.array(0).at(1))
    outer = m.function("outer", I64, (PTR, PTR), exported=True)
    outer.call(b, *outer.arguments)
    kept = Elements(outer, outer.space(I64, 4, 64))
    outer.clear(kept.address, 32)
    outer.copy(kept.at(2), outer.arguments[0], outer.typed(I64, 8))
    outer.give(kept[1] + kept[2])
    content = (ctypes.c_uint8 * 8)(1, 2, 3, 250, 0, 0, 0, 0)
    target = (ctypes.c_uint32 * 4)(1, 1, 1, 1)
    given = (ctypes.c_uint64 * 2)(ctypes.addressof(target), 0)
    total = compiled(m, "outer", 2)(ctypes.addressof(content), ctypes.addressof(given))
    assert total == int.from_bytes(bytes(content), "little")
    assert list(given) == [ctypes.addressof(target) + 8, 250]
    assert list(target) == [1, 7, 1, 1]


def test_a_function_is_called_by_its_place_in_a_table() -> None:
    m = Module()
    functions = []
    for number in range(3):
        b = m.function(f"times{number}", I64, (I64,))
        b.give(b.arguments[0] * number)
        functions.append(b)
    table = m.table("table", functions)
    b = m.function("chosen", I64, (I64, I64), exported=True)
    b.give(b.call_at(Elements(b, b.address(table), PTR)[b.arguments[0]], I64, b.arguments[1]))
    function = compiled(m, "chosen", 2)
    assert [function(number, 5) for number in range(3)] == [0, 5, 10]


def text_of(build: Callable[[Function], object]) -> str:
    m = Module()
    build(m.function("made", I64, (I64, PTR)))
    return m.text


def mistaken(build: Callable[[Function], object]) -> str:
    with pytest.raises(InternalError) as error:
        text_of(build)
    return str(error.value)


def test_a_value_of_another_type_is_our_mistake() -> None:
    assert mistaken(lambda b: b.arguments[0] + b.arguments[1]) == "made has ptr %a1 where i64 is needed."
    assert mistaken(lambda b: b.load(I64, b.arguments[0])) == "made has i64 %a0 where ptr is needed."
    assert mistaken(lambda b: b.give(b.arguments[1])) == "made has ptr %a1 where i64 is needed."
    assert mistaken(lambda b: b.select(b.arguments[0], 1, 2)) == "made has i64 %a0 where i1 is needed."
    assert mistaken(lambda b: b.call(b, 1, b.arguments[0])) == "made has i64 %a0 where ptr is needed."
    assert mistaken(lambda b: b.variable(0).set(b.typed(I1, 1))) == "made has i1 true where i64 is needed."


def test_what_cannot_be_reached_is_our_mistake() -> None:
    def after_the_end(b: Function) -> None:
        b.give(1)
        b.give(2)

    assert mistaken(after_the_end) == "An instruction of made can never be reached: ret i64 2"
    assert mistaken(lambda b: None) == "made ends without a result."

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insync.machine.store_kernels import table_kernels
from insync.machine.stores.collapse import MOST_CODE_BITS
from insync.machine.stores.quotient_table import HOME_BITS, MOST_DISTANCE, SLOTS_OF, CodeTable, most_codes, table_width

WIDTHS = {32: (36, 1000), 40: (40, 1000), 48: (48, 1000), 64: (56, 1000)}
"""Codes of so many bits in so many lines, for each width of slots."""

Found = tuple[list[int], int]


def insert(table: CodeTable, codes: Sequence[int]) -> Found:
    """Insert codes; return those that are new, and how many were done."""
    given = (ctypes.c_uint64 * len(codes))(*codes)
    fresh = (ctypes.c_uint64 * (len(codes) + 1))()
    before = len(table)
    done = table.insert(ctypes.addressof(given), len(codes), ctypes.addressof(fresh))
    return list(fresh[: len(table) - before]), done


def content(table: CodeTable) -> list[int]:
    """All codes, sorted; the table is closed."""
    codes: list[int] = []
    for address, count in table.unloaded():
        codes += list((ctypes.c_uint64 * count).from_address(address)) if count else []
    table.close()
    return sorted(codes)


def moved(table: CodeTable, growth: float) -> CodeTable:
    """The same codes in a table of so many times the lines; the table is closed."""
    larger = CodeTable(table_kernels, table.bits, int(growth * table.lines) + 1)
    for address, count in table.unloaded():
        larger.refill(address, count)
    table.close()
    return larger


def of_mixed(mixed: int, bits: int) -> int:
    """The code that is mixed to a number: xor with the upper half, and products with odd numbers, undone."""
    mask, half = (1 << bits) - 1, (bits + 1) // 2
    for multiplier in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xBF58476D1CE4E5B9):
        mixed = (mixed ^ mixed >> half) * pow(multiplier, -1, 1 << 64) & mask
    return mixed ^ mixed >> half


def near(start: int, count: int, bits: int) -> list[int]:
    """Codes whose mixed numbers follow one another: they have one home, or few."""
    return [of_mixed((start + number) % (1 << bits), bits) for number in range(count)]


@pytest.mark.parametrize("width", SLOTS_OF)
def test_the_slots_are_as_narrow_as_the_codes_and_the_lines_allow(width: int) -> None:
    bits, lines = WIDTHS[width]
    assert table_width(bits, lines) == width


@settings(max_examples=40, deadline=None)
@given(
    width=st.sampled_from(list(WIDTHS)),
    runs=st.lists(st.tuples(st.integers(0, 2**36 - 1), st.integers(1, 200)), max_size=4),
    others=st.integers(0, 300),
    seed=st.integers(0, 2**32),
)
def test_it_is_a_set_whatever_comes(width: int, runs: list[tuple[int, int]], others: int, seed: int) -> None:
    (bits, lines), chance = WIDTHS[width], random.Random(seed)
    codes = [0, 2**bits - 1]
    for start, count in runs:
        codes += near(start << bits - HOME_BITS, count, bits)
    codes += [chance.getrandbits(bits) for _ in range(others)]
    codes += chance.choices(codes, k=len(codes))
    chance.shuffle(codes)
    table, wanted = CodeTable(table_kernels, bits, lines), list(dict.fromkeys(codes))
    cut = chance.randrange(len(codes))
    first, done = insert(table, codes[:cut])
    second, rest = insert(table, codes[cut:])
    assert done + rest == len(codes)
    assert first + second == wanted
    assert insert(table, codes) == ([], len(codes))
    assert content(table) == sorted(wanted)


@pytest.mark.parametrize("width", SLOTS_OF)
def test_codes_of_one_home_go_to_the_next_lines_and_then_beside_the_table(width: int) -> None:
    bits, lines = WIDTHS[width]
    room = MOST_DISTANCE * SLOTS_OF[width]
    codes = near(5 << bits - HOME_BITS, room + 3_000, bits)
    table = CodeTable(table_kernels, bits, lines)
    assert insert(table, codes) == (codes, len(codes))
    assert table.spilled >= len(codes) - 2 * room  # they may have two homes
    assert insert(table, codes[::-1]) == ([], len(codes))
    assert content(table) == sorted(codes)


@pytest.mark.parametrize("home", ["first", "last"])
@pytest.mark.parametrize("width", SLOTS_OF)
def test_the_ends_of_a_table_are_as_good_as_its_middle(width: int, home: str) -> None:
    bits, lines = WIDTHS[width]
    start = 0 if home == "first" else 2**bits - 300
    codes = near(start, 300, bits)
    table = CodeTable(table_kernels, bits, lines)
    assert insert(table, codes) == (codes, 300)
    assert insert(table, codes) == ([], 300)
    assert content(table) == sorted(codes)


@pytest.mark.slow_for("32-1.0", "48-1.5", "48-3.0", "64-1.0", "64-1.01", "64-1.5", "64-3.0")
@pytest.mark.parametrize("more", [1.0, 1.01, 1.5, 3.0])
@pytest.mark.parametrize("width", SLOTS_OF)
def test_a_table_is_moved_into_another_and_both_have_the_same_codes(width: int, more: float) -> None:
    bits, lines = WIDTHS[width]
    codes = [of_mixed(number * 0x9E3779B97F4A7C15 % 2**bits, bits) for number in range(4_000)]
    codes += near(77 << bits - HOME_BITS, 20 * SLOTS_OF[width], bits) + near(2**bits - 100, 100, bits)
    codes = list(dict.fromkeys(codes))
    first, second = (CodeTable(table_kernels, bits, size) for size in (lines, int(more * lines)))
    assert insert(first, codes) == (codes, len(codes))
    for address, count in first.unloaded():
        second.refill(address, count)
    assert len(second) == len(codes)
    assert insert(second, codes) == ([], len(codes))
    assert content(second) == sorted(codes)


@settings(max_examples=40, deadline=None)
@given(
    bits=st.integers(HOME_BITS, MOST_CODE_BITS),
    lines=st.integers(64, 300),
    growths=st.lists(st.floats(1.05, 3.0), min_size=1, max_size=5),
    runs=st.lists(st.tuples(st.integers(0, 2**HOME_BITS - 1), st.integers(1, 700)), max_size=4),
    others=st.integers(0, 6_000),
    seed=st.integers(0, 2**32),
)
def test_it_stays_a_set_however_it_grows(
    bits: int, lines: int, growths: list[float], runs: list[tuple[int, int]], others: int, seed: int
) -> None:
    """From every width of slots to every narrower one, with homes that are full and codes beside the table."""
    chance, factors = random.Random(seed), itertools.cycle(growths)
    codes = [0, 2**bits - 1]
    for start, count in runs:
        codes += near(start << bits - HOME_BITS, count, bits)
    codes += [chance.getrandbits(bits) for _ in range(others)]
    codes += chance.choices(codes, k=len(codes) // 3)
    chance.shuffle(codes)
    table, found, place = CodeTable(table_kernels, bits, lines), list[int](), 0
    while place < len(codes):
        fresh, done = insert(table, codes[place:])
        found, place = found + fresh, place + done
        if place < len(codes):
            table = moved(table, next(factors))
        assert len(table) == len(found)
    assert found == list(dict.fromkeys(codes))
    table = moved(table, 2.0)  # a full one looks at nothing
    assert insert(table, codes) == ([], len(codes))
    assert content(table) == sorted(found)


def test_codes_that_are_moved_may_all_have_one_home() -> None:
    codes = near(5 << 40 - HOME_BITS, 3_000, 40)
    first, second = CodeTable(table_kernels, 40, 1_000), CodeTable(table_kernels, 40, 1_100)
    assert insert(first, codes) == (codes, 3_000)
    for address, count in first.unloaded():
        second.refill(address, count)
    assert insert(second, codes) == ([], 3_000)
    assert content(second) == sorted(codes)


@pytest.mark.parametrize("lines", [1, 2, 7, 8, 9, 63])
def test_a_table_of_few_lines_has_all_its_codes(lines: int) -> None:
    codes = [of_mixed(number * 0x9E3779B97F4A7C15 % 2**40, 40) for number in range(600)]
    table = CodeTable(table_kernels, 40, lines)
    fresh, done = insert(table, codes)
    assert fresh == codes[:done]
    assert content(table) == sorted(codes[:done])


def test_it_stops_where_it_is_full_and_says_so() -> None:
    table = CodeTable(table_kernels, 40, 100)
    codes = [of_mixed(number * 0x9E3779B97F4A7C15 % 2**40, 40) for number in range(4_000)]
    fresh, done = insert(table, codes)
    assert most_codes(40, 100) - 128 <= done <= most_codes(40, 100)
    assert fresh == codes[:done]
    assert insert(table, codes[done:]) == ([], 0)
    assert content(table) == sorted(codes[:done])

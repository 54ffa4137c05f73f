"""Rows in order, compared with what Python's sets and lists say of them."""

from __future__ import annotations

import ctypes
import random
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from unittest.mock import patch

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from insync.machine.emit.external_sort import _CACHED
from insync.machine.packed import PackedRows, Words
from insync.machine.store_kernels import order_kernels
from insync.machine.stores import sorted_rows
from insync.machine.stores.sorted_rows import RowBuffer, RowScratch, merged_runs, most_packed, sort_in_place

WIDEST = 2**64 - 1
WORD = st.one_of(st.integers(0, 3), st.integers(0, 300), st.integers(0, WIDEST), st.sampled_from([2**63, WIDEST]))
"""Few small numbers, so that rows are the same or nearly so, and numbers of every length."""


@st.composite
def rows(draw: st.DrawFn, most: int = 60) -> list[list[Words]]:
    """Two lists of rows with as many words, the second with some rows of the first."""
    words = draw(st.integers(1, 3))
    row = st.tuples(*[WORD] * words)
    first = draw(st.lists(row, min_size=1, max_size=most))
    again = st.one_of(row, st.sampled_from(first))
    return [first, draw(st.lists(again, max_size=most))]


def read(address: int, count: int, words: int) -> list[Words]:
    flat = (ctypes.c_uint64 * (count * words)).from_address(address)
    return [tuple(flat[at : at + words]) for at in range(0, count * words, words)]


def filled(given: Sequence[Words], words: int) -> RowBuffer:
    capacity = max(1, len(given))
    buffer = RowBuffer(order_kernels(words), capacity, RowScratch(8 * words, capacity))
    extend(buffer, given)
    return buffer


def extend(buffer: RowBuffer, given: Sequence[Words]) -> None:
    there = PackedRows(given)
    buffer.extend(there.address, there.count)


@settings(max_examples=40, deadline=None)
@given(rows())
def test_a_buffer_that_is_sorted_has_each_row_once(lists: list[list[Words]]) -> None:
    words = len(lists[0][0])
    for some in lists:
        buffer = filled(some, words)
        buffer.sort()
        assert read(buffer.address, buffer.count, words) == sorted(set(some))
        others = [(*row[:-1], row[-1] ^ 1) for row in some][: buffer.room]
        extend(buffer, others)
        buffer.sort()
        assert read(buffer.address, buffer.count, words) == sorted({*some, *others})
        buffer.close()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3).flatmap(lambda words: st.lists(st.sets(st.tuples(*[WORD] * words), max_size=20), max_size=7)))
def test_sorted_runs_are_merged(runs: list[set[Words]]) -> None:
    words = next((len(row) for run in runs for row in run), 1)
    every = [row for run in runs for row in sorted(run)]
    buffer = filled(every, words)
    ends = list(accumulate(map(len, runs)))
    event(f"{len(runs)} runs")
    buffer.merge(ends)
    assert read(buffer.address, buffer.count, words) == sorted(set(every))
    extend(buffer, every[: buffer.room])
    buffer.sort()
    assert read(buffer.address, buffer.count, words) == sorted(set(every))
    buffer.close()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3).flatmap(lambda words: st.lists(st.sets(st.tuples(*[WORD] * words), max_size=60), min_size=1)))
def test_runs_in_memory_are_sorted_and_merged_part_by_part(runs: list[set[Words]]) -> None:
    every = [row for run in runs for row in run] or [(0,)]
    kernels, there = order_kernels(len(every[0])), PackedRows(every)
    starts = [0, *accumulate(map(len, runs))]
    places = [(there.address + start * kernels.row_bytes, end - start) for start, end in pairwise(starts)]
    sort_in_place(kernels, places)
    for run, (address, count) in zip(runs, places, strict=True):
        assert read(address, count, kernels.words) == sorted(run)
    with patch.object(sorted_rows, "_MERGED_ROWS", 7):
        merged = [row for rows, count in merged_runs(kernels, places) for row in read(rows, count, kernels.words)]
    event(f"{len(every) // 7} parts")
    assert merged == sorted(set().union(*runs))


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("kind", ["even", "few high values", "one row differs", "a part is too large"])
def test_more_rows_than_fit_into_a_cache(words: int, kind: str) -> None:
    """They are first divided by their highest bits, and parts that are still too large once more."""
    drawn, count = random.Random(words), _CACHED // (8 * words) + 5_000
    some = [tuple(drawn.getrandbits(64) for _ in range(words)) for _ in range(count)]
    if kind == "few high values":
        some = [(row[0] & (1 << 63 | 255), *row[1:]) for row in some]
    elif kind == "one row differs":
        some = [(7,) * words] * count + [(8,) + (7,) * (words - 1)]
    elif kind == "a part is too large":
        some += [(row[0] >> 8, *row[1:]) for row in some for _ in range(2)] + [(row[0] >> 20, *row[1:]) for row in some]
    buffer = filled(some, words)
    buffer.sort()
    assert read(buffer.address, buffer.count, words) == sorted(set(some))
    buffer.close()


@settings(max_examples=40, deadline=None)
@given(rows())
def test_what_is_unpacked_is_what_was_packed(lists: list[list[Words]]) -> None:
    words = len(lists[0][0])
    some = sorted(set(lists[0]))
    kernels, given_rows = order_kernels(words), PackedRows(some)
    packed = (ctypes.c_uint8 * most_packed(words, len(some)))()
    size = kernels.pack(given_rows.address, len(some), ctypes.addressof(packed))
    back = PackedRows([(0,) * words] * len(some))
    assert size <= len(packed) - 7
    assert kernels.unpack(ctypes.addressof(packed), len(some), back.address) == size
    assert read(back.address, len(some), words) == some


def test_neighbours_take_a_byte_and_a_half() -> None:
    kernels, some = order_kernels(1), PackedRows([(2**50 + 200 * number,) for number in range(1_000)])
    packed = (ctypes.c_uint8 * most_packed(1, 1_000))()
    assert kernels.pack(some.address, 1_000, ctypes.addressof(packed)) == 500 + 999 + 7


@settings(max_examples=60, deadline=None)
@given(rows(), st.sampled_from([1, 4, 150]), st.booleans())
def test_what_is_known_is_struck_and_nothing_else(lists: list[list[Words]], times: int, swap: bool) -> None:
    """Also where one side is some times as long, or many times: the rows of the other are searched for then."""
    words = len(lists[0][0])
    many, few = lists if swap else reversed(lists)
    many = [(*row[:-1], row[-1] ^ number) for row in many for number in range(times)]
    for ours, known in [(many, few), (few, many)]:
        buffer = filled(ours, words)
        buffer.sort()
        there = PackedRows(sorted(set(known)))
        ratio = max(buffer.count, there.count) / max(1, min(buffer.count, there.count))
        event(f"way: {sum(ratio > times for times in (2, 64))}")
        buffer.begin_striking()
        buffer.strike(0, buffer.count, there.address, there.count)
        buffer.drop_struck()
        assert read(buffer.address, buffer.count, words) == sorted(set(ours) - set(known))
        buffer.close()


@settings(max_examples=40, deadline=None)
@given(rows())
def test_a_place_is_the_number_of_rows_before(lists: list[list[Words]]) -> None:
    words = len(lists[0][0])
    buffer = filled(lists[0], words)
    buffer.sort()
    some = sorted(set(lists[0]))
    for row in [*lists[0], *lists[1]]:
        there = PackedRows([row])
        assert buffer.place(there.address) == bisect_left(some, row)
    buffer.close()


@pytest.mark.parametrize("words", [1, 2, 5])
def test_all_rows_may_be_the_same_and_there_may_be_none(words: int) -> None:
    buffer = filled([(7,) * words] * 300, words)
    buffer.sort()
    assert buffer.count == 1
    buffer.clear()
    buffer.sort()
    assert buffer.count == 0
    buffer.close()

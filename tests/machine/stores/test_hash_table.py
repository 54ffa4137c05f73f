from __future__ import annotations

import ctypes
import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insync.machine.packed import PackedRows, Words, words_at
from insync.machine.stores import hash_table as store_module
from insync.machine.stores.hash_table import BUCKET_BYTES, BUCKET_SLOTS, SPARE_BUCKETS, Store
from insync.runtime.errors import InternalError
from insync.runtime.memory import Block
from insync_machine import store_kernels

CAPACITY = 64 << 20


def insert(store: Store, states: Sequence[Words]) -> bool:
    return store.add(PackedRows(states), lambda _: True)


def content(store: Store) -> list[Words]:
    return [words_at(store.address(place), store.words) for place in range(len(store))]


def sample(words: int, count: int, kind: str) -> list[Words]:
    """States that repeat: of random words, or of few bits, as packed states are."""
    chance = random.Random(f"{words} {kind}")
    if kind == "random":
        return [tuple(chance.getrandbits(64) >> 44 for _ in range(words)) for _ in range(count)]
    if kind == "low bits":
        return [tuple(chance.getrandbits(9) for _ in range(words)) for _ in range(count)]
    if kind == "high bits":
        return [tuple(chance.getrandbits(9) << 55 for _ in range(words)) for _ in range(count)]
    if kind == "one word":
        return [tuple([0] * (words - 1) + [chance.getrandbits(15)]) for _ in range(count)]
    return [tuple(1 << chance.getrandbits(6) for _ in range(words)) for _ in range(count)]


@pytest.mark.slow_but("1-low bits", "1-high bits", "1-one word", "1-single bits", "2-single bits")
@pytest.mark.parametrize("kind", ["random", "low bits", "high bits", "one word", "single bits"])
@pytest.mark.parametrize("words", [1, 2, 3, 4, 5, 8])
def test_keeps_every_state_once_in_order_of_discovery(words: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_FIRST_BUCKETS", 4)
    store = store_kernels(words).store(CAPACITY)
    states = sample(words, 60_000, kind)
    for start in range(0, len(states), 7919):
        assert insert(store, states[start : start + 7919])
    assert content(store) == list(dict.fromkeys(states))
    store.close()


@settings(max_examples=60)
@given(
    words=st.sampled_from([1, 2, 3]),
    batches=st.lists(st.lists(st.integers(0, 40), max_size=300), max_size=6),
    data=st.data(),
)
def test_is_a_set_whatever_comes_in_whatever_portions(
    words: int, batches: list[list[int]], data: st.DataObject
) -> None:
    store = store_kernels(words).store(CAPACITY)
    known: dict[Words, None] = {}
    for batch in batches:
        states = [tuple((number * 3) % 7 if word else number for word in range(words)) for number in batch]
        assert insert(store, states)
        known |= dict.fromkeys(states)
        assert content(store) == list(known)
    store.close()


def test_a_table_with_few_and_full_buckets_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_FIRST_BUCKETS", 2)
    monkeypatch.setattr(store_module, "_LARGEST_LOAD", 1.0)
    store = store_kernels(1).store(CAPACITY)
    states = [(number * number,) for number in range(50_000)]
    assert insert(store, states + states)
    assert content(store) == states
    store.close()


def test_the_hash_spreads_states_evenly() -> None:
    kernels = store_kernels(2)
    partitions = 64
    for kind in ("low bits", "high bits", "single bits"):
        states = list(dict.fromkeys(sample(2, 20_000, kind)))
        counts = [0] * partitions
        for state in states:
            counts[kernels.owner(state, partitions)] += 1
        mean = len(states) / partitions
        # Chi-squared with 63 degrees of freedom: 130 is exceeded once in a million by chance.
        assert sum((count - mean) ** 2 / mean for count in counts) < 130


def test_grows_only_with_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_FIRST_BUCKETS", 64)
    store = store_kernels(1).store(CAPACITY)
    asked: list[int] = []

    def refuse(size: int) -> bool:
        asked.append(size)
        return False

    states = [(number,) for number in range(10_000)]
    assert not store.add(PackedRows(states), refuse)
    assert len(asked) == 1
    assert asked[0] >= 32 * BUCKET_BYTES
    held = len(store)
    assert 0 < held <= 64 * 8
    assert content(store) == states[:held]
    assert insert(store, states)
    assert content(store) == states
    store.close()


def test_permission_is_asked_for_the_bytes_by_which_the_table_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_FIRST_BUCKETS", 64)
    store = store_kernels(1).store(CAPACITY)
    before, asked = store.table_bytes, list[int]()

    def allow(size: int) -> bool:
        asked.append(size)
        return True

    assert store.add(PackedRows([(number,) for number in range(10_000)]), allow)
    assert len(asked) > 2
    assert sum(asked) == store.table_bytes - before
    store.close()


def test_nothing_is_written_beyond_the_spare_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of one bucket takes what it and the spare ones have slots for, and then has to grow."""
    monkeypatch.setattr(store_module, "_LARGEST_LOAD", 1000.0)
    table = Block(1 << 20)
    store = store_kernels(1).store_on(Block(1 << 20), table, buckets=1)
    states = [(number * number,) for number in range(1000)]
    assert not store.add(PackedRows(states), lambda _: False)
    slots = (1 + SPARE_BUCKETS) * BUCKET_SLOTS
    assert content(store) == states[:slots]
    end = (1 + SPARE_BUCKETS) * BUCKET_BYTES
    assert 0 not in ctypes.cast(table.address, ctypes.POINTER(ctypes.c_uint64))[:slots]
    assert not any(table.read(end, table.size - end))
    assert not store.add(PackedRows(states), lambda _: False), "those that are there are found, and no more fit in"
    assert content(store) == states[:slots]
    assert insert(store, states)
    assert content(store) == states
    store.close()


def test_where_states_or_table_have_no_room_left_nobody_is_asked_for_more() -> None:
    states, asked = PackedRows([(number,) for number in range(10_000)]), list[int]()

    def allow(size: int) -> bool:
        asked.append(size)
        return True

    def first_of(size: int) -> Any:
        block = Block(1 << 20)
        return SimpleNamespace(address=block.address, size=size, read=block.read, close=block.close)

    room = store_kernels(1).store_on(first_of(4096), Block(1 << 20), buckets=1 << 10)
    assert (room.add(states, allow), len(room), asked) == (False, 4096 // 8, [])
    room.close()
    full = store_kernels(1).store_on(Block(1 << 20), first_of((64 + SPARE_BUCKETS) * BUCKET_BYTES), buckets=64)
    assert (full.add(states, allow), asked) == (False, [])
    assert 0 < len(full) <= 64 * BUCKET_SLOTS
    full.close()


@pytest.mark.parametrize(("partitions", "many"), [(1, False), (15, False), (16, False), (17, True), (64, True)])
def test_of_many_partitions_each_begins_small(partitions: int, many: bool) -> None:
    store = store_kernels(1).store(CAPACITY, partitions)
    assert store.buckets == (store_module._FIRST_BUCKETS_OF_MANY if many else store_module._FIRST_BUCKETS)
    store.close()


def test_slots_that_have_to_wait_need_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """When a table grows from 8 to 16 buckets, those slots wait whose new home is not beyond the bucket they are in."""
    states = [(number * number,) for number in range(52)]  # one more than the table may hold

    def widened(room: int) -> Store:
        monkeypatch.setattr(store_module, "_WAITING", room)
        store = store_kernels(1).store_on(Block(1 << 20), Block(1 << 20), buckets=8)
        assert insert(store, states)
        return store

    table = Block(1 << 20)
    assert not store_kernels(1).store_on(Block(1 << 20), table, buckets=8).add(PackedRows(states), lambda _: False)
    slots = ctypes.cast(table.address, ctypes.POINTER(ctypes.c_uint64))[: (8 + SPARE_BUCKETS) * BUCKET_SLOTS]
    waiting = [n for n, slot in enumerate(slots) if slot and (slot >> 32) * 16 >> 32 <= n // BUCKET_SLOTS]
    assert waiting
    assert content(widened(len(waiting))) == states
    with pytest.raises(InternalError, match="could not be widened to 16"):
        widened(len(waiting) - 1)


@pytest.mark.slow
def test_refuses_states_beyond_its_address_space() -> None:
    store = store_kernels(1).store(1)  # rounded up to a huge page: 262,144 states of one word
    states = [(number,) for number in range(300_000)]
    assert not insert(store, states)
    assert len(store) == 262_144
    assert content(store)[-1] == (262_143,)
    store.close()


def test_a_part_of_the_states_can_be_read() -> None:
    store = store_kernels(1).store(CAPACITY)
    assert insert(store, [(3,), (5,), (7,), (9,)])
    assert store.read(1, 3) == b"".join(word.to_bytes(8, "little") for word in (5, 7))
    store.close()


def test_finds_a_state_in_a_row_of_states() -> None:
    kernels = store_kernels(3)
    states = [(number, 5, number * 7) for number in range(100)]
    memory = PackedRows(states)
    assert kernels.find(memory.address, 100, PackedRows([states[42]])) == 42
    assert kernels.find(memory.address, 42, PackedRows([states[42]])) is None
    assert kernels.find(memory.address, 100, PackedRows([(42, 5, 42)])) is None

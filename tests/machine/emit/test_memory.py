"""States of several words are compared, hashed and kept as tuples of their words are."""

from __future__ import annotations

import ctypes
from itertools import product

import pytest

from insync.machine.compiler import Library, object_code
from insync.machine.emit.builder import I64, PTR, Module
from insync.machine.emit.memory import keep_least_function, owner_of, read_row, row_hash, rows_equal, rows_less

EDGES = (0, 1, 2**63, 2**64 - 1)


class Rows:
    """What is done with rows of so many words."""

    def __init__(self, words: int) -> None:
        self.words = words
        # All rows of the edges; of many words, of two of them.
        self.all = list(product(EDGES if words < 3 else EDGES[1:3], repeat=words))
        m = Module()
        keep = keep_least_function(m, words)
        for name in ("less", "same", "hashed", "owner", "keep"):
            b = m.function(name, I64, (PTR, PTR), exported=True)
            if name == "keep":
                b.call(keep, *b.arguments)
                b.give(b.typed(I64, 0))
                continue
            one, other = (read_row(b, address, words) for address in b.arguments)
            if name in ("less", "same"):
                b.give(b.select(rows_less(one, other) if name == "less" else rows_equal(one, other), 1, 0))
            else:
                hashed = row_hash(b, one)
                b.give(hashed if name == "hashed" else owner_of(hashed, b.typed(I64, 3)))
        self._library = Library(object_code(m.text))

    def memory(self, row: tuple[int, ...]) -> ctypes.Array[ctypes.c_uint64]:
        return (ctypes.c_uint64 * len(row))(*row)

    def of(self, name: str, *rows: ctypes.Array[ctypes.c_uint64]) -> int:
        return int(self._library.function(name, 2)(*map(ctypes.addressof, rows))) % 2**64


@pytest.fixture(scope="module", params=[1, 2, 3, 4])
def rows(request: pytest.FixtureRequest) -> Rows:
    return Rows(request.param)


def test_rows_are_in_the_order_of_tuples(rows: Rows) -> None:
    for one, other in product(rows.all, repeat=2):
        both = rows.memory(one), rows.memory(other)
        assert (rows.of("less", *both), rows.of("same", *both)) == (one < other, one == other), (one, other)


def test_every_word_counts_in_the_hash_and_so_does_its_place(rows: Rows) -> None:
    many = [rows.memory(row) for row in rows.all]
    hashes = [rows.of("hashed", row, row) for row in many]
    assert len(set(hashes)) == len(many)
    assert [rows.of("owner", row, row) for row in many] == [(found >> 32) * 3 >> 32 for found in hashes]


def test_the_least_of_the_states_is_kept_and_all_are_counted(rows: Rows) -> None:
    record, seen = rows.memory((0,) * (rows.words + 1)), list[tuple[int, ...]]()
    for row in rows.all[1::2][::-1] + rows.all:
        rows.of("keep", record, rows.memory(row))
        seen.append(row)
        assert tuple(record) == (len(seen), *min(seen))

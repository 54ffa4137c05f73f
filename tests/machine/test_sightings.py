"""Sightings are an exact set: every abstract state once, with the first walk that saw it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.machine.emit.hash_table import sightings_module
from insync.machine.kernels import Kernels, Part, Text, Texts, load, words_key
from insync.machine.packed import Sizes
from insync.machine.walker import Sightings
from insync.runtime.errors import UserError
from insync.runtime.memory import Block

WALKS = 40


@cache
def kernels(words: int) -> Kernels:
    text = Text(Part.SIGHT, words_key("sight", words), lambda: sightings_module(words))
    return load(Texts(Sizes(1, abstract_words=words), (text,)))


def entries_of(seen: Sequence[tuple[tuple[int, ...], int]]) -> bytes:
    return array("Q", [word for row, walk in seen for word in (*row, walk)]).tobytes()


def read(sightings: Sightings, words: int) -> dict[tuple[int, ...], int]:
    numbers = array("Q", sightings.entries)
    rows = [tuple(numbers[at : at + words + 1]) for at in range(0, len(numbers), words + 1)]
    assert len(rows) == len({row[:-1] for row in rows}) == len(sightings)
    return {row[:-1]: row[-1] for row in rows}


@given(st.integers(1, 3), st.integers(0, 2**64 - 1 - WALKS), st.data())
def test_what_is_absorbed_is_there_once_with_its_first_walk(words: int, first: int, data: st.DataObject) -> None:
    word = st.integers(0, 3) | st.sampled_from([2**40, 2**63, 2**64 - 1])
    seen = data.draw(st.lists(st.tuples(st.tuples(*[word] * words), st.integers(0, WALKS - 1))))
    sightings, known = Sightings.of(kernels(words)), dict[tuple[int, ...], int]()
    cut = data.draw(st.integers(0, len(seen)))
    for part in (seen[:cut], seen[cut:]):
        new = [0] * WALKS
        for row, walk in part:
            new[walk] += row not in known
            known[row] = min(walk, known.get(row, WALKS))
        given = entries_of([(row, first + walk) for row, walk in part])
        assert list(sightings.absorb(given, first, WALKS)) == new
    assert read(sightings, words) == {row: first + walk for row, walk in known.items()}
    sightings.clear()
    assert (len(sightings), sightings.entries) == (0, b"")
    assert sum(sightings.absorb(entries_of([(row, first) for row in known]), first, 1)) == len(known)
    sightings.close()


@pytest.mark.parametrize("stride", [1, 1 << 20, 0x9E3779B97F4A7C15])
def test_they_grow_with_what_is_seen(stride: int) -> None:
    sightings = Sightings.of(kernels(1))
    for first in range(0, 60_000, 10_000):
        rows = [((number * stride % 2**64,), number) for number in range(first // 2, first + 10_000)]
        new = sightings.absorb(entries_of(rows), 0, 60_000)
        assert (sum(new), len(sightings)) == (10_000, first + 10_000)
        assert not any(new[:first])
    assert read(sightings, 1) == {(number * stride % 2**64,): number for number in range(60_000)}
    sightings.close()


def test_more_than_the_machine_has_memory_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.machine.walker.physical_memory", lambda: 16 * 5000)
    sightings = Sightings.of(kernels(1))
    with pytest.raises(UserError, match="There is memory for 5000 abstract states, and the walks see more; take fewer"):
        sightings.make_room(5001)
    sightings.close()


@pytest.mark.parametrize("given", [1 << 20, 1 << 10])
def test_what_the_system_gives_is_enough_where_it_gives_less(monkeypatch: pytest.MonkeyPatch, given: int) -> None:
    def block(size: int, huge: bool = True) -> Block:
        if size > 16 * given:
            message = "The system refuses."
            raise UserError(message)
        return Block(size, huge)

    monkeypatch.setattr("insync.machine.walker.physical_memory", lambda: 1 << 40)
    monkeypatch.setattr("insync.machine.walker.Block", block)
    if given < 1 << 16:
        with pytest.raises(UserError, match="The system refuses"):
            Sightings.of(kernels(1))
        return
    sightings = Sightings.of(kernels(1))
    sightings.make_room(given // 2)
    with pytest.raises(UserError, match=f"There is memory for {given} abstract states"):
        sightings.make_room(given + 1)
    sightings.close()

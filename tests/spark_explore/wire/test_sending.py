"""Candidates that are gathered as codes and sent are the candidates that were there, each once in a packet."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insync.machine.packed import PackedRows, Words
from insync.machine.store_kernels import code_kernels, order_kernels
from insync.machine.stores import collapse as codec_module
from insync.machine.stores.compressed import CodeKernels
from insync.machine.stores.sorted_rows import RowBuffer, RowScratch
from insync.model.catalogue import find_model
from insync.model.domains.layout import Schema
from insync.runtime.errors import InternalError

pytest.importorskip("pyarrow")

from insync.spark_explore.wire import packets
from insync.spark_explore.wire.packets import (
    CodeMemory,
    GatheredCodes,
    Kind,
    Packet,
    PacketReader,
    PacketWriter,
    Row,
    WholeStates,
    rows_of,
    to_batch,
)

SCHEMA = find_model("kip320")(replicas=3, log_size=3, max_records=3, max_leader_epoch=2).program.schema
KERNELS = code_kernels(SCHEMA)


@dataclass
class Candidates:
    """What `GatheredCodes` asks an expander for."""

    rows: Sequence[PackedRows]

    @property
    def partitions(self) -> int:
        return len(self.rows)

    def candidates(self, partition: int) -> tuple[int, int]:
        return self.rows[partition].address, self.rows[partition].count


def some_states(schema: Schema, count: int, variety: int, seed: int) -> list[Words]:
    """States of which each cell has so many values at most."""
    chance = random.Random(seed)
    values = [[chance.randrange(cell.size) for _ in range(variety)] for cell in schema.cells]
    return [schema.pack([chance.choice(each) for each in values]) for _ in range(count)]


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[CodeKernels, int, int], CodeMemory]]:
    made: list[CodeMemory] = []

    def make(kernels: CodeKernels, partitions: int, capacity: int) -> CodeMemory:
        monkeypatch.setattr(packets, "_MOST_GATHERED", capacity)
        made.append(CodeMemory(kernels, partitions))
        return made[-1]

    yield make
    for each in made:
        each.close()


def sent(packets: Iterator[Packet]) -> list[Row]:
    """The packets as they come out of the shuffle."""
    return [
        row
        for partition, kind, count, block in packets
        for row in rows_of(to_batch([(partition, kind, 5, count, block)]))
    ]


def states_of(memory: CodeMemory, row: Row, words: int) -> list[Words]:
    pieces = memory.reader.states(row.address, row.count) if row.kind is Kind.CODES else [(row.address, row.count)]
    return [state for address, count in pieces for state in _read(address, count, words)]


def _read(address: int, count: int, words: int) -> list[Words]:
    import ctypes

    content = memoryview(ctypes.string_at(address, 8 * words * count)).cast("Q").tolist()
    return [tuple(content[at : at + words]) for at in range(0, len(content), words)]


@pytest.mark.parametrize(("capacity", "variety"), [(16, 3), (300, 3), (5_000, 2), (5_000, 6)])
def test_every_candidate_arrives_and_none_that_was_not_there(
    memory: Callable[[CodeKernels, int, int], CodeMemory], capacity: int, variety: int
) -> None:
    place = memory(KERNELS, 3, capacity)
    gathered, rows = GatheredCodes(KERNELS, place), []
    given: list[set[Words]] = [set(), set(), set()]
    for turn in range(4):
        shares = [some_states(SCHEMA, count, variety, seed=turn) for count in (900, 40, 0)]
        shares = [[*share, *share[:30]] for share in shares]
        for known, share in zip(given, shares, strict=True):
            known.update(share)
        rows += sent(gathered.take(Candidates([PackedRows(share) for share in shares])))  # type: ignore[arg-type]
    rows += sent(gathered.rest())
    assert {row.kind for row in rows} == {Kind.CODES}
    for partition, expected in enumerate(given):
        packets = [states_of(place, row, SCHEMA.words) for row in rows if row.partition == partition]
        assert all(len(set(packet)) == len(packet) <= capacity for packet in packets)
        assert {state for packet in packets for state in packet} == expected


def test_what_has_no_codes_is_sent_as_it_is(
    memory: Callable[[CodeKernels, int, int], CodeMemory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec_module, "_LITTLE", 20_000)  # so that dictionaries soon take more than they save
    monkeypatch.setattr(codec_module, "_DICTIONARY_BYTES", 0)
    place = memory(KERNELS, 1, 5_000)
    gathered, states = GatheredCodes(KERNELS, place), some_states(SCHEMA, 2_000, 30, seed=1)
    rows = sent(gathered.take(Candidates([PackedRows(states)])))  # type: ignore[arg-type]
    rows += sent(gathered.take(Candidates([PackedRows(states[:7])])))  # type: ignore[arg-type]
    rows += sent(gathered.rest())
    assert {row.kind for row in rows} == {Kind.CODES, Kind.PACKET}
    assert {state for row in rows for state in states_of(place, row, SCHEMA.words)} == set(states)


def test_whole_states_are_sent_as_they_lie(memory: Callable[[CodeKernels, int, int], CodeMemory]) -> None:
    states = some_states(SCHEMA, 50, 4, seed=2)
    whole = WholeStates(8 * SCHEMA.words)
    rows = sent(whole.take(Candidates([PackedRows([]), PackedRows(states)])))  # type: ignore[arg-type]
    assert [(row.partition, row.kind, row.count) for row in rows] == [(1, Kind.PACKET, 50)]
    assert states_of(memory(KERNELS, 1, 16), rows[0], SCHEMA.words) == states
    assert list(whole.rest()) == []


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 400), st.integers(1, 8), st.integers(0, 2**16))
def test_a_block_needs_no_other_to_be_read(count: int, variety: int, seed: int) -> None:
    place = CodeMemory(KERNELS, 1)
    try:
        states = some_states(SCHEMA, count, variety, seed)
        gathered = GatheredCodes(KERNELS, place)
        list(gathered.take(Candidates([PackedRows(states)])))  # type: ignore[arg-type]
        (row,) = sent(gathered.rest())
        assert sorted(states_of(place, row, SCHEMA.words)) == sorted(set(states))
    finally:
        place.close()


def test_a_block_of_another_model_is_our_mistake() -> None:
    other = code_kernels(find_model("cluster")().program.schema)
    order = order_kernels(1)
    writer, reader = PacketWriter(order, other, 8), PacketReader(KERNELS, 8)
    codes = RowBuffer(order, 8, RowScratch(8, 8))
    codec = other.codec()
    block = writer.block(codec, codes)
    with pytest.raises(InternalError, match="A packet has codes of"):
        next(reader.states(block.address, 0))
    for part in (writer, reader, codes, codec):
        part.close()

"""The states of a partition lie in few sorted files, whatever the number and the sizes of its levels."""

from __future__ import annotations

import ctypes
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from insync.machine.packed import PackedRows, Words
from insync.machine.store_kernels import order_kernels
from insync.machine.stores.external_sort import KnownRows, RowReader, UnnamedRows, merged_rows
from insync.machine.stores.known_files import KnownFiles, Merging, most_files
from insync.machine.stores.row_encoding import StateRows
from insync.machine.stores.sorted_rows import BLOCK, RowBuffer, RowScratch

KERNELS, FORM = order_kernels(2), StateRows(2)


@pytest.mark.parametrize(("level", "most"), [(1, 2), (2, 3), (3, 3), (4, 4), (37, 7), (64, 8), (1000, 11)])
def test_the_most_files_are_two_beyond_the_logarithm(level: int, most: int) -> None:
    assert most_files(level) == most


@dataclass(frozen=True)
class Stored:
    """Rows in a file, as those of some levels."""

    first: int
    last: int
    file: UnnamedRows

    @property
    def count(self) -> int:
        return self.file.rows.file.count


class Partition:
    """The files of a partition whose levels come one after the other."""

    def __init__(self, folder: Path, block: int) -> None:
        self.folder, self.block, self.files, self.copied = folder, block, list[Stored](), 0

    def known(self) -> KnownFiles[Stored]:
        known = KnownFiles(self.files, lambda file: file.file.rows, self.merge, FORM, RowReader(FORM, KERNELS, 2))
        known.open()
        return known

    def merge(self, one: Stored, other: Stored) -> Merging[Stored]:
        assert one.last + 1 == other.first
        merged, readers = UnnamedRows(self.folder, KERNELS, FORM, self.block), (a_reader(), a_reader())
        with merged.removed_on_error():
            for rows, count in merged_rows((one.file.rows, other.file.rows), KERNELS, FORM, readers):
                merged.append(rows, count)
                self.copied += count
                yield rows, count
            merged.finish()
        one.file.close()
        other.file.close()
        return Stored(one.first, other.last, merged)

    def add(self, rows: list[Words]) -> None:
        level = len(self.files) and self.files[-1].last
        self.files.append(Stored(level + 1, level + 1, written(self.folder, rows, self.block)))

    def close(self) -> None:
        for file in self.files:
            file.file.close()


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    counts=st.lists(st.integers(0, 60), min_size=1, max_size=25),
    block=st.integers(1, 20),
    parts=st.integers(1, 4),
)
def test_what_no_level_has_is_found_in_few_files(seed: int, counts: list[int], block: int, parts: int) -> None:
    """The candidates of a level come in some buffers, one after the other, as where they do not fit into memory."""
    drawn, seen = random.Random(seed), list[list[Words]]()
    with tempfile.TemporaryDirectory() as folder:
        partition = Partition(Path(folder), block)
        for level, count in enumerate(counts, 1):
            given_rows = sorted({(drawn.randrange(3), drawn.randrange(400)) for _ in range(2 * count)})
            known, fresh, size = partition.known(), list[Words](), len(given_rows) // parts + 1
            assert len(known.files) <= most_files(max(1, level - 1)) + 1
            for at in range(0, max(1, len(given_rows)), size):
                fresh += struck(known, given_rows[at : at + size])
            partition.files = known.finish()
            before = {row for rows in seen for row in rows}
            assert fresh == [row for row in given_rows if row not in before]
            partition.add(fresh)
            seen.append(fresh)
            files = partition.files
            assert len(files) <= most_files(level)
            assert [number for file in files for number in range(file.first, file.last + 1)] == [*range(1, level + 1)]
            assert [file.count for file in files] == [sum(map(len, seen[each.first - 1 : each.last])) for each in files]
        event(f"merged: {partition.copied > 0}")
        partition.close()


def test_merging_that_is_abandoned_leaves_the_files(tmp_path: Path) -> None:
    partition = Partition(tmp_path, 10)
    for level in range(4):
        partition.add([(level, number) for number in range(100)])
    before, known = list(partition.files), partition.known()
    assert struck(known, [(0, 5)]) == []
    known.close()
    assert known.files == before
    known = partition.known()
    assert struck(known, [(9, 9)]) == [(9, 9)]
    known.close()
    assert [file.count for file in known.files] == [200, 100, 100], "it was complete when merging was abandoned"
    partition.files = known.files
    partition.close()


def test_what_was_merged_before_an_error_is_kept(tmp_path: Path) -> None:
    """As on a disk that becomes full after a run was resumed, whose levels are all files by themselves."""
    partition = Partition(tmp_path, 10)
    for level in range(9):
        partition.add([(level, number) for number in range(100)])

    def merge(one: Stored, other: Stored) -> Merging[Stored]:
        if partition.copied:
            raise OSError
        return partition.merge(one, other)

    known = KnownFiles(partition.files, lambda file: file.file.rows, merge, FORM, a_reader())
    with pytest.raises(OSError):  # noqa: PT011
        known.open()
    assert [file.count for file in known.files] == [200, *[100] * 7]
    partition.files = known.files
    partition.close()


def struck(known: KnownFiles[Stored], rows: Sequence[Words]) -> list[Words]:
    buffer = RowBuffer(KERNELS, 200, RowScratch(16, 200))
    packed = PackedRows(rows)
    buffer.extend(packed.address, packed.count)
    buffer.sort()
    known.strike(buffer)
    words = (ctypes.c_uint64 * (2 * buffer.count)).from_address(buffer.address)
    found: list[Words] = list(zip(words[::2], words[1::2], strict=True))
    buffer.close()
    return found


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), counts=st.tuples(st.integers(0, 900), st.integers(0, 900)), block=st.integers(1, 90))
def test_merged_files_have_the_rows_of_both(seed: int, counts: tuple[int, int], block: int) -> None:
    drawn = random.Random(seed)
    rows = sorted({(drawn.randrange(3), drawn.randrange(1 << 40)) for _ in range(sum(counts))})
    mixed = drawn.random() < 0.7
    event(f"mixed: {mixed}")
    ours = [row for at, row in enumerate(rows) if (drawn.random() < 0.5 if mixed else at < counts[0])]
    with tempfile.TemporaryDirectory() as folder:
        files = [written(Path(folder), some, block) for some in (ours, sorted(set(rows) - set(ours)))]
        assert found(files[0], files[1]) == rows
        for file in files:
            file.close()


def test_runs_of_merged_rows_are_whole_blocks(tmp_path: Path) -> None:
    files = [written(tmp_path, [(0, 2 * number + odd) for number in range(BLOCK + 7)], BLOCK) for odd in range(2)]
    sizes = [count for _, count in merged(files[0].rows, files[1].rows)]
    assert sizes[-1] == 14
    assert sum(sizes) == 2 * BLOCK + 14
    assert all(size % BLOCK == 0 for size in sizes[:-1])
    for file in files:
        file.close()


def written(folder: Path, rows: Sequence[Words], block: int) -> UnnamedRows:
    made, packed = UnnamedRows(folder, KERNELS, FORM, block), PackedRows(rows or [(0, 0)])
    made.append(packed.address, len(rows))
    made.finish()
    return made


def a_reader() -> RowReader:
    return RowReader(FORM, KERNELS, 2)


def merged(one: KnownRows, other: KnownRows) -> list[tuple[int, int]]:
    return list(merged_rows((one, other), KERNELS, FORM, (a_reader(), a_reader())))


def found(one: UnnamedRows, other: UnnamedRows) -> list[Words]:
    rows = list[Words]()
    for address, count in merged_rows((one.rows, other.rows), KERNELS, FORM, (a_reader(), a_reader())):
        words = (ctypes.c_uint64 * (2 * count)).from_address(address)
        rows += zip(words[::2], words[1::2], strict=True)
    return rows

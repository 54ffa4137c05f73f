"""Sorted files, and what came in more rows than a buffer holds, compared with Python's sets."""

from __future__ import annotations

import ctypes
import errno
import os
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from insync.machine.packed import PackedRows, Words
from insync.machine.store_kernels import order_kernels
from insync.machine.stores import external_sort as spills_module
from insync.machine.stores.external_sort import ExternalSort, KnownRows, RowReader, strike_known
from insync.machine.stores.row_encoding import StateRows
from insync.machine.stores.sorted_file import SortedFile, SortedWriter, Unpacker
from insync.machine.stores.sorted_rows import RowBuffer, RowScratch
from insync.machine.stores.whole_files import flush_folder, new_file, write_all
from insync.runtime.checksums import Damaged

WORDS = 2
KERNELS = order_kernels(WORDS)
FORM = StateRows(WORDS)
LABEL: dict[str, int | str] = {"kind": "test", "run": "a", "level": 3, "partition": 1}


def write(path: Path, rows: Sequence[Words], block: int, values: Sequence[bytes] = ()) -> SortedFile:
    with path.open("wb", buffering=0) as file:
        writer = SortedWriter(file.write, KERNELS, block)
        given_rows = PackedRows(rows)
        half = len(rows) // 2
        writer.append(given_rows.address, half)
        writer.append(given_rows.address + 8 * WORDS * half, len(rows) - half)
        covering = writer.finish(LABEL, {"what": "a test"}, values)
    written = SortedFile(path, WORDS, LABEL)
    assert written.digest == covering
    return written


def read(file: SortedFile) -> list[Words]:
    unpacker, found = Unpacker(KERNELS), list[Words]()
    with file.opened() as opened:
        for number in range(file.blocks):
            found += at(unpacker.rows, unpacker.read(file, opened, number))
    return found


def at(address: int, count: int) -> list[Words]:
    flat = (ctypes.c_uint64 * (WORDS * count)).from_address(address)
    return [tuple(flat[place : place + WORDS]) for place in range(0, WORDS * count, WORDS)]


def some_rows(seed: int, count: int) -> list[Words]:
    """Rows in clusters, with far more in one of them."""
    drawn = random.Random(seed)
    centres = [(drawn.randrange(4), drawn.randrange(1 << 64)) for _ in range(3)]
    made = list[Words]()
    for _ in range(count):
        high, low = centres[drawn.choice([0, 0, 0, 1, 2])]
        made.append((high, (low + drawn.randrange(3 * count)) % (1 << 64)))
    return made


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_a_file_gives_back_what_was_written(block: int, tmp_path: Path) -> None:
    rows = sorted(set(some_rows(block, 300)))
    file = write(tmp_path / "file", rows, block, [b"", bytes(range(16))])
    assert read(file) == rows
    assert (file.count, file.said["what"], file.values) == (len(rows), "a test", [b"", bytes(range(16))])
    assert file.size == (tmp_path / "file").stat().st_size
    assert read(write(tmp_path / "none", [], block)) == []


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 5), where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7), cut=st.booleans())
def test_whichever_byte_is_changed_and_wherever_it_is_cut_it_is_noticed(
    seed: int, where: float, bit: int, cut: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        write(path, sorted(set(some_rows(seed, 120))), 50, [bytes(24)])
        content = bytearray(path.read_bytes())
        place = int(where * len(content))
        event("block" if place < len(content) - 400 else "index")
        if cut:
            content = content[:place]
        else:
            content[place] ^= 1 << bit
        path.write_bytes(content)
        with pytest.raises(Damaged):
            SortedFile(path, WORDS, LABEL).verify(lambda: True)


@pytest.mark.parametrize("other", [{"run": "b"}, {"level": 4}, {"partition": 0}, {"kind": "manifest"}, {"more": 1}])
def test_another_file_is_refused_when_it_is_opened(other: dict[str, int | str], tmp_path: Path) -> None:
    write(tmp_path / "file", sorted(set(some_rows(1, 30))), 10)
    with pytest.raises(Damaged):
        SortedFile(tmp_path / "file", WORDS, {**LABEL, **other})


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(Damaged):
            SortedFile(tmp_path / name, WORDS, LABEL)


def test_a_file_is_written_anew_and_not_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"mine")
    (tmp_path / "file").symlink_to(tmp_path / "other")
    with new_file(tmp_path / "file") as descriptor:
        write_all(descriptor, b"new")
    assert [(tmp_path / name).read_bytes() for name in ("other", "file")] == [b"mine", b"new"]


@pytest.mark.parametrize(("code", "is_told"), [(errno.EINVAL, False), (errno.EACCES, False), (errno.EIO, True)])
def test_a_folder_that_cannot_be_flushed_is_left_and_a_disk_that_fails_is_not(
    code: int, is_told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match=os.strerror(code)) if is_told else nullcontext():
        flush_folder(tmp_path)


@contextmanager
def given_sort(capacity: int) -> Iterator[tuple[ExternalSort, RowBuffer]]:
    with tempfile.TemporaryDirectory() as folder:
        buffer = RowBuffer(KERNELS, capacity, RowScratch(8 * WORDS, capacity))
        sort = ExternalSort(buffer, Path(folder), KERNELS, FORM, RowReader(FORM, KERNELS, WORDS))
        yield sort, buffer
        sort.clear()
        buffer.close()


def come(sort: ExternalSort, rows: Sequence[Words], piece: int) -> None:
    for start in range(0, len(rows), piece):
        some = PackedRows(rows[start : start + piece])
        sort.insert(some.address, some.count)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), count=st.integers(0, 1500), capacity=st.integers(64, 400), most=st.integers(2, 32))
def test_ranges_are_all_rows_in_order_each_once(seed: int, count: int, capacity: int, most: int) -> None:
    rows = some_rows(seed, count)
    with pytest.MonkeyPatch.context() as patch, given_sort(capacity) as (sort, buffer):
        patch.setattr(spills_module, "_MOST_FILES", most)
        come(sort, rows, most * 7)
        event(f"joined: {count > capacity * most}")
        found = [at(buffer.address, buffer.count) for _ in sort.ranges()]
        event(f"ranges: {min(3, len(found))}")
    assert [row for some in found for row in some] == sorted(set(rows))


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000), counts=st.lists(st.integers(0, 400), min_size=1, max_size=5), block=st.integers(1, 90)
)
def test_levels_of_sorted_files_are_those_of_a_set(seed: int, counts: list[int], block: int) -> None:
    """Rows come level by level, many of them known from any level before."""
    known, seen = list[KnownRows](), set[Words]()
    drawn, reader = random.Random(seed), RowReader(FORM, KERNELS, WORDS)
    with tempfile.TemporaryDirectory() as folder, given_sort(100) as (sort, buffer):
        for level, count in enumerate(counts):
            rows = some_rows(seed + level, count) + drawn.sample(sorted(seen), len(seen) // 2)
            come(sort, rows, 64)
            fresh = list[Words]()
            for _ in sort.ranges():
                buffer.begin_striking()
                for earlier in known:
                    strike_known(buffer, earlier, FORM, reader)
                buffer.drop_struck()
                fresh += at(buffer.address, buffer.count)
            sort.clear()
            assert fresh == sorted(set(rows) - seen)
            seen.update(fresh)
            known.append(KnownRows.of(write(Path(folder) / str(level), fresh, block)))

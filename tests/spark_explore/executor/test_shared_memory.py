"""Memory that is mapped by its path is the memory that was meant, or it is said to be gone."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from insync.runtime.memory import HUGE_PAGE
from insync.spark_explore.executor.shared_memory import Gone, SharedBlock, can_be_anonymous, give_back


@pytest.fixture(params=["file", "anonymous"])
def block(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SharedBlock]:
    if request.param == "anonymous" and not can_be_anonymous():
        pytest.skip("no anonymous shared memory here")
    made = SharedBlock.create(HUGE_PAGE + 1, tmp_path / "block" if request.param == "file" else None)
    yield made
    made.close()


def test_what_one_writes_the_other_reads(block: SharedBlock) -> None:
    assert block.size == 2 * HUGE_PAGE
    other = SharedBlock.attach(block.path, block.inode, block.size)
    ctypes.memmove(block.address + HUGE_PAGE, b"state", 5)
    assert other.read(HUGE_PAGE - 1, 7) == b"\0state\0"
    assert (other.inode, other.size) == (block.inode, block.size)
    other.close()
    again = SharedBlock.attach(block.path, block.inode, block.size)
    assert again.read(HUGE_PAGE, 5) == b"state"
    again.close()


@pytest.mark.parametrize(("inode", "size"), [(1, 0), (0, HUGE_PAGE), (0, -HUGE_PAGE), (1, HUGE_PAGE)])
def test_other_memory_at_its_path_or_of_another_size_is_not_it(block: SharedBlock, inode: int, size: int) -> None:
    with pytest.raises(Gone):
        SharedBlock.attach(block.path, block.inode + inode, block.size + size)


def test_what_was_given_back_is_gone_and_other_memory_is_not_given_back(block: SharedBlock) -> None:
    give_back(block.path, block.inode + 1)
    SharedBlock.attach(block.path, block.inode, block.size).close()
    give_back(block.path, block.inode)
    with pytest.raises(Gone):
        SharedBlock.attach(block.path, block.inode, block.size)
    give_back(f"{block.path}-of-nobody", block.inode)  # there is nothing to give back
    block.close()
    with pytest.raises(Gone):
        SharedBlock.attach(f"{block.path}-of-nobody", 0, 0)


def test_closing_it_twice_is_closing_it_once(block: SharedBlock) -> None:
    block.close()
    block.close()


def test_memory_without_a_file_is_named_by_the_process_that_has_it(block: SharedBlock, tmp_path: Path) -> None:
    other = SharedBlock.attach(block.path, block.inode, block.size)
    anonymous = block.path.startswith("/proc/")
    assert (other.path == block.path) == (not anonymous), "another descriptor of this process"
    assert Path(other.path).stat().st_ino == block.inode
    other.close()


def test_memory_can_be_anonymous_where_the_system_makes_it_and_others_can_open_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "memfd_create", lambda *given: 0, raising=False)
    monkeypatch.setattr(Path, "is_dir", lambda path: str(path) == "/proc/self/fd")
    assert can_be_anonymous()
    monkeypatch.setattr(Path, "is_dir", lambda path: False)
    assert not can_be_anonymous()
    monkeypatch.setattr(Path, "is_dir", lambda path: True)
    monkeypatch.delattr(os, "memfd_create")
    assert not can_be_anonymous()

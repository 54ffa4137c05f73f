"""Memory outside Python's heap, and what the system says of it; its files are played here."""

from __future__ import annotations

import builtins
import ctypes
import io
import mmap
import os
import resource
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from insync.runtime import memory
from insync.runtime.errors import UserError
from insync.runtime.memory import HUGE_PAGE, Block, HugePages

FILES = {
    "/proc/self/statm": b"1000 70 30 1 0 60 0\n",
    "/proc/self/status": b"Name:\tx\nVmHWM:\t  2048 kB\nVmRSS:\t 1024 kB\n",
    "/proc/meminfo": b"MemTotal:  9000 kB\nMemAvailable:    500 kB\n",
}
RESIDENT = 70 * mmap.PAGESIZE


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The files of a system with 1000 pages, which a test may change or take away."""
    files = dict(FILES)
    real = builtins.open

    def opened(name: Any, *mode: Any, **more: Any) -> Any:
        if not str(name).startswith(("/proc/", "/sys/")):
            return real(name, *mode, **more)
        if str(name) not in files:
            raise FileNotFoundError(name)
        return io.BytesIO(files[str(name)])

    monkeypatch.setattr(builtins, "open", opened)
    monkeypatch.setattr(Path, "read_text", lambda path: opened(path).read().decode())
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}.__getitem__)
    monkeypatch.setattr(resource, "getrusage", lambda _: SimpleNamespace(ru_maxrss=3000))
    return files


@pytest.mark.parametrize(("size", "pages"), [(0, 1), (1, 1), (HUGE_PAGE, 1), (HUGE_PAGE + 1, 2), (2 * HUGE_PAGE, 2)])
def test_a_block_is_whole_pages_of_zeros(size: int, pages: int) -> None:
    block = Block(size, huge=False)
    assert (block.size, block.address % mmap.PAGESIZE) == (pages * HUGE_PAGE, 0)
    assert block.read(0, 16) == bytes(16)
    assert block.read(block.size - 16, 16) == bytes(16)
    ctypes.memmove(block.address + 5, b"abc", 3)
    assert block.read(4, 5) == b"\0abc\0"
    assert not block.huge
    block.close()


SMAPS = b"""7f00-7f01 rw-p 00000000 00:00 0
Anonymous:          9000 kB
AnonHugePages:      4096 kB
VmFlags: rd wr mr mw me ac hg
7f02-7f03 rw-p 00000000 00:00 0
Anonymous:         90000 kB
AnonHugePages:     40960 kB
VmFlags: rd wr mr mw me ac
7f04-7f05 rw-p 00000000 00:00 0
Anonymous:          5000 kB
AnonHugePages:         0 kB
VmFlags: rd wr hg
"""


def test_huge_pages_that_came_and_did_not(system: dict[str, bytes]) -> None:
    system["/proc/self/smaps"] = SMAPS
    assert memory.huge_pages() == HugePages(2, (9000 + 5000 - 4096) // 2048)
    del system["/proc/self/smaps"]
    assert memory.huge_pages() is None


def test_the_pages_of_a_block_are_counted() -> None:
    before, block = memory.huge_pages(), Block(8 * HUGE_PAGE)
    if before is None:
        pytest.skip("this system does not tell")
    ctypes.memset(block.address, 1, block.size)
    after = memory.huge_pages()
    block.close()
    assert after is not None
    assert after.had + after.missed - before.had - before.missed >= 7


def test_more_than_an_address_space_is_refused() -> None:
    with pytest.raises(UserError, match=r"refuses to reserve .* MiB of address space .*; lower --memory"):
        Block(1 << 62)


def test_what_is_in_memory(system: dict[str, bytes]) -> None:
    assert memory.resident_memory() == RESIDENT
    assert memory.peak_memory() == 2048 * 1024
    del system["/proc/self/statm"]
    assert memory.resident_memory() == memory.peak_memory(), "the peak where the system tells no more"


@pytest.mark.parametrize(("platform", "peak"), [("linux", 3000 * 1024), ("darwin", 3000)])
def test_the_peak_of_another_system(
    system: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, platform: str, peak: int
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    system["/proc/self/status"] = b"Name:\tx\n"
    assert memory.peak_memory() == peak
    del system["/proc/self/status"]
    assert memory.peak_memory() == peak


def test_a_container_may_have_less_than_its_machine(system: dict[str, bytes]) -> None:
    assert memory.physical_memory() == 4096 * 1000
    system["/sys/fs/cgroup/memory.max"] = b"max\n"
    assert memory.physical_memory() == 4096 * 1000
    system["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = b"2048000\n"
    assert memory.physical_memory() == 2_048_000
    system["/sys/fs/cgroup/memory.max"] = b"1024000\n"
    assert memory.physical_memory() == 1_024_000
    system["/sys/fs/cgroup/memory.max"] = b"9999999999999\n"
    assert memory.physical_memory() == 2_048_000


def test_what_may_still_be_taken(system: dict[str, bytes]) -> None:
    assert memory.available_memory() == 500 * 1024
    system["/proc/meminfo"] = b"MemAvailable:  900000 kB\n"
    assert memory.available_memory() == 4096 * 1000 - RESIDENT
    system["/proc/meminfo"] = b"MemTotal:  900000 kB\n"
    assert memory.available_memory() == 4096 * 1000 - RESIDENT
    del system["/proc/meminfo"]
    assert memory.available_memory() == 4096 * 1000 - RESIDENT

"""Memory outside Python's heap: blocks of reserved address space, and how much memory is used and available."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from insync.runtime.errors import UserError

__all__ = [
    "HUGE_PAGE",
    "Block",
    "HugePages",
    "Permission",
    "available_memory",
    "huge_pages",
    "peak_memory",
    "physical_memory",
    "resident_memory",
]

HUGE_PAGE = 2 << 20
"""The size of a huge page, in which the system may allocate touched memory."""

_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
_HUGE = getattr(mmap, "MADV_HUGEPAGE", None)
_DISCARD = getattr(mmap, "MADV_DONTNEED", None)


Permission = Callable[[int], bool]
"""Called before memory is used: whether that many more bytes may be used."""


class Block:
    """Reserved memory, zero until written; only touched pages take real memory.

    Args:
        size: bytes, rounded up to whole huge pages; at least one page.
        huge: whether to use huge pages, which are faster, and wasteful if little memory is touched.

    Attributes:
        address: of the first byte, a multiple of the page size.

    Raises:
        UserError: the system refuses to reserve the address space.
    """

    __slots__ = ("_map", "_pin", "address", "huge", "size")

    def __init__(self, size: int, huge: bool = True) -> None:
        self.huge = huge
        self.size = max(-(-size // HUGE_PAGE), 1) * HUGE_PAGE
        try:
            self._map = mmap.mmap(-1, self.size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE)
        except (OSError, ValueError, OverflowError) as error:
            message = f"The system refuses to reserve {self.size >> 20} MiB of address space ({error}); lower --memory."
            raise UserError(message) from error
        if _HUGE is not None and huge and self.size > HUGE_PAGE:
            with contextlib.suppress(OSError):  # an older kernel; this affects speed only
                self._map.madvise(_HUGE)
        self._pin: ctypes.c_char | None = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._pin)

    def read(self, start: int, length: int) -> bytes:
        """Return a copy of `length` bytes."""
        return ctypes.string_at(self.address + start, length)

    def discard(self, start: int, length: int) -> None:
        """Free the whole pages of a part: their content is lost, and they may be used again."""
        first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        last = (start + length) // mmap.PAGESIZE * mmap.PAGESIZE
        if _DISCARD is not None and last > first:
            self._map.madvise(_DISCARD, first, last - first)

    def close(self) -> None:
        """Free the memory; no address within it may be used any more."""
        self._pin = None
        self._map.close()


@dataclass(frozen=True, slots=True)
class HugePages:
    """How much of the memory for which huge pages were requested is in huge pages.

    Attributes:
        had: huge pages that the system gave.
        missed: huge pages that the system gave as small ones instead, which slows down nearly every access.
    """

    had: int
    missed: int


def huge_pages() -> HugePages | None:
    """Return the huge pages of this process's blocks; None if the system does not report them."""
    had = touched = anonymous = huge = 0
    try:
        with open("/proc/self/smaps", "rb") as file:
            for line in file:
                name, _, rest = line.partition(b":")
                if name == b"Anonymous":
                    anonymous = int(rest.split()[0]) * 1024
                elif name == b"AnonHugePages":
                    huge = int(rest.split()[0]) * 1024
                elif name == b"VmFlags" and b"hg" in rest.split():  # huge pages were requested, mostly by blocks
                    had, touched = had + huge, touched + anonymous
    except OSError:
        return None
    return HugePages(had // HUGE_PAGE, (touched - had) // HUGE_PAGE)


def resident_memory() -> int:
    """Return the resident bytes of this process (its peak so far if the system reports no more)."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE
    except OSError:
        return peak_memory()


def peak_memory() -> int:
    """Return the peak of the resident bytes of this process."""
    try:
        # The peak of getrusage includes the process from which this one was started.
        with open("/proc/self/status", "rb") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(b"VmHWM"))
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def physical_memory() -> int:
    """Return the bytes of memory of this machine, or of the container that the process is confined to."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *_container_limits()])


def _container_limits() -> Iterator[int]:
    for place in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):  # not Linux, or no limit: the word "max"
            yield int(Path(place).read_text())


def available_memory() -> int:
    """Return the bytes of memory that this process can still use without displacing others."""
    left = physical_memory() - resident_memory()
    try:
        with open("/proc/meminfo", "rb") as file:
            return min(left, next(int(line.split()[1]) * 1024 for line in file if line.startswith(b"MemAvailable")))
    except (OSError, StopIteration):
        return left

"""Memory that several processes of one machine map: anonymous if the system allows that, else a local file."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path

from insync.runtime.errors import UserError
from insync.runtime.memory import HUGE_PAGE

__all__ = ["Gone", "SharedBlock"]


class Gone(Exception):
    """The memory to map does not exist any more: its owner died, or it was freed."""


class SharedBlock:
    """Zeroed memory that other processes can map by its path; only touched pages take real memory.

    Anonymous memory exists as long as a process has it open, so nothing is left behind when the processes die.

    Attributes:
        address: of the first byte in this process.
        size: in bytes.
        path: the path by which another process of the same user opens the memory.
    """

    def __init__(self, descriptor: int, size: int, path: str) -> None:
        self._descriptor, self.size, self.path = descriptor, size, path
        self._map = mmap.mmap(descriptor, size, flags=mmap.MAP_SHARED)
        self._pin: ctypes.c_char | None = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._pin)

    @classmethod
    def create(cls, size: int, file: Path | None) -> SharedBlock:
        """Create new memory, in `file` if that is given.

        Raises:
            UserError: the system refuses the address space.
        """
        size = -(-size // HUGE_PAGE) * HUGE_PAGE
        try:
            if file is None:
                descriptor = os.memfd_create("insync")
                path = f"/proc/{os.getpid()}/fd/{descriptor}"
            else:
                file.unlink(missing_ok=True)
                descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                path = str(file)
            os.ftruncate(descriptor, size)
            return cls(descriptor, size, path)
        except (OSError, ValueError, OverflowError) as error:
            message = f"The system refuses {size >> 20} MiB of address space for a table ({error})."
            raise UserError(message) from error

    @classmethod
    def attach(cls, path: str, inode: int, size: int) -> SharedBlock:
        """Map memory that another process made.

        Raises:
            Gone: the memory does not exist any more, or the path is of other memory.
        """
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError as error:
            raise Gone(path) from error
        found = os.fstat(descriptor)
        if (found.st_ino, found.st_size) != (inode, size):
            os.close(descriptor)
            raise Gone(path)
        own = path if not path.startswith("/proc/") else f"/proc/{os.getpid()}/fd/{descriptor}"
        return cls(descriptor, size, own)

    @property
    def inode(self) -> int:
        """The inode, which distinguishes this memory from other memory with the same path."""
        return os.fstat(self._descriptor).st_ino

    def read(self, start: int, length: int) -> bytes:
        """Return a copy of `length` bytes."""
        return ctypes.string_at(self.address + start, length)

    def close(self) -> None:
        """Unmap the memory; the system frees it when no process has it open."""
        if self._pin is not None:
            self._pin = None
            self._map.close()
            os.close(self._descriptor)


def give_back(path: str, inode: int) -> None:
    """Free memory by its path; processes that have it mapped must not touch it any more."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return
    try:
        if os.fstat(descriptor).st_ino == inode:
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def can_be_anonymous() -> bool:
    """Whether the system has anonymous memory that another process can open."""
    return hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir()

"""Memory that several processes of one machine map: anonymous where the system can, else a file on the local disk."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path

from insync.machine.memory import HUGE_PAGE
from insync.model.errors import UserError

__all__ = ["Gone", "SharedBlock"]


class Gone(Exception):
    """The memory that was to be mapped exists no more: its owner died, or it was given back."""


class SharedBlock:
    """Zeroed memory that others can map by its path; only pages that were touched take real memory.

    Anonymous memory lives as long as a process has it open, so nothing is left of it whatever happens to them.

    Attributes:
        address: where it is mapped.
        size: bytes.
        path: by which another process of the same user opens it.
    """

    def __init__(self, descriptor: int, size: int, path: str) -> None:
        self._descriptor, self.size, self.path = descriptor, size, path
        self._map = mmap.mmap(descriptor, size, flags=mmap.MAP_SHARED)
        self._pin: ctypes.c_char | None = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._pin)

    @classmethod
    def create(cls, size: int, file: Path | None) -> SharedBlock:
        """Make new memory, in a file if one is named.

        Raises:
            UserError: the system does not give it.
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
            Gone: it is not there any more, or something else is.
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
        """What tells this memory from any other."""
        return os.fstat(self._descriptor).st_ino

    def read(self, start: int, length: int) -> bytes:
        """Return a copy of a part."""
        return ctypes.string_at(self.address + start, length)

    def close(self) -> None:
        """Unmap it; the memory is given back when nobody has it open."""
        if self._pin is not None:
            self._pin = None
            self._map.close()
            os.close(self._descriptor)


def give_back(path: str, inode: int) -> None:
    """Free memory by its path, whoever has it mapped; they must not touch it any more."""
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

"""The protocol for an executor's cache of the run directory: a table per partition, for one worker at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

__all__ = ["KnownStates", "KnownTable", "locked"]


class KnownTable(Protocol):
    """The states of one partition up to some level."""

    @property
    def partition(self) -> int:
        """The number of the partition."""

    @property
    def levels(self) -> int:
        """How many levels the table has."""

    def count(self, level: int) -> int:
        """Return how many states a level has."""

    def known(self, level: int) -> int:
        """Return how many states there are up to a level."""

    def pieces(self, level: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the last level. A run is valid until the next one is requested."""


class KnownStates(Protocol):
    """The tables of one run on an executor; a method takes tables of the same object only.

    Attributes:
        loaded: how many states this worker has read from the run directory.
    """

    loaded: int

    def table(self, partition: int) -> AbstractContextManager[Any]:
        """Return a context manager with a partition's table, locked against other workers of this executor."""

    def insert(self, table: Any, rows: int, count: int) -> None:
        """Add the states that are new."""

    def close_level(self, table: Any) -> None:
        """Make a level of the states that were inserted since the last call."""

    def ordered(self, table: Any, level: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the last level, sorted word by word; see `pieces`."""

    def load(self, table: Any, level: int) -> None:
        """Add the missing levels up to `level` from the run directory."""

    def commit(self, table: Any) -> None:
        """Publish the table to other workers."""

    def close(self) -> None:
        """Free the resources of this worker."""


@contextlib.contextmanager
def locked(folder: Path, partition: int, wait: bool = True) -> Iterator[None]:
    """Lock a partition against other workers of this executor within the block.

    Raises:
        BlockingIOError: another worker has the lock, and `wait` is False.
    """
    descriptor = os.open(folder / f"p{partition:05}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(descriptor)

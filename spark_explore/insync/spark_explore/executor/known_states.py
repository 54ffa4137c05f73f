"""What an executor knows of its partitions: a cache of the run directory, which one of its workers uses at a time."""

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
        """Its number."""

    @property
    def levels(self) -> int:
        """How many levels are in it."""

    def count(self, level: int) -> int:
        """Return how many states a level has."""

    def known(self, level: int) -> int:
        """Return how many states it has up to a level."""

    def pieces(self, level: int) -> Iterator[tuple[int, int]]:
        """Yield the address and the number of states of the last level, which are there until more are asked for."""


class KnownStates(Protocol):
    """The tables of one run on an executor; each takes those that it has made itself.

    Attributes:
        loaded: how many states this worker has read from the run directory.
    """

    loaded: int

    def table(self, partition: int) -> AbstractContextManager[Any]:
        """Return a context with a partition's table, locked against every other worker of this executor."""

    def insert(self, table: Any, rows: int, count: int) -> None:
        """Add those of some states that are new."""

    def close_level(self, table: Any) -> None:
        """Say that what was inserted since the last call is a whole level."""

    def ordered(self, table: Any, level: int) -> Iterator[tuple[int, int]]:
        """Yield the address and the number of the states of the last level in order, word by word; see `pieces`."""

    def load(self, table: Any, level: int) -> None:
        """Add the levels that are missing up to some level from the run directory."""

    def commit(self, table: Any) -> None:
        """Let other workers use the table as it is now."""

    def close(self) -> None:
        """Give back what this worker has of them."""


@contextlib.contextmanager
def locked(folder: Path, partition: int, wait: bool = True) -> Iterator[None]:
    """Keep every other worker of this executor from a partition within the block.

    Raises:
        BlockingIOError: another has it, and is not to be waited for.
    """
    descriptor = os.open(folder / f"p{partition:05}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(descriptor)

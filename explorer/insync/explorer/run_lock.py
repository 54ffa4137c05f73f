"""A lock on a run directory: one search at a time uses it, and the lock ends with the process that holds it.

The lock is `flock` on an empty file of the directory. The file stays, as another process may be opening it.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from types import TracebackType

from insync.runtime.errors import UserError

__all__ = ["LOCK_FILE", "RunLock"]

LOCK_FILE = "lock"


class RunLock:
    """The lock of a run directory, taken at once; a context manager that releases it.

    Args:
        folder: the run directory, which exists.

    Attributes:
        warning: a sentence if this file system has no locks, so that nothing is locked; else None.

    Raises:
        UserError: another search holds the lock, in this process or in another one, or there is no lock file to open.
    """

    def __init__(self, folder: Path) -> None:
        self.warning: str | None = None
        self._descriptor = _opened(folder)
        if self._descriptor is None:
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._close()
            message = f"{folder}: another search is using this run directory. Wait until it has ended, or name another."
            raise UserError(message) from error
        except OSError as error:
            self._close()
            self.warning = (
                f"{folder}: this file system has no locks ({error.strerror}), so nothing keeps two searches from "
                "using this run directory at once. See to it that only one does."
            )
        else:
            _held.add(self)

    def __enter__(self) -> RunLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def release(self) -> None:
        """Release the lock; a second call does nothing."""
        _held.discard(self)
        if self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)  # also if a child that was just forked has it open
        self._close()

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


_held: set[RunLock] = set()


def _close_in_child() -> None:
    """Close the file in a forked child: the lock lasts as long as any process has the file open."""
    while _held:
        _held.pop()._close()


os.register_at_fork(after_in_child=_close_in_child)


def _opened(folder: Path) -> int | None:
    """Open the lock file; None if this process may not write to the run directory, and so can only read it."""
    path = folder / LOCK_FILE
    flags = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(path, flags | os.O_RDWR | os.O_CREAT, 0o666)
    except PermissionError:
        return None
    except OSError as error:
        if error.errno == errno.EROFS:
            return None
        message = (
            f"{path}: the lock file of the run directory cannot be opened ({error.strerror}). "
            "Remove what stands there, or name another run directory."
        )
        raise UserError(message) from error

"""Mutual exclusion of drivers on a run directory: a lock on a local one, a lease on stores without locks.

The lease is a small file that its driver rewrites every few seconds. A driver that finds a lease watches it. If it
changes, the other driver is alive, and this one ends with an error. If it does not, the other driver is considered
dead, and this one takes the run over. Only durations are measured, so clocks need not agree.

A driver that was considered dead may wake up, and two may take over at the same moment. So the manifest has an epoch,
which grows when a driver takes over, and the id of that driver. A driver that finds a higher epoch there, or its own
epoch with another id, stops before it writes (`write_manifest`). Until then both write the same files, as the files of
a run depend on the run alone.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from insync.explorer.run_lock import RunLock
from insync.machine.stores.run_folder import RunFolder
from insync.runtime.checksums import Damaged, Label, json_with_digest, require_digest
from insync.runtime.errors import UserError
from insync.runtime.watch import Stopped, StopReason

__all__ = ["LEASE", "sole_driver"]

LEASE = "driver.json"
_LABEL: Label = {"kind": "lease of a driver", "format": "insync-lease/1"}
_BEAT_SECONDS = 5.0
_DEAD_SECONDS = 20.0
_LOOK_SECONDS = 1.0


@contextmanager
def sole_driver(run: RunFolder, interrupted: Callable[[], StopReason | None]) -> Iterator[str | None]:
    """Keep other drivers from a run directory within the block; yield a warning if that is not possible.

    Args:
        run: the run directory; a local one must exist.
        interrupted: called while waiting for a driver that may be dead; returns a reason to stop, or None.

    Raises:
        UserError: another driver works on the directory, or it cannot be written.
        Stopped: there was a reason to stop.
    """
    if run.is_local:
        with RunLock(run.path) as lock:
            yield lock.warning
        return
    lease = _Lease(run)
    lease.take(interrupted)
    try:
        yield None
    finally:
        lease.give_back()


class _Lease:
    """The file by which a driver shows that it is alive."""

    def __init__(self, run: RunFolder) -> None:
        self._run, self._id = run, uuid.uuid4().hex
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="insync-lease", daemon=True)
        self._beats = 0

    def take(self, interrupted: Callable[[], StopReason | None]) -> None:
        """Take the run directory; watch the lease of another driver first, if there is one."""
        found, since = self._run.read(LEASE), time.monotonic()
        while found is not None and time.monotonic() - since < _DEAD_SECONDS:
            if reason := interrupted():
                raise Stopped(reason)
            self._over.wait(_LOOK_SECONDS)
            now = self._run.read(LEASE)
            if now is not None and now != found:
                driver = _driver_in(now)
                where = "" if driver is None else f" (process {driver['process']} on {driver['host']})"
                message = (
                    f"{self._run.shown}: another driver is using this run directory{where}. "
                    "Wait until it has ended, or name another."
                )
                raise UserError(message)
            found = now
        self._write()
        self._thread.start()

    def give_back(self) -> None:
        """Stop rewriting the lease, and remove it if it is still this driver's."""
        self._over.set()
        self._thread.join()
        with suppress(UserError):
            if self._is_ours():
                self._run.remove(LEASE)

    def _beat(self) -> None:
        while not self._over.wait(_BEAT_SECONDS):
            with suppress(UserError):  # a store that does not respond now may do so the next time
                if not self._is_ours():
                    return
                self._write()

    def _is_ours(self) -> bool:
        content = self._run.read(LEASE)
        driver = None if content is None else _driver_in(content)
        return content is None or (driver is not None and driver["driver"] == self._id)

    def _write(self) -> None:
        self._beats += 1
        said = {"driver": self._id, "host": socket.gethostname(), "process": os.getpid(), "beats": self._beats}
        self._run.write(LEASE, json_with_digest(_LABEL, said).encode())


def _driver_in(content: bytes) -> dict[str, Any] | None:
    """Return the driver in a lease; None for a damaged lease, which is only watched."""
    try:
        text = content.decode()
        require_digest(_LABEL, text)
    except (Damaged, UnicodeDecodeError):
        return None
    found: dict[str, Any] = json.loads(text)
    return found

"""A clock for tests of time."""

from __future__ import annotations

__all__ = ["StillClock"]


class StillClock:
    """Stands in for the module `time`; it stands still between two settings of `now`, in seconds."""

    now = 100.0

    def perf_counter(self) -> float:
        return self.now

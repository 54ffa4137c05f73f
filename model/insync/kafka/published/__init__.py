"""Internal: the six published variants of the replication protocol, each with the meaning of its TLA+ module."""

from __future__ import annotations

from insync.kafka.published.async_isr import AsyncIsr
from insync.kafka.published.replication import (
    Kip101,
    Kip279,
    Kip320,
    Kip320FirstTry,
    Replication,
    TruncateToHighWatermark,
)

__all__ = ["AsyncIsr", "Kip101", "Kip279", "Kip320", "Kip320FirstTry", "Replication", "TruncateToHighWatermark"]

"""Internal: the six published variants of the replication protocol, each with the meaning of its TLA+ module."""

from __future__ import annotations

from insync.kafka.published.async_isr import AsyncIsr
from insync.kafka.published.kip101 import Kip101
from insync.kafka.published.kip279 import Kip279
from insync.kafka.published.kip320 import Kip320
from insync.kafka.published.kip320_first_try import Kip320FirstTry
from insync.kafka.published.replication import Replication
from insync.kafka.published.truncate_to_high_watermark import TruncateToHighWatermark

__all__ = ["AsyncIsr", "Kip101", "Kip279", "Kip320", "Kip320FirstTry", "Replication", "TruncateToHighWatermark"]

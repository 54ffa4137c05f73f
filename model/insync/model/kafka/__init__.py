"""Kafka's replication protocol in its published variants, and KIP-497's asynchronous ISR updates."""

from __future__ import annotations

from insync.model.kafka.async_isr import AsyncIsr
from insync.model.kafka.kip101 import Kip101
from insync.model.kafka.kip279 import Kip279
from insync.model.kafka.kip320 import Kip320
from insync.model.kafka.kip320_first_try import Kip320FirstTry
from insync.model.kafka.replication import Replication
from insync.model.kafka.truncate_to_high_watermark import TruncateToHighWatermark

__all__ = ["AsyncIsr", "Kip101", "Kip279", "Kip320", "Kip320FirstTry", "Replication", "TruncateToHighWatermark"]

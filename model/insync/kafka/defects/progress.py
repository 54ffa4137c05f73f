"""Defects by which nothing is lost, but something never happens: L-1."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.truncation import CALM
from insync.kafka.rules import Truncation

__all__ = ["PROGRESS"]

PROGRESS = (
    Defect(
        name="L-1",
        title="A truncation that never ends",
        ticket="KAFKA-10706",
        affected="2.0.1 to 2.6.0, by reading",
        story="A broker that led without appending has an epoch without records in its cache. Its leader has another "
        "one in between and answers with that; the follower truncates to its log's end, which does nothing and leaves "
        "the epoch where it is, so it asks the same again and never fetches.",
        fix="truncate the epoch cache also where the log ends already (KAFKA-10706, 2.6.1 and 2.7)",
        breaks="written_is_settled",
        length=10,
        bounds={**CALM, "replicas": 2, "records": 2, "elections": 3},
        rules={"truncation_drops_empty_epochs": False},
        base={"truncation": Truncation.EPOCH_PAIR},
    ),
)
"""The entries, by number. `insync defects` looks for the runs on which they never end."""

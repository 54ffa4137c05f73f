"""The published defects that the model does not show, and why."""

from __future__ import annotations

from insync.kafka.defects.defect import LeftOut

__all__ = ["LEFT_OUT"]

LEFT_OUT = (
    LeftOut(
        "R-02b", "Offsets go back inside a compressed batch", "KAFKA-3919", "a log is a row of records, not of batches"
    ),
    LeftOut(
        "R-10",
        "The high watermark counts an epoch before",
        "mutant of KIP-320",
        "what a leader knows of its followers is forgotten with each epoch, so there is no such test to leave out; the "
        "case in which it is not forgotten is N-01, with the same course of events",
    ),
    LeftOut("R-14", "The partition epoch is not sent", "KAFKA-12367", "the same as R-13 to the protocol"),
    LeftOut("R-34", "A crash while logs are loaded looks like a clean stop", "KAFKA-10471", "a fault of storage"),
    LeftOut(
        "R-35", "The epoch checkpoint is lost", "KAFKA-16541", "a fault of storage: a crash spares the epoch cache"
    ),
    LeftOut("R-36", "A sparse epoch cache", "KAFKA-7897", "old message formats are not modelled"),
    LeftOut("R-37", "The high watermark's checkpoint is lost", "KAFKA-1647", "a fault of storage"),
    LeftOut("R-38", "Compaction loses the log's end", "KAFKA-17076", "compaction is not modelled"),
    LeftOut("R-41", "A reassignment ends with one new replica", "KIP-966", "the state in which R-40 ends"),
    LeftOut(
        "R-44",
        "An added replica survives a cancelled reassignment",
        "KAFKA-13972",
        "reassignment is modelled as the KRaft controller does it, and this is the ZooKeeper one's",
    ),
    LeftOut(
        "R-45",
        "A future replica's epoch cache",
        "KAFKA-20961",
        "the swap loses the epoch here too; what follows is a fetch that never succeeds: a matter of progress",
    ),
    LeftOut(
        "C-4", "Consumers read what the leader alone has", "KAFKA-15583", "with an ELR it is R-27, without one R-25"
    ),
    LeftOut("M-1", "The incarnation in a registration's reply", "mutant (M1)", "registering is one step"),
)
"""The entries, by name. L-1 to L-8 are about progress, which no property speaks of yet."""

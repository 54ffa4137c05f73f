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
    LeftOut(
        "L-2",
        "The high watermark does not move when the ISR has become smaller",
        "KAFKA-13091",
        "the rule is there (watermark_after_isr_reply, 2.7 to 3.0), but no run is stuck by it for good: the next fetch "
        "that brings something new moves the high watermark",
    ),
    LeftOut(
        "L-3",
        "A leader forgets that it waits for a new ISR, and may not ask again",
        "KAFKA-12686",
        "a request that comes too late is without effect here, and nobody waits for the answer to it",
    ),
    LeftOut(
        "L-4",
        "The answer to an AlterPartition is lost",
        "KAFKA-14144, KAFKA-14154",
        "a request is there until it is answered, and there is one controller",
    ),
    LeftOut(
        "L-5",
        "The high watermark waits for a replica that can never join",
        "KAFKA-15021",
        "the rule is there (shrink_keeps_epoch), but a leader may ask for a member at any time here, not in a fetch of "
        "it alone, so a run in which it asks for ever means nothing",
    ),
    LeftOut(
        "L-6",
        "An answer about epochs races with a new epoch",
        "KAFKA-7786",
        "a question about an epoch's end and its answer are one step",
    ),
    LeftOut("L-7", "A read that fails makes a follower's log end -1", "KAFKA-8400", "reads do not fail"),
    LeftOut(
        "L-8",
        "A leader that stops goes on leading",
        "KAFKA-14296, KAFKA-13858",
        "whoever asks to stop is taken from the ISR, and is told so, in one step",
    ),
    LeftOut("M-1", "The incarnation in a registration's reply", "mutant (M1)", "registering is one step"),
)
"""The entries, by name."""

"""Defects by which a consumer with a position reads on in another log: R-49, N-11."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.truncation import CALM

__all__ = ["CONSUMERS"]

READING: dict[str, int | str] = {
    **CALM, "replicas": 2, "records": 3, "fencings": 2, "metadata_lag": 0, "unclean": "on", "consumer": "leader"
}  # fmt: skip
"""Two leaders fail, and the second time who follows is not in the ISR."""

CONSUMERS = (
    Defect(
        name="R-49",
        title="A consumer reads on at its position in a log that has other records before it",
        ticket="KIP-320, KAFKA-7747",
        affected="before 2.3, by the date of the change; no client of these releases was read",
        story="A consumer has read a record that an unclean election loses. The new leader has taken others in its "
        "place before the consumer fetches again, so its position is in the log, and it passes over what was written "
        "below that without being told.",
        fix="ask a new leader where the epoch of the last record ends, and go back to there (KIP-320)",
        breaks="consumer_reads_one_log",
        length=9,
        bounds=READING,
        rules={"consumer_checks_epoch": False},
        base={"consumer_compares_epoch": True},
    ),
    Defect(
        name="N-11",
        title="A consumer takes the end of an earlier epoch for that of its own",
        ticket="no ticket known; SubscriptionState.maybeCompleteValidation",
        affected="2.3 and later, but KRaft before 3.9, by the model",
        story="A leader appends a record that nobody copies, and loses the leadership. The next takes another record "
        "at that offset, and a consumer reads it. An unclean election makes the first one the leader again, whose log "
        "has nothing of the consumer's epoch. Asked for its end it answers with the largest epoch before that, and its "
        "end, as it should. The consumer compares the end with its position, which is no larger, and not the epoch: it "
        "goes on, has read a record that is lost, and never gets the one in its place.",
        fix="take an earlier epoch in the answer for what it is, and be reset, or get LogTruncationException",
        breaks="consumer_reads_one_log",
        length=11,
        bounds=READING,
        rules={"consumer_compares_epoch": False},
        base={"consumer_compares_epoch": True},
    ),
)
"""The entries: what consumers were before KIP-320, and what that leaves."""

"""What clients are given that they should not be, to read or as an answer: R-49, R-54, R-57, N-11."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.finding import FindingStatus, KafkaFinding
from insync.kafka.defects.truncation import CALM

__all__ = ["CONSUMERS"]

READING: dict[str, int | str] = {
    **CALM,
    "replicas": 2,
    "records": 3,
    "fencings": 2,
    "metadata_lag": 0,
    "unclean_leader_election": "on",
    "consumer": "leader",
}
"""Two leaders fail, and the second time who follows is not in the ISR."""

CONSUMERS = (
    Defect(
        name="R-49",
        title="A consumer reads on at its position in a log that has other records before it",
        ticket="KIP-320, KAFKA-7747",
        affected="before 2.3, by the date of the change; no client of these releases was read",
        story="A consumer has read a record that an unclean election loses. The new leader has taken others in its "
        "place before the consumer fetches again, so its position is in the log, and it skips what was written below "
        "that without an error.",
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
        affected="2.3.0 to 4.4.0; KRaft before 3.9 elects nobody uncleanly by the setting",
        story="A leader appends a record that nobody copies, and loses the leadership. The next takes another record "
        "at that offset, and a consumer reads it. An unclean election makes the first one the leader again, whose log "
        "has nothing of the consumer's epoch. Asked for its end it answers with the largest epoch before that and its "
        "end, as it should. The consumer compares that end with its position, which is no larger, but not the epochs. "
        "It goes on: it has read a record that is lost, and never gets the one in its place.",
        fix="treat an earlier epoch in the answer as a truncation: be reset, or get LogTruncationException",
        breaks="consumer_reads_one_log",
        length=11,
        bounds=READING,
        rules={"consumer_compares_epoch": False},
        base={"consumer_compares_epoch": True},
        finding=KafkaFinding(
            title="A consumer is not told of truncation when the leader has no records of its epoch",
            status=FindingStatus.NOT_REPORTED,
            affects="2.3.0 to 4.4.0",
            harm="a consumer is not told what an unclean election lost",
            read="2.3.0, 3.6.2 and 4.3.1",
            by_reading="2.3.0 to 3.8.1",
            related="KAFKA-6361 KAFKA-7747 KAFKA-9840 KAFKA-10498 KIP-279 KIP-320",
            workaround="have no unclean elections; after one, have consumers seek back.",
            rank=100,
        ),
    ),
    Defect(
        name="R-54",
        title="A read that races with an append goes beyond the high watermark",
        ticket="KAFKA-9835",
        affected="2.0.0 to 2.5.0, by reading 2.0.0 to 2.6.0; 1.0.0 has not got it, and 2.5.1 has the fix",
        story="A consumer reads to the high watermark, which is the end of the log. The leader appends a record while "
        "FileRecords.slice reads the size of the file twice: to compare it with the request, and to find where to end. "
        "The consumer gets the new record, which nobody has copied.",
        fix="look once at how large the file is (KAFKA-9835)",
        breaks="consumers_read_what_is_committed",
        length=6,
        bounds={**CALM, "replicas": 2, "records": 2, "consumer": "leader"},
        rules={"reads_end_at_watermark": False},
    ),
    Defect(
        name="R-57",
        title="A group coordinator answers for an offset that has another record by then",
        ticket="KAFKA-20634",
        affected="the group coordinator alone, in 4.x before June 2026, by the pull request; no producer",
        story="A coordinator appends what it is to store, and keeps the answer back until the high watermark passes "
        "that offset. Its broker loses the leadership, cuts the record off and copies what the next leader has written "
        "there. Before the coordinator is unloaded the high watermark passes the offset, and it answers that all is "
        "stored.",
        fix="tell the coordinator of a high watermark only while its broker leads (KAFKA-20634)",
        breaks="no_acknowledged_record_is_lost",
        length=10,
        bounds={**CALM, "replicas": 2, "records": 2, "preferred_elections": 1},
        rules={"waiting_writes_need_leader": False},
    ),
)
"""The entries: what consumers were before KIP-320, what that leaves, and who is told of a record too early."""

"""Defects by which nothing is lost, but something never happens: L-1, L-9 to L-12, N-10."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.finding import FindingStatus, KafkaFinding
from insync.kafka.defects.truncation import CALM
from insync.kafka.releases import Truncation

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
        fix="truncate the epoch cache also where the log ends already (KAFKA-10706, 2.6.1)",
        breaks="written_is_settled",
        length=10,
        bounds={**CALM, "replicas": 2, "records": 2, "preferred_elections": 3},
        rules={"truncation_drops_empty_epochs": False},
        base={"truncation": Truncation.EPOCH_PAIR},
    ),
    Defect(
        name="N-10",
        title="A fetch session leaves out a high watermark that the follower has passed over",
        ticket="no ticket known; FetchSession.CachedPartition, with KAFKA-14704",
        affected="3.4.1 to 4.4.0; with a response that is dropped as its epoch is over "
        "(KAFKA-18723) 3.9.1, 4.0.1 and later",
        story="A response that says where logs part carries the leader's high watermark, which the session then "
        "counts as sent. The follower truncates and ignores that high watermark, as the next response should "
        "bring it. But the session has nothing new to send, so it leaves the partition out. The follower keeps "
        "its old high watermark until the leader's moves or something is written, and consumers that read from "
        "it see less.",
        fix="answer in full what the request names: CachedPartition.updateRequestParams sets the high watermark told "
        "to -1, as an error does",
        breaks="replies_leave_out_what_is_known",
        length=10,
        bounds={**CALM, "replicas": 2, "records": 1, "preferred_elections": 2, "fetch_sessions": "on"},
        rules={"named_is_answered": False},
        base={"named_is_answered": True},
        finding=KafkaFinding(
            title="A follower never gets the high watermark that came with a diverging epoch in its fetch session",
            status=FindingStatus.NOT_REPORTED,
            affects="3.4.1 to 4.4.0",
            harm="nothing; its consumers see less",
            read="3.4.1, 3.6.2, 3.9.2, 4.1.2 and 4.3.1",
            by_reading="3.4.1 to 3.6.2",
            related="KAFKA-9491 KAFKA-14704 KIP-392",
            workaround="max.incremental.fetch.session.cache.slots=0, or consume from leaders.",
            rank=90,
        ),
    ),
    Defect(
        name="L-9",
        title="A follower at a high watermark that stands still joins and is dropped again and again",
        ticket="KAFKA-19996",
        affected="3.7 and later, in which the high watermark stands still below min.insync.replicas, by reading "
        "(KAFKA-15583); open in 2026",
        story="A slow follower is dropped, and the ISR is smaller than min.insync.replicas, so the high watermark "
        "stands still. A follower that has reached it may join, although the leader has long more. It joins, is "
        "dropped as it has not got that, joins, and so on. Here its fetches bring nothing; in Kafka they bring "
        "something, and producers with acks=1 write as fast.",
        fix="let a follower join an ISR that is too small only once it has all that the leader has (PR 23024, open)",
        breaks="slow_followers_stay_out",
        length=9,
        bounds={**CALM, "replicas": 2, "records": 1, "min_insync_replicas": 2, "isr_shrinks": 1},
        rules={"join_below_minimum_needs_end": False},
        base={"join_below_minimum_needs_end": True, "slowness_has_a_budget": False},
    ),
    Defect(
        name="L-10",
        title="A fetcher begins where the log ended before the one before it was stopped",
        ticket="KAFKA-13266",
        affected="no release: trunk from July to September 2021, with KRaft; 2.8.0 and 3.0.0 do not have it (read)",
        story="A follower learns of a new epoch and notes where its log ends, for its next fetcher. The present "
        "fetcher appends a record before it is stopped. The next one begins at the noted place, gets that record once "
        "more, finds that the log ends elsewhere, and gives the partition up: the follower stays out of the ISR.",
        fix="stop the fetcher first (KAFKA-13266)",
        breaks="running_is_back_in_isr",
        length=9,
        bounds={**CALM, "replicas": 2, "records": 1, "isr_shrinks": 1, "late_fetch_responses": "on"},
        rules={"fetcher_begins_at_log_end": False},
        base={"shrink_keeps_epoch": False},
    ),
    Defect(
        name="L-11",
        title="A directory fails, and the broker tells nobody of it",
        ticket="KAFKA-19289",
        affected="by its ticket alone, which is open: nothing of it was read or executed",
        story="The directory with the leader's log fails, and the broker runs on. Its report to the controller is "
        "never sent, its session goes on, and nobody else is elected. It is R-50 in a release that should tell; no "
        "state is wrong, as the report may still come.",
        fix="name a failed directory in every heartbeat until that is answered",
        breaks="a_dead_leader_is_replaced",
        length=2,
        bounds={**CALM, "replicas": 2, "records": 1, "log_dir_failures": 1},
        rules={"failed_directory_report_arrives": False},
    ),
    Defect(
        name="L-12",
        title="A broker that dies as the controller fails is never fenced",
        ticket="KAFKA-18138",
        affected="no release: trunk from October to December 2024, by its pull request (KAFKA-17793 brought it)",
        story="The leader dies, and then the active controller. The next one watches the sessions of those brokers "
        "alone that send it a heartbeat. The leader never does, and is never fenced, so the partition is led by "
        "nobody who lives until somebody starts that broker again.",
        fix="watch all brokers that are registered when a controller becomes active (KAFKA-18138, 4.0)",
        breaks="a_dead_leader_is_replaced",
        length=4,
        bounds={**CALM, "replicas": 2, "records": 1, "crashes": 1, "controller_failovers": 1},
        rules={"controller_watches_all": False},
    ),
)
"""The entries, by number. `insync defects` looks for the run on which L-1 never ends."""

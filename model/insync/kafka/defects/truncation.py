"""Defects of truncation and fetching: R-01 to R-10, R-19 to R-23, R-47."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.releases import StaleReply, Truncation

__all__ = ["CALM", "TRUNCATION"]

CALM: dict[str, int | str] = {"power_failures": 0, "fencings": 0, "isr_shrinks": 0, "min_insync_replicas": 1}
"""Nothing fails: elections alone, or the one failure that an entry adds."""

ASKS: dict[str, object] = {"truncation": Truncation.EPOCH_PAIR, "forget_isr_when_re_elected": True}
"""Truncation by question and answer, as from 2.0 to 2.7, without what N-01 says."""

FORGETS: dict[str, object] = {"forget_isr_when_re_elected": True}
"""Without what N-01 says, which would be found in place of a defect that takes two elections."""

TRUNCATION = (
    Defect(
        name="R-01",
        title="A follower truncates to its high watermark, and is elected",
        ticket="KIP-101, KAFKA-1211",
        affected="before 0.11",
        story="A follower learns that a record is committed one fetch after it has it. If it learns of a new leader "
        "epoch in between, it cuts its log back to its own high watermark and loses a record that was "
        "acknowledged; it is in the ISR and may lead next.",
        fix="truncate by leader epoch (KIP-101)",
        breaks="electable_replicas_are_complete",
        length=7,
        bounds={**CALM, "replicas": 2, "records": 1, "preferred_elections": 2},
        rules={"truncation": Truncation.HIGH_WATERMARK},
        base=FORGETS,
    ),
    Defect(
        name="R-02",
        title="Logs diverge for ever after two crashes",
        ticket="KIP-101, scenario 2",
        affected="before 0.11",
        story="Leader and follower both crash. The follower, which has lost its last record, comes back first, leads "
        "and writes another one in its place. The old leader's high watermark is at its log's end, so it "
        "truncates nothing and keeps a record that the new leader does not have.",
        fix="truncate by leader epoch (KIP-101)",
        breaks="leaders_know_their_followers",
        length=13,
        bounds={**CALM, "replicas": 2, "records": 3, "power_failures": 2, "elr": "off", "metadata_lag": 1},
        rules={"truncation": Truncation.HIGH_WATERMARK},
        base=FORGETS,
    ),
    Defect(
        name="R-03",
        title="Two quick changes of the leader, and logs part",
        ticket="KIP-279, KAFKA-6361",
        affected="0.11 to 1.1",
        story="A leader answers where the first epoch begins that is larger than the one asked for. A leader that "
        "has skipped the asker's epoch knows only later ones, its answer lies at or beyond the asker's log "
        "end, and the asker keeps records that nobody else has.",
        fix="answer with the largest epoch up to the one asked for, and its end (KIP-279)",
        breaks="leaders_know_their_followers",
        length=10,
        bounds={**CALM, "replicas": 2, "records": 3, "preferred_elections": 2},
        rules={"truncation": Truncation.EPOCH_OFFSET},
        base=ASKS,
    ),
    Defect(
        name="R-04",
        title="A new leader does not know its own epoch",
        ticket="KAFKA-7415",
        affected="0.11 to 2.0.0",
        story="A leader that has not written yet has no entry for its epoch. Asked for the end of a later epoch than "
        "its last entry it has no answer, and the follower falls back to its high watermark, below which it "
        "has committed records.",
        fix="note epoch and log end on election, before anything is written (KAFKA-7415)",
        breaks="electable_replicas_are_complete",
        length=11,
        bounds={**CALM, "replicas": 2, "records": 2, "preferred_elections": 2},
        rules={"cache_epoch_on_election": False},
        base=ASKS,
    ),
    Defect(
        name="R-05",
        title="A follower misses an epoch because the leader's name stays",
        ticket="KAFKA-7164",
        affected="0.11 to 2.0.0",
        story="A leader loses its leadership and gets it back; a follower learns only of the second election. It sees "
        "the same leader and does not truncate, though that leader has cut back and rewritten its log.",
        fix="truncate whenever the epoch moves (KAFKA-7164)",
        breaks="leaders_know_their_followers",
        length=12,
        bounds={**CALM, "records": 3, "preferred_elections": 2},
        rules={"truncate_on_every_epoch": False},
        base=ASKS,
    ),
    Defect(
        name="R-06",
        title="A follower joins the ISR below the true high watermark",
        ticket="KAFKA-7128",
        affected="up to 2.0.0",
        story="A new leader's own high watermark lags behind what its predecessor has committed. A follower that has "
        "reached only that counts as caught up, joins the ISR, and lacks committed records.",
        fix="join only from the start of the leader's epoch on (KAFKA-7128)",
        breaks="electable_replicas_are_complete",
        length=14,
        bounds={**CALM, "isr_shrinks": 1, "records": 1, "preferred_elections": 1, "late_fetch_responses": "on"},
        rules={"join_needs_epoch_start": False},
        base=FORGETS,
    ),
    Defect(
        name="R-07",
        title="A follower of an earlier epoch goes on fetching",
        ticket="KAFKA-6880, KIP-320",
        affected="0.11 to 2.0",
        story="A follower that has not learned of the new epoch fetches from a broker that leads again, without an "
        "epoch in the request. The leader counts what it has, and then the follower truncates what was "
        "counted.",
        fix="fence fetches by epoch (KIP-320)",
        breaks="leaders_know_their_followers",
        length=10,
        bounds={**CALM, "records": 3, "preferred_elections": 2},
        rules={"fence_fetch": False},
        base=ASKS,
    ),
    Defect(
        name="R-08",
        title="The high watermark counts a follower of another epoch",
        ticket="KIP-320",
        affected="0.11 to 2.0",
        story="Neither fetches nor questions about epochs say in which epoch the follower is. A leader commits with "
        "a follower that is about to follow somebody else first, and to truncate the record.",
        fix="fence fetches and truncation by epoch (KIP-320)",
        breaks="electable_replicas_are_complete",
        length=11,
        bounds={**CALM, "records": 1, "preferred_elections": 3, "metadata_lag": 3},
        rules={"fence_fetch": False, "fence_truncation": False},
        base=ASKS,
    ),
    Defect(
        name="R-09",
        title="Truncation on fetch without fencing",
        ticket="KIP-320, first draft",
        affected="none: it was never shipped",
        story="The fetch carries the epoch of the follower's last record, so logs never part unnoticed. But nothing "
        "says that both sides are in the same epoch, and a record is committed with a follower that then "
        "truncates it.",
        fix="fence fetches by epoch (KIP-320)",
        breaks="electable_replicas_are_complete",
        length=12,
        bounds={**CALM, "records": 1, "preferred_elections": 3, "metadata_lag": 3},
        rules={"fence_fetch": False},
        base=FORGETS,
    ),
    Defect(
        name="R-19",
        title="A diverging fetch still counts",
        ticket="KAFKA-13141",
        affected="2.8.0: no follower of 2.7 says its last epoch in a fetch (2.7.0 and 2.7.2 were read)",
        story="The leader tells the follower where to truncate, and in the same step takes the offset of the fetch "
        "for its log end. It commits records that the follower does not have.",
        fix="do not count a fetch that diverges (KAFKA-13141)",
        breaks="electable_replicas_are_complete",
        length=10,
        bounds={**CALM, "records": 2, "preferred_elections": 1},
        rules={"ignore_diverging_fetch": False},
        base=FORGETS,
    ),
    Defect(
        name="R-20",
        title="A late response truncates a leader",
        ticket="KAFKA-13207",
        affected="2.8.0",
        story="A follower is told to truncate, but the response is late. Meanwhile it follows somebody else or leads, "
        "and has records that are committed; then the response arrives and cuts them off. The logs must really part "
        "for that: the follower has a record that the leader which answers lacks, and keeps it, as that leader is "
        "deposed. An empty log is not told to truncate.",
        fix="drop responses of a leader that is not followed any more (KAFKA-13207), or of an earlier epoch (3.9.1)",
        breaks="no_acknowledged_record_is_lost",
        length=24,
        bounds={**CALM, "records": 2, "preferred_elections": 2, "late_fetch_responses": "on"},
        rules={"drop_stale_reply": StaleReply.OTHER_LEADER_RECORDS},
        base=FORGETS,
    ),
    Defect(
        name="R-21",
        title="The high watermark moves before the truncation",
        ticket="KAFKA-14704",
        affected="2.8.0 to 3.4.0: 2.7 asks for the end of an epoch instead (2.7.0 and 2.7.2 were read)",
        story="A diverging response carries the leader's high watermark. The follower takes it over while it still has "
        "records of its own, and consumers that read from it see what was never committed.",
        fix="leave the high watermark alone in a diverging response (KAFKA-14704, 3.4.1)",
        breaks="follower_reads_repeat",
        length=7,
        bounds={**CALM, "replicas": 2, "records": 2, "fencings": 1},
        rules={"watermark_after_truncation": False},
    ),
    Defect(
        name="R-22",
        title="Clients see the high watermark go back",
        ticket="KIP-207, KAFKA-2334",
        affected="before 2.2",
        story="A new leader knows a lower high watermark than its predecessor has told clients, and tells them that.",
        fix="tell nothing until the high watermark has reached the leader's epoch (KIP-207)",
        breaks="watermark_never_goes_back",
        length=6,
        bounds={**CALM, "replicas": 2, "records": 1, "preferred_elections": 1},
        rules={"hide_stale_watermark": False},
    ),
    Defect(
        name="R-23",
        title="A fetch session forgets the epoch",
        ticket="KAFKA-9338",
        affected="2.1 to 2.4",
        story="Only the first fetch of a session is checked against the epoch. A follower that has a session with a "
        "broker goes on when that broker leads in another epoch, which opens R-07 again.",
        fix="check the epoch in every fetch (KAFKA-9338)",
        breaks="electable_replicas_are_complete",
        length=13,
        bounds={**CALM, "records": 3, "preferred_elections": 2},
        rules={"session_keeps_epoch": False},
        base=ASKS,
    ),
    Defect(
        name="R-47",
        title="A response brings what the leader wrote after it had handled the fetch",
        ticket="KAFKA-18723",
        affected="all until 3.9.0, and 4.0.0; fixed in 3.9.1, 4.0.1 and 4.1.0",
        story="A leader handles a fetch and notes just which part of its file is the answer. Before the bytes are sent "
        "it follows another leader, truncates, and copies a record of a later epoch to that place. The follower gets "
        "that record on top of one that the new leader does not have. Its newest epoch is the new leader's now, so "
        "nobody sees that the logs have parted.",
        fix="do not append records of a later epoch than that of the fetch (KAFKA-18723)",
        breaks="no_divergence",
        length=23,
        bounds={**CALM, "records": 4, "preferred_elections": 1, "metadata_lag": 1, "late_fetch_responses": "on"},
        rules={"skip_later_epochs": False},
    ),
)
"""The entries, by number."""

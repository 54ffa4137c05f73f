"""Rules that were missing, or could be, and do no harm alone, by what the model shows: R-24, R-65, M-4, M-7."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.truncation import CALM, FORGETS

__all__ = ["HARMLESS"]

HARMLESS = (
    Defect(
        name="R-24",
        title="The last epoch is missing after an empty response",
        ticket="KAFKA-15510",
        affected="3.6 alone (3.6.0 and 3.6.1 were read): before it an empty response left the fetch state as it was",
        story="After the first response of an epoch, if it has no records, the follower's next fetch does not name "
        "its last epoch, so the leader does not look whether the logs have parted. The model leaves it out "
        "after every empty response, which is more. But a follower that has seen an empty response has the "
        "leader's log, and a new epoch begins with a fetch that does name it.",
        fix="keep the epoch after an empty response (KAFKA-15510, 3.7)",
        breaks="electable_replicas_are_complete",
        length=0,
        bounds={**CALM, "records": 2, "preferred_elections": 2, "fencings": 1},
        rules={"empty_reply_keeps_epoch": False},
        base=FORGETS,
    ),
    Defect(
        name="R-65",
        title="A second registration of the same process gives it another broker epoch",
        ticket="KAFKA-16952",
        affected="3.7 and 3.8: read in the classes of 3.7.1, 3.7.2 and 3.8.1; those of 3.9.2 keep the epoch",
        story="A broker registers once more while it runs, as KIP-858 has it do after an upgrade. The controller gives "
        "it another broker epoch, so it refuses an ISR that names the one before, and leaders send the request again "
        "after the next fetch. The same happens after a start, and nothing is lost by it, whatever is on its way.",
        fix="keep the epoch of the same incarnation (KAFKA-16952, 3.9)",
        breaks="electable_replicas_are_complete",
        length=0,
        bounds={**CALM, "records": 1, "isr_shrinks": 1, "fencings": 1, "preferred_elections": 1},
        rules={"same_incarnation_keeps_epoch": False},
        base=FORGETS,
    ),
    Defect(
        name="M-4",
        title="A follower joins the ISR without a fetch in the epoch",
        ticket="mutant (Vanlightly's CHECK, M4)",
        affected="none",
        story="The leader does not ask whether it knows the follower's log end. But an end that is not known is below "
        "every high watermark, so the next guard (M-5) refuses it as well.",
        fix="ask for a fetch in the leader's epoch",
        breaks="electable_replicas_are_complete",
        length=0,
        bounds={**CALM, "fencings": 1, "preferred_elections": 1, "records": 1},
        rules={"join_needs_fetch": False},
        base=FORGETS,
    ),
    Defect(
        name="M-7",
        title="A response is used for another offset",
        ticket="mutant (Vanlightly's CHECK, M7)",
        affected="none",
        story="A follower uses a response although its log no longer ends where it had fetched. But while a response "
        "is on its way the end moves only with the epoch, and then the response is dropped. If it is not, that "
        "is R-20.",
        fix="use a response only for the offset that was asked for",
        breaks="electable_replicas_are_complete",
        length=0,
        bounds={**CALM, "preferred_elections": 1, "records": 2, "late_fetch_responses": "on"},
        rules={"reply_matches_offset": False},
        base=FORGETS,
    ),
)
"""The entries, by number."""

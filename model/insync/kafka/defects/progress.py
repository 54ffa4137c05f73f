"""Defects by which nothing is lost, but something never happens: L-1, N-07."""

from __future__ import annotations

from insync.kafka.defects.defect import Defect
from insync.kafka.defects.failures import ENOUGH
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
        length=1,
        bounds={**CALM, "replicas": 2, "records": 2, "elections": 3},
        rules={"truncation_drops_empty_epochs": False},
        base={"truncation": Truncation.EPOCH_PAIR},
    ),
    Defect(
        name="N-07",
        title="A partition stays offline for good after a reassignment below min.insync.replicas",
        ticket="no ticket known; ReplicationControlManager.handleBrokerUncleanShutdown, found on running brokers",
        affected="eligible leader replicas; seen on running brokers of 4.1.1 and 4.3.0",
        story="The second face of N-02. A reassignment leaves one replica, and those that were removed go into the ELR. "
        "The one that is left is killed and comes back with its whole log; as it was not stopped cleanly it leaves ISR "
        "and ELR. Those in the ELR are no replicas, so they are not elected, and the last known leader is asked only "
        "where the ELR is empty. No record is lost, and nobody can read one.",
        fix="keep only replicas of the assignment in the ELR",
        breaks="partition_has_leader_again",
        length=1,
        bounds={**ENOUGH, "replicas": 2, "reassignments": 1, "crashes": 1, "records": 1, "races": "off"},
        rules={"elr_within_replicas": False},
        base={"elr_within_replicas": True},
    ),
)
"""The entries, by number. `insync defects` looks for the runs on which they never end."""

"""The settings and budgets of the cluster model: release, acks, min.insync.replicas, and how much may go wrong."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from insync.kafka.cluster.releases import RELEASES, Rules
from insync.kafka.defects import DEFECTS, NO_DEFECT
from insync.model import Bound, Bounds, BoundValues, Choice

__all__ = ["BOUNDS", "Acks", "Flushing", "Settings"]


class Acks(Enum):
    """When a producer takes a record for written."""

    NONE = "0"
    LEADER = "1"
    ALL = "all"


class Flushing(Enum):
    """When a broker flushes its log. A crash spares what is flushed, and of the rest any prefix."""

    NEVER = "never"
    SOMETIMES = "sometimes"
    ALWAYS = "always"


BOUNDS = Bounds(
    release=Choice("4.1", tuple(RELEASES), "Kafka release whose rules hold"),
    replicas=Bound(3, 1, 5, "replicas of the partition, each on a broker of its own"),
    min_insync=Bound(2, 1, 5, "min.insync.replicas"),
    acks=Choice("all", [acks.value for acks in Acks], "acks of the producers"),
    unclean=Choice("off", ("off", "on"), "unclean.leader.election.enable"),
    elr=Choice("release", ("release", "off", "on"), "eligible leader replicas: as new clusters of the release have it"),
    records=Bound(2, 1, 5, "records that producers write in all"),
    lossy_crashes=Bound(1, 0, 4, "crashes of a broker that lose some of what it had not flushed"),
    crashes=Bound(0, 0, 4, "crashes of a broker whose log survives"),
    stops=Bound(0, 0, 4, "clean stops of a broker, which hands over before"),
    fencings=Bound(1, 0, 4, "sessions that expire although the broker runs"),
    shrinks=Bound(1, 0, 4, "times that a leader takes a slow follower out of the ISR"),
    elections=Bound(0, 0, 4, "elections that no failure asks for, such as that of the preferred leader"),
    pauses=Bound(0, 0, 4, "times that a follower's fetcher fails, until its partition is tried again"),
    throttles=Bound(0, 0, 4, "times that a replication quota holds a follower back, until it has room"),
    moves=Bound(0, 0, 4, "moves of a log to another directory of its broker"),
    deletions=Bound(0, 0, 4, "records that a leader deletes at the start of its log"),
    reassignments=Bound(0, 0, 4, "times that an operator changes the replicas of the partition, or takes that back"),
    spares=Bound(0, 0, 4, "brokers that have no replica at first"),
    minimum_changes=Bound(0, 0, 2, "changes of min.insync.replicas, to 1 and back"),
    metadata_lag=Bound(
        2, 0, 5, "changes by which a broker's metadata may be late; 0: all apply a change as it is made"
    ),
    late_replies=Choice("off", ("off", "on"), "whether a fetch's reply may arrive late, after other steps"),
    flushing=Choice("never", [one.value for one in Flushing], "when logs are flushed, which is what a crash spares"),
    defect=Choice(NO_DEFECT, (NO_DEFECT, *DEFECTS), "defect of the catalogue to switch on (insync defects)"),
    fixed=Choice("off", ("off", "on"), "whether the defect is fixed; what its entry says of other rules still holds"),
)


class Settings:
    """What the bounds say, in the words of the rules.

    Attributes:
        rules: the rules of the release, changed as the defect says.
        acks: when a record counts as acknowledged.
        flushing: when logs are flushed.
        late_replies: whether a fetch is two steps.
        elr: whether eligible leader replicas are kept.
        unclean: whether a replica from outside ISR and ELR may be elected.
        needed: how many members the ISR must have for acks=all: min.insync.replicas, but never more than all.
        bumps: the highest leader epoch that the budgets allow.
    """

    def __init__(self, b: BoundValues) -> None:
        def named(bound: str) -> str:
            return BOUNDS[bound].show(b[bound])

        self.rules: Rules = RELEASES[named("release")].rules
        if named("defect") != NO_DEFECT:
            defect = DEFECTS[named("defect")]
            changed = {**defect.base, **({} if named("fixed") == "on" else defect.rules)}
            self.rules = replace(self.rules, **changed)  # type: ignore[arg-type]
        self.acks = Acks(named("acks"))
        self.elr = self.rules.elr_by_default if named("elr") == "release" else named("elr") == "on"
        self.unclean = named("unclean") == "on"
        self.late_replies = named("late_replies") == "on"
        self.flushing = Flushing(named("flushing"))
        self.needed = min(b.min_insync, b.replicas)
        # A failure can end a leadership and begin another when it has passed; what the rules add is one at a time.
        # So can a reassignment.
        failures = b.reassignments + b.lossy_crashes + b.crashes + b.stops + b.fencings
        self.bumps = 2 * failures + b.elections + (0 if self.rules.shrink_keeps_epoch else b.shrinks)

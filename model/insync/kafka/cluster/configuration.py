"""The settings and budgets of the cluster model: release, acks, min.insync.replicas, and how much may go wrong."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from insync.kafka.defects import DEFECTS, NO_DEFECT, Defect
from insync.kafka.defects.named import defect_advice
from insync.kafka.releases import (
    IsrWrite,
    Release,
    Rules,
    fixing_rules,
    release_advice,
    release_of_series,
    require_defect,
)
from insync.model import Bound, Bounds, BoundValues, Setting, Settings, Switch
from insync.runtime.errors import UserError

__all__ = [
    "BOUNDS",
    "BUDGETS",
    "ISR_ASKED_SINCE",
    "OPTION_GROUPS",
    "RARE_OPTIONS",
    "SETTINGS",
    "Acks",
    "Consumer",
    "DefectName",
    "Elr",
    "Fixed",
    "Flushing",
    "Idempotence",
    "OffsetReset",
    "require_a_defect_to_fix",
    "rules_of",
]


ISR_ASKED_SINCE = next(release for release in Release if release.rules.isr_write is IsrWrite.PROPOSED)
"""The first release in which leaders ask for an ISR, from which on there are reassignments in the model."""


class Acks(Enum):
    """When a producer considers a record written."""

    NONE = "0"
    LEADER = "1"
    ALL = "all"


class Idempotence(Enum):
    """Whether producers number what they send, so that a leader takes each record once and in order (KIP-98)."""

    RELEASE = "release"
    """As the release has it where nothing is configured."""
    OFF = "off"
    ON = "on"


class Consumer(Enum):
    """Whether there is a consumer, and whom it reads from."""

    OFF = "off"
    LEADER = "leader"
    FOLLOWER = "follower"


class OffsetReset(Enum):
    """Where a consumer goes on whose position is not in the log any more: auto.offset.reset."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"


class Elr(Enum):
    """Whether the controller keeps eligible leader replicas."""

    RELEASE = "release"
    OFF = "off"
    ON = "on"


class Fixed(Enum):
    """Whether a defect is fixed, and in which protocol."""

    OFF = "off"
    ON = "on"
    """In that of its entry, which has other rules around the defect: what the defect is to be compared with."""
    ALONE = "alone"
    """In the release as it is, which has the defect: nothing else is changed."""


class Flushing(Enum):
    """When a broker flushes its log. A crash spares what is flushed, and of the rest any prefix."""

    NEVER = "never"
    SOMETIMES = "sometimes"
    ALWAYS = "always"


DefectName = Enum("DefectName", {name: name for name in (NO_DEFECT, *DEFECTS)})  # type: ignore[misc]
DefectName.__doc__ = "A defect of the catalogue, or none."

SETTINGS = Settings(
    release=Setting(Release.V4_1, "Kafka release whose rules hold", release_advice, release_of_series),
    acks=Setting(Acks.ALL, "acks of the producers", also={"-1": Acks.ALL}.get),
    idempotence=Setting(
        Idempotence.RELEASE, "enable.idempotence of the producers, as the release has it or as it is set; acks=all only"
    ),
    unclean_leader_election=Setting(Switch.OFF, "unclean.leader.election.enable"),
    elr=Setting(Elr.RELEASE, "eligible leader replicas: as new clusters of the release have it"),
    late_fetch_responses=Setting(Switch.OFF, "whether a fetch's response may arrive late, after other steps"),
    late_alter_partition_responses=Setting(
        Switch.OFF, "whether a leader may learn of an accepted ISR by a response, before the metadata"
    ),
    fetch_sessions=Setting(Switch.OFF, "whether a fetch's response leaves out what its session has told before"),
    races=Setting(Switch.ON, "whether what takes a race inside one method of Kafka may happen"),
    stale_checkpoints=Setting(
        Switch.OFF, "whether a crashed broker may find an older high watermark or log start on disk"
    ),
    consumer=Setting(Consumer.OFF, "whether a consumer reads: from the leader, or from followers too (2.4)"),
    auto_offset_reset=Setting(OffsetReset.LATEST, "auto.offset.reset of the consumer"),
    flush=Setting(Flushing.NEVER, "when logs are flushed, which is what a crash spares"),
    defect=Setting(
        DefectName(NO_DEFECT),
        "defect of the catalogue to switch on (insync defects)",
        defect_advice("cluster", (NO_DEFECT, *DEFECTS)),
    ),
    fixed=Setting(
        Fixed.OFF,
        "whether the defect is fixed: on, and what its entry says of other rules holds; alone, in the release as it is",
    ),
)

BOUNDS = Bounds(
    replicas=Bound(3, 1, 5, "replicas of the partition, each on a broker of its own"),
    min_insync_replicas=Bound(2, 1, 5, "min.insync.replicas"),
    records=Bound(2, 1, 5, "records that producers write in all"),
    retries=Bound(0, 0, 30, "times that a producer sends a record again, as it has no answer"),
    producer_restarts=Bound(0, 0, 2, "times that the producer starts anew while requests of the former one may come"),
    power_failures=Bound(1, 0, 30, "crashes of a broker that lose some of what it had not flushed"),
    crashes=Bound(0, 0, 30, "crashes of a broker whose log survives"),
    controlled_shutdowns=Bound(0, 0, 30, "clean stops of a broker, which hands over before"),
    fencings=Bound(1, 0, 30, "sessions that expire although the broker runs"),
    isr_shrinks=Bound(1, 0, 30, "times that a leader takes a slow follower out of the ISR"),
    preferred_elections=Bound(0, 0, 30, "elections without a failure, such as a preferred-leader election"),
    fetch_failures=Bound(0, 0, 30, "times that a follower's fetcher fails, until its partition is tried again"),
    throttles=Bound(0, 0, 30, "times that a replication quota holds a follower back, until it has room"),
    log_dir_moves=Bound(0, 0, 30, "moves of a log to another directory of its broker"),
    log_dir_failures=Bound(0, 0, 30, "directories with a log that fail as their broker runs, or are gone as it starts"),
    delete_records=Bound(
        0, 0, 30, "records that a leader deletes at the start of its log, and says when all have deleted them"
    ),
    reassignments=Bound(
        0, 0, 30, "times that an operator changes the replicas of the partition, or takes that back (2.7 and later)"
    ),
    replica_order_changes=Bound(0, 0, 30, "times that an operator puts another replica first, so that it is preferred"),
    spares=Bound(0, 0, 4, "brokers that have no replica at first"),
    controller_failovers=Bound(
        0, 0, 2, "controllers that fail; with KRaft (3.3) there is a quorum then, which commits what is decided"
    ),
    lost_fetch_responses=Bound(0, 0, 30, "fetch sessions that are evicted, or end as a response is lost"),
    lost_alter_partition_responses=Bound(
        0, 0, 2, "answers to an AlterPartition that are lost, so that it is sent again"
    ),
    config_changes=Bound(0, 0, 2, "changes of min.insync.replicas, to 1 and back"),
    snapshots=Bound(0, 0, 30, "times that a broker is so late that it gets a snapshot of the metadata (KRaft, 3.3)"),
    partition_zero_replicas=Bound(0, 0, 5, "replicas of the topic's partition 0; 0: this is partition 0"),
    metadata_lag=Bound(
        2, 0, 5, "changes by which a broker's metadata may be late; 0: all apply a change as it is made"
    ),
)


OPTION_GROUPS: Mapping[str, tuple[str, ...]] = {
    "Release": ("release", "defect", "fixed"),
    "Topic and brokers": ("replicas", "spares", "min_insync_replicas", "unclean_leader_election", "elr", "flush"),
    "Clients": ("records", "acks", "retries", "consumer"),
    "What fails": (
        "power_failures",
        "crashes",
        "fencings",
        "isr_shrinks",
        "log_dir_failures",
        "controller_failovers",
    ),
    "What operators do": (
        "controlled_shutdowns",
        "preferred_elections",
        "reassignments",
        "config_changes",
        "log_dir_moves",
        "delete_records",
    ),
    "What comes late": ("late_fetch_responses", "late_alter_partition_responses"),
}
"""Settings and bounds by the title under which help texts have them."""

RARE_OPTIONS = (
    "idempotence",
    "producer_restarts",
    "auto_offset_reset",
    "partition_zero_replicas",
    "replica_order_changes",
    "stale_checkpoints",
    "fetch_failures",
    "throttles",
    "fetch_sessions",
    "lost_fetch_responses",
    "lost_alter_partition_responses",
    "metadata_lag",
    "snapshots",
    "races",
)
"""What entries of the catalogue and long walks need, and hardly anybody else: `--help-all` shows it."""

_SIZES = frozenset({"replicas", "min_insync_replicas", "records", "partition_zero_replicas", "metadata_lag"})
BUDGETS = tuple(name for name in BOUNDS if name not in _SIZES)
"""The bounds that say how often something may happen; the others say how large the cluster is, how late metadata."""


def rules_of(b: BoundValues) -> Rules:
    """Return the rules that hold: those of the release, changed by the defect, and without races if none may be."""
    rules, name = Rules(b.settings.release.rules), b.settings.defect.value
    if name != NO_DEFECT:
        rules = rules.changed(_changed_by(DEFECTS[name], b))
    return rules if b.settings.races else _without_races(rules)


def _changed_by(defect: Defect, b: BoundValues) -> Mapping[str, object]:
    """The rules that an entry of the catalogue changes, or its fix."""
    if b.settings.fixed is Fixed.ALONE:
        return fixing_rules(defect, b.settings.release)
    return {**defect.base, **({} if b.settings.fixed is Fixed.ON else defect.rules)}


def require_a_defect_to_fix(b: BoundValues) -> None:
    """Require that what is to be fixed is there: a defect, and fixed alone one that the release has.

    Raises:
        UserError: it is not.
    """
    name, fixed = b.settings.defect.value, b.settings.fixed
    if fixed is not Fixed.OFF and name == NO_DEFECT:
        message = (
            f"fixed={fixed.value} fixes nothing, as no defect is switched on; give defect=R-13, say, or leave fixed "
            f"out."
        )
        raise UserError(message)
    if fixed is Fixed.ALONE:
        require_defect(DEFECTS[name], b.settings.release)


def _without_races(rules: Rules) -> Rules:
    """The rules with which nothing happens that takes a race inside one method of Kafka.

    A broker registers again only once it is fenced (ClusterControlManager.registerBroker refuses it while its session
    lasts), nobody reads at a follower while it handles a response (AbstractFetcherThread.processFetchRequest), and a
    leader sees a follower as one fetch has left it (Partition.maybeExpandIsr), and a read ends where it began to look
    (FileRecords.slice). Nor does a fetcher get an answer while the next one is made (ReplicaManager.applyDelta).
    """
    return rules.changed(
        {
            "register_needs_fenced": True,
            "watermark_after_truncation": True,
            "join_reads_one_snapshot": True,
            "reads_end_at_watermark": True,
            "fetcher_begins_at_log_end": True,
        }
    )

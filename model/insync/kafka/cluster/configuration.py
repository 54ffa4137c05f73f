"""The settings and budgets of the cluster model: release, acks, min.insync.replicas, and how much may go wrong."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from insync.kafka.defects import DEFECTS, NO_DEFECT
from insync.kafka.fixes import fixing_rules, require_defect
from insync.kafka.releases import Release, release_advice, release_of_series
from insync.kafka.rules import ControllerFence, IsrWrite, Rules
from insync.model import Bound, Bounds, BoundValues, Setting, Settings, Switch
from insync.runtime.errors import UserError

__all__ = [
    "BOUNDS",
    "ISR_ASKED_SINCE",
    "SETTINGS",
    "Acks",
    "Consumer",
    "DefectName",
    "Elr",
    "Fixed",
    "Flushing",
    "Idempotence",
    "OffsetReset",
    "epoch_bumps",
    "has_quorum",
    "has_snapshots",
    "is_idempotent",
    "keeps_elr",
    "require_a_defect_to_fix",
    "rules_of",
    "setting_remarks",
    "without_races",
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
    acks=Setting(Acks.ALL, "acks of the producers"),
    idempotence=Setting(
        Idempotence.RELEASE, "enable.idempotence of the producers, as the release has it or as it is set; acks=all only"
    ),
    unclean=Setting(Switch.OFF, "unclean.leader.election.enable"),
    elr=Setting(Elr.RELEASE, "eligible leader replicas: as new clusters of the release have it"),
    late_replies=Setting(Switch.OFF, "whether a fetch's reply may arrive late, after other steps"),
    isr_replies=Setting(Switch.OFF, "whether a leader may hear of an accepted ISR by a reply, before the metadata"),
    fetch_sessions=Setting(Switch.OFF, "whether a fetch's reply leaves out what its session has told before"),
    races=Setting(Switch.ON, "whether what takes a race inside one method of Kafka may happen"),
    old_checkpoints=Setting(
        Switch.OFF, "whether a crashed broker may find an older high watermark or log start on disk"
    ),
    consumer=Setting(Consumer.OFF, "whether a consumer reads: from the leader, or from followers too (2.4)"),
    offset_reset=Setting(OffsetReset.LATEST, "auto.offset.reset of the consumer"),
    deletion_answers=Setting(Switch.OFF, "whether operators are told when the records that they delete are gone"),
    write_errors=Setting(
        Switch.OFF, "whether it is noted which writes were answered with an error when they were stored"
    ),
    flushing=Setting(Flushing.NEVER, "when logs are flushed, which is what a crash spares"),
    defect=Setting(DefectName(NO_DEFECT), "defect of the catalogue to switch on (insync defects)"),
    fixed=Setting(
        Fixed.OFF,
        "whether the defect is fixed: on, and what its entry says of other rules holds; alone, in the release as it is",
    ),
)

BOUNDS = Bounds(
    replicas=Bound(3, 1, 5, "replicas of the partition, each on a broker of its own"),
    min_insync=Bound(2, 1, 5, "min.insync.replicas"),
    records=Bound(2, 1, 5, "records that producers write in all"),
    retries=Bound(0, 0, 30, "times that a producer sends a record again, as it has no answer"),
    producer_restarts=Bound(0, 0, 2, "times that the producer starts anew while requests of the former one may come"),
    lossy_crashes=Bound(1, 0, 30, "crashes of a broker that lose some of what it had not flushed"),
    crashes=Bound(0, 0, 30, "crashes of a broker whose log survives"),
    stops=Bound(0, 0, 30, "clean stops of a broker, which hands over before"),
    fencings=Bound(1, 0, 30, "sessions that expire although the broker runs"),
    shrinks=Bound(1, 0, 30, "times that a leader takes a slow follower out of the ISR"),
    elections=Bound(0, 0, 30, "elections without a failure, such as a preferred-leader election"),
    pauses=Bound(0, 0, 30, "times that a follower's fetcher fails, until its partition is tried again"),
    throttles=Bound(0, 0, 30, "times that a replication quota holds a follower back, until it has room"),
    moves=Bound(0, 0, 30, "moves of a log to another directory of its broker"),
    directory_losses=Bound(0, 0, 30, "directories with the log that are gone when their broker starts again"),
    directory_failures=Bound(0, 0, 30, "directories with the log that fail while their broker runs"),
    deletions=Bound(0, 0, 30, "records that a leader deletes at the start of its log"),
    reassignments=Bound(0, 0, 30, "times that an operator changes the replicas of the partition, or takes that back"),
    reorderings=Bound(0, 0, 30, "times that an operator puts another replica first, so that it is preferred"),
    spares=Bound(0, 0, 4, "brokers that have no replica at first"),
    controllers=Bound(1, 1, 5, "controllers; more than one are a quorum, which commits what is decided (KRaft, 3.3)"),
    failovers=Bound(0, 0, 2, "controllers that are deposed and do not know it (before 3.3, or with controllers 2 on)"),
    session_losses=Bound(0, 0, 30, "fetch sessions that are evicted, or end as a reply is lost"),
    alter_retries=Bound(0, 0, 2, "answers to an AlterPartition that are lost, so that it is sent again"),
    minimum_changes=Bound(0, 0, 2, "changes of min.insync.replicas, to 1 and back"),
    snapshots=Bound(0, 0, 30, "times that a broker is so late that it gets a snapshot of the metadata (KRaft, 3.3)"),
    partition_zero=Bound(0, 0, 5, "replicas of the topic's partition 0; 0: this is partition 0"),
    metadata_lag=Bound(
        2, 0, 5, "changes by which a broker's metadata may be late; 0: all apply a change as it is made"
    ),
)


def rules_of(b: BoundValues) -> Rules:
    """Return the rules of the release, changed as the defect says."""
    rules: Rules = b.settings.release.rules
    name = b.settings.defect.value
    if name == NO_DEFECT:
        return rules
    defect = DEFECTS[name]
    if b.settings.fixed is Fixed.ALONE:
        changed = fixing_rules(defect, b.settings.release)
    else:
        changed = {**defect.base, **({} if b.settings.fixed is Fixed.ON else defect.rules)}
    return replace(rules, **changed)  # type: ignore[arg-type]


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


def keeps_elr(b: BoundValues) -> bool:
    """Return whether eligible leader replicas are kept."""
    asked: Elr = b.settings.elr
    return rules_of(b).elr_by_default if asked is Elr.RELEASE else asked is Elr.ON


def is_idempotent(b: BoundValues) -> bool:
    """Return whether producers number what they send.

    With another acks than all none do: by default they do without, and where it is set Kafka's producer refuses to
    start. Source: ProducerConfig.postProcessAndValidateIdempotenceConfigs, KIP-679.
    """
    if b.settings.acks is not Acks.ALL or b.settings.release.is_before(Release.V0_11):
        return False
    asked: Idempotence = b.settings.idempotence
    return rules_of(b).idempotent_by_default if asked is Idempotence.RELEASE else asked is Idempotence.ON


def has_quorum(b: BoundValues) -> bool:
    """Return whether a quorum of controllers commits what the active one decides, and brokers hear of it later."""
    return b.controllers > 1 and b.metadata_lag > 0 and not rules_of(b).controller_in_zookeeper


def has_snapshots(b: BoundValues) -> bool:
    """Return whether a broker may catch up by a snapshot of the metadata, and not by the changes that led to it."""
    return b.snapshots > 0 and b.metadata_lag > 0 and not rules_of(b).controller_in_zookeeper


def epoch_bumps(b: BoundValues) -> int:
    """Return the highest leader epoch that the budgets allow.

    A failure can end a leadership and begin another when it has passed, and so can a reassignment; what the rules add
    is one at a time.
    """
    failures = b.reassignments + b.lossy_crashes + b.crashes + b.stops + b.fencings
    rules = rules_of(b)
    failures += b.directory_failures if rules.directories_fail_alone else 0
    may_go_on = rules.controller_in_zookeeper or has_quorum(b)
    deposed = b.failovers if may_go_on and rules.controller_fence is not ControllerFence.EPOCH else 0
    return 2 * failures + b.elections + deposed + (0 if rules.shrink_keeps_epoch else b.shrinks)


def without_races(rules: Rules) -> Rules:
    """Return the rules with which nothing happens that takes a race inside one method of Kafka.

    A broker registers again only once it is fenced (ClusterControlManager.registerBroker refuses it while its session
    lasts), nobody reads at a follower while it handles a reply (AbstractFetcherThread.processFetchRequest), and a
    leader sees a follower as one fetch has left it (Partition.maybeExpandIsr), and a read ends where it began to look
    (FileRecords.slice). Nor does a fetcher get an answer while the next one is made (ReplicaManager.applyDelta).
    """
    return replace(
        rules,
        register_needs_fenced=True,
        watermark_after_truncation=True,
        join_reads_one_snapshot=True,
        reads_end_at_watermark=True,
        fetcher_begins_at_log_end=True,
    )


def setting_remarks(b: BoundValues) -> list[str]:
    """Return a sentence for each setting that does not exist in the release, or means less than it says."""
    rules = rules_of(b)
    release, acks, replicas = b.settings.release.value, b.settings.acks, b.replicas - b.spares
    remarks = []
    if b.settings.release.same_since is not b.settings.release:
        same = b.settings.release.same_since.value
        said = f"Kafka {release} has the rules of {same} as far as this model goes, so the answer is that of {same}."
        remarks.append(f"{said} {b.settings.release.unread}".strip())
    if b.settings.elr is Elr.ON and b.settings.release.is_before(Release.V4_0):
        remarks.append(
            f"Kafka {release} has no eligible leader replicas, which can be used from 4.0 on (KIP-966); the answer is "
            f"for {release} as if it had them."
        )
    if b.settings.unclean and not rules.unclean_is_honoured:
        remarks.append(
            f"Kafka {release} ignores unclean.leader.election.enable in KRaft (KAFKA-12670, 3.9), so the answer is "
            f"that of unclean=off."
        )
    if b.min_insync > replicas and acks is Acks.ALL:
        lesser = f"takes the lesser (KAFKA-15583), so {_plural(replicas, 'copy', 'copies')} at most can be promised"
        refuses = "refuses every write with acks=all then, as nothing caps it before KAFKA-15583 (3.7)"
        remarks.append(
            f"min.insync.replicas {b.min_insync} is more than the {_plural(replicas, 'replica')}: Kafka {release} "
            f"{lesser if rules.minimum_is_capped else refuses}."
        )
    if b.partition_zero and not keeps_elr(b):
        remarks.append("partition_zero is looked at only where eligible leader replicas are kept.")
    if acks is Acks.NONE:
        remarks.append("With acks=0 nothing is promised of acknowledged records, as no record is acknowledged.")
    if acks is Acks.NONE and b.retries:
        remarks.append("With acks=0 a producer awaits no answer and sends nothing again, so retries do nothing.")
    if acks is not Acks.ALL and b.min_insync != BOUNDS["min_insync"].default:
        remarks.append(f"min.insync.replicas says nothing about records written with acks={acks.value}.")
    if b.settings.isr_replies and rules.register_needs_fenced:
        remarks.append(
            f"A reply and metadata that both tell of an ISR come with KRaft; with {release} there is one alone."
        )
    remarks += _idempotence_remarks(b)
    remarks += _quorum_remarks(b)
    if b.failovers and rules.controller_in_zookeeper and b.metadata_lag < 2:
        remarks.append("A deposed controller is heard only with metadata_lag 2 or more.")
    if b.alter_retries and rules.isr_write is IsrWrite.DIRECT:
        remarks.append(
            f"In Kafka {release} leaders write the ISR to ZooKeeper; alter_retries begin with {ISR_ASKED_SINCE.value} "
            f"(KIP-497)."
        )
    if b.minimum_changes and b.min_insync == 1:
        remarks.append("min.insync.replicas is 1, so minimum_changes, to 1 and back, change nothing.")
    if b.settings.deletion_answers and not b.deletions:
        remarks.append("deletion_answers are looked at only with deletions.")
    if b.settings.write_errors and acks is not Acks.ALL:
        remarks.append("write_errors are those of acks=all.")
    if b.settings.fetch_sessions and not rules.fetches_in_sessions:
        remarks.append(f"Kafka {release} has no fetch sessions, which came with 1.1 (KIP-227).")
    if b.session_losses and not b.settings.fetch_sessions:
        remarks.append("session_losses is looked at only with fetch_sessions=on.")
    if b.producer_restarts and not b.retries:
        remarks.append("producer_restarts is looked at only with retries, as nothing comes late without them.")
    remarks += _snapshot_remarks(b)
    if b.directory_failures and not rules.directories_fail_alone:
        remarks.append(f"With Kafka {release} a broker ends when a directory fails, so no directory fails alone.")
    if b.settings.consumer is Consumer.FOLLOWER and not rules.followers_are_read:
        remarks.append(f"Consumers of Kafka {release} read from the leader alone; from followers since 2.4 (KIP-392).")
    if b.settings.consumer is Consumer.OFF and b.settings.offset_reset is not OffsetReset.LATEST:
        remarks.append("offset_reset is looked at only with consumer=leader or follower.")
    if rules.isr_write is IsrWrite.DIRECT and b.reassignments:
        since = ISR_ASKED_SINCE.value
        remarks.append(f"Reassignments are modelled from {since} on; with {release} none happens.")
    if rules.isr_write is IsrWrite.DIRECT and b.reorderings:
        since = ISR_ASKED_SINCE.value
        remarks.append(f"Another order of replicas is modelled from {since} on; with {release} it stays as it is.")
    return remarks


def _idempotence_remarks(b: BoundValues) -> list[str]:
    release, acks, asked = b.settings.release, b.settings.acks, b.settings.idempotence
    if asked is Idempotence.RELEASE:
        return []
    if not b.retries:
        return ["idempotence is looked at only with retries, as nothing is sent again without them."]
    if asked is Idempotence.ON and acks is not Acks.ALL:
        refused = "Kafka's producer refuses idempotence unless acks is all (ConfigException)"
        return [f"{refused}; the answer for acks={acks.value} is that of idempotence=off."]
    if asked is Idempotence.ON and release.is_before(Release.V0_11):
        since = Release.V0_11.value
        return [f"Producers of Kafka {release.value} are not idempotent, which came with {since} (KIP-98)."]
    return []


def _quorum_remarks(b: BoundValues) -> list[str]:
    release, in_zookeeper = b.settings.release.value, rules_of(b).controller_in_zookeeper
    if b.controllers == 1:
        one = f"The controller of Kafka {release} is a KRaft quorum, and one that stands alone never fails"
        return [f"{one}: give controllers 3 with failovers."] if b.failovers and not in_zookeeper else []
    if in_zookeeper:
        return [f"Kafka {release} keeps its metadata in ZooKeeper; controllers are a quorum with KRaft, from 3.3 on."]
    if not b.metadata_lag:
        return ["With metadata_lag 0 brokers hear of a change as it is made, so nothing waits for the quorum."]
    return [] if b.failovers else ["No controller of the quorum fails with failovers 0."]


def _snapshot_remarks(b: BoundValues) -> list[str]:
    if not b.snapshots:
        return []
    release, rules = b.settings.release.value, rules_of(b)
    if rules.controller_in_zookeeper:
        return [f"Kafka {release} keeps its metadata in ZooKeeper; brokers load snapshots with KRaft, from 3.3 on."]
    if not b.metadata_lag:
        return ["With metadata_lag 0 no broker is late, so none loads a snapshot."]
    assigned = b.moves or b.directory_losses or (b.directory_failures and b.reassignments)
    directories = (
        "snapshots are looked at only without moves and directory_losses, and without directory_failures beside "
        "reassignments: what a snapshot tells of directories is not modelled."
    )
    return [directories] if assigned and rules.controller_knows_directories else []


def _plural(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"

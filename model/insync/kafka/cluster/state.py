"""The state of the cluster model: controller, metadata on its way, brokers with their logs, and what clients know.

Numbers that only ever grow are kept out of the state where their differences say enough. A partition epoch is a place
in `registrations`, the controller's latest decisions: place 0 is the newest, and a broker's `image_lag` is the place of
the one that it has applied. A broker epoch is one bit wherever it is kept: whether it is still that of the broker's
present incarnation. docs/guide/cluster-state.md says of every field what was left out.
"""

from __future__ import annotations

from insync.kafka.cluster import typed_state as field
from insync.kafka.cluster.broker_state import BrokerState
from insync.kafka.cluster.features import When, always
from insync.kafka.cluster.indices import LeaderEpoch, RecordNumber, epoch_bumps
from insync.kafka.replica import Replica
from insync.kafka.typed_state import Field
from insync.model import Int, Num

__all__ = [
    "AlterPartition",
    "ClusterState",
    "ConsumerState",
    "ControllerState",
    "PartitionRegistration",
    "QuorumState",
    "Spent",
]


class AlterPartition:
    """A request for an ISR."""

    isr = field.brokers("the ISR proposed, empty if there is no request")
    broker_epochs_are_current = field.flag("whether the incarnations of which it speaks are the present ones")


class ControllerState:
    """What a controller knows by what it has decided, beside the registrations of the partition."""

    fenced = field.brokers("who may not lead or join")
    elr = field.brokers("the eligible leader replicas", on=lambda f: f.elr)
    last_known_leader = field.optional("the last known leader", lambda _: Replica, on=lambda f: f.elr)
    minimum_is_one = field.flag("whether min.insync.replicas is set to 1", on=lambda f: f.changes_minimum)
    stale_controller = field.flag(
        "there is a controller that was deposed and goes on", on=lambda f: f.stale_controller_may_write
    )
    stale_controller_fenced = field.brokers(
        "whom the stale controller takes for dead", on=lambda f: f.stale_controller_may_write
    )
    stale_controller_isr = field.brokers(
        "the ISR that the stale controller has read", on=lambda f: f.stale_controller_writes_blindly
    )
    offline_replicas = field.brokers(
        "replicas in a directory of which it has learned that it has failed, or is not there",
        on=lambda f: f.notes_offline,
    )
    adding = field.brokers("replicas that a reassignment adds, which are replicas already", on=lambda f: f.reassigns)
    removing = field.brokers("replicas that a reassignment removes, which still are replicas", on=lambda f: f.reassigns)
    places = field.numbers(
        "the place of each broker in the order of replicas; those without a replica come last",
        lambda _: Replica,
        lambda b: Int(0, b.replicas - 1),
        on=lambda f: f.can_reorder,
    )


class QuorumState:
    """The quorum of controllers: what is committed, and what holds as far as that."""

    inactive = field.flag("no controller is active")
    uncommitted = field.number(
        "how many of the newest registrations are not committed", lambda b: Int(0, b.metadata_lag)
    )
    controller = field.part("what a controller knows as far as is committed", ControllerState)
    alter_partition = field.part("the request for an ISR that counts again if the rest is lost", AlterPartition)
    alter_partition_retry = field.part("the one that comes again then", AlterPartition, on=lambda f: f.asks_again)
    unwatched = field.brokers("whose sessions nobody watches", on=lambda f: f.forgets_sessions)
    reassigned_under_min_isr = field.flag("`reassigned_under_min_isr` as far as is committed", on=lambda f: f.reassigns)


class PartitionRegistration:
    """What the controller has decided of the partition: PartitionRegistration."""

    leader = field.optional("who leads", lambda _: Replica)
    epoch = field.epoch("the leader epoch")
    isr = field.brokers("the ISR")
    minimum_is_one = field.flag("whether min.insync.replicas is set to 1", on=lambda f: f.changes_minimum)
    configuration = field.flag(
        "it is configuration alone, and leaves the partition and its epoch as they were", on=lambda f: f.configures
    )
    is_response = field.flag(
        "its leader has asked for it, and receives it in a response as well", on=lambda f: f.notes_responses
    )
    replicas = field.brokers("the replicas", on=lambda f: f.reassigns)
    listed = field.brokers("replicas whose directories it lists again", on=lambda f: f.leaves_unassigned)
    by_stale_controller = field.flag(
        "it was made by a stale controller, of which the present one has nothing",
        on=lambda f: f.stale_controller_may_write,
    )
    lost = field.flag(
        "it was lost before it was committed, and nobody learns of it who has not yet",
        on=lambda f: f.applies_uncommitted,
    )


class ConsumerState:
    """A consumer."""

    position = field.offset("where it reads on")
    begin = field.offset("from where on it has read without a reset")
    got = field.numbers("what it got from there to its position", lambda b: b.records, lambda _: RecordNumber)
    last_epoch = field.number("the epoch of the last of that, -1 for none", lambda b: Int(-1, epoch_bumps(b)))
    leader_epoch = field.epoch("the leader epoch in which it is", on=lambda f: f.validates_positions)
    misled = field.flag("it has read on in a log that has other records where it has read before")


def _budget(on: When = always) -> Field[Num, Num | int]:
    """How much is used of the budget of the same name."""
    made: Field[Num, Num | int] = Field("what is used of it", lambda b, _: Int(0, b[made.name]), on)
    return made


class Spent:
    """What is used of the budgets, each by the name of its budget."""

    retries = _budget()
    producer_restarts = _budget(on=lambda f: f.restarts_producer)
    power_failures = _budget()
    crashes = field.number("crashes of either kind", lambda b: Int(0, b.power_failures + b.crashes))
    controlled_shutdowns = _budget()
    fencings = _budget()
    isr_shrinks = _budget()
    preferred_elections = _budget()
    lost_alter_partition_responses = _budget(on=lambda f: f.asks_again)
    config_changes = _budget()
    reassignments = _budget()
    replica_order_changes = _budget(on=lambda f: f.can_reorder)
    fetch_failures = _budget()
    throttles = _budget()
    log_dir_moves = _budget()
    log_dir_losses = field.number("failed directories that are gone for good", lambda b: Int(0, b.log_dir_failures))
    log_dir_failures = field.number(
        "failed directories that may work again", lambda b: Int(0, b.log_dir_failures), on=lambda f: f.directories_fail
    )
    delete_records = _budget()
    controller_failovers = _budget(on=lambda f: f.counts_failovers)
    lost_fetch_responses = _budget(on=lambda f: f.sessions)
    snapshots = _budget(on=lambda f: f.loads_snapshots)


class ClusterState:
    """One partition of a cluster: controller, metadata, brokers, and what clients were told."""

    controller = field.part("what the active controller knows", ControllerState)
    quorum = field.part("the quorum of controllers", QuorumState, on=lambda f: f.quorum_decides)
    registrations = field.parts(
        "the controller's latest registrations, the newest at place 0",
        lambda b: b.metadata_lag + 1,
        PartitionRegistration,
    )
    alter_partition = field.part("the request for an ISR on its way that is not too late", AlterPartition)
    alter_partition_retry = field.part(
        "the request that was accepted, and will come again, as its answer was lost",
        AlterPartition,
        on=lambda f: f.asks_again,
    )
    broker = field.parts("the brokers", lambda _: Replica, BrokerState)
    written = field.number("how many records were written", lambda b: Int(0, b.records))
    epoch_of = field.numbers(
        "the leader epoch in which a record was written", lambda _: RecordNumber, lambda _: LeaderEpoch
    )
    sent = field.numbers(
        "which record it is that was sent, where it may be one that was sent before",
        lambda _: RecordNumber,
        lambda _: RecordNumber,
        on=lambda f: f.sends_again,
    )
    producer_epoch = field.numbers(
        "in which epoch of its producer it was sent",
        lambda _: RecordNumber,
        lambda b: Int(0, b.producer_restarts),
        on=lambda f: f.restarts_producer,
    )
    acked = field.record_numbers("the records that were acknowledged")
    deleted = field.record_numbers("the records that were deleted", on=lambda f: f.deletes)
    deleted_below = field.number(
        "below this offset all records are gone, as an operator was told",
        lambda b: Int(0, b.records),
        on=lambda f: f.deletes,
    )
    undone = field.flag("a live replica had one of them then", on=lambda f: f.deletes)
    acked_under_min_isr = field.flag("a record was acknowledged on too few replicas")
    reassigned_under_min_isr = field.flag("a reassignment has ended with too few in the ISR", on=lambda f: f.reassigns)
    seen = field.optional_numbers(
        "the record first seen at each offset below a leader's high watermark",
        lambda b: b.records,
        lambda _: RecordNumber,
    )
    consumer = field.part("a consumer", ConsumerState, on=lambda f: f.consumes)
    spent = field.part("what is used of the budgets", Spent)

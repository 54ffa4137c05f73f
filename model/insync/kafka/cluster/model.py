"""The model `cluster`: one partition of a Kafka cluster, with crashes, fencing, settings and releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import ClassVar

from insync.kafka.cluster.broker.alter_partition_manager import AlterPartitionManager
from insync.kafka.cluster.broker.delete_records import DeleteRecords
from insync.kafka.cluster.broker.fetch_response import FetchResponses
from insync.kafka.cluster.broker.fetch_session import FetchSessions
from insync.kafka.cluster.broker.fetcher_thread import FetcherThread
from insync.kafka.cluster.broker.high_watermark import HighWatermark
from insync.kafka.cluster.broker.leader_epoch_requests import LeaderEpochRequests
from insync.kafka.cluster.broker.lifecycle import BrokerLifecycle
from insync.kafka.cluster.broker.log_dirs import DirectoryAssignments, LogDirs
from insync.kafka.cluster.broker.metadata_publisher import MetadataPublisher
from insync.kafka.cluster.broker.metadata_snapshots import MetadataSnapshots
from insync.kafka.cluster.broker.partition import Partition
from insync.kafka.cluster.broker.stale_fetcher import StaleFetcher
from insync.kafka.cluster.broker.unified_log import UnifiedLog
from insync.kafka.cluster.clients.consumer import Consumer
from insync.kafka.cluster.clients.group_coordinator import GroupCoordinator
from insync.kafka.cluster.clients.producer import Producer
from insync.kafka.cluster.configuration import (
    BOUNDS,
    OPTION_GROUPS,
    RARE_OPTIONS,
    SETTINGS,
    Acks,
    Flushing,
    OffsetReset,
    require_a_defect_to_fix,
    rules_of,
)
from insync.kafka.cluster.controller.cluster_control import ClusterControl
from insync.kafka.cluster.controller.metadata_log import MetadataLog
from insync.kafka.cluster.controller.partition_change_builder import PartitionChangeBuilder
from insync.kafka.cluster.controller.quorum_controller import QuorumController
from insync.kafka.cluster.controller.reassignment import Reassignment
from insync.kafka.cluster.controller.replica_order import ReplicaOrder
from insync.kafka.cluster.controller.replication_control import ReplicationControl
from insync.kafka.cluster.controller.single_controller import SingleController
from insync.kafka.cluster.controller.topic_config import TopicConfig
from insync.kafka.cluster.controller.unassigned_replicas import UnassignedReplicas
from insync.kafka.cluster.controller.unclean_recovery import UncleanRecovery
from insync.kafka.cluster.controller.zookeeper_controller import ZooKeeperController
from insync.kafka.cluster.demands import demands_of
from insync.kafka.cluster.drawing import draw_step
from insync.kafka.cluster.features import Features
from insync.kafka.cluster.former_names import FORMER_NAMES
from insync.kafka.cluster.grid import CUT_BELOW_WATERMARK, LEGEND, cluster_grid, cut_below_watermark
from insync.kafka.cluster.guard_words import condition_in_words
from insync.kafka.cluster.metadata_image import MetadataImage
from insync.kafka.cluster.presets import PRESETS
from insync.kafka.cluster.remarks import setting_remarks
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import CLIENTS, CONTROLLER
from insync.kafka.replica import Replica
from insync.kafka.typed_state import layout
from insync.model import (
    BoundValues,
    Demand,
    Drawn,
    GridCell,
    Model,
    ReadableState,
    State,
    Taken,
    UserError,
    maximum,
    part,
    set_of,
)

__all__ = ["Cluster"]


def _controller_of(cluster: Cluster) -> type[SingleController | QuorumController]:
    return QuorumController if cluster.features.quorum_decides else SingleController


class Cluster(Model[ClusterState]):
    """One partition of a cluster of a given release: brokers that crash and return, a controller, producers.

    It is put together of parts, each in a module with the Kafka classes that it stands for. A part reaches another
    by its name here.
    """

    name = "cluster"
    bounds = BOUNDS
    settings = SETTINGS
    presets = PRESETS
    option_groups = OPTION_GROUPS
    rare_options = RARE_OPTIONS
    former_names = FORMER_NAMES
    headline = (
        "no_acknowledged_record_is_lost",
        "electable_replicas_are_complete",
        "no_divergence",
        "reads_repeat",
    )
    legend: ClassVar[Mapping[str, str]] = LEGEND
    # By the numbers of the steps, which decide which of several least states a trace shows.
    action_order: ClassVar[tuple[str, ...]] = (
        "fence", "fence_two", "unfence", "elect", "accept_alter_partition", "reject_alter_partition", "reassign",
        "cancel_reassignment", "expand_isr", "shrink_isr", "shrink_isr_by_several", "check_follower_in_sync",
        "receive_alter_partition_response", "apply_repeated_metadata", "apply_known_configuration", "receive",
        "receive_rewritten", "fetch", "pause_fetching", "resume_fetching", "throttle", "unthrottle", "ask_epoch_end",
        "apply_metadata", "flush", "crash", "find_older_checkpoint", "begin_stop", "stop", "register", "start_move",
        "copy_record", "cancel_move", "lose_directory", "swap_log", "write", "delete_record", "change_minimum",
        "send_again", "acknowledge_again", "restart_producer", "evict_session", "lose_fetch_response", "fail_over",
        "hear_of_controller", "elect_as_stale_controller", "consume", "validate_position", "reset_position",
        "fail_directory", "report_directory", "repair_directory", "name_directory", "accept_copy", "hear_directory",
        "lose_alter_partition_response", "repeat_alter_partition", "find_older_start", "commit_decisions",
        "lose_leadership", "become_active", "reject_as_stale_controller", "reorder", "consume_beyond",
        "stop_former_fetcher", "fetch_again", "fail_copy_directory", "register_again", "load_snapshot",
    )  # fmt: skip
    tells_apart: ClassVar[str] = (
        "the first replica leads first, and of those that can be elected the first in the order of the assignment is, "
        "so no two replicas can be swapped"
    )
    image = part(MetadataImage)
    log = part(UnifiedLog)
    fetcher = part(FetcherThread)
    epoch_requests = part(LeaderEpochRequests)
    responses = part(FetchResponses)
    sessions = part(FetchSessions)
    stale_fetcher = part(StaleFetcher)
    partition = part(Partition)
    high_watermark = part(HighWatermark)
    alter_partition = part(AlterPartitionManager)
    publisher = part(MetadataPublisher)
    snapshots = part(MetadataSnapshots)
    lifecycle = part(BrokerLifecycle)
    log_dirs = part(LogDirs)
    deletions = part(DeleteRecords)
    metadata_log = part(MetadataLog)
    reassignment = part(Reassignment)
    replica_order = part(ReplicaOrder)
    topic_config = part(TopicConfig)
    builder = part(PartitionChangeBuilder)
    recovery = part(UncleanRecovery)
    replication_control = part(ReplicationControl)
    cluster_control = part(ClusterControl)
    quorum: SingleController | QuorumController = part(SingleController, QuorumController, which=_controller_of)
    zookeeper = part(ZooKeeperController)
    assignments = part(DirectoryAssignments)
    unassigned = part(UnassignedReplicas)
    producer = part(Producer)
    consumer = part(Consumer)
    coordinator = part(GroupCoordinator)

    def __init__(self, **chosen: int | str | Enum) -> None:
        super().__init__(**chosen)
        if self.b.spares >= self.b.replicas:
            message = f"spares {self.b.spares} is too many: one of the {self.b.replicas} brokers must have a replica."
            raise UserError(message)
        require_a_defect_to_fix(self.b)
        self.in_force = rules_of(self.b)
        self.rules, self.fixes, self.guards = self.in_force.release, self.in_force.fixes, self.in_force.guards
        self.features = Features(self.b, self.in_force)
        self.acks: Acks = self.b.settings.acks
        self.flushing: Flushing = self.b.settings.flush
        self.auto_offset_reset: OffsetReset = self.b.settings.auto_offset_reset
        self.needed = min(self.b.min_insync_replicas, self.b.replicas)
        """How many members the ISR must have for acks=all: min.insync.replicas, but never more than all."""

    def declare(self, b: BoundValues) -> State:
        """Lay out the state as `ClusterState` has it, without what is not in force."""
        return State(**layout(ClusterState, b, self.features))

    def initial(self, s: ClusterState) -> None:
        """Start with b1 leading in epoch 0, all brokers running; all but the spares have an empty log, in the ISR."""
        s.registrations[0].leader = 0
        assigned = self.all(Replica)[: self.b.replicas - self.b.spares]
        s.registrations[0].isr = set_of(assigned)
        s.registrations[0].replicas = set_of(assigned)
        for replica in self.all(Replica):
            s.broker[replica].running = True
            s.broker[replica].latest_epoch = -1
            if self.features.can_reorder:
                s.controller.places[replica] = int(replica)
        if self.features.consumes:
            s.consumer.last_epoch = -1
        if self.rules.cache_epoch_on_election:
            s.broker[0].latest_epoch = 0

    def remarks(self) -> list[str]:
        """Say where a setting does not exist in the release, or means less than it says."""
        return setting_remarks(self.b)

    def condition_in_words(self, condition: str) -> str:
        """Say a condition of a step as an operator would."""
        return condition_in_words(condition)

    def demands(self, steps: Sequence[Taken]) -> list[Demand]:
        """Say what must be done, fail, be late or race for these steps to come about."""
        return demands_of(type(self), self.rules, steps)

    def abstraction(self, s: ClusterState) -> Mapping[str, object]:
        """Leader, ISR and ELR as the controller has them, who runs, who believes that it leads, and who lags how far.

        The lag is that behind the longest log.
        """
        replicas, newest = self.all(Replica), s.registrations[0]
        longest = maximum(*(s.broker[r].leo for r in replicas))
        return {
            "leader": newest.leader,
            "ISR": newest.isr,
            "ELR": s.controller.elr,
            "runs": [s.broker[r].running for r in replicas],
            "leads": [self.image.leads(s, r) for r in replicas],
            "image_lag": [longest - s.broker[r].leo for r in replicas],
        }

    def grid(self, state: ReadableState) -> dict[str, GridCell]:
        """One column per broker, one for the controller, one for what clients know."""
        return cluster_grid(state)

    def lifelines(self) -> tuple[str, ...]:
        """Clients, brokers, and the controller."""
        return CLIENTS, *map(str, self.all(Replica)), CONTROLLER

    def step_drawing(self, steps: Sequence[Taken], label: str) -> tuple[Drawn, ...]:
        """Requests and responses as arrows, what fails and what is decided as marks."""
        return draw_step(type(self), steps, label)

    def step_marks(self, before: ReadableState, after: ReadableState) -> Mapping[str, str]:
        """Mark the brokers that cut their logs below their high watermark."""
        return dict.fromkeys(cut_below_watermark(before, after), CUT_BELOW_WATERMARK)

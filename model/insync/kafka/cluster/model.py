"""The model `cluster`: one partition of a Kafka cluster, with crashes, fencing, settings and releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import ClassVar

from insync.kafka.cluster.assigned_directories import AssignedDirectories
from insync.kafka.cluster.assignment import Assignment
from insync.kafka.cluster.beliefs import Beliefs
from insync.kafka.cluster.broker import Broker
from insync.kafka.cluster.client import Client
from insync.kafka.cluster.cluster_drawing import CLIENTS, CONTROLLER, draw_step
from insync.kafka.cluster.configuration import (
    BOUNDS,
    SETTINGS,
    Acks,
    Flushing,
    OffsetReset,
    require_a_defect_to_fix,
    rules_of,
)
from insync.kafka.cluster.consumer import Reader
from insync.kafka.cluster.controller import Controller
from insync.kafka.cluster.controller_quorum import ControllerQuorum
from insync.kafka.cluster.coordinators import Coordinators
from insync.kafka.cluster.copy_directories import CopyDirectories
from insync.kafka.cluster.deletions import Deletions
from insync.kafka.cluster.demands import demands_of
from insync.kafka.cluster.directories import Directories
from insync.kafka.cluster.failed_directories import FailedDirectories
from insync.kafka.cluster.failover import FailOver
from insync.kafka.cluster.features import Features
from insync.kafka.cluster.fetchers import Fetchers
from insync.kafka.cluster.follower import Follower
from insync.kafka.cluster.grid import CUT_BELOW_WATERMARK, LEGEND, cluster_grid, cut_below_watermark
from insync.kafka.cluster.guard_words import condition_in_words
from insync.kafka.cluster.isr_replies import IsrReplies
from insync.kafka.cluster.isr_retries import IsrRetries
from insync.kafka.cluster.leader import Leader
from insync.kafka.cluster.log import Logs
from insync.kafka.cluster.metadata import Metadata
from insync.kafka.cluster.producers import Producers
from insync.kafka.cluster.racing_reads import RacingReads
from insync.kafka.cluster.reassignment import Reassignment
from insync.kafka.cluster.registrations import Registrations
from insync.kafka.cluster.remarks import setting_remarks
from insync.kafka.cluster.replica_order import ReplicaOrder
from insync.kafka.cluster.replies import Replies
from insync.kafka.cluster.sessions import FetchSessions
from insync.kafka.cluster.snapshots import Snapshots
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.typed_state import layout
from insync.kafka.cluster.unassigned_replicas import UnassignedReplicas
from insync.kafka.replica import Replica
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
    set_of,
)

__all__ = ["Cluster"]


class Cluster(
    Snapshots,
    Registrations,
    CopyDirectories,
    Fetchers,
    RacingReads,
    Coordinators,
    ReplicaOrder,
    ControllerQuorum,
    Deletions,
    IsrRetries,
    AssignedDirectories,
    UnassignedReplicas,
    FailedDirectories,
    Reader,
    FailOver,
    FetchSessions,
    Producers,
    Client,
    Directories,
    Broker,
    Follower,
    Replies,
    IsrReplies,
    Leader,
    Reassignment,
    Controller,
    Assignment,
    Metadata,
    Logs,
    Beliefs,
    Model[ClusterState],
):
    """One partition of a cluster of a given release: brokers that crash and return, a controller, producers.

    It is put together of those who act, one in each module; none of them builds on another. Their actions are numbered
    from the last of them to the first.
    """

    name = "cluster"
    bounds = BOUNDS
    settings = SETTINGS
    headline = (
        "no_acknowledged_record_is_lost",
        "electable_replicas_are_complete",
        "no_divergence",
        "reads_repeat",
    )
    legend: ClassVar[Mapping[str, str]] = LEGEND
    tells_apart: ClassVar[str] = (
        "the first replica leads first, and of those that can be elected the first in the order of the assignment is, "
        "so no two replicas can be swapped"
    )

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
        self.flushing: Flushing = self.b.settings.flushing
        self.offset_reset: OffsetReset = self.b.settings.offset_reset
        self.needed = min(self.b.min_insync, self.b.replicas)
        """How many members the ISR must have for acks=all: min.insync.replicas, but never more than all."""

    def declare(self, b: BoundValues) -> State:
        """Lay out the state as `ClusterState` has it, without what is not in force."""
        return State(**layout(ClusterState, b, self.features))

    def initial(self, s: ClusterState) -> None:
        """Start with b1 leading in epoch 0, all brokers running; all but the spares have an empty log, in the ISR."""
        s.changes[0].leader = 0
        assigned = self.all(Replica)[: self.b.replicas - self.b.spares]
        s.changes[0].isr = set_of(assigned)
        s.changes[0].replicas = set_of(assigned)
        for replica in self.all(Replica):
            s.broker[replica].running = True
            s.broker[replica].term = -1
            if self.features.can_reorder:
                s.controller.places[replica] = int(replica)
        if self.features.consumes:
            s.consumer.last_epoch = -1
        if self.rules.cache_epoch_on_election:
            s.broker[0].term = 0

    def remarks(self) -> list[str]:
        """Say where a setting does not exist in the release, or means less than it says."""
        return setting_remarks(self.b)

    def condition_in_words(self, condition: str) -> str:
        """Say a condition of a step as an operator would."""
        return condition_in_words(condition)

    def demands(self, steps: Sequence[Taken]) -> list[Demand]:
        """Say what must be done, fail, be late or race for these steps to come about."""
        return demands_of(self.rules, steps)

    def abstraction(self, s: ClusterState) -> Mapping[str, object]:
        """Leader, ISR and ELR as the controller has them, who runs, who believes that it leads, and who lags how far.

        The lag is that behind the longest log.
        """
        replicas, newest = self.all(Replica), s.changes[0]
        longest = maximum(*(s.broker[r].leo for r in replicas))
        return {
            "leader": newest.leader,
            "ISR": newest.isr,
            "ELR": s.controller.elr,
            "runs": [s.broker[r].running for r in replicas],
            "leads": [self.leads(s, r) for r in replicas],
            "lag": [longest - s.broker[r].leo for r in replicas],
        }

    def grid(self, state: ReadableState) -> dict[str, GridCell]:
        """One column per broker, one for the controller, one for what clients know."""
        return cluster_grid(state)

    def lifelines(self) -> tuple[str, ...]:
        """Clients, brokers, and the controller."""
        return CLIENTS, *map(str, self.all(Replica)), CONTROLLER

    def step_drawing(self, steps: Sequence[Taken], label: str) -> tuple[Drawn, ...]:
        """Requests and replies as arrows, what fails and what is decided as marks."""
        return draw_step(steps, label)

    def step_marks(self, before: ReadableState, after: ReadableState) -> Mapping[str, str]:
        """Mark the brokers that cut their logs below their high watermark."""
        return dict.fromkeys(cut_below_watermark(before, after), CUT_BELOW_WATERMARK)

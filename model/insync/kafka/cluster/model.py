"""The model `cluster`: one partition of a Kafka cluster, with crashes, fencing, settings and releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from insync.kafka.cluster.assigned_directories import AssignedDirectories
from insync.kafka.cluster.assignment import Assignment
from insync.kafka.cluster.beliefs import Beliefs
from insync.kafka.cluster.broker import Broker
from insync.kafka.cluster.client import Client
from insync.kafka.cluster.cluster_drawing import CLIENTS, CONTROLLER, draw_step
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
from insync.kafka.cluster.unassigned_replicas import UnassignedReplicas
from insync.kafka.replica import Replica
from insync.model import Demand, Drawn, GridCell, ReadableState, StateView, Taken, maximum

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
    ClusterState,
):
    """One partition of a cluster of a given release: brokers that crash and return, a controller, producers.

    It is put together of those who act, one in each module; none of them builds on another. Their actions are numbered
    from the last of them to the first.
    """

    name = "cluster"
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

    def remarks(self) -> list[str]:
        """Say where a setting does not exist in the release, or means less than it says."""
        return setting_remarks(self.b)

    def condition_in_words(self, condition: str) -> str:
        """Say a condition of a step as an operator would."""
        return condition_in_words(condition)

    def demands(self, steps: Sequence[Taken]) -> list[Demand]:
        """Say what must be done, fail, be late or race for these steps to come about."""
        return demands_of(self.rules, steps)

    def abstraction(self, s: StateView) -> Mapping[str, object]:
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

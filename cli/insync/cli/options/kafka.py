"""The options of the commands that run Kafka: which release or distribution, and a cluster of it on which ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync.cli.completion import complete_from
from insync.cli.options.task import Decorator, GivenPath, Option, gathered, option

if TYPE_CHECKING:
    from insync.conformance.jars.jar_set import JarSet
    from insync.conformance.live.live_cluster import LiveCluster
    from insync.conformance.live.live_quorum import LiveQuorum
    from insync.conformance.live.nodes.controller_files import QuorumPlan
    from insync.conformance.live.nodes.node_files import ClusterPlan

__all__ = ["ClusterChoice", "KafkaChoice", "cluster_options", "kafka_options", "known_releases"]


@dataclass(frozen=True, slots=True)
class KafkaChoice:
    """Which Kafka the user wants.

    Attributes:
        kafka: the release.
        libs: the jars of a distribution, in place of it.
    """

    kafka: str | None
    libs: Path | None

    def jars(self) -> JarSet:
        """Return the jars.

        Raises:
            click.UsageError: both or neither are given.
            UserError: they are not there.
        """
        if self.kafka is not None and self.libs is not None:
            message = "--kafka names a release and --libs a folder, and one Kafka is meant: leave one of them out."
            raise click.UsageError(message)
        if self.kafka is None and self.libs is None:
            message = "Give --kafka VERSION, a release of `insync kafka versions`, or --libs DIR of a distribution."
            raise click.UsageError(message)
        from insync.conformance.jars.distribution import distribution_jars

        return self._fetched(self.kafka) if self.kafka is not None else distribution_jars(self.libs or Path())

    def _fetched(self, version: str) -> JarSet:
        from insync.conformance.jars.pinned import pinned
        from insync.conformance.jars.store import stored_jars

        return stored_jars(pinned(version))


@dataclass(frozen=True, slots=True)
class ClusterChoice(KafkaChoice):
    """Which cluster the user wants.

    Attributes:
        port: the first port; None for any.
    """

    port: int | None = None

    def _fetched(self, version: str) -> JarSet:
        from insync.conformance.jars.store import stored_for_cluster

        return stored_for_cluster(version)

    def start(self, jars: JarSet, plan: ClusterPlan, options: Sequence[str] = ()) -> LiveCluster:
        """Return a cluster that is starting."""
        from insync.conformance.live.live_cluster import LiveCluster

        return LiveCluster(jars, plan, self.port, options)

    def quorum(self, jars: JarSet, plan: QuorumPlan) -> LiveQuorum:
        """Return a quorum of controllers, which are not started."""
        from insync.conformance.live.live_quorum import LiveQuorum

        return LiveQuorum(jars, plan, self.port)


def kafka_options() -> Decorator:
    """Return a decorator that gives a command `--kafka` and `--libs`, which it gets as `choice`."""
    return gathered("choice", KafkaChoice, **_which("The release, which must be fetched."))


def cluster_options(release: str = "The release, which must be fetched with --cluster.") -> Decorator:
    """Return a decorator that gives a command `--kafka` and its like, which it gets as `choice`.

    Args:
        release: what is said of `--kafka`.
    """
    return gathered(
        "choice",
        ClusterChoice,
        **_which(release),
        port=option(
            "--port",
            metavar="PORT",
            type=int,
            help="The first of the cluster's ports, which are on the loopback address alone; else free ones are found.",
        ),
    )


def known_releases() -> Sequence[str]:
    """Return the releases whose jars insync can fetch."""
    from insync.conformance.jars.pinned import pinned_versions

    return pinned_versions()


def _which(release: str) -> dict[str, Option]:
    return {
        "kafka": option("--kafka", metavar="VERSION", help=release, shell_complete=complete_from(known_releases)),
        "libs": option(
            "--libs",
            metavar="DIR",
            type=GivenPath(),
            help="Take the jars in DIR, the folder libs of a Kafka distribution, as they are; in place of --kafka.",
        ),
    }

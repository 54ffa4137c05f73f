"""Options of the commands that run Kafka: release or distribution, ports of a cluster, bounds of a quorum, a record."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync.cli.completion import complete_from
from insync.cli.options.values import Decorator, GivenPath, Option, Whole, gathered, option
from insync.kafka.quorum.kraft import Kraft

if TYPE_CHECKING:
    from insync.conformance.jars.jar_set import JarSet
    from insync.conformance.live.live_cluster import LiveCluster
    from insync.conformance.live.live_quorum import LiveQuorum
    from insync.conformance.live.nodes.controller_files import QuorumPlan
    from insync.conformance.live.nodes.node_files import ClusterPlan

__all__ = [
    "ClusterChoice",
    "KafkaChoice",
    "OutcomeRecorder",
    "QuorumChoice",
    "cluster_options",
    "kafka_options",
    "known_releases",
    "quorum_options",
]


@dataclass(frozen=True, slots=True)
class KafkaChoice:
    """The Kafka that the command line names.

    Attributes:
        kafka: a release.
        libs: the folder with the jars of a distribution, in place of a release.
    """

    kafka: str | None
    libs: Path | None

    def jars(self) -> JarSet:
        """Return the jars.

        Raises:
            click.UsageError: both or neither are given.
            UserError: the jars have not been fetched, or the folder has none.
        """
        if self.kafka is not None and self.libs is not None:
            message = "--kafka and --libs each name a Kafka: leave one of them out."
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
    """The Kafka of a cluster or quorum of processes, and its ports.

    Attributes:
        port: the first port; None for any.
    """

    port: int | None = None

    def _fetched(self, version: str) -> JarSet:
        from insync.conformance.jars.store import stored_for_cluster

        return stored_for_cluster(version)

    def start(self, jars: JarSet, plan: ClusterPlan, options: Sequence[str] = ()) -> LiveCluster:
        """Start a cluster and return it, before it is ready."""
        from insync.conformance.live.live_cluster import LiveCluster

        return LiveCluster(jars, plan, self.port, options)

    def quorum(self, jars: JarSet, plan: QuorumPlan) -> LiveQuorum:
        """Return a quorum of controllers that are not started yet."""
        from insync.conformance.live.live_quorum import LiveQuorum

        return LiveQuorum(jars, plan, self.port)


def kafka_options() -> Decorator:
    """Return a decorator that adds `--kafka` and `--libs`, which the command receives as `choice`."""
    return gathered("choice", KafkaChoice, **_which("The release, which must be fetched."))


def cluster_options(release: str = "The release, which must be fetched with --cluster.") -> Decorator:
    """Return a decorator that adds `--kafka`, `--libs` and `--port`, which the command receives as `choice`.

    Args:
        release: the help text of `--kafka`.
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


# Comparison of the quorum in place of the cluster.


_CHANGE = "by records of the log (KIP-853)"
_SHARED = ("records",)
"""Bounds that the cluster has too, and that are options of the command already."""


@dataclass(frozen=True, slots=True)
class QuorumChoice:
    """Whether the quorum is compared, and under which bounds.

    Attributes:
        asked: whether the quorum is compared.
        servers: the number of voters; None for the default.
        elections: the number of elections in all; None for the default.
        restarts: the number of restarts in all; None for the default.
        resignations: the number of resignations of leaders in all; None for the default.
        additions: the number of voters that are added; None without changes of voters.
        removals: the number of voters that are removed; None without changes of voters.
    """

    asked: bool
    servers: int | None
    elections: int | None
    restarts: int | None
    resignations: int | None
    additions: int | None
    removals: int | None

    @property
    def own(self) -> dict[str, int]:
        """The given bounds that only the quorum has."""
        names = ("servers", "elections", "restarts", "resignations", "additions", "removals")
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value is not None}

    def jars(self, choice: KafkaChoice) -> JarSet:
        """Return the jars of the release, including those of Kafka's tests.

        Raises:
            click.UsageError: no release is given; a distribution has no test jars.
            UserError: the jars have not been fetched.
        """
        if choice.kafka is None:
            message = "--quorum needs jars of Kafka's own tests, which no distribution has: give --kafka VERSION."
            raise click.UsageError(message)
        from insync.conformance.jars.store import stored_for_quorum

        return stored_for_quorum(choice.kafka)

    def bounds(self, given: Mapping[str, int | str], **of_the_cluster: object) -> dict[str, int | str]:
        """Return the given bounds.

        Args:
            given: the given bounds and settings of the cluster; the quorum has some of them too.
            of_the_cluster: values of further options of the cluster, by name; None if not given.

        Raises:
            click.UsageError: an option is given that only the other comparison has.
        """
        foreign = [name for name in given if name not in _SHARED]
        foreign += [name for name, value in of_the_cluster.items() if value is not None]
        if self.asked and foreign:
            option_name = foreign[0].replace("part_", "part ").replace("_", "-")
            message = f"--{option_name} is about the cluster, and --quorum walks the quorum. Leave one of them out."
            raise click.UsageError(message)
        if not self.asked and self.own:
            message = f"--{next(iter(self.own))} is about the quorum: give --quorum as well."
            raise click.UsageError(message)
        return {**given, **self.own}


def quorum_options() -> Decorator:
    """Return a decorator that adds `--quorum` and its bounds, which the command receives as `quorum`."""
    return gathered(
        "quorum",
        QuorumChoice,
        asked=option("--quorum", is_flag=True, help="Compare the quorum behind the controller, the model `kraft`."),
        servers=_bound("servers", 2, "voters of the quorum; a single one leads from its start on [default: 3]"),
        elections=_bound("elections", 1, "elections that begin in all [default: 3]"),
        restarts=_bound("restarts", 0, "restarts of voters in all [default: 2]"),
        resignations=_bound("resignations", 0, "how often leaders resign in all [default: 1]"),
        additions=_bound("additions", 0, f"voters that are added, {_CHANGE}"),
        removals=_bound("removals", 0, f"voters that are removed, {_CHANGE}"),
    )


def _bound(name: str, lowest: int, words: str) -> Option:
    highest = Kraft.bounds[name].highest
    described = {"metavar": f"{lowest}..{highest}", "help": f"With --quorum: {words}"}
    return option(f"--{name}", type=Whole(lowest, highest), **described)


# --------------------------------------------------------------------------------------------------------------- record


class OutcomeRecorder:
    """Records for `insync defects` what brokers of a release did with an entry of the catalogue.

    Args:
        given: the name of the entry, in upper or lower case.
        choice: the chosen cluster.

    Raises:
        click.UsageError: no release is chosen.
        UserError: there is no such entry, or the record cannot be written.
    """

    def __init__(self, given: str, choice: ClusterChoice) -> None:
        from insync.conformance.catalogue.catalogue_record import RECORD
        from insync.conformance.catalogue.catalogue_runs import entry_names
        from insync.runtime.files import check_writable

        if choice.kafka is None:
            message = "--record is about a release as it is: give --kafka VERSION with it, and not --libs."
            raise click.UsageError(message)
        (self._name,), self._version = entry_names(given), choice.kafka
        check_writable(RECORD)

    def write(self, how: str, reproduced: Sequence[bool]) -> None:
        """Record the outcome of some runs.

        Args:
            how: what was run on the brokers: `trace`, or the name of a scenario.
            reproduced: for each run, whether the defect occurred.
        """
        from insync.conformance.catalogue import catalogue_record as record

        entries, today = record.read_record(), datetime.datetime.now(datetime.UTC).date()
        run = record.BrokersRun(self._version, how, sum(reproduced), len(reproduced), today.isoformat())
        entry = record.with_brokers_run(entries.get(self._name, record.RecordedEntry()), run)
        record.write_record({**entries, self._name: entry})

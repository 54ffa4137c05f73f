"""What a controller of a quorum of several finds on its disk when it starts: settings, voters, and who it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.nodes.node_files import format_disk, name_disk, write_logging
from insync.conformance.live.nodes.ports import LOOPBACK

__all__ = [
    "ControllerPorts",
    "ElectionOnDisk",
    "QuorumPlan",
    "election_on_disk",
    "format_quorum",
    "log_bytes_on_disk",
    "write_controller",
]

_METADATA = "__cluster_metadata-0"
_ELECTION = f"{_METADATA}/quorum-state"
_COMMON = {
    "process.roles": "controller",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
    "num.network.threads": 1,
    "num.io.threads": 2,
    "background.threads": 2,
    "reconnect.backoff.ms": 50,
}


@dataclass(frozen=True, slots=True)
class ControllerPorts:
    """The port of a controller, and that of the proxy before it, by which the others know it."""

    own: int
    before: int


@dataclass(frozen=True, slots=True)
class QuorumPlan:
    """What a quorum of controllers is to be.

    Attributes:
        controllers: how many, which have the numbers from 1 on.
        dynamic: whether the voters are known by the log and can change (KIP-853), and not by the settings.
        settings: further properties of all controllers.
        of_one: further properties of one of them, by its number.
    """

    controllers: int = 3
    dynamic: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    of_one: Mapping[int, Mapping[str, str]] = field(default_factory=dict)

    @property
    def numbers(self) -> list[int]:
        """The controllers."""
        return list(range(1, self.controllers + 1))


@dataclass(frozen=True, slots=True)
class ElectionOnDisk:
    """What a controller has written down of elections; -1 for nobody.

    Attributes:
        epoch: the epoch.
        leader: who leads it.
        voted: for whom it has voted in it.
    """

    epoch: int
    leader: int
    voted: int


def election_on_disk(disk: Path) -> ElectionOnDisk:
    """Return what a controller has written down of elections.

    Raises:
        OSError: it has written nothing yet.
    """
    told = json.loads((disk / _ELECTION).read_text(encoding="utf-8"))
    return ElectionOnDisk(told["leaderEpoch"], told["leaderId"], told["votedId"])


def log_bytes_on_disk(disk: Path) -> int:
    """Return how many bytes a controller's log has."""
    return sum(segment.stat().st_size for segment in (disk / _METADATA).glob("*.log"))


def write_controller(folder: Path, node: int, plan: QuorumPlan, ports: Mapping[int, ControllerPorts]) -> None:
    """Write the settings of a controller.

    Args:
        folder: the folder of the quorum.
        node: its number.
        plan: the quorum.
        ports: those of all controllers.
    """
    places = {one: f"{LOOPBACK}:{its.before}" for one, its in ports.items()}
    known = (
        {"controller.quorum.bootstrap.servers": ",".join(places.values())}
        if plan.dynamic
        else {"controller.quorum.voters": ",".join(f"{one}@{place}" for one, place in places.items())}
    )
    properties = {
        **_COMMON,
        **plan.settings,
        **plan.of_one.get(node, {}),
        **known,
        "node.id": node,
        "log.dirs": folder / f"disk-{node}",
        "listeners": f"CONTROLLER://{LOOPBACK}:{ports[node].own}",
        "advertised.listeners": f"CONTROLLER://{places[node]}",
    }
    text = "".join(f"{name}={value}\n" for name, value in properties.items())
    (folder / f"node-{node}.properties").write_text(text, encoding="utf-8")
    write_logging(folder, node, {})


def format_quorum(
    folder: Path,
    plan: QuorumPlan,
    ports: Mapping[int, ControllerPorts],
    disks: Mapping[int, str],
    cluster: str,
    jars: JarSet,
    java: Sequence[str],
) -> None:
    """Make the disks of all controllers: one by Kafka's `format`, the others as copies. Their settings must be written.

    Args:
        folder: the folder of the quorum.
        plan: the quorum.
        ports: those of all controllers.
        disks: the id of each controller's disk.
        cluster: the id of the cluster.
        jars: the jars of the release.
        java: the program that runs them, and its options.

    Raises:
        UserError: the release has no such quorums.
    """
    first, *others = plan.numbers
    voters = ",".join(f"{one}@{LOOPBACK}:{ports[one].before}:{disks[one]}" for one in plan.numbers)
    made = format_disk(folder, first, cluster, jars, java, ["--initial-controllers", voters] if plan.dynamic else [])
    for one in others:
        shutil.copytree(made, folder / f"disk-{one}")
    for one in plan.numbers:
        name_disk(folder / f"disk-{one}", one, cluster, disks[one])

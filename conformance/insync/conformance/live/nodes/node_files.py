"""What a node of a cluster finds on its disk when it starts: settings, where its log goes, and who it is."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.nodes.ports import LOOPBACK
from insync.runtime.cache import find_kept, kept_folder
from insync.runtime.errors import UserError

__all__ = [
    "CONTROLLER",
    "ClusterPlan",
    "NodePorts",
    "first_metadata",
    "folder_id",
    "format_disk",
    "log_folders",
    "logging_files",
    "name_disk",
    "new_id",
    "shown_id",
    "take_out_folder",
    "write_identity",
    "write_logging",
    "write_node",
]

CONTROLLER = 100
"""The number of the controller; brokers are 1, 2, ..."""

_PATIENCE = 120
_OF_A_DISK = "meta.properties"
_DISK_ID = "directory.id="
_LOG_DIRS = "log.dirs="
_COMMON = {
    "replica.high.watermark.checkpoint.interval.ms": 100,
    "auto.leader.rebalance.enable": "false",
    "num.replica.fetchers": 1,
    "offsets.topic.replication.factor": 1,
    "num.network.threads": 1,
    "num.io.threads": 2,
    "background.threads": 2,
    "num.recovery.threads.per.data.dir": 1,
    "log.cleaner.enable": "false",
    "unclean.leader.election.enable": "false",
    "auto.create.topics.enable": "false",
    "initial.broker.registration.timeout.ms": 60000,
    "server.max.startup.time.ms": 60000,
    "reconnect.backoff.ms": 50,
    "replica.socket.timeout.ms": 60000,
    "controller.quorum.fetch.timeout.ms": 60000,
    "controller.quorum.request.timeout.ms": 60000,
    "controller.quorum.election.timeout.ms": 500,
    "request.timeout.ms": 60000,
}
"""Where a proxy or a pause holds an answer, nobody is to lose patience: hence the minutes."""


@dataclass(frozen=True, slots=True)
class NodePorts:
    """The ports of a broker: for clients, for brokers, the proxy before that one, and the one before the controller."""

    clients: int
    brokers: int
    before_brokers: int
    before_controller: int


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """What a cluster is to be.

    Attributes:
        brokers: how many brokers, which have the numbers from 1 on.
        elr: whether it keeps eligible leader replicas; None leaves that to the release.
        session: broker.session.timeout.ms.
        lag: replica.lag.time.max.ms.
        wait: replica.fetch.wait.max.ms.
        log_dirs: how many directories a broker has in log.dirs; if several, its metadata is in one that is not there.
        settings: further properties of all nodes.
        levels: the level of each logger that is to say more than warnings.
    """

    brokers: int = 3
    elr: bool | None = None
    session: int = 9000
    lag: int = 30000
    wait: int = 200
    log_dirs: int = 1
    settings: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, str] = field(default_factory=dict)

    @property
    def numbers(self) -> list[int]:
        """The brokers."""
        return list(range(1, self.brokers + 1))


def new_id() -> str:
    """Return an id as Kafka writes it: 16 bytes in 22 characters, the first of them no hyphen."""
    while True:
        made = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not made.startswith("-"):
            return made


def log_folders(folder: Path, node: int) -> list[Path]:
    """Return the directories that are in log.dirs of a node now."""
    text = (folder / f"node-{node}.properties").read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith(_LOG_DIRS)]
    return [Path(name) for name in line.removeprefix(_LOG_DIRS).split(",")]


def folder_id(disk: Path) -> str:
    """Return the id of a directory that is formatted, as messages name it."""
    lines = (disk / _OF_A_DISK).read_text(encoding="utf-8").splitlines()
    (written,) = [line.removeprefix(_DISK_ID) for line in lines if line.startswith(_DISK_ID)]
    return shown_id(written)


def shown_id(written: str) -> str:
    """Return an id that Kafka has written, as messages name it."""
    return str(uuid.UUID(bytes=base64.urlsafe_b64decode(f"{written}==")))


def take_out_folder(folder: Path, node: int, gone: Path) -> None:
    """Take a directory out of log.dirs of a node, as an operator does whose disk will not come back."""
    file = folder / f"node-{node}.properties"
    left = ",".join(str(one) for one in log_folders(folder, node) if one != gone)
    lines = file.read_text(encoding="utf-8").splitlines()
    lines = [f"{_LOG_DIRS}{left}" if line.startswith(_LOG_DIRS) else line for line in lines]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_node(folder: Path, node: int, plan: ClusterPlan, controller: int, ports: NodePorts | None) -> None:
    """Write the settings of a node.

    Args:
        folder: the folder of the cluster.
        node: its number.
        plan: the cluster.
        controller: the port of the controller.
        ports: of a broker, its ports.
    """
    properties = {
        **_COMMON,
        "broker.session.timeout.ms": plan.session,
        "broker.heartbeat.interval.ms": 300,
        "replica.lag.time.max.ms": plan.lag,
        "replica.fetch.wait.max.ms": plan.wait,
        "replica.fetch.backoff.ms": 100,
        **plan.settings,
        "node.id": node,
        "metadata.log.dir": folder / f"disk-{node}",
        "log.dirs": ",".join(map(str, _folders_at_first(folder, node, plan))),
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,CLIENT:PLAINTEXT,BROKER:PLAINTEXT",
    }
    if ports is None:
        properties |= {
            "process.roles": "controller",
            "listeners": f"CONTROLLER://{LOOPBACK}:{controller}",
            "controller.quorum.voters": f"{node}@{LOOPBACK}:{controller}",
        }
    else:
        clients = f"CLIENT://{LOOPBACK}:{ports.clients}"
        properties |= {
            "process.roles": "broker",
            "listeners": f"{clients},BROKER://{LOOPBACK}:{ports.brokers}",
            "advertised.listeners": f"{clients},BROKER://{LOOPBACK}:{ports.before_brokers}",
            "inter.broker.listener.name": "BROKER",
            "controller.quorum.voters": f"{CONTROLLER}@{LOOPBACK}:{ports.before_controller}",
        }
    text = "".join(f"{name}={value}\n" for name, value in properties.items())
    (folder / f"node-{node}.properties").write_text(text, encoding="utf-8")
    write_logging(folder, node, plan.levels)


def _folders_at_first(folder: Path, node: int, plan: ClusterPlan) -> list[Path]:
    if node == CONTROLLER or plan.log_dirs == 1:
        return [folder / f"disk-{node}"]
    return [folder / f"disk-{node}-{number}" for number in range(1, plan.log_dirs + 1)]


def write_logging(folder: Path, node: int, levels: Mapping[str, str]) -> None:
    """Write the settings of Log4j for a node: warnings, and what `levels` says; for both of its generations."""
    file = folder / f"log-{node}"
    first, second = logging_files(folder, node)
    first.write_text(_first_generation(file, levels), encoding="utf-8")
    second.write_text(_second_generation(file, levels), encoding="utf-8")


def logging_files(folder: Path, node: int) -> tuple[Path, Path]:
    """Return the files with the settings of Log4j for a node, of its first generation and of its second one."""
    return folder / f"log4j-{node}.properties", folder / f"log4j2-{node}.properties"


def _first_generation(file: Path, levels: Mapping[str, str]) -> str:
    return (
        f"log4j.rootLogger=WARN, F\nlog4j.appender.F=org.apache.log4j.FileAppender\nlog4j.appender.F.File={file}\n"
        "log4j.appender.F.layout=org.apache.log4j.EnhancedPatternLayout\n"
        "log4j.appender.F.layout.ConversionPattern=[%d{ISO8601}] %p %m (%c)%n\n"
    ) + "".join(f"log4j.logger.{name}={level}\n" for name, level in levels.items())


def _second_generation(file: Path, levels: Mapping[str, str]) -> str:
    loggers = "".join(
        f"logger.l{number}.name={name}\nlogger.l{number}.level={level}\n"
        for number, (name, level) in enumerate(levels.items())
    )
    return (
        "status=off\nappender.f.type=File\nappender.f.name=F\n"
        f"appender.f.fileName={file}\nappender.f.layout.type=PatternLayout\n"
        "appender.f.layout.pattern=[%d] %p %m (%c)%n\n"
        "rootLogger.level=WARN\nrootLogger.appenderRef.f.ref=F\n"
    ) + loggers


# ----------------------------------------------------------------------------------------------- what format would do


def write_identity(folder: Path, node: int, cluster: str, first: Path) -> None:
    """Make the disks of a node as `kafka-storage format` does, which would take seconds.

    The settings of the node must be written. Disks that exist already stay as they are.

    Args:
        folder: the folder of the cluster.
        node: its number.
        cluster: the id of the cluster.
        first: its first metadata; see `first_metadata`.
    """
    metadata = folder / f"disk-{node}"
    for disk in {metadata, *log_folders(folder, node)}:
        if disk.exists():
            continue
        if disk == metadata:
            shutil.copytree(first, disk)
        else:
            disk.mkdir()
        name_disk(disk, node, cluster, new_id())


def name_disk(disk: Path, node: int, cluster: str, disk_id: str) -> None:
    """Write node, cluster and id of a formatted disk onto it."""
    text = f"version=1\ncluster.id={cluster}\nnode.id={node}\n{_DISK_ID}{disk_id}\n"
    (disk / _OF_A_DISK).write_text(text, encoding="utf-8")


def first_metadata(jars: JarSet, elr: bool | None, java: str, options: Sequence[str] = ()) -> Path:
    """Return the first metadata of a cluster: what Kafka's own `format` writes, once a release and feature.

    It is a folder with all that is on a formatted disk but for its identity: `bootstrap.checkpoint`, since 4.4 a
    snapshot in the metadata log.

    Args:
        jars: the jars of the release.
        elr: whether eligible leader replicas are kept; None leaves that to the release.
        java: the program that runs them.
        options: more options for the JVM; with some, the JVM is run also where the metadata is kept already.

    Raises:
        UserError: the release refuses the feature, or nothing can be kept in the cache.
    """
    key = hashlib.sha256("\0".join([jars.version, *jars.digests]).encode()).hexdigest()[:20]
    place, name = "kafka/formatted", f"{key}-{'release' if elr is None else int(elr)}"

    def make(kept: Path) -> None:
        shutil.copytree(_format(kept.parent, jars, elr, [java, *options]), kept, dirs_exist_ok=True)

    kept = find_kept(place, name)
    if kept is None:
        return kept_folder(place, name, make, "the first metadata of a cluster")
    if options:
        with tempfile.TemporaryDirectory(prefix="insync-format-") as work:
            _format(Path(work), jars, elr, [java, *options])
    return kept


def _format(folder: Path, jars: JarSet, elr: bool | None, java: Sequence[str]) -> Path:
    write_node(folder, CONTROLLER, ClusterPlan(), 9093, None)
    feature = [] if elr is None else ["--feature", f"eligible.leader.replicas.version={int(elr)}"]
    disk = format_disk(folder, CONTROLLER, new_id(), jars, java, feature)
    (disk / _OF_A_DISK).unlink()
    return disk


def format_disk(
    folder: Path, node: int, cluster: str, jars: JarSet, java: Sequence[str], options: Sequence[str]
) -> Path:
    """Have Kafka's own `format` make the disk of a node, whose settings must be written; return the disk.

    Args:
        folder: the folder of the cluster.
        node: the number of the node.
        cluster: the id of the cluster.
        jars: the jars of the release.
        java: the program that runs them, and its options.
        options: further options of `format`, such as features.

    Raises:
        UserError: the release refuses an option.
    """
    command = [*java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", ":".join(map(str, jars.paths))]
    command += ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", f"{folder}/node-{node}.properties", *options]
    done = subprocess.run(  # noqa: S603
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE, check=False
    )
    disk = folder / f"disk-{node}"
    if done.returncode != 0 or not list(disk.rglob("*.checkpoint")):
        said = (done.stderr or done.stdout).strip().splitlines() or ["it says nothing"]
        message = f"Kafka {jars.version} cannot format a disk{f' with {options[-1]}' if options else ''}: {said[-1]}"
        raise UserError(message)
    return disk

"""A cluster of Kafka on this machine: a controller and some brokers, each a process, on the loopback address alone."""

from __future__ import annotations

import shutil
import signal
import struct
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.nodes.class_archive import ClassArchive
from insync.conformance.live.nodes.node_files import (
    CONTROLLER,
    ClusterPlan,
    NodePorts,
    first_metadata,
    log_folders,
    new_id,
    take_out_folder,
    write_identity,
    write_node,
)
from insync.conformance.live.nodes.ports import free_ports
from insync.conformance.live.proxies import Link, Proxies
from insync.conformance.live.wire.connection import Connection
from insync.conformance.live.wire.message_schemas import MessageSchemas
from insync.conformance.own_folder import own_folder
from insync.explorer.java import find_compiler, find_java
from insync.explorer.programs.guarded import Guarded
from insync.model.errors import UserError

__all__ = ["LiveCluster", "NotInTime"]

T = TypeVar("T")

_PREFIX = "insync-cluster-"
_CLIENT = CONTROLLER + 1
"""The number of the client among the processes."""
_OPTIONS = (
    "-Xmx160m",
    "-Xms32m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xss256k",
    "-XX:ReservedCodeCacheSize=48m",
    "-XX:-UsePerfData",
    "-Xshare:auto",
    "-Djava.awt.headless=true",
)
_PER_BROKER = 4
_START = 150.0
_PATIENCE = 60.0
_PAUSE = 0.03


class NotInTime(UserError):
    """What was waited for has not come about."""


class LiveCluster:
    """A cluster that is starting; as a context manager it ends with its block, whatever happens to this process.

    Args:
        jars: the jars of the release, those for a cluster.
        plan: what it is to be.
        port: the first of its ports; None looks for free ones.
        options: more options for the JVMs.

    Attributes:
        version: the release.
        plan: what it is.
        schemas: the messages of the release.
        proxies: what stands between brokers, and before the controller.
        folder: its files.

    Raises:
        UserError: Java is missing or too old, a port is taken, or the release cannot be what is planned.
    """

    def __init__(self, jars: JarSet, plan: ClusterPlan, port: int | None = None, options: Sequence[str] = ()) -> None:
        self._options = (*_OPTIONS, *options)
        self.version, self.plan = jars.version, plan
        self._jars, java = jars, find_java("A cluster of Kafka")
        self._java = java.program
        self._archives = {role: ClassArchive(jars, java, role) for role in ("controller", "broker")}
        self._makes_archives = not options and not any(one.is_there for one in self._archives.values())
        self.schemas = MessageSchemas.of_jars(jars)
        self._first_metadata = first_metadata(jars, plan.elr, self._java, options)
        ports = free_ports(1 + _PER_BROKER * plan.brokers, port)
        self._controller_port = ports[0]
        self._ports = {
            broker: NodePorts(*ports[1 + _PER_BROKER * place : 1 + _PER_BROKER * (place + 1)])
            for place, broker in enumerate(plan.numbers)
        }
        self._id = new_id()
        self._down: set[int] = set()
        self._closing = threading.Lock()
        self.folder, lock = own_folder(_PREFIX)
        self.processes = Guarded(self.folder, lock)
        self.proxies = Proxies(self.schemas)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        for node in [CONTROLLER, *self.plan.numbers]:
            write_node(self.folder, node, self.plan, self._controller_port, self._ports.get(node), self.version)
            write_identity(self.folder, node, self._id, self._first_metadata)
        for broker, ports in self._ports.items():
            self.proxies.open(Link(broker, to_controller=False), ports.before_brokers, ports.brokers)
            self.proxies.open(Link(broker, to_controller=True), ports.before_controller, self._controller_port)
        for node in [CONTROLLER, *self.plan.numbers]:
            self.start(node)

    # --------------------------------------------------------------------------------------------------------- nodes

    def start(self, node: int) -> None:
        """Start a node, the first time or again."""
        logging = "log4j.configuration=file:" if self.version.startswith("3.") else "log4j2.configurationFile="
        archive = self._archives["controller" if node == CONTROLLER else "broker"]
        classes = archive.making if self._makes_archives and node in self._archivists else archive.options
        command = [self._java, *self._options, *classes, f"-D{logging}{self.folder}/logging-{node}.properties"]
        command += ["-cp", ":".join(map(str, self._jars.paths)), "kafka.Kafka", f"{self.folder}/node-{node}.properties"]
        self.processes.start(str(node), command, self.folder / f"output-{node}")
        self._down.discard(node)

    def start_client(self, source: Path, arguments: Sequence[str]) -> Path:
        """Run a client of Kafka from its source, with the jars of the release, and return the file that it writes to.

        Raises:
            UserError: there is no Java compiler.
        """
        find_compiler("A client of Kafka")
        output = self.folder / f"output-{_CLIENT}"
        command = [self._java, *self._options, "-cp", ":".join(map(str, self._jars.paths)), str(source)]
        self.processes.start(str(_CLIENT), [*command, *arguments], output)
        return output

    def kill(self, node: int) -> None:
        """Kill a node; its files stay as the system has them, which is all that it has written."""
        self._down.add(node)
        self.processes.signal(str(node), signal.SIGKILL)
        self.until(lambda: str(node) in self.processes.ended(), f"the end of node {node}")

    def stop(self, node: int) -> None:
        """Have a node stop in order."""
        self._down.add(node)
        self.processes.signal(str(node), signal.SIGTERM)
        self.until(lambda: str(node) in self.processes.ended(), f"the end of node {node}")

    def pause(self, node: int) -> None:
        """Let a node do nothing until it is told to go on."""
        self.processes.signal(str(node), signal.SIGSTOP)

    def resume(self, node: int) -> None:
        """Let a node go on."""
        self.processes.signal(str(node), signal.SIGCONT)

    def port(self, broker: int) -> int:
        """Return the port for clients of a broker."""
        return self._ports[broker].clients

    def disk(self, node: int) -> Path:
        """Return the folder of a node's metadata, and of its logs where the plan has one folder for all."""
        return self.folder / f"disk-{node}"

    def log_disks(self, node: int) -> list[Path]:
        """Return the folders that are in log.dirs of a node now."""
        return log_folders(self.folder, node)

    def take_out_disk(self, node: int, gone: Path) -> None:
        """Take a folder out of log.dirs of a node that does not run."""
        take_out_folder(self.folder, node, gone)

    def replace_disk(self, node: int, gone: Path) -> None:
        """Put an empty disk, formatted, in the place of one of a node that does not run."""
        shutil.rmtree(gone)
        write_identity(self.folder, node, self._id, self._first_metadata)

    def log(self, node: int) -> Path:
        """Return the file in which a node says what happens to it."""
        return self.folder / f"log-{node}"

    def connect(self, broker: int, patience: float = 15.0) -> Connection:
        """Return a client's connection to a broker."""
        return Connection(self.schemas, self.port(broker), patience)

    @property
    def running(self) -> list[int]:
        """The brokers that have been started and not ended."""
        return [broker for broker in self.plan.numbers if broker not in self._down]

    # ------------------------------------------------------------------------------------------------------- waiting

    def until(self, attempt: Callable[[], T], what: str, patience: float = _PATIENCE) -> T:
        """Try until something true comes of it, and return that; whoever does not answer is asked again.

        Raises:
            NotInTime: it takes too long.
            UserError: a node has ended that nobody has ended.
        """
        end, looked = time.monotonic() + patience, 0.0
        while True:
            try:
                found = attempt()
            except (OSError, EOFError, struct.error):
                found = None
            if found:
                return found
            now = time.monotonic()
            if now - looked > 1:
                self.look_after_nodes()
                looked = now
            if now > end:
                message = (
                    f"Kafka {self.version}: {what} has not come about in {patience:.0f} s. "
                    "Try it again when the machine has less to do."
                )
                raise NotInTime(message)
            time.sleep(_PAUSE)

    def try_for(self, attempt: Callable[[], bool], patience: float) -> bool:
        """Try until something comes about, and return whether it has."""
        try:
            return self.until(attempt, "it", patience)
        except NotInTime:
            return False

    def look_after_nodes(self) -> None:
        """Raise UserError if a node has ended that nobody has ended."""
        for name, ended in self.processes.ended().items():
            node = int(name)
            if node not in self._down:
                self._down.add(node)
                who = "The controller" if node == CONTROLLER else f"Broker {node}"
                message = (
                    f"{who} of Kafka {self.version} has ended with exit code {ended.code}. {self._last_words(node)}"
                )
                raise UserError(message)

    def _last_words(self, node: int) -> str:
        """The first error that it has written, or the last thing at all."""
        lines: list[str] = []
        for file in (self.log(node), self.folder / f"output-{node}"):
            if file.is_file():
                lines += [line for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if line]
        faults = [line for line in lines if " ERROR " in line or " FATAL " in line or "Exception" in line]
        said = (faults or lines[-1:] or [""])[0].strip()
        return f"It says: {said[:300]}" if said else "It says nothing."

    def wait_for_brokers(self) -> None:
        """Wait until all running brokers are known to each other, and no one else is there."""
        wanted = set(self.running)

        def known() -> bool:
            for broker in wanted:
                with self.connect(broker) as connection:
                    told = connection.call("DescribeCluster", {}, 0)
                if told["ClusterId"] != self._id:
                    message = f"Port {self.port(broker)} of this machine belongs to another cluster. Give --port PORT."
                    raise UserError(message)
                if not wanted <= {one["BrokerId"] for one in told["Brokers"]}:
                    return False
            return True

        self.until(known, "that all brokers are registered", _START)

    def close(self) -> None:
        """End all nodes, and remove their files."""
        with self._closing:
            self.proxies.close()
            self.processes.close()
            for archive in self._archives.values():
                archive.discard()

    @property
    def _archivists(self) -> tuple[int, int]:
        """The nodes of which the classes are kept: the controller, and the last broker."""
        return CONTROLLER, self.plan.brokers

    def _keep_archives(self) -> None:
        """Have nodes end in order that write down their classes, where this is the first cluster of a release."""
        if self._makes_archives and set(self._archivists) <= {CONTROLLER, *self.running}:
            for node, archive in zip(reversed(self._archivists), reversed(self._archives.values()), strict=True):
                self.stop(node)
                archive.keep()

    def __enter__(self) -> LiveCluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._keep_archives()
        except NotInTime:
            pass  # the next one will do it
        finally:
            self.close()

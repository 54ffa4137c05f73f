"""A cluster of Kafka on this machine: a controller and some brokers, each a process, on the loopback address alone."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.live_nodes import LiveNodes, NotInTime
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
from insync.conformance.live.proxies import Link
from insync.conformance.live.wire.connection import Connection
from insync.runtime.errors import UserError
from insync.runtime.java import find_compiler

__all__ = ["LiveCluster"]

_PREFIX = "insync-cluster-"
_CLIENT = CONTROLLER + 1
"""The number of the client among the processes."""
_PER_BROKER = 4
_START = 150.0


class LiveCluster(LiveNodes):
    """A cluster that is starting; as a context manager it ends with its block, whatever happens to this process.

    Args:
        jars: the jars of the release, those for a cluster.
        plan: what it is to be.
        port: the first of its ports; None looks for free ones.
        options: more options for the JVMs.

    Attributes:
        plan: what it is.

    Raises:
        UserError: Java is missing or too old, a port is taken, or the release cannot be what is planned.
    """

    def __init__(self, jars: JarSet, plan: ClusterPlan, port: int | None = None, options: Sequence[str] = ()) -> None:
        super().__init__(jars, _PREFIX, options)
        self.plan = plan
        self._archives = {role: ClassArchive(jars, self.java, role) for role in ("controller", "broker")}
        self._makes_archives = not options and not any(one.is_there for one in self._archives.values())
        try:
            self._first_metadata = first_metadata(jars, plan.elr, self.java.program, options)
            ports = free_ports(1 + _PER_BROKER * plan.brokers, port)
            self._controller_port = ports[0]
            self._ports = {
                broker: NodePorts(*ports[1 + _PER_BROKER * place : 1 + _PER_BROKER * (place + 1)])
                for place, broker in enumerate(plan.numbers)
            }
            self._id = new_id()
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        for node in [CONTROLLER, *self.plan.numbers]:
            write_node(self.folder, node, self.plan, self._controller_port, self._ports.get(node))
            write_identity(self.folder, node, self._id, self._first_metadata)
        for broker, ports in self._ports.items():
            self.proxies.open(Link(broker, to_controller=False), ports.before_brokers, ports.brokers)
            self.proxies.open(Link(broker, to_controller=True), ports.before_controller, self._controller_port)
        for node in [CONTROLLER, *self.plan.numbers]:
            self.start(node)

    # --------------------------------------------------------------------------------------------------------- nodes

    def start(self, node: int) -> None:
        """Start a node, the first time or again."""
        archive = self._archives["controller" if node == CONTROLLER else "broker"]
        self.run(node, archive.making if self._makes_archives and node in self._archivists else archive.options)

    def called(self, node: int) -> str:
        """Return what messages call a node, as it begins a sentence."""
        return "The controller" if node == CONTROLLER else f"Broker {node}"

    def start_client(self, source: Path, arguments: Sequence[str]) -> Path:
        """Run a client of Kafka from its source, with the jars of the release, and return the file that it writes to.

        Raises:
            UserError: there is no Java compiler.
        """
        find_compiler("A client of Kafka")
        output = self.output(_CLIENT)
        command = [self.java.program, *self.options, "-cp", self.class_path, str(source)]
        self.processes.start(str(_CLIENT), [*command, *arguments], output)
        return output

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

    def connect(self, broker: int, patience: float = 15.0) -> Connection:
        """Return a client's connection to a broker."""
        return Connection(self.schemas, self.port(broker), patience)

    @property
    def running(self) -> list[int]:
        """The brokers that have been started and not ended."""
        return [broker for broker in self.plan.numbers if broker not in self._down]

    # ------------------------------------------------------------------------------------------------------- waiting

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
        super().close()
        for archive in self._archives.values():
            archive.discard()

    @property
    def _archivists(self) -> tuple[int, int]:
        """The nodes whose classes are kept: the controller, and the last broker."""
        return CONTROLLER, self.plan.brokers

    def _keep_archives(self) -> None:
        """Have nodes end in order that write down their classes, where this is the first cluster of a release."""
        if self._makes_archives and set(self._archivists) <= {CONTROLLER, *self.running}:
            for node, archive in zip(reversed(self._archivists), reversed(self._archives.values()), strict=True):
                self.stop(node)
                archive.keep()

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

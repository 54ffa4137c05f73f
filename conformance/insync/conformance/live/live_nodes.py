"""Nodes of Kafka on this machine, each a process, on the loopback address alone: how they are run and waited for."""

from __future__ import annotations

import signal
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from insync.conformance.classes.java_ends import how_it_ended
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.nodes.node_files import logging_files
from insync.conformance.live.proxies import Proxies
from insync.conformance.live.wire.message_schemas import MessageSchemas
from insync.conformance.own_folder import own_folder
from insync.runtime.child_processes import Ended, GuardedPrograms
from insync.runtime.errors import UserError
from insync.runtime.java import find_java

__all__ = ["LiveNodes", "NotInTime"]

T = TypeVar("T")

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
_PATIENCE = 60.0
_PAUSE = 0.03


class NotInTime(UserError):
    """What was waited for has not come about."""


class LiveNodes(ABC):
    """Nodes that can be started; as a context manager they end with its block, whatever happens to this process.

    Args:
        jars: the jars of the release, those for a cluster.
        prefix: what the name of their folder begins with.
        options: more options for the JVMs.

    Attributes:
        version: the release.
        schemas: the messages of the release.
        proxies: what stands between nodes.
        folder: their files.
        processes: the nodes that were started.

    Raises:
        UserError: Java is missing or too old.
    """

    def __init__(self, jars: JarSet, prefix: str, options: Sequence[str] = ()) -> None:
        self.version, self.jars = jars.version, jars
        self.java = find_java("A cluster of Kafka")
        self.options = (*_OPTIONS, *options)
        self.schemas = MessageSchemas.of_jars(jars)
        self._down: set[int] = set()
        self._closing = threading.Lock()
        self.folder, lock = own_folder(prefix)
        self.processes = GuardedPrograms(self.folder, lock)
        self.proxies = Proxies(self.schemas)

    # --------------------------------------------------------------------------------------------------------- nodes

    @abstractmethod
    def called(self, node: int) -> str:
        """Return what messages call a node, as it begins a sentence."""

    def run(self, node: int, more: Sequence[str] = ()) -> None:
        """Start a node whose settings are written, with more options for its JVM."""
        first, second = logging_files(self.folder, node)
        logging = [f"-Dlog4j.configuration=file:{first}", f"-Dlog4j2.configurationFile={second}"]
        command = [self.java.program, *self.options, *more, *logging, "-cp", self.class_path]
        command += ["kafka.Kafka", f"{self.folder}/node-{node}.properties"]
        self.processes.start(str(node), command, self.output(node))
        self._down.discard(node)

    @property
    def class_path(self) -> str:
        """The jars of the release."""
        return ":".join(map(str, self.jars.paths))

    def kill(self, node: int) -> None:
        """Kill a node; its files stay as the system has them, which is all that it has written."""
        self._end(node, signal.SIGKILL)

    def stop(self, node: int) -> None:
        """Have a node stop in order."""
        self._end(node, signal.SIGTERM)

    def _end(self, node: int, number: signal.Signals) -> None:
        self._down.add(node)
        self.processes.signal(str(node), number)
        self.until(lambda: str(node) in self.processes.ended(), f"the end of node {node}")

    def pause(self, node: int) -> None:
        """Let a node do nothing until it is told to go on."""
        self.processes.signal(str(node), signal.SIGSTOP)

    def resume(self, node: int) -> None:
        """Let a node go on."""
        self.processes.signal(str(node), signal.SIGCONT)

    def ended(self, node: int) -> Ended | None:
        """Return how a node ended; None while it runs. From this call on an end is no fault."""
        found = self.processes.ended().get(str(node))
        if found is not None:
            self._down.add(node)
        return found

    def log(self, node: int) -> Path:
        """Return the file in which a node says what happens to it."""
        return self.folder / f"log-{node}"

    def output(self, node: int) -> Path:
        """Return the file with what a node prints."""
        return self.folder / f"output-{node}"

    def said(self, node: int) -> list[str]:
        """Return what a node has logged, and then what it has printed, without empty lines."""
        files = [file for file in (self.log(node), self.output(node)) if file.is_file()]
        lines = [line for file in files for line in file.read_text(encoding="utf-8", errors="replace").splitlines()]
        return [line for line in lines if line]

    # ------------------------------------------------------------------------------------------------------- waiting

    def until(self, attempt: Callable[[], T], what: str, patience: float = _PATIENCE) -> T:
        """Call a function until its result is true, and return that; a node that does not answer is tried again.

        Raises:
            NotInTime: it takes too long.
            UserError: a node ended by itself.
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
                message = f"{self.called(node)} of Kafka {self.version} {how_it_ended(ended.code, self.said(node))}"
                raise UserError(message)

    def close(self) -> None:
        """End all nodes, and remove their files."""
        with self._closing:
            self.proxies.close()
            self.processes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

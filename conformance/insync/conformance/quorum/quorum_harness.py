"""The harness of the quorum: commands go to Kafka's Raft clients, and the whole state comes back."""

from __future__ import annotations

import shutil
import threading
from typing import Protocol

from insync.conformance.classes.java_process import JavaProcess
from insync.conformance.classes.sources import Driven
from insync.conformance.classes.subject import Argument
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.own_folder import own_folder
from insync.conformance.quorum.quorum_seen import QuorumSeen

__all__ = ["QuorumHarness", "QuorumSubject"]

_MAIN = "org.apache.kafka.raft.QuorumMain"
_PREFIX = "insync-quorum-"


class QuorumSubject(Protocol):
    """Takes commands, one at a time."""

    @property
    def version(self) -> str:
        """The release of Kafka."""

    def give(self, command: str, **arguments: Argument) -> QuorumSeen:
        """Give a command and return the state that it led to; raises KafkaRaised."""


class QuorumHarness(JavaProcess):
    """A running harness of the quorum of one release of Kafka; as a context manager it ends with its block.

    Its files are in memory where there is a file system for that, else in the temporary folder.

    Args:
        jars: the jars of the release, those of its tests among them.
        stop: ends the process when it is set and a command takes longer than a moment.

    Raises:
        UserError: Java is missing or too old, or the harness cannot be compiled against these jars.
    """

    def __init__(self, jars: JarSet, *, stop: threading.Event | None = None) -> None:
        self.folder, self._lock = own_folder(_PREFIX)
        try:
            super().__init__(jars, Driven.QUORUM, [_MAIN, str(self.folder)], stop=stop)
        except BaseException:
            self._remove()
            raise

    def give(self, command: str, **arguments: Argument) -> QuorumSeen:
        """Give a command and return the state that it led to.

        Raises:
            Stopped: the end was asked for meanwhile, and has come.
            KafkaRaised: Kafka has thrown an exception.
            UserError: somebody has ended the process, or the system has.
            InternalError: the process has ended by itself.
        """
        return QuorumSeen.read(self.ask(command, **arguments)["state"])

    def close(self) -> None:
        """End the process, and remove its files."""
        try:
            super().close()
        finally:
            self._remove()

    def _remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.close()

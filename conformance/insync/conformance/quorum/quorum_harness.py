"""The harness of the quorum: commands go to Kafka's Raft clients, and the whole state comes back."""

from __future__ import annotations

import threading
from typing import Protocol

from insync.conformance.classes.java_process import JavaProcess
from insync.conformance.classes.sources import Driven
from insync.conformance.classes.subject import Argument
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.quorum.quorum_seen import QuorumSeen

__all__ = ["QuorumHarness", "QuorumSubject"]

_MAIN = "org.apache.kafka.raft.QuorumMain"


class QuorumSubject(Protocol):
    """Takes commands, one at a time."""

    @property
    def version(self) -> str:
        """The release of Kafka."""

    def give(self, command: str, **arguments: Argument) -> QuorumSeen:
        """Give a command and return the state that it led to; raises KafkaRaised."""


class QuorumHarness(JavaProcess):
    """A running harness of the quorum of one release of Kafka; as a context manager it ends with its block.

    Args:
        jars: the jars of the release, those of its tests among them.
        stop: ends the process when it is set and a command takes longer than a moment.

    Raises:
        UserError: Java is missing or too old, or the harness cannot be compiled against these jars.
    """

    def __init__(self, jars: JarSet, *, stop: threading.Event | None = None) -> None:
        super().__init__(jars, Driven.QUORUM, [_MAIN], stop=stop)

    def give(self, command: str, **arguments: Argument) -> QuorumSeen:
        """Give a command and return the state that it led to.

        Raises:
            GivenUp: the end was asked for meanwhile, and has come.
            KafkaRaised: Kafka has thrown an exception.
            UserError: somebody has ended the process, or the system has.
            InternalError: the process has ended by itself.
        """
        return QuorumSeen.read(self.ask(command, **arguments)["state"])

"""A quorum of controllers on this machine, each a process, on the loopback address alone, without brokers."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.live_nodes import LiveNodes
from insync.conformance.live.nodes.class_archive import ClassArchive
from insync.conformance.live.nodes.controller_files import (
    ControllerPorts,
    ElectionOnDisk,
    QuorumPlan,
    election_on_disk,
    format_quorum,
    log_bytes_on_disk,
    write_controller,
)
from insync.conformance.live.nodes.node_files import new_id, shown_id
from insync.conformance.live.nodes.ports import free_ports
from insync.conformance.live.proxies import Frame, Hold, Link
from insync.conformance.live.wire.connection import Connection
from insync.conformance.live.wire.message_schemas import Message

__all__ = ["BEGIN_QUORUM_EPOCH", "END_QUORUM_EPOCH", "FETCH", "VOTE", "LiveQuorum"]

FETCH, VOTE, BEGIN_QUORUM_EPOCH, END_QUORUM_EPOCH = 1, 52, 53, 54
_PREFIX = "insync-quorum-"
_TOPIC = "__cluster_metadata"
_START = 150.0


class LiveQuorum(LiveNodes):
    """A quorum whose controllers are started one by one; as a context manager it ends with its block.

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

    def __init__(self, jars: JarSet, plan: QuorumPlan, port: int | None = None, options: Sequence[str] = ()) -> None:
        super().__init__(jars, _PREFIX, options)
        self.plan = plan
        self._archive = ClassArchive(jars, self.java, "controller")
        self._cluster, self._disks = new_id(), {node: new_id() for node in plan.numbers}
        try:
            ports = free_ports(2 * plan.controllers, port)
            self._ports = {node: ControllerPorts(*ports[2 * node - 2 : 2 * node]) for node in plan.numbers}
            for node in plan.numbers:
                write_controller(self.folder, node, plan, self._ports)
                self.proxies.open(Link(node, to_controller=False), self._ports[node].before, self._ports[node].own)
            java = [self.java.program, *options]
            format_quorum(self.folder, plan, self._ports, self._disks, self._cluster, jars, java)
        except BaseException:
            self.close()
            raise

    def start(self, *nodes: int) -> None:
        """Start controllers, the first time or again."""
        for node in nodes:
            self.run(node, self._archive.options)

    def called(self, node: int) -> str:
        """Return what messages call a node, as it begins a sentence."""
        return f"Controller {node}"

    # ------------------------------------------------------------------------------------------------------ requests

    def ask(self, node: int, name: str, body: Message) -> Message:
        """Ask a controller something, in the oldest version, and return its answer.

        Raises:
            OSError: it does not answer.
        """
        with Connection(self.schemas, self._ports[node].own) as connection:
            return connection.call(name, body, 0)

    def described(self, node: int) -> Message | None:
        """Return how a leader describes its quorum; None of a controller that does not lead.

        Raises:
            OSError: it does not answer.
        """
        told = self.ask(node, "DescribeQuorum", {"Topics": [{"TopicName": _TOPIC, "Partitions": [{}]}]})
        part: Message = told["Topics"][0]["Partitions"][0]
        return None if told["ErrorCode"] or part["ErrorCode"] or part["LeaderId"] != node else part

    def leader(self) -> int | None:
        """Return who leads; None if nobody does."""
        return next((node for node in self.plan.numbers if self.leads(node)), None)

    def committed(self, leader: int) -> int:
        """Return the high watermark of a leader; 0 of a controller that does not lead.

        Raises:
            OSError: it does not answer.
        """
        return int((self.described(leader) or {"HighWatermark": 0})["HighWatermark"])

    def wait_for_leader(self, *, known_to_all: bool = False) -> int:
        """Return who leads, as soon as somebody does, and all controllers have written that down if that is asked."""

        def found() -> int | None:
            leader = self.leader()
            known = {self.leader_known(node) for node in self.plan.numbers} if known_to_all else {leader}
            return leader if known == {leader} else None

        leader = self.until(found, "that a controller leads", _START)
        assert leader is not None
        return leader

    def leads(self, node: int) -> bool:
        """Return whether a controller takes itself for the leader; it does not where it does not answer."""
        with contextlib.suppress(OSError, EOFError):
            return self.described(node) is not None
        return False

    def log_bytes(self, node: int) -> int:
        """Return how many bytes a controller's log has on its disk."""
        return log_bytes_on_disk(self.folder / f"disk-{node}")

    def remove_voter(self, leader: int, node: int) -> int:
        """Ask the leader to remove a controller from the voters, and return the error of its answer; 0 for none."""
        disk = shown_id(self._disks[node])
        told = self.ask(
            leader, "RemoveRaftVoter", {"ClusterId": self._cluster, "VoterId": node, "VoterDirectoryId": disk}
        )
        error: int = told["ErrorCode"]
        return error

    def election(self, node: int) -> ElectionOnDisk | None:
        """Return what a controller has written down of elections; None if there is nothing yet."""
        try:
            return election_on_disk(self.folder / f"disk-{node}")
        except (OSError, ValueError):  # not there, or about to be replaced
            return None

    def leader_known(self, node: int) -> int:
        """Return the leader that a controller has written down; -1 for none."""
        election = self.election(node)
        return -1 if election is None else election.leader

    # --------------------------------------------------------------------------------------------------- what is held

    def hold(self, key: int, source: int, to: int) -> Hold:
        """Hold the requests of a kind from one controller to another, from now on."""
        return self.proxies.hold(lambda frame: _is_request(frame, key, source, to))

    def sent(self, key: int, source: int, to: int) -> list[Frame]:
        """Return a list to which each request of a kind is added that one controller sends to another from now on."""
        found: list[Frame] = []

        def listen(frame: Frame) -> None:
            if _is_request(frame, key, source, to):
                found.append(frame)

        self.proxies.listeners.append(listen)
        return found

    def fault(self, node: int) -> str:
        """Return what a controller that has ended says of it: the message of the exception behind its first fault."""
        lines = self.said(node)
        faults = [place for place, line in enumerate(lines) if "Encountered fatal fault" in line]
        said = [line.strip() for line in lines[faults[0] : faults[0] + 2]] if faults else []
        return said[-1] if said else ""


def _is_request(frame: Frame, key: int, source: int, to: int) -> bool:
    goes_to = frame.is_request and frame.key == key and frame.link.broker == to
    return goes_to and frame.client == f"raft-client-{source}"

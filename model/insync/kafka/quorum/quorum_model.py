"""What all models of the quorum have in common: how they are read, drawn and compared, whatever their state is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from insync.kafka.beside import beside
from insync.kafka.quorum.grid import LEGEND, quorum_grid
from insync.kafka.quorum.sorts import Voter, VoterState
from insync.model import Condition, GridCell, Model, ReadableState, RecordView, StateView, count, maximum

__all__ = ["QuorumModel"]


class QuorumModel(Model):
    """A model of the quorum: servers with a state, an epoch, a leader and a log, and the values of clients."""

    legend: ClassVar[Mapping[str, str]] = LEGEND

    @property
    def capacity(self) -> int:
        """How many records a log can have."""
        raise NotImplementedError

    def leads(self, me: RecordView) -> Condition:
        """Whether a server leads its epoch."""
        return me.state == VoterState.LEADER

    def is_illegal(self, me: RecordView) -> Condition:
        """Whether a server made a transition that Kafka refuses."""
        return me.state == VoterState.ILLEGAL

    def abstraction(self, s: StateView) -> Mapping[str, object]:
        """The state and the leader of each server, and how far its log and high watermark are behind."""
        servers = [s.server[i] for i in self.all(Voter)]
        longest = maximum(*(me.end for me in servers))
        return {
            "state": [me.state for me in servers],
            "leader": [me.leader for me in servers],
            "lag": [longest - me.end for me in servers],
            "lag of the high watermark": [me.end - me.high_watermark for me in servers],
        }

    def grid(self, state: ReadableState) -> dict[str, GridCell]:
        """One column per server, and one for the clients' values; the steps show what is on its way."""
        return quorum_grid(state)

    def beside(self, server: Voter) -> list[tuple[Voter, Condition]]:
        """All servers but one, each with the condition that it is another."""
        return beside(self.all(Voter), server)

    def majority_has(self, me: RecordView, has: Callable[[Voter], Condition]) -> Condition:
        """Whether a condition holds of a majority of the voters by a server's log."""
        return 2 * count(self.all(Voter), has) > self.b.servers

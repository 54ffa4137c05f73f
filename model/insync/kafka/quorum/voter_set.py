"""The voters: all servers, or where voters come and go, those by the last change in a server's own log.

Kafka: VoterSet, VoterSetHistory (KIP-853). A server goes by a change as soon as it has appended it, before it is
committed.
"""

from __future__ import annotations

from collections.abc import Callable

from insync.kafka.quorum.part import Part
from insync.kafka.quorum.sorts import Voter
from insync.kafka.quorum.state import ServerState
from insync.model import And, Condition, If, Num, Or, SetValue, count, set_of

__all__ = ["VoterSet"]


class VoterSet(Part):
    """The voters by a server's log."""

    @property
    def founders(self) -> list[Voter]:
        """The voters with whom the quorum begins."""
        return self.all(Voter)[: self.b.servers - self.b.spare_servers]

    def contains(self, me: ServerState, server: Voter) -> Condition:
        """Return whether a server is a voter by the log of another."""
        return me.members.contains(server) if self.features.changes_voters else True

    def size(self, me: ServerState) -> Num | int:
        """Return how many voters there are by a server's log."""
        return me.members.count() if self.features.changes_voters else self.b.servers

    def runs(self, me: ServerState) -> Condition:
        """Return whether a server was started and has its disk: then it has a voter set."""
        return me.members.count() > 0 if self.features.changes_voters else True

    def majority_has(self, me: ServerState, has: Callable[[Voter], Condition]) -> Condition:
        """Return whether a condition holds of a majority of the voters by a server's log."""
        return 2 * count(self.all(Voter), lambda j: And(self.contains(me, j), has(j))) > self.size(me)

    def is_majority(self, me: ServerState, servers: SetValue) -> Condition:
        """Return whether these servers are voters by a server's log, and a majority of them."""
        enough = 2 * servers.count() > self.size(me)
        return And(servers.is_subset(me.members), enough) if self.features.changes_voters else enough

    def is_alone(self, me: ServerState, i: Voter) -> Condition:
        """Return whether a server is the only voter by its log."""
        return And(self.size(me) == 1, self.contains(me, i))

    def switch(self, me: ServerState) -> None:
        """Make the voters of the last change in a server's log its voter set.

        Kafka: KRaftControlRecordStateMachine.lastVoterSet, VoterSetHistory.lastValue.
        """
        if not self.features.changes_voters:
            return
        members: SetValue = set_of([])
        for j in self.all(Voter):
            is_voter: Condition = j in self.founders
            for entry in me.log:
                is_voter = Or(entry.added == j, And(is_voter, entry.removed != j))
            members = If(is_voter, members | {j}, members)
        me.members = members

    def is_committed(self, me: ServerState) -> Condition:
        """Return whether the last change of the voters is below a server's high watermark."""
        changed_at: Num | int = 1  # the first record has the first voters
        for offset, entry in enumerate(me.log, start=1):
            changed_at = If(Or(entry.added.is_some(), entry.removed.is_some()), offset, changed_at)
        return me.high_watermark >= changed_at

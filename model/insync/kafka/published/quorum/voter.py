"""What every server of the quorum knows: its epoch and state, its vote, its log, and what it knows of the others."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from insync.kafka.published.quorum.voter_log import entry
from insync.kafka.quorum.quorum_model import QuorumModel
from insync.kafka.quorum.sorts import FIRST_EPOCH, Value, Voter, VoterState, Written
from insync.model import (
    NONE,
    Array,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Index,
    Int,
    Option,
    Range,
    Record,
    RecordView,
    Set,
    SetValue,
    StateView,
    bound,
    set_of,
)

__all__ = ["AnyEpoch", "QuorumActor", "QuorumEpoch", "Value", "Voter", "VoterState", "Voters", "Written", "bounds_with"]

S = TypeVar("S", bound=Index | Range | Enum)


class QuorumEpoch(Range):
    """An epoch that an election began; each election raises the epoch of one server by 1."""

    lo, hi = FIRST_EPOCH + 1, bound("elections") + FIRST_EPOCH


class AnyEpoch(Range):
    """An epoch that a server can be in, or a message can name: 0 is that of an empty log and of the illegal state."""

    lo, hi = 0, bound("elections") + FIRST_EPOCH


def bounds_with(servers: int) -> Bounds:
    """The bounds of a model, with its number of servers by default (TLA+: Server, Value, MaxElections)."""
    return Bounds(
        servers=Bound(servers, 1, 5, "voters of the quorum"),
        records=Bound(1, 0, 4, "values that clients write, each once"),
        elections=Bound(1, 1, 4, "elections that begin in all"),
        restarts=Bound(0, 0, 4, "restarts of servers in all"),
    )


class QuorumActor:
    """One who acts in the quorum. A model is made of all of them, so each uses its fields and the others' rules."""

    b: BoundValues

    if TYPE_CHECKING:

        @property
        def capacity(self) -> int: ...
        def all(self, sort: type[S]) -> list[S]: ...
        def leads(self, me: RecordView) -> Condition: ...
        def is_majority(self, servers: SetValue) -> Condition: ...


class Voters(QuorumModel):
    """What the models of the quorum have in common: the servers, and what clients know."""

    bounds = bounds_with(3)

    def voters(self, b: BoundValues) -> dict[str, Any]:
        """Lay out what servers and clients know; the messages are each model's own."""
        highest = b.elections + FIRST_EPOCH
        return {
            "server": Array(Voter, self.voter(highest, VoterState, QuorumEpoch)),
            "written": Array(Value, Written),
            "elections": Int(0, b.elections),
            "restarts": Int(0, b.restarts),
        }

    def voter(self, highest: int, states: type[Enum], asked: type[Range], **more: Any) -> Record:
        """Lay out what one server knows.

        Args:
            highest: the highest epoch.
            states: what it can be.
            asked: the epochs in which it can fetch.
            more: what only some models have.
        """
        return Record(
            epoch=Int(0, highest),  # 0 in the illegal state alone
            state=states,
            voted_for=Option(Voter),
            leader=Option(Voter),
            # The fetch that is not answered yet; its position is the log's end, which only its answer moves.
            pending=Option(Record(epoch=asked, to=Voter)),
            votes=Set(Voter),
            high_watermark=Int(0, self.capacity),
            end=Int(0, self.capacity),
            log=Array(self.capacity, self.entry(highest)),
            # Up to where the others have this server's log, as far as it knows (TLA+: endOffset).
            fetched=Array(Voter, Int(0, self.capacity)),
            **more,
        )

    def entry(self, highest: int) -> Record:
        """Lay out a record."""
        return entry(Value, highest)

    @property
    def capacity(self) -> int:
        """How many records a log can have."""
        return max(1, self.b.records)

    def initial(self, s: StateView) -> None:
        """Start with empty logs and nobody who leads (TLA+: Init)."""
        for i in self.all(Voter):
            s.server[i].epoch = FIRST_EPOCH

    def is_majority(self, servers: SetValue) -> Condition:
        """Whether these servers are a quorum (TLA+: Quorum)."""
        return 2 * servers.count() > self.b.servers

    def forget(self, me: RecordView) -> None:
        """A server that restarts has lost what it had in memory."""
        me.votes = set_of([])
        me.fetched = dict.fromkeys(self.all(Voter), 0)
        me.high_watermark = 0
        me.pending = NONE

"""What every server of the quorum knows: its epoch and state, its vote, its log, and what it knows of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

from insync.kafka.beside import beside
from insync.kafka.published.quorum.quorum_grid import LEGEND, quorum_grid
from insync.kafka.published.quorum.voter_log import FIRST_EPOCH, entry
from insync.model import (
    NONE,
    Array,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    GridCell,
    Index,
    Int,
    Model,
    Option,
    Range,
    ReadableState,
    Record,
    RecordView,
    Set,
    SetValue,
    StateView,
    bound,
    count,
    maximum,
    set_of,
)

__all__ = ["AnyEpoch", "QuorumActor", "QuorumEpoch", "Value", "Voter", "VoterState", "Voters", "Written", "bounds_with"]


class Voter(Index, symmetric=True):
    """A voter of the quorum."""

    label = "n"
    size = bound("servers")


class Value(Index):
    """What a client asks the leader to write, once."""

    label = "v"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """As many as the bound says, and one that nobody writes where it says 0."""
        return max(1, bounds.records)


class QuorumEpoch(Range):
    """An epoch that an election began; each election raises the epoch of one server by 1."""

    lo, hi = FIRST_EPOCH + 1, bound("elections") + FIRST_EPOCH


class AnyEpoch(Range):
    """An epoch that a server can be in, or a message can name: 0 is that of an empty log and of the illegal state."""

    lo, hi = 0, bound("elections") + FIRST_EPOCH


class VoterState(Enum):
    """What a server is in its epoch (Kafka: the classes of EpochState); ILLEGAL is an exception there.

    Kafka's Unattached is VOTED where it has voted; PROSPECTIVE is there with pre-votes alone.
    """

    UNATTACHED = "Unattached"
    FOLLOWER = "Follower"
    CANDIDATE = "Candidate"
    LEADER = "Leader"
    VOTED = "Voted"
    ILLEGAL = "Illegal"
    RESIGNED = "Resigned"
    PROSPECTIVE = "Prospective"


class Written(Enum):
    """What a client knows of its value."""

    NEVER = "not sent"
    ASKED = "asked"
    ACKNOWLEDGED = "acknowledged"


def bounds_with(servers: int) -> Bounds:
    """The bounds of a model that has so many servers when nobody says how many (TLA+: Server, Value, MaxElections)."""
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

        def __getattr__(self, name: str) -> Any: ...


class Voters(Model):
    """What the models of the quorum have in common: the servers, and what clients know."""

    bounds = bounds_with(3)
    legend: ClassVar[Mapping[str, str]] = LEGEND

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

    def leads(self, me: RecordView) -> Condition:
        """Whether a server leads its epoch."""
        return me.state == VoterState.LEADER

    def is_illegal(self, me: RecordView) -> Condition:
        """Whether a server made a transition that Kafka refuses."""
        return me.state == VoterState.ILLEGAL

    def initial(self, s: StateView) -> None:
        """Start with empty logs and nobody who leads (TLA+: Init)."""
        for i in self.all(Voter):
            s.server[i].epoch = FIRST_EPOCH

    def abstraction(self, s: StateView) -> Mapping[str, object]:
        """What each server is, whom it takes for the leader, and how far it lags behind the longest log, all told."""
        servers = [s.server[i] for i in self.all(Voter)]
        longest = maximum(*(me.end for me in servers))
        return {
            "state": [me.state for me in servers],
            "leader": [me.leader for me in servers],
            "lag": [longest - me.end for me in servers],
            "lag of the high watermark": [me.end - me.high_watermark for me in servers],
        }

    def grid(self, state: ReadableState) -> dict[str, GridCell]:
        """One column per server, and one for what clients know; what is on its way is told by the steps."""
        return quorum_grid(state)

    def beside(self, server: Voter) -> list[tuple[Voter, Condition]]:
        """All servers but one, each with the condition that it is another."""
        return beside(self.all(Voter), server)

    def is_majority(self, servers: SetValue) -> Condition:
        """Whether these servers are a quorum (TLA+: Quorum)."""
        return 2 * servers.count() > self.b.servers

    def majority_has(self, me: RecordView, has: Callable[[Voter], Condition]) -> Condition:
        """Whether a majority of the voters that a server knows is so."""
        return 2 * count(self.all(Voter), has) > self.b.servers

    def forget(self, me: RecordView) -> None:
        """A server that restarts has lost what it had in memory."""
        me.votes = set_of([])
        me.fetched = dict.fromkeys(self.all(Voter), 0)
        me.high_watermark = 0
        me.pending = NONE

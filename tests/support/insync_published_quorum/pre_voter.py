"""What a server of the quorum knows since KIP-996 (pre-vote): the same, and how its fetches go."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar

from insync.kafka.published.quorum.fetches import Result
from insync.kafka.published.quorum.voter import Value, Voter, Written
from insync.kafka.quorum.grid import LEGEND
from insync.kafka.quorum.sorts import FIRST_EPOCH
from insync.model import (
    NONE,
    Array,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    If,
    Int,
    Option,
    Range,
    Record,
    RecordView,
    StateView,
    bound,
    initial,
    record,
)
from insync_published_quorum.actor import PublishedActor

__all__ = ["LogPlace", "PreVoterState", "PreVoters", "ReachedEpoch"]


class ReachedEpoch(Range):
    """An epoch that a server can be in: who resigns from the last that can be led goes on to the next."""

    lo, hi = FIRST_EPOCH, bound("epochs") + 1


class LogPlace(Range):
    """The offset of a record, the end of a log, or a high watermark."""

    lo, hi = 0, bound("records") + bound("epochs")


class PreVoterState(Enum):
    """What a server is in its epoch (Kafka: the classes of EpochState since KIP-996); ILLEGAL is an exception there.

    There is no Voted: who has voted is Unattached or Prospective, and knows for whom.
    """

    UNATTACHED = "Unattached"
    FOLLOWER = "Follower"
    PROSPECTIVE = "Prospective"
    CANDIDATE = "Candidate"
    LEADER = "Leader"
    ILLEGAL = "Illegal"
    RESIGNED = "Resigned"


class PreVoters(PublishedActor):
    """The servers: one of them leads at first, the others follow it, and all have the record of the first voters."""

    bounds: ClassVar[Bounds] = Bounds(
        servers=Bound(2, 2, 5, "voters of the quorum (MaxSpawnedServers, InitClusterSize)"),
        records=Bound(1, 0, 4, "values that clients write, each once"),
        epochs=Bound(2, 1, 4, "epochs that can have a leader (MaxEpoch)"),
        disruptions=Bound(1, 0, 4, "timeouts and resignations without a reason (MaxDisruptiveElectionTriggers)"),
        restarts=Bound(0, 0, 4, "restarts of servers in all"),
    )
    legend: ClassVar[Mapping[str, str]] = {
        **{mark: meaning for mark, meaning in LEGEND.items() if mark != "V#"},
        "P#": "asks in epoch # whether it would be elected",
    }

    def voters(self, b: BoundValues) -> dict[str, Any]:
        """Lay out what servers and clients know; the messages are the model's own."""
        return {
            "server": Array(Voter, self.voter(b.epochs + 1, PreVoterState, ReachedEpoch, **self.fetch_state())),
            "written": Array(Value, Written),
            "disruptions": Int(0, b.disruptions),
            "restarts": Int(0, b.restarts),
        }

    def fetch_state(self) -> dict[str, Any]:
        """Lay out what a server knows of how its fetches go."""
        return {
            # Whom the last answer came from, and the error if it was one (TLA+: last_fetch_res).
            "answered": Option(Record(by=Voter, error=Option(Result))),
            "has_fetched": Bool,  # whether one succeeded since the server became what it is (TLA+: has_fetch_success)
        }

    @property
    def capacity(self) -> int:
        """How many records a log can have: that of the first voters, the clients' values, one for each later leader."""
        return self.b.records + self.b.epochs

    @initial(label="{leader} leads epoch 1")
    def one_leads(self, s: StateView, leader: Voter) -> None:
        """Start in epoch 1, with a leader that all others follow, and the record of the first voters, which all have.

        TLA+: Init, which takes the first server; it makes no difference who it is.
        """
        for i in self.all(Voter):
            me = s.server[i]
            me.state, me.leader = If(i == leader, PreVoterState.LEADER, PreVoterState.FOLLOWER), leader
            me.end, me.high_watermark, me.has_fetched = 1, 1, True
            me.log[0] = record(epoch=FIRST_EPOCH, value=NONE)
            me.fetched = dict.fromkeys(self.all(Voter), 1)

    def leads(self, me: RecordView) -> Condition:
        """Whether a server leads its epoch."""
        return me.state == PreVoterState.LEADER

    def is_illegal(self, me: RecordView) -> Condition:
        """Whether a server made a transition that Kafka refuses."""
        return me.state == PreVoterState.ILLEGAL

"""The model `kraft`: the quorum behind the controller, as a release of Kafka has it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import cast

from insync.kafka.quorum.elections import Elections
from insync.kafka.quorum.fetching import Fetching
from insync.kafka.quorum.options import BOUNDS, SETTINGS, QuorumFeatures, rules_of
from insync.kafka.quorum.pre_votes import PreVotes
from insync.kafka.quorum.quorum_model import QuorumModel
from insync.kafka.quorum.quorum_state import QuorumState
from insync.kafka.quorum.reconfiguration import Reconfiguration
from insync.kafka.quorum.replicated_log import ReplicatedLog
from insync.kafka.quorum.request_manager import RequestManager
from insync.kafka.quorum.restarts import Restarts
from insync.kafka.quorum.sorts import FIRST_EPOCH, Voter, VoterState, capacity_of
from insync.kafka.quorum.state import KraftState, ServerState
from insync.kafka.quorum.voter_set import VoterSet
from insync.kafka.typed_state import layout
from insync.model import (
    BoundValues,
    Condition,
    RecordView,
    State,
    UserError,
    part,
    set_of,
)

__all__ = ["Kraft"]


class Kraft(QuorumModel):
    """Servers that elect a leader among themselves, and fetch the metadata log from it, in a given release of Kafka.

    Where voters stay, nobody leads at first, and servers are alike. Where they come and go, the first one leads.
    It is put together of parts, each in a module with the Kafka classes that it stands for. A part reaches another
    by its name here.
    """

    name = "kraft"
    bounds = BOUNDS
    settings = SETTINGS
    headline = (
        "leader_has_all_acknowledged_values",
        "no_log_divergence",
        "never_two_leaders_in_an_epoch",
        "no_illegal_state",
        "acknowledged_values_stay_with_a_voter",
        "states_match_roles",
    )
    replicated_log = part(ReplicatedLog)
    voter_set = part(VoterSet)
    quorum_state = part(QuorumState)
    request_manager = part(RequestManager)
    elections = part(Elections)
    pre_votes = part(PreVotes)
    fetching = part(Fetching)
    restarts = part(Restarts)
    reconfiguration = part(Reconfiguration)

    def __init__(self, **chosen: int | str | Enum) -> None:
        super().__init__(**chosen)
        if self.b.spare_servers >= self.b.servers:
            message = (
                f"spare_servers {self.b.spare_servers} is too many: "
                f"one of the {self.b.servers} servers must be a voter."
            )
            raise UserError(message)
        self.rules = rules_of(self.b)
        self.features = QuorumFeatures(self.b, self.rules)
        if self.features.changes_voters:
            apart = "the first server leads at first, and servers are started in their order"
            self.tells_apart = apart  # type: ignore[misc] # a class attribute of other models

    @property
    def capacity(self) -> int:
        """How many records a log can have."""
        return capacity_of(self.b)

    def declare(self, b: BoundValues) -> State:
        """Lay out the state: the servers, the messages on their way, the values of clients, and what is spent."""
        return State(**layout(KraftState, b, self.features))

    def initial(self, s: KraftState) -> None:
        """Start with empty logs and nobody who leads, or where voters come and go with a leader that all follow."""
        if not self.features.changes_voters:
            for i in self.all(Voter):
                s.server[i].epoch = FIRST_EPOCH
            return
        first, *_ = founders = self.voter_set.founders
        if self.features.starts_servers:
            s.started = len(founders)
        for i in founders:
            me = s.server[i]
            me.epoch, me.leader, me.members = FIRST_EPOCH, first, set_of(founders)
            me.state = VoterState.LEADER if i == first else VoterState.FOLLOWER
            me.high_watermark = 1
            self.replicated_log.append(me, epoch=FIRST_EPOCH)
            if i == first:
                for j in founders[1:]:
                    me.fetched[j] = 1
                continue
            if self.rules.release.vote_survives_following:
                me.voted_for = first
            if self.features.pre_votes:
                me.has_fetched = True

    def majority_has(self, me: RecordView, has: Callable[[Voter], Condition]) -> Condition:
        """Whether a condition holds of a majority of the voters by a server's log."""
        return self.voter_set.majority_has(cast(ServerState, me), has)

    def settle(self, s: KraftState, i: Voter) -> None:
        """End a step of a server: forget what it needs no more, and messages that it would now only discard."""
        self.elections.settle(s, i)
        if self.features.pre_votes:
            self.pre_votes.settle(s, i)
        self.request_manager.settle(s, i)

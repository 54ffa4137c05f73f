"""The election of a leader, as in Raft: the model of docs/guide/messages.md.

In Election servers never stop. In Restarting they restart and have forgotten whom they voted for; in Durable that is on
disk.
"""

from __future__ import annotations

import enum

from insync.model import (
    NONE,
    And,
    Array,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Implies,
    Index,
    Int,
    Model,
    Nothing,
    Option,
    OptionValue,
    Range,
    Record,
    SetOf,
    State,
    StateView,
    action,
    bound,
    count,
    exists,
    invariant,
    require,
    step_invariant,
)


class Server(Index):
    """Somebody who can be elected."""

    label = "s"
    size = bound("servers")


class Term(Range):
    """The number of an election; 0 is the time before the first one."""

    lo, hi = 0, bound("terms")


class Role(enum.Enum):
    """What a server is in its term."""

    FOLLOWER = 0
    CANDIDATE = 1
    LEADER = 2


class Election(Model):
    """A server that misses its leader stands for election, and leads when a majority has voted for it."""

    bounds = Bounds(
        servers=Bound(3, 1, 5, "servers"),
        terms=Bound(2, 1, 4, "elections"),
        restarts=Bound(1, 0, 3, "restarts of servers, where there are any"),
    )
    headline = ("one_leader_in_a_term", "terms_grow")

    def declare(self, b: BoundValues) -> State:
        """Say what a state consists of: what each server knows, and what was sent."""
        return State(
            term=Array(Server, Term),
            role=Array(Server, Role),
            voted_for=Array(Server, Option(Server)),
            requests=SetOf(Record(term=Term, candidate=Server)),
            votes=SetOf(Record(term=Term, candidate=Server, voter=Server)),
            restarts=Int(0, b.restarts),
        )

    @action(label="{server} stands for election")
    def stand(self, s: StateView, server: Server) -> None:
        """A server begins a term, asks everybody for their vote, and votes for itself."""
        require(s.role[server] != Role.LEADER, s.term[server] < self.b.terms)
        s.term[server] += 1
        s.role[server] = Role.CANDIDATE
        s.requests.add(term=s.term[server], candidate=server)
        self.give_vote(s, server, server)

    def give_vote(self, s: StateView, voter: Server, candidate: Server) -> None:
        """Note a vote, and send it."""
        s.voted_for[voter] = candidate
        s.votes.add(term=s.term[voter], candidate=candidate, voter=voter)

    @action(label="{server} hears of term {term}")
    def hear(self, s: StateView, server: Server, term: Term) -> None:
        """Whoever receives a request of a later term goes to that term, in which it has not voted."""
        require(term > s.term[server], exists(Server, lambda c: s.requests.contains(term=term, candidate=c)))
        s.term[server] = term
        s.role[server] = Role.FOLLOWER
        s.voted_for[server] = NONE

    @action(label="{voter} votes for {candidate}")
    def vote(self, s: StateView, voter: Server, candidate: Server) -> None:
        """Whoever receives a request of its own term votes for the candidate, once in a term."""
        require(s.requests.contains(term=s.term[voter], candidate=candidate), s.voted_for[voter] == NONE)
        self.give_vote(s, voter, candidate)

    @action(label="{server} leads")
    def lead(self, s: StateView, server: Server) -> None:
        """A candidate with the votes of a majority leads."""
        votes = count(Server, lambda v: s.votes.contains(term=s.term[server], candidate=server, voter=v))
        require(s.role[server] == Role.CANDIDATE, 2 * votes > self.b.servers)
        s.role[server] = Role.LEADER

    @invariant
    def one_leader_in_a_term(self, s: StateView, one: Server, other: Server) -> Condition:
        """No two servers lead in the same term."""
        both = And(s.role[one] == Role.LEADER, s.role[other] == Role.LEADER)
        return Implies(And(both, s.term[one] == s.term[other]), one == other)

    @step_invariant
    def terms_grow(self, before: StateView, after: StateView, server: Server) -> Condition:
        """No server goes back to an earlier term."""
        return after.term[server] >= before.term[server]


class Restarting(Election):
    """Servers restart, and have their term on disk, but not whom they voted for: that is the mistake."""

    @action(label="{server} restarts")
    def restart(self, s: StateView, server: Server) -> None:
        """What is not on disk is lost."""
        require(s.restarts < self.b.restarts)
        s.restarts += 1
        s.role[server] = Role.FOLLOWER
        s.voted_for[server] = self.vote_after_restart(s, server)

    def vote_after_restart(self, s: StateView, server: Server) -> OptionValue | Nothing:
        """Whom a server that restarts believes to have voted for."""
        return NONE


class Durable(Restarting):
    """Whom a server voted for is on disk too."""

    def vote_after_restart(self, s: StateView, server: Server) -> OptionValue | Nothing:
        """It is read from disk."""
        return s.voted_for[server]

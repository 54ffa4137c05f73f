"""Small models that are not Kafka, for the tests of every engine; those for rarer corners are in `insync_corners`."""

from __future__ import annotations

import enum

from insync.model import (
    NONE,
    And,
    Array,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Enum,
    If,
    Implies,
    Index,
    Int,
    Model,
    Not,
    Num,
    Option,
    Record,
    Set,
    State,
    StateView,
    action,
    exists,
    for_all,
    invariant,
    minimum,
    record,
    require,
)
from insync_ballots import Votes
from insync_corners import Grid, Node, Overflow, Teams

__all__ = [
    "TOYS",
    "Clock",
    "Commit",
    "DieHard",
    "Grid",
    "Ledger",
    "Node",
    "Overflow",
    "Party",
    "Phase",
    "Teams",
    "TokenRing",
    "Votes",
]


class Clock(Model):
    """An hour hand; `strikes` counts what the bound allows."""

    bounds = Bounds(hours=Bound(12, 2, 48, "hours on the dial"))
    headline = ("shows_an_hour",)

    def declare(self, b: BoundValues) -> State:
        return State(hour=Int(1, b.hours), chimes=Bool)

    @action(label="the clock ticks")
    def tick(self, s: StateView) -> None:
        """Move on by one hour."""
        s.hour = If(s.hour == self.b.hours, 1, s.hour + 1)
        s.chimes = s.hour == self.b.hours  # reads the new hour

    @invariant
    def shows_an_hour(self, s: StateView) -> Condition:
        """The hour is one of the dial."""
        return And(s.hour >= 1, s.hour <= self.b.hours)

    @invariant
    def chimes_at_the_end(self, s: StateView) -> Condition:
        """It chimes at the last hour and at no other."""
        same: Condition = s.chimes == (s.hour == self.b.hours)
        return same


class TokenRing(Model):
    """A token goes round; who has it may work. `two_tokens` lets a second one be made, which breaks the exclusion."""

    bounds = Bounds(nodes=Bound(3, 2, 6, "members of the ring"), two_tokens=Bound(0, 0, 1, "1 makes the mistake"))
    headline = ("exclusive",)

    def declare(self, b: BoundValues) -> State:
        return State(token=Set(Node), working=Set(Node), last=Option(Node))

    def initial(self, s: StateView) -> None:
        s.token = {self.all(Node)[0]}

    @action
    def hand_on(self, s: StateView, node: Node) -> None:
        """Give the token to the next member."""
        require(s.token.contains(node), Not(s.working.contains(node)))
        after = self.all(Node)[(node + 1) % len(self.all(Node))]
        s.token = (s.token - {node}) | {after}

    @action
    def start(self, s: StateView, node: Node) -> None:
        """Work while holding the token."""
        require(s.token.contains(node), Not(s.working.contains(node)))
        s.working |= {node}
        s.last = node

    @action
    def stop(self, s: StateView, node: Node) -> None:
        """Cease to work."""
        require(s.working.contains(node))
        s.working -= {node}
        s.last = NONE

    @action
    def forge(self, s: StateView, node: Node) -> None:
        """Make another token, if the rules have this mistake."""
        require(self.b.two_tokens == 1, s.token.count() == 1, Not(s.token.contains(node)))
        s.token |= {node}

    @invariant
    def exclusive(self, s: StateView) -> Condition:
        """No two members work at once."""
        return for_all(
            self.all(Node),
            lambda n1: for_all(
                self.all(Node),
                lambda n2: Implies(And(s.working.contains(n1), s.working.contains(n2)), n1 == n2),
            ),
        )


class DieHard(Model):
    """Jugs of 3 and 5 litres; the puzzle is to get 4: the invariant says that it cannot be done."""

    headline = ("never_four",)

    def declare(self, b: BoundValues) -> State:
        return State(small=Int(0, 3), big=Int(0, 5))

    @action
    def fill(self, s: StateView, small: bool) -> None:
        """Fill one jug."""
        if small:
            s.small = 3
        else:
            s.big = 5

    @action
    def empty(self, s: StateView, small: bool) -> None:
        """Empty one jug."""
        if small:
            s.small = 0
        else:
            s.big = 0

    @action
    def pour_into_big(self, s: StateView) -> None:
        """Pour from the small jug until one is empty or full."""
        moved = minimum(s.small, 5 - s.big)
        s.small -= moved
        s.big += moved

    @action
    def pour_into_small(self, s: StateView) -> None:
        """Pour from the big jug until one is empty or full."""
        moved = minimum(s.big, 3 - s.small)
        s.big -= moved
        s.small += moved

    @invariant
    def never_four(self, s: StateView) -> Condition:
        """The big jug never holds 4 litres."""
        other: Condition = s.big != 4
        return other


class Party(Index):
    """Somebody who takes part in the transaction."""

    label = "p"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return bounds.parties


class Phase(enum.Enum):
    """Where a party is in its transaction."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Commit(Model):
    """Two-phase commit, with the decision in an optional record."""

    bounds = Bounds(parties=Bound(3, 1, 5, "parties of the transaction"))
    headline = ("agreement",)

    def declare(self, b: BoundValues) -> State:
        return State(
            phase=Array(Party, Enum(Phase)),
            decision=Option(Record(commit=Bool, voters=Set(Party))),
        )

    @action(label="{party} turns {phase}")
    def vote(self, s: StateView, party: Party, phase: Phase) -> None:
        """A party prepares or gives up on its own."""
        require(s.phase[party] == Phase.WORKING)
        if phase in (Phase.WORKING, Phase.COMMITTED):
            require(False)
        s.phase[party] = phase

    @action
    def decide(self, s: StateView, commit: bool) -> None:
        """The coordinator commits once all are prepared, and may abort at any time before."""
        require(s.decision.is_none())
        if commit:
            require(for_all(self.all(Party), lambda p: s.phase[p] == Phase.PREPARED))
        s.decision = If(commit, record(commit=True, voters=set(self.all(Party))), record(commit=commit, voters=set()))

    @action
    def learn(self, s: StateView, party: Party) -> None:
        """A party does what was decided."""
        require(s.decision.is_some(), s.phase[party] != Phase.ABORTED)
        s.phase[party] = If(s.decision.value.commit, Phase.COMMITTED, Phase.ABORTED)

    @invariant
    def agreement(self, s: StateView) -> Condition:
        """No party commits while another aborts."""
        return Not(
            And(
                exists(self.all(Party), lambda p: s.phase[p] == Phase.COMMITTED),
                exists(self.all(Party), lambda q: s.phase[q] == Phase.ABORTED),
            )
        )


class Account(Index):
    """An account."""

    label = "a"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 2


class Ledger(Model):
    """Money that moves in two steps; `check_first` is the setting that a variant of the model changes."""

    bounds = Bounds(money=Bound(2, 1, 4, "what the first account has"))
    headline = ("nothing_is_lost",)
    check_first = True

    def declare(self, b: BoundValues) -> State:
        return State(
            balance=Array(Account, Int(0, 2 * b.money)),
            transfer=Option(Record(amount=Int(1, b.money), to=Account)),
        )

    def initial(self, s: StateView) -> None:
        s.balance[0] = self.b.money

    def total(self, s: StateView) -> Num:
        """What there is, in accounts and under way."""
        under_way: Num = If(s.transfer.is_some(), s.transfer.value.amount, 0)
        under_way += s.balance[0] + s.balance[1]
        return under_way

    @action
    def withdraw(self, s: StateView, account: Account, other: Account) -> None:
        """Take one away; it is under way then."""
        require(account != other, s.balance[account] > 0)
        if self.check_first:
            require(s.transfer.is_none())
        s.balance[account] -= 1
        s.transfer = record(amount=1, to=other)

    @action
    def deposit(self, s: StateView) -> None:
        """What is under way arrives."""
        require(s.transfer.is_some())
        to = s.transfer.value.to
        s.balance[to] = minimum(s.balance[to] + s.transfer.value.amount, 2 * self.b.money)
        s.transfer = NONE

    @invariant
    def nothing_is_lost(self, s: StateView) -> Condition:
        """There is always the same amount of money."""
        return self.total(s) == self.b.money


TOYS: tuple[Model, ...] = (
    Clock(),
    TokenRing(),
    TokenRing(two_tokens=1),
    DieHard(),
    Commit(parties=2),
    Overflow(),
    Grid(),
    Teams(),
    Ledger(),
    Votes(),
)
"""Every toy under small bounds."""

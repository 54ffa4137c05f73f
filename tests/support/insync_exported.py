"""Models that are hard to export: names that TLA+ needs, and members of a symmetric sort that are chosen."""

from __future__ import annotations

from insync.model import (
    And,
    Array,
    BoundValues,
    Condition,
    If,
    Index,
    Int,
    Model,
    Option,
    Or,
    Record,
    Set,
    State,
    StateView,
    action,
    choose,
    exists,
    for_all,
    invariant,
    maximum,
    minimum,
    require,
)

__all__ = ["Clashing", "HandsOver", "Notes", "Serves", "Succession"]


class Shelf(Index):
    """A place for goods."""

    label, size = "shelf", 2


class Clashing(Model):
    """Its fields, parameters, actions and properties have names that TLA+ or the module itself needs."""

    def declare(self, b: object) -> State:
        parts = {name: Int(0, 2) for name in ("a", "b", "p", "vars", "Max", "IF", "IF_", "TypeOK", "größe", "WF_x")}
        return State(**parts, LET=Record(THEN=Int(0, 2), Nat=Array(Shelf, Int(0, 1))))

    @action
    def next(self, s: StateView, CHOOSE: Shelf, Max: Shelf) -> None:
        require(Or(s.a < 2, s.vars < 2))
        s.a = maximum(s.a, s.b)
        s.b = minimum(s.b + 1, 2)
        s.p = If(Or(s.IF == 1, s.IF_ == 0), s.Max, s.größe)
        s.IF_ = s.WF_x
        s.LET.THEN = s.TypeOK
        s.LET.Nat[CHOOSE] = s.LET.Nat[Max]

    @invariant
    def vars_(self, s: StateView) -> Condition:
        return s.a <= s.b


class Heir(Index, symmetric=True):
    """Somebody who may lead."""

    label, size = "heir", 2


class Succession(Model):
    """One of two leads; nothing is calculated with them."""

    def declare(self, b: BoundValues) -> State:
        return State(leader=Option(Heir), before=Option(Heir), served=Array(Heir, Int(0, 1)), known=Set(Heir))

    @action
    def elect(self, s: StateView, heir: Heir) -> None:
        s.before = s.leader
        s.leader = heir

    @invariant
    def led_by_an_heir(self, s: StateView) -> Condition:
        return Or(s.leader.is_none(), exists(Heir, lambda heir: s.leader == heir))

    @invariant
    def only_the_leader_is_known(self, s: StateView) -> Condition:
        """Fails where somebody else has served."""
        return for_all(s.known, lambda heir: s.leader == heir)


class Notes(Succession):
    """An option is replaced by a member where it is none."""

    @action
    def note(self, s: StateView, heir: Heir) -> None:
        s.before = s.leader.or_else(heir)


class HandsOver(Succession):
    """A member that is chosen is assigned."""

    @action
    def hand_over(self, s: StateView) -> None:
        require(s.leader.is_some())
        others = lambda heir: And(s.leader != heir, for_all(Heir, lambda one: Or(one == heir, s.leader == one)))  # noqa: E731
        s.leader = choose(Heir, others)


class Serves(Succession):
    """A member that is chosen is the place of an array and a member of a set."""

    @action
    def serve(self, s: StateView) -> None:
        require(s.leader.is_some())
        found = choose(Heir, lambda heir: s.leader == heir).value
        s.served[found] = 1
        s.known |= {found}

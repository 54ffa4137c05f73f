"""Toy models for the corners of the modelling language: checks that fail, symbolic indexes, sets of sets."""

from __future__ import annotations

from insync.model import (
    NONE,
    Array,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    If,
    Index,
    Int,
    Model,
    Not,
    Option,
    Record,
    Set,
    State,
    StateView,
    Subset,
    action,
    exists,
    for_all,
    invariant,
    minimum,
    record,
    require,
    snapshot,
)

__all__ = ["Grid", "Late", "Node", "Overflow", "Pair", "Teams"]


class Node(Index):
    """A member of the ring."""

    label = "n"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return bounds.nodes


class Overflow(Model):
    """A counter whose fourth step leaves its field, and a list that can be written beyond its end."""

    bounds = Bounds(last=Bound(3, 1, 9, "highest count"))

    def declare(self, b: BoundValues) -> State:
        return State(count=Int(0, b.last), end=Int(0, 2), items=Array(2, Int(0, 1)))

    @action
    def increase(self, s: StateView) -> None:
        """Count, without looking at the bound."""
        s.count += 1

    @action
    def append(self, s: StateView) -> None:
        """Write at the end, without looking whether there is room; the end itself stops at 2."""
        s.items[s.end] = 1
        s.end = minimum(s.end + 1, 2)


class Late(Model):
    """A value that leaves its field in the third level, long before another property fails and an action is enabled."""

    headline = ("ok",)

    def declare(self, b: BoundValues) -> State:
        return State(x=Int(0, 30), y=Int(0, 1))

    @action
    def inc(self, s: StateView) -> None:
        """Count."""
        require(s.x < 20)
        s.x += 1

    @action
    def bad(self, s: StateView) -> None:
        """Write what the field cannot hold."""
        require(s.x >= 2)
        s.y = s.x

    @action
    def late(self, s: StateView) -> None:
        """Skip one number."""
        require(s.x == 15)
        s.x = 16

    @invariant
    def ok(self, s: StateView) -> Condition:
        """The count is below ten."""
        below: Condition = s.x < 10
        return below


class Grid(Model):
    """A cursor on nested arrays: all indexes are symbolic, and so is what is copied."""

    bounds = Bounds(width=Bound(2, 1, 3, "columns"))

    def declare(self, b: BoundValues) -> State:
        cell = Record(value=Int(-1, 1), seen=Option(Int(3, 4)))
        return State(
            row=Int(0, 1),
            column=Int(0, b.width - 1),
            rows=Array(2, Record(cells=Array(b.width, cell), marks=Array(b.width, Option(Record(by=Int(0, 1)))))),
        )

    @action
    def move(self, s: StateView, down: bool) -> None:
        """Put the cursor elsewhere."""
        if down:
            s.row = 1 - s.row
        else:
            s.column = If(s.column == self.b.width - 1, 0, s.column + 1)

    @action
    def raise_here(self, s: StateView) -> None:
        """Write where the cursor is, twice, the second time reading what the first wrote."""
        here = s.rows[s.row].cells[s.column]
        require(here.value < 1)
        here.value += 1
        here.seen = If(here.value == 0, NONE, 3 + s.row)

    @action
    def mark(self, s: StateView) -> None:
        """Mark where the cursor is; a mark that is there passes on to the other row."""
        s.rows[s.row].marks[s.column] = If(
            s.rows[s.row].marks[s.column].is_some(), NONE, record(by=minimum(s.row, s.column))
        )

    @action
    def swap(self, s: StateView) -> None:
        """Exchange the rows, by a snapshot."""
        require(s.column == 0)
        first = snapshot(s.rows[0])
        s.rows[0] = s.rows[1]
        s.rows[1] = first


class Pair(Subset, of=Node):
    """A team of nodes."""


class Teams(Model):
    """Sets of sets, and parameters that are sets."""

    bounds = Bounds(nodes=Bound(2, 1, 3, "players"))

    def declare(self, b: BoundValues) -> State:
        return State(teams=Set(Pair), best=Option(Pair), all=Set(Node))

    @action(label="{team} signs up")
    def sign_up(self, s: StateView, team: Pair) -> None:
        """Add a team that shares no player with another."""
        require(Not(team.is_empty()), Not(s.teams.contains(team)))
        require(for_all(s.teams, lambda other: (other & team).is_empty()))
        s.teams |= {team}
        s.best = team
        s.all |= team

    @action
    def leave(self, s: StateView, team: Pair) -> None:
        """Take a team away."""
        require(s.teams.contains(team))
        s.teams -= {team}
        s.all -= team
        s.best = If(s.best == team, NONE, s.best)

    @invariant
    def everybody_is_in_a_team(self, s: StateView) -> Condition:
        """Who is in is in exactly the teams."""
        members = self.all(Node)
        return for_all(members, lambda n: s.all.contains(n) == exists(s.teams, lambda team: team.contains(n)))

"""Creatures that meet in pairs and change colour: the TLA+ module Chameneos, after Kaiser and Pradat-Peyre."""

from __future__ import annotations

import enum

from insync.model import ANY, NONE, And, Array, Bound, BoundValues, Bounds, Condition, EnumValue, If, Implies, Index
from insync.model import Int, Model, Option, Record, State, StateView, action, bound, initial, invariant, require
from insync.model import sum_of


class Creature(Index, symmetric=True):
    """Somebody who wants to meet others."""

    size = bound("creatures")


class Color(enum.Enum):
    """The colours, and what is left when the game is over."""

    BLUE = 0
    RED = 1
    YELLOW = 2
    FADED = 3


class Chameneos(Model):
    """Who comes to the meeting place waits for another one; both leave in the colour that complements theirs."""

    bounds = Bounds(creatures=Bound(4, 2, 5, "creatures"), meetings=Bound(4, 1, 6, "meetings until the game is over"))
    headline = ("two_in_each_meeting",)

    def declare(self, b: BoundValues) -> State:
        creature = Record(color=Color, met=Int(0, b.meetings))
        return State(creature=Array(Creature, creature), waiting=Option(Creature), meetings=Int(0, b.meetings))

    @initial
    def any_colors(self, s: StateView) -> None:
        for c in self.all(Creature):
            s.creature[c].color = ANY
            require(s.creature[c].color != Color.FADED)

    def complement(self, one: EnumValue, other: EnumValue) -> EnumValue:
        """Their colour if it is the same, else the third one."""
        third = If(And(one != Color.RED, other != Color.RED), Color.RED, Color.YELLOW)
        third = If(And(one != Color.BLUE, other != Color.BLUE), Color.BLUE, third)
        return If(one == other, one, third)

    @action
    def wait(self, s: StateView, c: Creature) -> None:
        require(s.creature[c].color != Color.FADED, s.waiting == NONE, s.meetings < self.b.meetings)
        s.waiting = c

    @action
    def fade(self, s: StateView, c: Creature) -> None:
        require(s.creature[c].color != Color.FADED, s.waiting == NONE, s.meetings == self.b.meetings)
        s.creature[c].color = Color.FADED

    @action
    def meet(self, s: StateView, c: Creature, other: Creature) -> None:
        require(s.creature[c].color != Color.FADED, c != other, s.waiting == other)
        s.creature[c].color = s.creature[other].color = self.complement(s.creature[c].color, s.creature[other].color)
        s.creature[c].met += 1
        s.creature[other].met += 1
        s.meetings += 1
        s.waiting = NONE

    @invariant
    def two_in_each_meeting(self, s: StateView) -> Condition:
        """In the end, the creatures have been in twice as many meetings as there were."""
        met = sum_of(Creature, lambda c: s.creature[c].met)
        return Implies(s.meetings == self.b.meetings, met == 2 * self.b.meetings)

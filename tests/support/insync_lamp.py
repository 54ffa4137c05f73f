"""A model that is not Kafka, with every kind of domain, for the tests of traces and of the command line.

Some switches, a lamp that a pressed switch lights, and a counter that leaves its domain at the third press.
"""

from __future__ import annotations

import enum

from insync.model import (
    NONE,
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
    Option,
    Record,
    Set,
    State,
    StateView,
    action,
    invariant,
    record,
    require,
)

__all__ = ["Lamp", "Light", "Switch"]


class Switch(Index):
    """A switch."""

    label = "s"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """As many as the bound says."""
        return bounds.switches


class Light(enum.Enum):
    """What the lamp does."""

    OFF = 0
    ON = 1


class Lamp(Model):
    """Switches that light a lamp."""

    bounds = Bounds(switches=Bound(2, 1, 4, "switches on the wall"), presses=Bound(2, 1, 9, "presses that are counted"))
    headline = ("never_on",)

    def declare(self, b: BoundValues) -> State:
        return State(
            light=Enum(Light),
            broken=Bool,
            last=Option(Switch),
            pressed=Set(Switch),
            count=Int(0, b.presses),
            history=Array(2, Option(Record(by=Switch, light=Enum(Light)))),
            presses=Array(Switch, Int(0, 9)),
        )

    @action(label="{switch} is pressed")
    def press(self, s: StateView, switch: Switch) -> None:
        """Light the lamp; counts beyond its domain."""
        require(Not(s.broken), s.presses[switch] < 9)
        s.light = Light.ON
        s.last = switch
        s.pressed = s.pressed | {switch}
        s.history[0] = record(by=switch, light=Light.ON)
        s.presses[switch] += 1
        s.count += 1

    @action(label="the lamp goes off")
    def go_off(self, s: StateView) -> None:
        """Turn the lamp off and forget who pressed."""
        require(s.light == Light.ON)
        s.light = Light.OFF
        s.last = NONE

    @action
    def breaks(self, s: StateView, really: bool) -> None:
        """Never happens unless it really does."""
        if not really:
            require(s.presses[self.all(Switch)[0]] == 8, s.count == 0)
        require(s.light == Light.ON, Not(s.broken))
        s.broken = If(s.light == Light.ON, True, s.broken)

    @invariant
    def never_on(self, s: StateView) -> Condition:
        """The lamp is never on."""
        return Not(s.light == Light.ON)

    @invariant
    def broken_lamps_are_dark(self, s: StateView) -> Condition:
        """A broken lamp is off."""
        return Implies(s.broken, s.light == Light.OFF)

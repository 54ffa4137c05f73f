"""Models for the tests of proofs: a property that needs two good states in a row, no short lemma, and much of z3."""

from __future__ import annotations

from insync.model import Bool, Condition, Int, Model, Not, Or, State, StateView, action, invariant, require

__all__ = ["Corridor", "Factors", "Quarters"]


class Corridor(Model):
    """Rooms 0 and 1 lead to each other, 2 leads to the trap 3, and nothing leads to 2."""

    headline = ("never_trapped",)

    def declare(self, b: object) -> State:
        return State(room=Int(0, 3))

    @action
    def walk(self, s: StateView) -> None:
        """Go on from one of the first rooms."""
        require(s.room < 2)
        s.room = 1 - s.room

    @action
    def fall(self, s: StateView) -> None:
        """Fall into the trap."""
        require(s.room == 2)
        s.room = 3

    @invariant
    def never_trapped(self, s: StateView) -> Condition:
        """Nobody is in the trap."""
        free: Condition = s.room != 3
        return free

    @invariant
    def near_the_door(self, s: StateView) -> Condition:
        """Everybody is in one of the first two rooms."""
        near: Condition = s.room < 2
        return near

    @invariant
    def at_the_door(self, s: StateView) -> Condition:
        """Everybody is in the first room, which is true at first only."""
        first: Condition = s.room == 0
        return first


class Factors(Model):
    """Two factors of 2^39 - 7 are looked for: it is a prime number, which takes z3 very long to see."""

    headline = ("never_found",)

    def declare(self, b: object) -> State:
        return State(first=Int(0, 2**20), second=Int(0, 2**20), found=Bool, tries=Int(0, 3))

    @action
    def try_again(self, s: StateView) -> None:
        """Count a try."""
        require(s.tries < 3)
        s.tries += 1

    @action
    def find(self, s: StateView) -> None:
        """Find two factors."""
        require(s.first * s.second == 2**39 - 7)
        s.found = True

    @action
    def rest(self, s: StateView) -> None:
        """Forget the tries."""
        s.tries = 0

    @invariant
    def never_found(self, s: StateView) -> Condition:
        """Nobody finds two factors."""
        return Not(s.found)

    @invariant
    def few_tries(self, s: StateView) -> Condition:
        """Nobody tries more than three times."""
        few: Condition = s.tries <= 3
        return few


class Quarters(Model):
    """Of four lamps one is always dark: a lemma must speak of all of them."""

    headline = ("never_lost",)

    def declare(self, b: object) -> State:
        return State(north=Bool, east=Bool, south=Bool, west=Bool, lost=Bool)

    @action
    def light(self, s: StateView, north: bool, east: bool, south: bool, west: bool) -> None:
        """Light some of the lamps."""
        require(Or(Not(north), Not(east), Not(south), Not(west)))
        s.north, s.east, s.south, s.west = north, east, south, west

    @action
    def fall(self, s: StateView) -> None:
        """Fall where all lamps blind."""
        require(s.north, s.east, s.south, s.west)
        s.lost = True

    @invariant
    def never_lost(self, s: StateView) -> Condition:
        """Nobody falls."""
        return Not(s.lost)

    @invariant
    def one_is_dark(self, s: StateView) -> Condition:
        """One of the lamps is dark."""
        return Not(s.north & s.east & s.south & s.west)

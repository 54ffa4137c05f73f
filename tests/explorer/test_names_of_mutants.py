"""A mutant is named by the parameters of its action, and not by what only looks like them."""

from __future__ import annotations

from insync.explorer.mutants import mutants_of
from insync.model import Array, Bool, BoundValues, Index, Model, Not, State, StateView, action, require


class Seat(Index):
    """Where one sits."""

    label = "n"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 2


class Guest(Index):
    """Who sits; guests and seats are called alike."""

    label = "n"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 2


class Supper(Model):
    """Guests eat once somebody sits."""

    def declare(self, b: BoundValues) -> State:
        return State(taken=Array(Seat, Bool), fed=Array(Guest, Bool))

    @action
    def feed(self, s: StateView, guest: Guest) -> None:
        """Feed a guest once the first seat is taken."""
        require(s.taken[0], Not(s.fed[guest]))
        s.fed[guest] = True

    @action
    def sit(self, s: StateView, seat: Seat) -> None:
        """Take a seat."""
        s.taken[seat] = True


def test_a_member_is_not_named_for_a_parameter_of_another_sort_that_looks_the_same() -> None:
    assert [mutant.name for mutant in mutants_of(Supper(), ["feed"])] == [
        "feed does not require taken[n1] == true",
        "feed does not require not fed[guest] == true",
        "feed does not assign fed[guest]",
    ]

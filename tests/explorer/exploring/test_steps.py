"""Why a step is not offered: the part of its guard that is to blame."""

from __future__ import annotations

from insync.explorer import Exploration
from insync.model import And, Array, Bool, BoundValues, Int, Model, Not, State, StateView, action, exists, require


class Bench(Model):
    """Three seats, of which the one in the middle is taken if nobody sits and it is quiet."""

    def declare(self, b: BoundValues) -> State:
        return State(taken=Array(3, Bool), noise=Int(0, 2))

    @action
    def sit(self, s: StateView) -> None:
        """Take the seat in the middle."""
        require(Not(exists(range(3), lambda seat: And(s.taken[seat], s.noise == 0))))
        s.taken[1] = True

    @action
    def leave(self, s: StateView) -> None:
        """Leave it."""
        require(s.taken[1])
        s.taken[1] = False


def test_of_a_long_condition_the_part_that_is_to_blame_is_shown_as_it_stands() -> None:
    here = Exploration(Bench())
    leave = here.why_not(1)
    assert (leave.culprit, leave.reason) == ("", "leave: taken[1] must be true, and is false.")
    here.take(0)
    sit = here.why_not(0)
    assert sit.culprit == "(taken[1] == true and noise == 0)", "without a word about what must become of it"
    assert sit.bindings == {"seat": "1"}
    assert sit.reason == f"sit: for seat = 1, {sit.culprit} must not hold, with taken[1] = true, noise = 0."

"""Properties that fail of the model itself say nothing of its mutants, whichever of them fails first."""

from __future__ import annotations

from typing import cast

from insync.explorer.mutate import mutate
from insync.model import BoundValues, Condition, Int, Model, State, StateView, action, invariant, require


class Rising(Model):
    """A number that rises past what two invariants allow, one after the other."""

    headline = ("below_two", "below_four", "never_below_zero")

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 5))

    @action
    def rise(self, s: StateView) -> None:
        """One more."""
        require(s.n < 5)
        s.n += 1

    @invariant
    def below_two(self, s: StateView) -> Condition:
        return cast(Condition, s.n < 2)

    @invariant
    def below_four(self, s: StateView) -> Condition:
        return cast(Condition, s.n < 4)

    @invariant
    def never_below_zero(self, s: StateView) -> Condition:
        return cast(Condition, s.n >= 0)


def test_a_property_that_fails_later_than_another_does_not_judge_either() -> None:
    result = mutate(Rising(), threads=1)
    assert result.failing == ("below_two", "below_four")
    assert result.properties == ("never_below_zero", "type_ok")
    assert result.distinct_states == 6, "the model is searched to its end"

"""A choice of which domain only its use says is equal to what is equal to the one of its values that is chosen."""

from __future__ import annotations

from typing import Any

from insync.model import NONE, Array, Bool, BoundValues, If, Int, Model, Range, State, StateView, action, record
from insync.model.evaluator import Evaluator

VALUES: list[Any] = [NONE, record(left=0, right=1), record(left=1, right=1), record(left=0, right=0)]


class Place(Range):
    """One of the values."""

    lo, hi = 0, len(VALUES) - 1


class Choosing(Model):
    """Notes whether what is chosen of two values is equal to a third one, and whether it is not."""

    def declare(self, b: BoundValues) -> State:
        return State(flag=Bool, found=Array(2, Int(0, 1)))

    @action
    def compare(self, s: StateView, one: Place, two: Place, three: Place) -> None:
        """Compare the choice with a value."""
        chosen, other = If(s.flag, VALUES[int(one)], VALUES[int(two)]), VALUES[int(three)]
        s.found[0] = If(chosen == other, 1, 0)
        s.found[1] = If(chosen != other, 1, 0)


def test_a_choice_is_equal_to_what_its_chosen_value_is_equal_to() -> None:
    model = Choosing()
    evaluator = Evaluator(model.program)
    for flag in (0, 1):
        for number, one in enumerate(model.program.actions):
            then, otherwise, other = (int(str(value)) for _, value in one.parameters)
            equal = (then if flag else otherwise) == other
            assert evaluator.step(number, (flag, 0, 0))[1:] == (equal, not equal), (flag, then, otherwise, other)

"""A choice of which domain only its use says is equal to what is equal to the one of its values that is chosen."""

from __future__ import annotations

from typing import Any

from insync.model import (
    NONE,
    Array,
    Bool,
    BoundValues,
    If,
    Int,
    Model,
    Option,
    Range,
    State,
    StateView,
    action,
    record,
)
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


class Doubting(Model):
    """Chooses between a truth value that may be none and others, in every order."""

    def declare(self, b: BoundValues) -> State:
        return State(flag=Bool, known=Option(Bool), result=Option(Bool))

    @action
    def choose(self, s: StateView, one: Place, two: Place) -> None:
        """Assign one of two values, which the flag chooses."""
        values: list[Any] = [NONE, s.known, s.flag, True]
        s.result = If(s.flag, values[int(one)], values[int(two)])


def test_a_truth_value_may_stand_beside_none_or_an_option_of_one() -> None:
    model = Doubting()
    evaluator = Evaluator(model.program)
    for number, one in enumerate(model.program.actions):
        then, otherwise = (int(str(value)) for _, value in one.parameters)
        for flag in (0, 1):
            for known in (0, 1, 2):
                expected = [0, known, 1 + flag, 2][then if flag else otherwise]
                after = evaluator.step(number, (flag, known, 0))
                assert after == (flag, known, expected), (flag, known, then, otherwise)

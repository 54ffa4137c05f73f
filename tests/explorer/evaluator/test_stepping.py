from __future__ import annotations

import pytest

from insync.explorer.evaluator.stepping import Move, Refused, Stepper, Walk, confirmed
from insync.model.errors import GuardError, InternalError
from insync_toys import DieHard, Overflow, TokenRing


def test_an_action_leads_on_or_is_refused_or_is_not_enabled() -> None:
    stepper = Stepper(Overflow())
    walk = Walk(stepper)
    outcomes = dict(stepper.outcomes(walk.codes))
    while not any(isinstance(outcome, Refused) for outcome in outcomes.values()):
        walk.step(next(iter(outcomes)))
        outcomes = dict(stepper.outcomes(walk.codes))
    refused = next(number for number, outcome in outcomes.items() if isinstance(outcome, Refused))
    here = walk.codes
    with pytest.raises(Refused):
        walk.step(refused)
    assert walk.codes == here


def test_what_is_enabled_are_the_outcomes_and_nothing_else_can_be_taken() -> None:
    stepper = Stepper(TokenRing())
    walk = Walk(stepper)
    numbers = [number for number, _ in stepper.outcomes(walk.codes)]
    assert numbers == sorted(number for found in walk.enabled.values() for number in found)
    others = set(range(len(stepper.actions))) - set(numbers)
    assert others
    for number in others:
        assert stepper.attempt(walk.codes, number) is None
        with pytest.raises(GuardError, match="is not enabled"):
            walk.step(number)
    assert walk.moves == [(None, walk.codes)]


def test_moves_that_the_evaluator_does_not_take_are_our_mistake() -> None:
    walk = Walk(Stepper(DieHard()))
    for _ in range(3):
        number, expected = next((n, after) for n, after in walk.stepper.outcomes(walk.codes) if after != walk.codes)
        walk.step(number)
        assert walk.codes == expected
    assert confirmed(DieHard(), walk.moves) == walk.moves
    others, (taken, last) = walk.moves[:-1], walk.moves[-1]
    wrong: list[Move] = [(taken, walk.moves[0][1]), (None, last)]
    for move in wrong:
        with pytest.raises(InternalError, match="the evaluator takes no such step"):
            confirmed(DieHard(), [*others, move])
    with pytest.raises(InternalError, match="not an initial state"):
        confirmed(DieHard(), walk.moves[1:])

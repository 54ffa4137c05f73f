from __future__ import annotations

import random

import pytest

from insync.explorer.stepping.stepper import Move, Refused, Stepper, Walk, confirmed
from insync.model.evaluator import Evaluator
from insync.runtime.errors import GuardError, InternalError
from insync_nearby import walked
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
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            walk.step(refused)
        outcome = stepper.attempt(here, refused)
        assert isinstance(outcome, Refused)
        assert (
            (caught.value.number, caught.value.message) == (outcome.number, outcome.message) == (refused, str(outcome))
        )
        assert str(caught.value) == outcome.message
        check = Evaluator(stepper.model.program).failing_check(refused, here)
        assert check is not None
        assert outcome.message == check.message
    assert walk.codes == here


@pytest.mark.parametrize("remembered", [1, 2, 5, 1000])
def test_what_is_forgotten_is_found_again(remembered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.explorer.stepping.stepper._REMEMBERED", remembered)
    model, chance = TokenRing(two_tokens=1), random.Random(5)
    stepper, evaluator = Stepper(model), Evaluator(model.program)
    asked = [before for before, _, _ in walked(model, chance, 20, 10)]
    for codes in chance.choices(asked, k=200):
        enabled = evaluator.enabled(codes)
        assert sorted(number for found in stepper.enabled(codes).values() for number in found) == enabled
        for number in range(len(stepper.actions)):
            after = evaluator.step(number, codes) if number in enabled else None
            assert stepper.attempt(codes, number) == after


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

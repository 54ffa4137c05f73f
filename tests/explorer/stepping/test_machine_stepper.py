"""Steps from machine code are those of the evaluator, which is the definition."""

from __future__ import annotations

import random

import pytest

from insync.explorer.stepping.machine_stepper import MachineStepper
from insync.explorer.stepping.stepper import Refused, Stepper
from insync.kafka.cluster.model import Cluster
from insync.model import Model
from insync.model.catalogue import find_model
from insync.model.evaluator import Codes
from insync_machine import reachable_states
from insync_nearby import walked
from insync_toys import TOYS, Overflow

SMALL = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)


def all_outcomes(stepper: Stepper, codes: Codes) -> list[object]:
    """What is enabled, and what every action comes to, enabled or not; a refusal by what it says."""
    attempts = [stepper.attempt(codes, number) for number in range(len(stepper.actions))]
    shown = [(one.number, one.message) if isinstance(one, Refused) else one for one in attempts]
    return [stepper.enabled(codes), *shown]


@pytest.mark.parametrize("model", [*TOYS, SMALL], ids=lambda model: str(model.name))
def test_the_machine_takes_the_steps_of_the_evaluator(model: Model) -> None:
    mine, plain = MachineStepper(model), Stepper(model)
    for words in reachable_states(model, 200):
        codes = model.program.schema.unpack(words)
        assert all_outcomes(mine, codes) == all_outcomes(plain, codes)
    mine.close()


def test_it_does_so_in_the_model_of_the_modern_protocol() -> None:
    model = Cluster(replicas=2, records=1, preferred_elections=1, delete_records=1)
    mine, plain = MachineStepper(model), Stepper(model)
    for codes in {before for before, _, _ in walked(model, random.Random(4), 3, 20)}:
        assert all_outcomes(mine, codes) == all_outcomes(plain, codes)
    mine.close()


def test_a_step_that_leaves_a_field_is_refused_in_the_words_of_the_evaluator() -> None:
    mine = MachineStepper(Overflow())
    states = map(mine.model.program.schema.unpack, reachable_states(mine.model, 200))
    outcomes = [outcome for codes in states for _, outcome in mine.outcomes(codes)]
    mine.close()
    assert any(isinstance(outcome, Refused) for outcome in outcomes)
    assert not all(isinstance(outcome, Refused) for outcome in outcomes)

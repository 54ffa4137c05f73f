"""Laws of tours, on models drawn at random whose systems are the models themselves, right or with one mistake."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from insync.explorer.runs.state_graph import build_graph
from insync.explorer.stepping.stepper import Stepper
from insync.explorer.systems.failures import FailureKind
from insync.explorer.tour import TourResult, tour
from insync.model import Model
from insync.model.evaluator import Codes
from insync.properties.registry import confined
from insync.runtime.watch import Limits
from insync_differential import model_of
from insync_drawn import drawn
from insync_drawn_text import model_text
from insync_systems import Transition, system_of, transitions_of

MOST_STATES = 300


def small(seed: int) -> Model | None:
    """The model of a seed, if its whole space is small, has steps and breaks no domain."""
    model = confined(model_of(model_text(drawn(seed))))
    graph = build_graph(model, limits=Limits(states=MOST_STATES))
    return model if graph.stopped_by is None and not graph.refused and len(graph.source) else None


def fails(model: Model, altered: Mapping[Transition, Codes], start: Codes, actions: Sequence[int]) -> bool:
    """Whether a system with these mistakes differs from the model along a list, by a comparison of its own."""
    stepper, system = Stepper(model), start
    right = start
    for number in actions:
        after = stepper.attempt(right, number)
        if not isinstance(after, tuple):
            continue
        system = altered.get((right, number), after)
        right = after
        if system != right:
            return True
    return False


def actions_of(model: Model, result: TourResult) -> tuple[Codes, list[int]]:
    """The initial state and the actions of the trace of a failure."""
    assert result.failure is not None
    first, *rest = result.failure.trace.steps
    numbers = [model.program.action_number(step.action or "", dict(step.parameters)) for step in rest]
    return model.encode(first.state), [number for number in numbers if number is not None]


def compared(model: Model, chance: random.Random, seen: Counter[str]) -> None:
    """Tour the model itself, and then systems with one transition that leads elsewhere, or raises."""
    known = transitions_of(model)
    taken: Counter[Transition] = Counter()

    def note(transition: Transition) -> None:
        taken[transition] += 1

    right = tour(model, system_of(model, then=note))
    states = {*model.program.initials, *known.values()}
    assert right.failure is None
    assert right.verdict == "holds"
    assert set(taken) == set(known), "each transition is taken, and no other"
    assert (right.taken, right.transitions, right.visited, right.states) == (*[len(known)] * 2, *[len(states)] * 2)
    assert right.steps == taken.total()
    seen["models"] += 1
    seen["several walks"] += right.walks > 1
    seen["several beginnings"] += len(model.program.initials) > 1
    for _ in range(3):
        transition = chance.choice(sorted(known))
        elsewhere = sorted(states - {known[transition]})
        if not elsewhere:
            continue
        altered = {transition: chance.choice(elsewhere)}
        wrong = tour(model, system_of(model, altered))
        assert wrong.failure is not None
        assert wrong.failure.kind is FailureKind.DIFFERENCE
        start, actions = actions_of(model, wrong)
        assert fails(model, altered, start, actions)
        for place in range(len(actions)):
            shorter = actions[:place] + actions[place + 1 :]
            assert not fails(model, altered, start, shorter), "no step can be left out"
        seen["differences"] += 1
        seen["shortened"] += wrong.failure.walk_length > len(actions) + 1

    def explode(taken: Transition) -> None:
        if taken == transition:
            raise ZeroDivisionError

    raised = tour(model, system_of(model, then=explode))
    assert raised.failure is not None
    assert (raised.failure.kind, type(raised.failure.error)) == (FailureKind.RAISED, ZeroDivisionError)
    _, actions = actions_of(model, raised)
    assert actions[-1] == transition[1]


@pytest.mark.parametrize("first", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(21, 400, 20))])
def test_each_transition_is_taken_and_one_that_leads_elsewhere_is_found_and_shown_in_the_fewest_steps(
    first: int,
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(first, first + 20):
        model = small(seed)
        if model is not None:
            compared(model, random.Random(seed), seen)
    assert seen["models"] > 5
    assert seen["differences"] > 10
    assert min(seen["several walks"], seen["several beginnings"], seen["shortened"]) > 0


def spoilt_by(model: Model, cause: Transition, effect: Transition) -> type:
    """A system that raises in a transition if another one has been taken before."""
    made: type = system_of(model)

    class Spoilt(made):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.spoilt = False

        def note(self, transition: Transition) -> None:
            if self.spoilt and transition == effect:
                message = "spoilt"
                raise RuntimeError(message)
            self.spoilt = self.spoilt or transition == cause

    return Spoilt


def betrays(model: Model, cause: Transition, effect: Transition, start: Codes, actions: Sequence[int]) -> bool:
    """Whether a list of actions takes the one transition and later the other."""
    stepper, codes, spoilt = Stepper(model), start, False
    for number in actions:
        after = stepper.attempt(codes, number)
        if isinstance(after, tuple):
            if spoilt and (codes, number) == effect:
                return True
            spoilt = spoilt or (codes, number) == cause
            codes = after
    return False


def test_a_mistake_that_shows_later_keeps_its_cause() -> None:
    """A system that a first transition spoils and a second one betrays, whatever is between."""
    model = next(model for model in map(small, range(1, 60)) if model is not None and len(transitions_of(model)) > 40)
    known, chance, found = sorted(transitions_of(model)), random.Random(5), 0
    for _ in range(20):
        cause, effect = chance.sample(known, 2)
        result = tour(model, spoilt_by(model, cause, effect))
        if result.failure is None:
            continue
        found += 1
        assert result.failure.kind is FailureKind.RAISED
        start, actions = actions_of(model, result)
        assert betrays(model, cause, effect, start, actions)
        for place in range(len(actions)):
            assert not betrays(model, cause, effect, start, actions[:place] + actions[place + 1 :])
    assert found > 2

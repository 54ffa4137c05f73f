"""A failing walk without what it does not need: it still fails, at its end alone, and needs each of its steps."""

from __future__ import annotations

import random

import pytest

from insync.explorer.stepping.shrinking import Failing, FailingWalks, shrink
from insync.explorer.stepping.stepper import Stepper, Walk
from insync.kafka.published import Kip320
from insync.model import Bool, BoundValues, Index, Int, Model, Not, Set, State, StateView, action, require
from insync.model.evaluator import Codes, evaluate
from insync.properties.registry import run_properties_of
from insync.runtime.errors import InternalError
from insync.runtime.watch import Limits, Stopped, Watch
from insync_nearby import walked

MODEL = Kip320(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
STEPPER = Stepper(MODEL)


def committed_everywhere(codes: Codes) -> bool:
    (instance,) = run_properties_of(MODEL)["committed_everywhere"].instances(MODEL)
    return bool(evaluate(instance.then, codes))


def failing_lists(count: int) -> list[list[int]]:
    """The actions of long random walks that come to a failure on the way."""
    chance, found = random.Random(3), list[list[int]]()
    while len(found) < count:
        steps = list(walked(MODEL, chance, 1, 25))
        if any(committed_everywhere(after) for _, _, after in steps):
            found.append([number for _, number, _ in steps])
    return found


def test_what_is_left_fails_at_its_end_alone_and_needs_every_step() -> None:
    walks, shorter = FailingWalks(STEPPER, committed_everywhere), 0
    for actions in failing_lists(24):
        whole, found = walks.failing(actions), shrink(walks, actions)
        assert whole is not None
        assert whole.actions == actions[: len(whole.actions)]
        shorter += len(found.actions) < len(whole.actions)
        walk = Walk(STEPPER)
        for number in found.actions:
            assert not committed_everywhere(walk.codes)
            walk.step(number)
        assert committed_everywhere(walk.codes)
        assert list(found.moves) == list(walk.moves)
        for place in range(len(found.actions)):
            less = walks.failing(found.actions[:place] + found.actions[place + 1 :])
            assert less is None or len(less.actions) >= len(found.actions)
    assert shorter > 3


def test_a_failure_in_the_initial_state_needs_no_step() -> None:
    walks = FailingWalks(STEPPER, lambda codes: True)
    assert shrink(walks, failing_lists(1)[0]) == Failing([], Walk(STEPPER).moves)


def test_a_walk_that_fails_nowhere_is_an_internal_error() -> None:
    actions = failing_lists(1)[0]
    with pytest.raises(
        InternalError, match=rf"finds that a walk of {len(actions)} steps fails; by the evaluator it do"
    ):
        shrink(FailingWalks(STEPPER, lambda codes: False), actions)


def test_who_stops_it_gets_the_part_that_there_is_by_then(monkeypatch: pytest.MonkeyPatch) -> None:
    walks, (actions, *_) = FailingWalks(STEPPER, committed_everywhere), failing_lists(1)
    whole = walks.failing(actions)
    assert whole is not None
    assert shrink(walks, actions, Watch(Limits(seconds=0))) == whole, "one walk is taken in the grace that there is"
    monkeypatch.setattr("insync.explorer.stepping.shrinking._GRACE_SECONDS", 0.0)
    with pytest.raises(Stopped):
        shrink(walks, actions, Watch(Limits(seconds=0)))


class Lever(Index):
    """One of four levers."""

    size, label = 4, "l"


class Levers(Model):
    """Levers that are pulled once."""

    def declare(self, b: BoundValues) -> State:
        return State(pulled=Set(Lever))

    @action
    def pull(self, s: StateView, lever: Lever) -> None:
        """Pull a lever."""
        require(Not(s.pulled.contains(lever)))
        s.pulled |= {lever}


@pytest.mark.parametrize("needed", range(16))
def test_of_steps_that_do_not_depend_on_each_other_those_that_are_needed_are_left(needed: int) -> None:
    stepper = Stepper(Levers())
    walks = FailingWalks(stepper, lambda codes: all(codes[0] >> lever & 1 for lever in range(4) if needed >> lever & 1))
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        found = shrink(walks, order)
        assert found.actions == [lever for lever in order if needed >> lever & 1]


class Glass(Model):
    """A glass that is filled whether there is room or not."""

    def declare(self, b: BoundValues) -> State:
        return State(level=Int(0, 1), tasted=Bool)

    @action
    def fill(self, s: StateView) -> None:
        """Pour some."""
        s.level += 1

    @action
    def taste(self, s: StateView) -> None:
        """Drink all of a full glass."""
        require(s.level == 1)
        s.level, s.tasted = 0, True


def test_a_refused_step_ends_a_list_only_where_it_is_the_failure() -> None:
    stepper, (fill, taste) = Stepper(Glass()), (0, 1)
    tasted, spilled = FailingWalks(stepper, lambda codes: codes[1] == 1), FailingWalks(stepper, None)
    actions = [fill, fill, taste, fill]
    found, refused = tasted.failing(actions), spilled.failing(actions)
    assert found is not None
    assert found.actions == [fill, taste]
    assert refused is not None
    assert refused.actions == [fill, fill]
    assert shrink(tasted, actions).actions == [fill, taste]
    assert (spilled.failing([fill, taste, fill]), tasted.failing([fill, fill, fill])) == (None, None)

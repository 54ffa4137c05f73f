from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from insync.explorer.runs.lassos import Lasso, _reason, verify
from insync.model import Condition, Index, Int, Model, State, StateView, TailCondition, action, require
from insync.properties import Fairness, always_eventually, eventually, eventually_always, initially_always, leads_to
from insync.properties.registry import run_properties_of
from insync.properties.temporal import Due


class Steps(Model):
    """Up to the third step, and no further."""

    def declare(self, b: object) -> State:
        return State(step=Int(0, 3))

    @action
    def up(self, s: StateView) -> None:
        """Go up."""
        require(s.step < 3)
        s.step += 1


@leads_to(Steps)
def second_is_seen(model: Steps, s: StateView) -> tuple[Condition, Condition]:
    """Whoever is on the first or the second step is on the second one then, or at once."""
    return (s.step == 1) | (s.step == 2), s.step == 2


@leads_to(Steps)
def first_comes_back(model: Steps, s: StateView) -> tuple[Condition, Condition]:
    """Whoever is on the second step is on the first one some time."""
    return s.step == 2, s.step == 1


RUN = Lasso(((None, (0,)), (0, (1,)), (0, (2,)), (0, (3,))), 3)


def test_what_comes_in_the_very_state_in_which_it_is_due_is_not_due_any_more() -> None:
    model = Steps()
    known = run_properties_of(model)
    settled = verify(model, known["second_is_seen"], Fairness(), RUN)
    assert settled.fault == "second_is_seen holds in this run."
    broken = verify(model, known["first_comes_back"], Fairness(), RUN)
    assert (broken.fault, "is due after step 2" in broken.reason) == (None, True)


class Place(Index):
    """Where one may go."""

    label = "at"

    @classmethod
    def size(cls, bounds: object) -> int:
        return 5


class Anywhere(Model):
    """From every place to every other."""

    def declare(self, b: object) -> State:
        return State(place=Int(0, 4))

    @action
    def go(self, s: StateView, to: Place) -> None:
        """Go there."""
        s.place = int(to)


@eventually(Anywhere)
def arrives(model: Anywhere, s: StateView) -> Condition:
    """The last place is reached."""
    here: Condition = s.place == 4
    return here


@leads_to(Anywhere)
def goes_on(model: Anywhere, s: StateView) -> tuple[Condition, Condition]:
    """From the second place the last one is reached."""
    return s.place == 2, s.place == 4


@always_eventually(Anywhere)
def keeps_arriving(model: Anywhere, s: StateView) -> Condition:
    """The last place is reached again and again."""
    return arrives(model, s)


@eventually_always(Anywhere)
def settles(model: Anywhere, s: StateView) -> Condition:
    """In the end it stays at the last place."""
    return arrives(model, s)


@leads_to(Anywhere)
def then_keeps_arriving(model: Anywhere, s: StateView) -> tuple[Condition, TailCondition]:
    """From the second place the last one is reached again and again."""
    return s.place == 2, always_eventually(s.place == 4)


@leads_to(Anywhere)
def then_settles(model: Anywhere, s: StateView) -> tuple[Condition, TailCondition]:
    """From the second place on it comes to stay at the last one."""
    return s.place == 2, eventually_always(s.place == 4)


@initially_always(Anywhere)
def keeps_low(model: Anywhere, s: StateView) -> tuple[Condition, Condition]:
    """From the first place the last one is never reached."""
    return s.place == 0, s.place < 4


STAYS = "the run stays as it is for ever; no action that is fair is enabled there."
APART = STAYS.replace("for ever", "for ever without it")


@pytest.mark.parametrize(("name", "places", "loop", "said"), [
    ("arrives", (0,), 0, f"from the start, but after the start {STAYS}"),
    ("arrives", (0, 1), 1, f"from the start, but after step 1 {STAYS}"),
    ("arrives", (0, 0), 0, "from the start, but step 1 repeats for ever without it."),
    ("arrives", (0, 1, 1), 1, "from the start, but step 2 repeats for ever without it."),
    ("arrives", (0, 1, 0), 0, "from the start, but the steps 1 and 2 repeat for ever without it."),
    ("arrives", (0, 1, 2, 1), 1, "from the start, but the steps 2 and 3 repeat for ever without it."),
    ("arrives", (0, 1, 2, 3, 1), 1, "from the start, but the steps 2 to 4 repeat for ever without it."),
    ("goes_on", (2, 1, 2, 1), 1, "from the start, but the steps 2 and 3 repeat for ever without it."),
    ("goes_on", (0, 2, 1, 1), 2, "after step 1, but step 3 repeats for ever without it."),
    ("goes_on", (2, 4, 2, 1), 3, f"after step 2, but after step 3 {STAYS}"),
    ("keeps_arriving", (0, 4, 1), 2, f"again and again from the start, but after step 2 {APART}"),
    ("keeps_arriving", (4, 1, 2, 1), 1, ("again and again from the start, but the steps 2 and 3 repeat for ever "
     "without it.")),
    ("settles", (0, 4, 1, 4), 1, ("from some state on from the start, but the steps 2 and 3 repeat for ever and it "
     "fails after step 2.")),
    ("then_keeps_arriving", (0, 2, 4, 1), 3, f"again and again after step 1, but after step 3 {APART}"),
    ("then_keeps_arriving", (4, 1, 2, 1), 1, ("again and again after step 2, but the steps 2 and 3 repeat for ever "
     "without it.")),
    ("then_settles", (4, 2, 4, 1, 4), 2, ("from some state on after step 1, but the steps 3 and 4 repeat for ever and "
     "it fails after step 3.")),
    ("keeps_low", (0, 3, 4, 1), 3, "from the start, and after step 2 it fails."),
])  # fmt: skip
def test_the_reason_names_the_step_from_which_it_is_due_and_those_that_repeat(
    name: str, places: tuple[int, ...], loop: int, said: str
) -> None:
    model = Anywhere()
    lasso = Lasso([(None, (places[0],)), *((place, (place,)) for place in places[1:])], loop)
    found = verify(model, run_properties_of(model)[name], Fairness(), lasso)
    assert (found.fault, found.reason) == (None, f"{name} is due {said}")


@pytest.mark.parametrize(("name", "places", "loop"), [
    ("arrives", (0, 4), 1), ("arrives", (4, 0, 1, 0), 1), ("goes_on", (2, 4, 1), 2), ("goes_on", (2, 4, 2), 0),
    ("goes_on", (0, 1, 3), 2), ("keeps_arriving", (0, 4, 1, 4), 1), ("settles", (0, 1, 4), 2),
    ("then_keeps_arriving", (0, 1, 3), 2), ("then_keeps_arriving", (2, 4, 1, 4), 1), ("then_settles", (2, 1, 4), 2),
    ("keeps_low", (0, 1, 3), 2), ("keeps_low", (4, 1, 4), 2),
])  # fmt: skip
def test_what_has_come_or_comes_again_and_again_is_not_due(name: str, places: tuple[int, ...], loop: int) -> None:
    model = Anywhere()
    lasso = Lasso([(None, (places[0],)), *((place, (place,)) for place in places[1:])], loop)
    assert verify(model, run_properties_of(model)[name], Fairness(), lasso).fault == f"{name} holds in this run."


def test_a_loop_that_does_not_close_is_no_counterexample() -> None:
    model = Anywhere()
    found = verify(model, run_properties_of(model)["arrives"], Fairness(), Lasso([(None, (0,)), (1, (1,))], 0))
    assert found.fault == "the last state is not that of step 0, so the loop does not close."


@pytest.mark.parametrize(("excuses", "shown"), [(1, "x0."), (5, "x4."), (6, "x5."), (7, "x5; ...."), (9, "x5; ....")])
def test_up_to_six_excuses_are_named(excuses: int, shown: str) -> None:
    found: Any = SimpleNamespace(name="gets_across")
    instance: Any = SimpleNamespace(bindings={}, due=Due.ONCE, taken=None)
    moves: Any = [(None, (0,)), (0, (1,)), (0, (0,))]
    text = _reason(found, instance, 0, Lasso(moves, 0), [f"x{number}" for number in range(excuses)])
    assert text.endswith(shown)
    assert text.count("x") == min(excuses, 6)
    assert "the steps 1 and 2 repeat for ever without it. The loop is fair: x0" in text
    stays = _reason(found, instance, 0, Lasso(moves, 2), [f"x{number}" for number in range(excuses)])
    assert stays.endswith("but after step 2 the run stays as it is for ever; no action that is fair is enabled there.")


class Lift(Model):
    """Between three floors, with a rope that may break at the top."""

    def declare(self, b: object) -> State:
        return State(floor=Int(0, 3))

    @action
    def up(self, s: StateView) -> None:
        """One floor up."""
        require(s.floor < 2)
        s.floor += 1

    @action
    def down(self, s: StateView) -> None:
        """One floor down."""
        require(s.floor > 0)
        s.floor -= 1

    @action
    def fall(self, s: StateView) -> None:
        """Down to the ground."""
        require(s.floor == 2)
        s.floor = 0


@eventually(Lift)
def reaches_the_roof(model: Lift, s: StateView) -> Condition:
    """Some time the lift is above the last floor; it never is."""
    above: Condition = s.floor == 3
    return above


NEXT = {"up": {0: 1, 1: 2}, "down": {1: 0, 2: 1}, "fall": {2: 0}}
"""Where each action leads from the floors on which it is enabled."""


def _lassos(longest: int) -> Iterator[tuple[list[str], list[int], int]]:
    """Yield the actions and floors of all runs up to a length, each with all places that it may go back to."""
    runs: list[tuple[list[str], list[int]]] = [([], [0])]
    while runs:
        taken, floors = runs.pop()
        yield from ((taken, floors, place) for place, floor in enumerate(floors) if floor == floors[-1])
        if len(taken) < longest:
            runs += [([*taken, name], [*floors, to[floors[-1]]]) for name, to in NEXT.items() if floors[-1] in to]


@pytest.mark.parametrize("fairness", [Fairness(weak=("up", "down", "fall")), Fairness(strong=("up", "down", "fall")),
                                      Fairness(weak=("up",), strong=("fall",))], ids=str)  # fmt: skip
def test_a_loop_is_fair_as_the_definition_of_fairness_has_it(fairness: Fairness) -> None:
    """Weakly: never enabled for ever and not taken. Strongly: never enabled again and again and not taken."""
    model, refused = Lift(), 0
    number = {action.name: at for at, action in enumerate(model.program.actions)}
    for taken, floors, loop in _lassos(4):
        moves = [(None, (0,)), *((number[name], (floor,)) for name, floor in zip(taken, floors[1:], strict=True))]
        neglected = [
            name
            for names, enough in ((fairness.weak, all), (fairness.strong, any))
            for name in names
            if name not in taken[loop:] and enough(floor in NEXT[name] for floor in floors[loop:])
        ]
        found = verify(model, run_properties_of(model)["reaches_the_roof"], fairness, Lasso(moves, loop))
        assert (found.fault is not None) == bool(neglected), (taken, loop)
        assert not neglected or any(f"it neglects {name}, " in str(found.fault) for name in neglected)
        refused += bool(neglected)
    assert refused > 10

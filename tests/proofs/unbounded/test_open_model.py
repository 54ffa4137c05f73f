"""A model with open bounds says of every value of these what the model says under that value."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from insync.model import (
    Array,
    Bound,
    Bounds,
    BoundValues,
    Int,
    Model,
    ModelError,
    Range,
    State,
    StateView,
    UserError,
    action,
    bound,
)
from insync.model.catalogue import find_model
from insync.model.evaluator import Evaluator, evaluate
from insync.model.expressions.graph import Variable
from insync.properties.registry import judge, lemmas_of
from insync_meanings import states_of

pytest.importorskip("z3")

from insync.proofs.unbounded.open_model import OpenModel
from insync_open_models import Meaning

BOUNDS = {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 1}


def some_states(model: Model, many: int) -> list[tuple[int, ...]]:
    """States of random walks, and as many in which random cells have random codes."""
    chooser, cells = random.Random(1), model.program.schema.cells
    states = list(dict.fromkeys(states_of(model)))
    chosen = chooser.sample(states, min(many, len(states)))
    for state in list(chosen):
        changed = list(state)
        for cell in chooser.sample(cells, 3):
            changed[cell.number] = chooser.randrange(cell.size)
        chosen.append(tuple(changed))
    return chosen


@pytest.mark.parametrize("name", ["kip320", "kip279"])
def test_an_open_action_does_what_its_bound_actions_do(name: str) -> None:
    model = find_model(name)(**BOUNDS)
    opened, evaluator = OpenModel(model), Evaluator(model.program)
    numbers = {(a.name, *(v for _, v in a.parameters)): n for n, a in enumerate(model.program.actions)}
    actions, compared = list(opened.actions()), 0
    for codes in some_states(model, 8):
        enabled = set(evaluator.enabled(codes))
        for one in actions:
            variables = one.variables
            sizes = [Meaning(opened, model, codes, {}).size(each.size) for each in variables]
            for values in itertools.product(*map(range, sizes)):
                means = Meaning(opened, model, codes, dict(zip(variables, values, strict=True)), one)
                is_enabled = all(means.value(node) for node in one.guard)
                opened_values = iter(values)
                given: list[Any] = [
                    next(opened_values) if isinstance(each, Variable) else each for _, each in one.parameters
                ]
                number = numbers.get((one.name, *given))
                assert is_enabled == (number in enabled), one
                if is_enabled and number is not None and evaluator.failing_check(number, codes) is None:
                    assert means.after() == evaluator.step(number, codes), one
                    compared += 1
    assert compared > 20


def test_conditions_say_the_same_of_each_state() -> None:
    model = find_model("kip320")(**BOUNDS)
    opened = OpenModel(model)
    conditions = [*judge(model).invariants, *lemmas_of(model).values()]
    pairs = [(found.name, found.node(model), found.node(opened.model)) for found in conditions]
    seen = set()
    for codes in some_states(model, 8):
        means = Meaning(opened, model, codes, {})
        for name, node, open_node in pairs:
            holds = bool(evaluate(node, codes))
            assert holds == bool(means.value(open_node)), name
            seen.add(holds)
    assert seen == {True, False}


def test_the_initial_state_is_that_of_the_model() -> None:
    model = find_model("kip320")(**BOUNDS)
    opened = OpenModel(model)
    means = Meaning(opened, model, [0] * len(model.program.schema.cells), {}, opened.initial())
    assert means.after() == model.program.initials[0]


class Row(Range):
    """Places of a row."""

    lo, hi = 0, bound("places") - 1


class Rows(Model):
    """Numbers in a row of open length; subclasses do with it what cannot be done."""

    bounds = Bounds(places=Bound(2, 1, 4, "how long the row is"))
    unbounded = ("places",)

    def declare(self, b: BoundValues) -> State:
        return State(row=Array(b.places, Int(0, 3)))


class CountsUp(Rows):
    """Goes through the places in Python."""

    @action
    def clear(self, s: StateView) -> None:
        for place in range(self.b.places):
            s.row[place] = 0


class GoesThrough(Rows):
    """Goes through the members in Python."""

    @action
    def clear(self, s: StateView) -> None:
        for place in self.all(Row):
            s.row[place] = 0


class Decides(Rows):
    """Decides on the bound in Python."""

    @action
    def clear(self, s: StateView) -> None:
        if self.b.places > 2:
            s.row[0] = 0


class Doubles(Rows):
    """Calculates with the bound."""

    def declare(self, b: BoundValues) -> State:
        return State(row=Array(b.places, Int(0, 3)), twice=Int(0, bound("places") * 2))

    @action
    def set(self, s: StateView) -> None:
        s.twice += 1


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (CountsUp, "the bound places is left open, so Python cannot decide with it or count up to it"),
        (GoesThrough, "how many members Row has is left open, so Python cannot go through them"),
        (Decides, "the bound places is left open, so Python cannot decide"),
        (Doubles, "an open bound can have a number added, and nothing else can be calculated with it"),
    ],
)
def test_what_depends_on_the_value_of_an_open_bound_is_refused_with_its_line(kind: type[Model], message: str) -> None:
    with pytest.raises(ModelError, match=message) as raised:
        list(OpenModel(kind()).actions())
    assert "test_open_model.py" in str(raised.value)


def test_a_model_that_names_no_bounds_has_none_to_leave_open() -> None:
    with pytest.raises(UserError, match="async_isr has no bound that a proof may leave open"):
        OpenModel(find_model("async_isr")())


class Cleared(Model):
    """Clears a row from a place on."""

    def declare(self, b: BoundValues) -> State:
        return State(row=Array(4, Int(0, 3)), place=Int(0, 4))

    def initial(self, s: StateView) -> None:
        s.row = [1, 2, 3, 1]
        s.place = 2

    @action
    def clear(self, s: StateView) -> None:
        s.row.clear_from(s.place)


def test_places_are_cleared_from_one_on() -> None:
    model = Cleared()
    after = Evaluator(model.program).step(0, model.program.initials[0])
    assert model.decode(after)["row"] == [1, 2, 0, 0]

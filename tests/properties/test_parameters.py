"""Invariants with parameters: they mean "for all", in the class and beside it, and a failure names the binding."""

from __future__ import annotations

import enum
from typing import Any

import pytest

from insync.explorer import check
from insync.model import (
    And,
    Array,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Implies,
    Index,
    Int,
    Model,
    ModelError,
    Not,
    Range,
    State,
    StateView,
    action,
    bound,
    for_all,
    invariant,
    require,
)
from insync.properties import invariant as beside
from insync.properties import lemma, sometimes
from insync.properties.explain import explain
from insync.properties.invariants import Failure
from insync.properties.registry import invariants_of, lemmas_of, run_properties_of, select_lemmas


class Worker(Index):
    size = bound("workers")


class Level(Range):
    lo, hi = 1, 2


class Gate(enum.Enum):
    SHUT = 0
    OPEN = 1


class Hall(Model):
    """Workers go up, one more level at a time."""

    bounds = Bounds(workers=Bound(2, 1, 9))
    headline = ("apart",)

    def declare(self, b: BoundValues) -> State:
        return State(at=Array(Worker, Int(0, 2)), gate=Gate)

    @action
    def up(self, s: StateView, worker: Worker) -> None:
        require(s.at[worker] < 2, self.may_rise(s, worker))
        s.at[worker] += 1

    @action
    def turn(self, s: StateView, gate: Gate) -> None:
        s.gate = gate

    @invariant
    def apart(self, s: StateView, first: Worker, second: Worker, level: Level) -> Condition:
        """No two workers are on one level above the ground."""
        return Implies(first < second, Not((s.at[first] == level) & (s.at[second] == level)))

    @invariant
    def may_rise(self, s: StateView, worker: Worker) -> Condition:
        """Nobody is at the top while the gate is open."""
        return Not((s.at[worker] == 2) & (s.gate == Gate.OPEN))


class Watched(Hall):
    """The hall, with properties beside it."""


@beside(Watched)
def low(model: Watched, s: StateView, worker: Worker, upper: bool) -> Condition:
    """Nobody is above 1, or above 2."""
    found: Condition = s.at[worker] <= (2 if upper else 1)
    return found


@lemma(Watched, because=lambda failing: f"look at {dict(failing.bindings)}")
def shut(model: Watched, s: StateView, gate: Gate) -> Condition:
    """The gate is never as the others."""
    found: Condition = s.gate != gate
    return found


@sometimes(Watched)
def reached(model: Watched, s: StateView, level: Level, gate: Gate) -> Condition:
    """The first worker is at each level, with the gate in each position."""
    return And(s.at[0] == level, s.gate == gate)


def test_an_invariant_with_parameters_is_what_its_quantifiers_would_be() -> None:
    model = Hall(workers=3)

    def written_out(s: Any) -> Condition:
        return for_all(
            Worker,
            lambda first: for_all(
                Worker, lambda second: for_all(Level, lambda level: model.apart(s, first, second, level))
            ),
        )

    assert invariants_of(model)["apart"].node(model) is model.trace_predicate(written_out)


def test_a_failure_names_the_binding() -> None:
    result = check(Hall(workers=3))
    assert result.verdict == "violated"
    assert [step.label for step in result.violations[0].trace.steps][1:] == ["worker1: up", "worker2: up"]
    assert result.violations[0].trace.reason == (
        "apart fails for first = worker1, second = worker2, level = 1: (at[worker1] == 1 and at[worker2] == 1) must "
        "not hold, with at[worker1] = 1, at[worker2] = 1."
    )


def test_a_method_with_parameters_is_called_from_an_action() -> None:
    up = next(action for action in Hall().program.actions if action.name == "up")
    assert len(up.guard) == 2


def test_beside_the_class_parameters_are_of_every_kind() -> None:
    model = Watched()
    found = invariants_of(model)["low"]
    codes = model.encode({"at": {"worker1": 0, "worker2": 2}, "gate": "SHUT"})
    failing = explain(model, found, codes)
    assert failing is not None
    assert failing.bindings == {"worker": "worker2", "upper": "false"}
    assert found.sentence == "Nobody is above 1, or above 2."
    shut = explain(model, lemmas_of(model)["shut"], codes)
    assert shut is not None
    assert shut.sentence == "look at {'gate': 'SHUT'}"
    assert [one.name for one in select_lemmas(model, ["low", "shut"])] == ["low", "shut"]


def test_properties_of_runs_have_parameters_of_every_kind() -> None:
    model = Watched()
    instances = run_properties_of(model)["reached"].instances(model)
    assert [str(one) for one in instances] == [
        "level = 1, gate = SHUT",
        "level = 1, gate = OPEN",
        "level = 2, gate = SHUT",
        "level = 2, gate = OPEN",
    ]


def test_what_an_invariant_returns_for_a_binding_is_looked_at() -> None:
    class Wrong(Hall):
        @invariant
        def none(self, s: StateView, level: Level) -> Any:
            """Returns nothing for the second level."""
            return True if level == 1 else None

    with pytest.raises(ModelError, match=r"test_parameters\.py:\d+: none returns nothing; it must return a condition"):
        invariants_of(Wrong())["none"].node(Wrong())


def test_too_many_bindings_are_refused() -> None:
    class Wide(Hall):
        @invariant
        def all_of_them(self, s: StateView, a: Worker, b: Worker, c: Worker, d: Worker, e: Worker) -> Condition:
            """Five at once."""
            return True

    with pytest.raises(ModelError, match=r"py:\d+: all_of_them has 59049 bindings of its parameters .* at most 20000"):
        invariants_of(Wide(workers=9))["all_of_them"].node(Wide(workers=9))


def test_because_is_told_the_binding() -> None:
    told: list[Failure] = []

    class Other(Hall):
        """For one property."""

    def reason(failing: Failure) -> str:
        told.append(failing)
        return "so"

    @beside(Other, because=reason)
    def grounded(model: Other, s: StateView, worker: Worker) -> Condition:
        """Everybody stays on the ground."""
        found: Condition = s.at[worker] == 0
        return found

    assert check(Other(), properties=["grounded"]).violations[0].trace.reason == "so"
    assert told[0].bindings in ({"worker": "worker1"}, {"worker": "worker2"})

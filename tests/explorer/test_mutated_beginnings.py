"""Mutants of initial methods: what they require is taken away, and the model may begin in more states."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from insync.explorer.mutants import Mutant, mutants_of
from insync.explorer.mutate import Fate, MutantResult, mutate
from insync.model import (
    ANY,
    And,
    Array,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Implies,
    Index,
    Int,
    Model,
    Not,
    Option,
    Or,
    State,
    UserError,
    action,
    bound,
    exists,
    for_all,
    initial,
    invariant,
    require,
)
from insync.runtime.watch import Limits, Stopped, StopReason
from insync_initials import Cabinet


class Guest(Index):
    size = bound("guests")


class House(Model):
    """Guests come and go, and whoever has the key is inside."""

    bounds = Bounds(guests=Bound(2, 1, 3))
    headline = ("key_is_inside",)

    def declare(self, b: BoundValues) -> State:
        return State(inside=Array(Guest, Bool), key=Option(Guest), lamp=Bool, steps=Int(0, 3))

    @initial
    def some_are_inside(self, s: Any) -> None:
        s.inside, s.key, s.lamp, s.steps = ANY, ANY, ANY, ANY
        require(for_all(Guest, lambda guest: Implies(s.key == guest, s.inside[guest])))
        require(s.steps == 0)
        require(Or(Not(s.lamp), exists(Guest, lambda guest: s.inside[guest])))
        s.steps = s.steps + 1

    @action
    def switch(self, s: Any) -> None:
        s.lamp = Not(s.lamp)

    @action
    def come(self, s: Any, guest: Guest) -> None:
        require(Not(s.inside[guest]))
        s.inside[guest] = True

    @action
    def go(self, s: Any, guest: Guest) -> None:
        require(s.inside[guest], s.key != guest)
        s.inside[guest] = False

    @invariant
    def key_is_inside(self, s: Any, guest: Guest) -> Condition:
        return Implies(s.key == guest, s.inside[guest])


class Waiting(House):
    """One guest in particular has the key, and it is dark: the lamp of nobody can be put on again."""

    some_are_inside = None  # type: ignore[assignment]
    switch = None  # type: ignore[assignment]

    @initial
    def one_has_the_key(self, s: Any, guest: Guest) -> None:
        s.inside, s.key, s.lamp = ANY, guest, ANY
        require(s.inside[guest], Not(s.lamp))


def found(model: Model, **options: Any) -> dict[str, MutantResult]:
    return {mutant.name: mutant for mutant in mutate(model, threads=1, **options).mutants}


def test_each_condition_of_an_initial_method_is_a_mutant_in_the_words_of_the_model() -> None:
    mutants = mutants_of(House(), ["some_are_inside"])
    assert {mutant.action for mutant in mutants} == {"some_are_inside"}
    assert [mutant.without for mutant in mutants] == [
        "(for all guest: (not key == guest or inside[guest] == true))",
        "condition 2",  # on the steps, to which one is added afterwards: it is about no field of the state
        "(not lamp == true or (some guest: inside[guest] == true))",
    ]
    waiting = mutants_of(Waiting())
    assert [(mutant.name, len(mutant.begun)) for mutant in waiting if mutant.begun] == [
        ("one_has_the_key does not require inside[guest] == true", 2),
        ("one_has_the_key does not require not lamp == true", 2),
    ]


def test_they_die_survive_or_make_no_difference() -> None:
    by_name = found(House(), actions=["some_are_inside"])
    keys, steps, lamp = by_name.values()
    assert (keys.fate, dict(keys.killed_by)) == (Fate.KILLED, {"key_is_inside": 1})
    assert (steps.fate, dict(steps.killed_by)) == (Fate.KILLED, {"type_ok": 1}), "a fourth step does not fit"
    assert lamp.fate is Fate.EQUIVALENT, "the lamp of an empty house may be switched on later"
    inside, dark = (each for each in found(Waiting()).values() if each.action == "one_has_the_key")
    assert (inside.fate, dict(inside.killed_by)) == (Fate.KILLED, {"key_is_inside": 1})
    assert (dark.fate, dark.killed_by) == (Fate.SURVIVED, {}), "no property speaks of the lamp"
    assert dark.distinct_states == 2 * 4


@pytest.mark.slow_for("house")
@pytest.mark.parametrize("model", [House(), Waiting()], ids=lambda model: model.name)
def test_where_nobody_knows_whether_it_is_equivalent_a_mutant_that_survives_is_undecided(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search that would tell was stopped by the time; what kills a mutant is found all the same."""

    def too_slow(*given: object, **named: object) -> None:
        raise Stopped(StopReason.TIME)

    known = found(model)
    monkeypatch.setattr(sys.modules["insync.explorer.mutate"], "compile_kernels", too_slow)
    late = found(model)
    killed = {name: mutant.fate for name, mutant in known.items() if mutant.fate is Fate.KILLED}
    assert 0 < len(killed) < len(known)
    assert {name: mutant.fate for name, mutant in late.items()} == dict.fromkeys(known, Fate.UNDECIDED) | killed
    assert {mutant.stopped_by for mutant in late.values() if mutant.fate is Fate.UNDECIDED} == {StopReason.TIME}


class Guarded(House):
    """It is looked at only while it is dark, and it begins in the dark."""

    within = ("dark",)
    some_are_inside = None  # type: ignore[assignment]
    switch = None  # type: ignore[assignment]

    @initial
    def begins_in_the_dark(self, s: Any) -> None:
        s.lamp = ANY
        require(Not(s.lamp))

    @invariant
    def dark(self, s: Any) -> Condition:
        return Not(s.lamp)


def test_who_begins_outside_of_what_is_searched_is_not_the_same() -> None:
    (mutant,) = found(Guarded(), actions=["begins_in_the_dark"]).values()
    assert (mutant.fate, mutant.distinct_states) == (Fate.SURVIVED, 4), "the states within are the same"


def allowed(model: Model, mutant: Mutant | None = None) -> set[tuple[int, ...]]:
    program = model.program if mutant is None else mutant.program(model.program)
    return set(program.initials)


@pytest.mark.parametrize("model", [House(guests=3), Waiting(guests=3), Cabinet()], ids=lambda model: model.name)
def test_a_mutant_begins_in_the_states_that_what_is_left_allows(model: Model) -> None:
    own, mutants = allowed(model), [mutant for mutant in mutants_of(model) if mutant.begun]
    more = 0
    for mutant in mutants:
        if "condition 2" in mutant.name:
            continue
        states = allowed(model, mutant)
        assert own <= states, mutant.name
        assert all(model.program.schema.unpack(model.program.schema.pack(codes)) == codes for codes in states)
        assert all(model.encode(model.decode(codes)) == codes for codes in states), "codes of values, and no others"
        more += states > own
        for number, begun in mutant.begun.items():
            original = model.program.initials.beginnings[number]
            gone = set(original.conditions) - set(begun.conditions)
            assert gone, "something is taken away"
            assert not gone & set(original.well_formed)
    assert more


class Dark(House):
    """It is light, or everybody is inside."""

    some_are_inside = None  # type: ignore[assignment]

    @initial
    def light_or_full(self, s: Any) -> None:
        s.inside, s.lamp = ANY, ANY
        require(Or(s.lamp, And(s.inside[Guest(0)], s.inside[Guest(1)])))


def test_what_is_taken_away_may_be_a_part_of_a_condition() -> None:
    """Of the 8 states 5 are allowed; in the dark it is enough then that the other guest is inside."""
    model = Dark()
    sizes = {mutant.without: len(allowed(model, mutant)) for mutant in mutants_of(model, ["light_or_full"])}
    assert len(allowed(model)) == 5
    assert sizes == {
        "(lamp == true or (inside[guest1] == true and inside[guest2] == true))": 8,
        "inside[guest1] == true (in an alternative)": 6,
        "inside[guest2] == true (in an alternative)": 6,
    }


def test_initial_methods_are_chosen_by_name() -> None:
    assert {mutant.action for mutant in mutate(House(), actions=["some_are_inside"], threads=1).mutants} == {
        "some_are_inside"
    }
    with pytest.raises(UserError, match=r"house has no action 'some_are_insid'\. Did you mean 'some_are_inside'"):
        mutate(House(), actions=["some_are_insid"])


class Many(Model):
    """One of ten thousand million beginnings is allowed."""

    headline = ()

    def declare(self, b: BoundValues) -> State:
        return State(a=Array(10, Int(0, 9)))

    @initial
    def all_alike(self, s: Any) -> None:
        s.a = ANY
        require(for_all(range(10), lambda place: s.a[place] == 0))

    @action
    def change(self, s: Any) -> None:
        s.a[0] = 1


def test_a_mutant_that_begins_in_too_many_states_is_undecided() -> None:
    (mutant,) = found(Many(), actions=["all_alike"]).values()
    assert (mutant.fate, mutant.stopped_by) == (Fate.UNDECIDED, StopReason.STATES)
    assert found(Many(), actions=["change"], limits=Limits(states=100))

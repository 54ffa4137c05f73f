from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.model import (
    ANY,
    NONE,
    And,
    Array,
    Bag,
    Bool,
    BoundValues,
    Enum,
    If,
    Int,
    Model,
    Option,
    Or,
    Record,
    Seq,
    Set,
    SetOf,
    State,
    action,
    initial,
    record,
    require,
    when,
)
from insync.model.define import ModelMeta
from insync.model.domains.layout import Schema
from insync.model.evaluator import evaluate
from insync.model.language.views import InitialEnvironment
from insync.model.tracing.initial_states import Beginning, Initials
from insync_expressions import SIZES, conditions, every_state, made
from insync_initials import Cabinet, Colour, Drawer, Probe, RingNode, SelfStabilizing


def readable(model: Model) -> list[dict[str, Any]]:
    return [model.decode(codes) for codes in model.program.initials]


def test_without_a_marked_method_there_is_one() -> None:
    class Plain(Model):
        def declare(self, b: BoundValues) -> State:
            return State(n=Int(0, 3))

        def initial(self, s: Any) -> None:
            s.n = 2

    assert readable(Plain()) == [{"n": 2}]
    assert Plain().program.initials.origin((2,)) is None


def test_they_are_distinct_and_in_the_order_of_their_words() -> None:
    model = Cabinet()
    initials, pack = model.program.initials, model.program.schema.pack
    assert [pack(codes) for codes in initials] == sorted({pack(codes) for codes in initials})
    assert [initials.words(place) for place in range(len(initials))] == [pack(codes) for codes in initials]
    assert all(codes in initials and initials[initials.place_of(codes) or 0] == codes for codes in initials)
    assert (0,) * len(initials[0]) not in initials
    assert initials[1:3] == (initials[1], initials[2])


def test_they_are_what_the_methods_say() -> None:
    lows = [
        {"inside": {"d1": a, "d2": b, "d3": c}, "last": "d3", "note": None}
        for a, b, c in itertools.product(range(4), repeat=3)
        if a + b < 3
    ]
    notes = [None, *({"number": n, "seen": seen} for n in range(3) for seen in (False, True))]
    full = [
        {"inside": {"d1": 3, "d2": 0, "d3": 0}, "last": drawer, "note": note}
        for drawer in ("d1", "d2", "d3")
        for note in notes
    ]
    found = readable(Cabinet())
    assert len(found) == len(lows) + len(full)
    assert all(state in found for state in lows + full)


def test_each_knows_where_it_comes_from() -> None:
    model = Cabinet()
    origins = {model.program.initials.origin(codes) for codes in model.program.initials}
    assert origins == {"two are low", "d1 is full", "d2 is full", "d3 is full"}
    assert SelfStabilizing(nodes=2, most=2).program.initials.origin((0, 0)) is None


@pytest.mark.parametrize(
    ("model", "count"),
    [(SelfStabilizing(), 46_656), (SelfStabilizing(nodes=3, most=4), 64), (Probe(), 192)],
    ids=["six nodes", "three nodes", "probe"],
)
def test_published_models_have_as_many_as_tlc_finds(model: Model, count: int) -> None:
    assert len(model.program.initials) == count


class Every(Model):
    """A field of each domain."""

    def declare(self, b: BoundValues) -> State:
        return State(
            n=Int(2, 4),
            up=Bool,
            colour=Enum(Colour),
            some=Option(Int(0, 1)),
            several=Set(Int(0, 1)),
            entry=Option(Record(id=Int(0, 1), inner=Option(Record(up=Bool)))),
            pair=Array(2, Record(id=Int(0, 1), up=Bool)),
            queue=Seq(Record(id=Int(0, 2), up=Bool), 2),
            bag=Bag(Option(Int(0, 2)), 3),
            sent=SetOf(Record(id=Int(0, 2), up=Bool), 2),
            known=SetOf(Colour),
        )


def with_initial(kind: type[Model], body: Any) -> Model:
    def start(self: Any, s: Any) -> None:
        body(s)

    model: Model = ModelMeta("Made", (kind,), {"start": initial(start)})()
    return model


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("n", [2, 3, 4]),
        ("up", [False, True]),
        ("colour", ["WHITE", "BLACK"]),
        ("some", [None, 0, 1]),
        ("several", [[], [0], [1], [0, 1]]),
        (
            "entry",
            [None, *({"id": i, "inner": inner} for i in (0, 1) for inner in (None, {"up": False}, {"up": True}))],
        ),
        (
            "pair",
            [
                [{"id": i, "up": u}, {"id": j, "up": v}]
                for i, u, j, v in itertools.product((0, 1), (False, True), repeat=2)
            ],
        ),
    ],
)
def test_any_is_every_value_of_a_domain_once(field: str, values: list[Any]) -> None:
    model = with_initial(Every, lambda s: setattr(s, field, ANY))
    found = [state[field] for state in readable(model)]
    assert len(found) == len(values)
    assert all(value in found for value in values)


@pytest.mark.parametrize("field", ["queue", "bag", "sent", "known", "entry", "pair", "several"])
def test_any_is_every_value_that_the_domain_lists(field: str) -> None:
    model = with_initial(Every, lambda s: setattr(s, field, ANY))
    domain, place = model.state.fields[field], model.state.offsets[field]
    found = [codes[place : place + domain.width] for codes in model.program.initials]
    assert sorted(found) == sorted(domain.values())
    assert len(found) == domain.number_of_values()


def test_each_any_is_a_choice_of_its_own() -> None:
    def twice(s: Any) -> None:
        s.n = ANY
        s.pair[0] = record(id=If(s.n > 3, 1, 0), up=ANY)
        s.n = ANY
        require(s.n < 3)

    found = [(state["n"], state["pair"][0]["id"]) for state in readable(with_initial(Every, twice))]
    assert sorted(found) == [(2, 0), (2, 0), (2, 1), (2, 1)]


def test_any_within_a_block_is_chosen_there_alone() -> None:
    def within(s: Any) -> None:
        s.n = ANY
        with when(s.n == 3):
            s.some = ANY
        s.up = If(s.n == 4, ANY, s.n == 2)

    found = {(state["n"], state["some"], state["up"]) for state in readable(with_initial(Every, within))}
    threes = {(3, some, False) for some in (None, 0, 1)}
    assert found == {(2, None, True), *threes, (4, None, False), (4, None, True)}


def test_the_mark_is_known_below_the_plain_method() -> None:
    class Below(Model):
        def declare(self, b: BoundValues) -> State:
            return State(n=Int(0, 3), m=Int(0, 3))

        def initial(self, s: Any) -> None:
            s.m = 1

        @initial  # type: ignore[call-arg, arg-type]
        def some(self, s: Any, up: bool) -> None:
            s.n = 3 if up else s.m + 1

    assert readable(Below()) == [{"n": 2, "m": 1}, {"n": 3, "m": 1}]


def test_a_subclass_adds_and_removes_them() -> None:
    class More(Cabinet):
        two_are_low = None  # type: ignore[assignment]

        @initial
        def empty(self, s: Any) -> None:
            s.last = NONE

    assert len(More().program.initials) == 22
    assert {"inside": {"d1": 0, "d2": 0, "d3": 0}, "last": None, "note": None} in readable(More())


class Wide(Model):
    """More variables than one function may have loops."""

    def declare(self, b: BoundValues) -> State:
        return State(on=Array(40, Bool), n=Array(3, Int(0, 1 << 40)))

    @initial
    def one_at_most(self, s: Any) -> None:
        s.on, s.n = ANY, ANY
        for i in range(40):
            require(Or(i == 0, ~s.on[i], And(*[~s.on[j] for j in range(i)])))
        require(s.n[0] == 7, s.n[1] == s.n[0] + 1, s.n[2] == s.n[1])


def test_conditions_keep_the_values_to_try_few() -> None:
    model = Wide()
    found = readable(model)
    assert len(found) == 41
    assert all(sum(state["on"]) <= 1 and state["n"] == [7, 8, 8] for state in found)


@pytest.mark.parametrize(
    "told", [lambda n: n + 1, lambda n: n - 1, lambda n: 2 * n, lambda n: 3 - n, lambda n: 4 - n, lambda n: n // 2 + 3]
)
def test_a_value_that_another_tells_is_one_of_its_field(told: Any) -> None:
    def equal(s: Any) -> None:
        s.n, s.m = ANY, ANY  # in this order: once n is known, m is told
        require(s.m == told(s.n))

    class Pair(Model):
        def declare(self, b: BoundValues) -> State:
            return State(m=Int(0, 3), n=Int(0, 3), beside=Int(0, 3))

    expected = [(m, n, 0) for m in range(4) for n in range(4) if m == told(n)]
    found = [(state["m"], state["n"], state["beside"]) for state in readable(with_initial(Pair, equal))]
    assert sorted(found) == expected


class Drawn(Model):
    """The cells of random expressions."""

    def declare(self, b: BoundValues) -> State:
        return State(**{f"n{place}": Int(0, size - 1) for place, size in enumerate(SIZES)})


@st.composite
def beginnings(draw: st.DrawFn) -> Beginning:
    environment = InitialEnvironment(())
    graph = environment.graph
    cells = [environment.variable(size) for size in SIZES]
    wanted = [made(graph, tree) for tree in draw(st.lists(conditions(3), max_size=3))]
    shown = [cell if draw(st.booleans()) else graph.const(0) for cell in cells]
    return Beginning("drawn", "here", graph, tuple(wanted), tuple(shown))


@given(beginning=beginnings())
def test_what_is_enumerated_is_what_the_evaluator_allows(beginning: Beginning) -> None:
    schema = Schema(Drawn().state)
    allowed = {
        tuple(evaluate(cell, variables) for cell in beginning.cells)
        for variables in every_state()
        if all(evaluate(condition, variables) for condition in beginning.conditions)
    }
    assert set(Initials(schema, (beginning,), lambda: None)) == allowed


def test_what_a_model_that_has_initial_methods_begins_with_is_inherited_as_well() -> None:
    class Bound(Probe):
        @action
        def nothing(self, s: Any) -> None:
            require(s.token == RingNode(0))

    assert Bound().program.initials == Probe().program.initials
    assert Drawer(0) == 0

"""Sorts without members: nothing is quantified over, no action is bound to one, and a state may have no cell."""

from __future__ import annotations

from typing import Any

import pytest

from insync.explorer import bounded_check, check, graph, liveness, prove, simulate
from insync.explorer.export.promela import promela_text
from insync.explorer.export.tla.module import tla_files
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.model import (
    NONE,
    And,
    Array,
    Bag,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Index,
    Int,
    Model,
    ModelError,
    Not,
    Option,
    Range,
    Record,
    Seq,
    Set,
    SetOf,
    State,
    StateView,
    Subset,
    UserError,
    action,
    bound,
    choose,
    count,
    eventually,
    exists,
    for_all,
    initial,
    invariant,
    require,
    sometimes,
)


class Observer(Index, symmetric=True):
    """Whoever watches, perhaps nobody."""

    size = bound("observers")


class Watch(Subset, of=Observer):
    """Some observers."""


class Watched(Model):
    """A light that observers see."""

    bounds = Bounds(observers=Bound(0, 0, 2, "observers"))

    def declare(self, b: BoundValues) -> State:
        return State(
            on=Bool,
            seen=Array(Observer, Int(0, 1)),
            last=Option(Observer),
            all=Set(Observer),
            watches=Set(Watch),
            line=Seq(Observer, 2),
            bag=Bag(Record(by=Observer, n=Int(0, 3)), 2),
            known=SetOf(Observer),
            few=SetOf(Observer, 2),
        )

    @action
    def switch(self, s: StateView) -> None:
        s.on = Not(s.on)

    @action
    def see(self, s: StateView, observer: Observer) -> None:
        require(s.on, s.line.length < 1)
        s.seen[observer], s.last = 1, observer
        s.line.append(observer)
        s.all |= {observer}
        s.known.add(observer)

    @action
    def watch(self, s: StateView, watch: Watch) -> None:
        s.watches = s.watches | {watch}

    @invariant
    def nobody(self, s: StateView) -> Condition:
        some = exists(Observer, lambda observer: s.seen[observer] == 1)
        return And(
            for_all(Observer, lambda observer: s.seen[observer] <= 1),
            count(Observer, lambda observer: s.seen[observer] == 1) <= 1,
            some == s.last.is_some(),
            choose(Observer, lambda observer: s.seen[observer] == 1).is_some() == some,
            s.all.count() == s.known.length,
            s.bag.is_empty(),
        )


class Only(Model):
    """A state of nothing but an array over nobody."""

    bounds = Watched.bounds

    def declare(self, b: BoundValues) -> State:
        return State(seen=Array(Observer, Bool))

    @action
    def see(self, s: StateView, observer: Observer) -> None:
        s.seen[observer] = True

    @action
    def rest(self, s: StateView) -> None:
        """Nothing changes."""
        require(for_all(Observer, lambda observer: s.seen[observer]))

    @sometimes
    def each_sees(self, s: StateView, observer: Observer) -> Condition:
        return And(s.seen[observer])

    @eventually
    def all_see(self, s: StateView, observer: Observer) -> Condition:
        return And(s.seen[observer])

    @invariant
    def fine(self, s: StateView) -> Condition:
        fine: Condition = count(Observer, lambda observer: s.seen[observer]) >= 0
        return fine


@pytest.mark.parametrize(("kind", "states"), [(Watched, 4), (Only, 1)])
def test_every_engine_searches_it(kind: type[Model], states: int) -> None:
    model = kind(observers=0)
    for result in (check(model), check(model, symmetry=False), check_by_evaluator(model)):
        assert (result.verdict, result.distinct_states) == ("holds", states)
    assert len(graph(model)) == states
    assert simulate(model, walks=3, seed=1).violation is None


@pytest.mark.parametrize("kind", [Watched, Only])
def test_proofs_and_exports_have_it(kind: type[Model]) -> None:
    pytest.importorskip("z3")
    name = "nobody" if kind is Watched else "fine"
    assert bounded_check(kind(observers=0), depth=2, properties=[name]).verdict != "violated"
    assert prove(kind(observers=0), properties=[name]).verdict in ("holds", "unknown")
    assert promela_text(kind(observers=0), {})
    if kind is Watched:
        assert "on" in tla_files(kind(observers=0), [name], "Empty")["Empty.tla"]
    else:
        with pytest.raises(UserError, match=r"only has no field with more than one value .* Use larger bounds"):
            tla_files(kind(observers=0), [name], "Empty")


class Pair(Index, symmetric=True):
    """Two members that no cell of the state speaks of."""

    size = 2


@pytest.mark.parametrize(
    "domain",
    [
        Array(Observer, Pair),
        Array(0, Option(Pair)),
        Array(Pair, Array(Observer, Bool)),
        Seq(Record(by=Observer, who=Pair), 2),
        SetOf(Record(by=Observer, who=Pair)),
        Bag(Pair, 0),
    ],
)
def test_members_that_no_cell_speaks_of_are_no_part_of_the_symmetry(domain: Any) -> None:
    class Odd(Watched):
        def declare(self, b: BoundValues) -> State:
            return State(**super().declare(b).fields, odd=domain)

    model = Odd(observers=0)
    assert model.program.symmetry is None
    assert check(model).distinct_states == 4


def test_properties_of_runs_hold_for_each_of_no_members() -> None:
    result = liveness(Only(observers=0))
    assert [(one.name, str(one.verdict)) for one in result.properties] == [("each_sees", "holds"), ("all_see", "holds")]
    others = liveness(Only(observers=1))
    assert [str(one.verdict) for one in others.properties] == ["holds", "violated"]


def test_states_are_written_and_read() -> None:
    model = Watched(observers=0)
    state = model.decode(model.program.initials[0])
    assert state["seen"] == {}
    assert state["line"] == []
    assert model.encode(state) == model.program.initials[0]
    assert len(model.program.actions) == 2


def test_with_members_it_is_another_model() -> None:
    result = check(Watched, bounds={"observers": 2})
    assert result.verdict == "violated" or result.distinct_states > 4


@pytest.mark.parametrize(
    ("domain", "what"),
    [
        (lambda: Observer, "a state"),
        (lambda: Record(by=Observer, n=Int(0, 1)), "a state"),
        (lambda: Array(2, Observer), "a state"),
        (lambda: Option(Record(by=Observer)), "a record in an Option"),
    ],
)
def test_a_field_that_would_have_no_value_is_refused(domain: Any, what: str) -> None:
    class Wrong(Only):
        def declare(self, b: BoundValues) -> State:
            return State(field=domain())

    message = rf"test_empty_sorts\.py:\d+: the sort Observer has no member under .*, and {what} needs one\. Declare it "
    with pytest.raises(ModelError, match=message + r"Option\(Observer\), or an array over Observer, or use larger"):
        Wrong(observers=0).state  # noqa: B018


@pytest.mark.parametrize(
    "domain",
    [
        Seq(Array(Observer, Bool), 2),
        Bag(Record(seen=Array(Observer, Bool)), 2),
        SetOf(SetOf(Observer), 2),
        Seq(Array(0, Bool), 1),
    ],
)
def test_elements_without_cells_are_refused(domain: Any) -> None:
    class Wrong(Only):
        def declare(self, b: BoundValues) -> State:
            return State(field=domain)

    message = r"test_empty_sorts\.py:\d+: the elements of this \w+ have no cell under .*, so all of them are the same\."
    with pytest.raises(ModelError, match=message + r" Count them by an Int, or use larger bounds"):
        Wrong(observers=0).state  # noqa: B018


class Turn(Range):
    lo, hi = 0, bound("observers") - 1


@pytest.mark.parametrize("domain", [Turn, Option(Turn), Seq(Turn, 2), SetOf(Turn)])
def test_a_range_without_a_number_is_refused_by_its_name(domain: Any) -> None:
    class Wrong(Only):
        def declare(self, b: BoundValues) -> State:
            return State(field=domain)

    with pytest.raises(ModelError, match=r"Turn goes from 0 to -1 under \{'observers': 0\}, so it has no value\."):
        Wrong(observers=0).state  # noqa: B018


def test_a_model_that_cannot_begin_as_a_sort_is_empty_says_so() -> None:
    class Wrong(Only):
        @initial
        def begin(self, s: StateView, one: Observer) -> None:
            pass

    with pytest.raises(ModelError, match=r"'begin' has a parameter of Observer, which has no member\. Give a larger "):
        Wrong(observers=0).program  # noqa: B018


def test_an_option_of_nobody_says_what_it_can_be() -> None:
    option: Any = Option(Observer).bind(Only(observers=0).b)
    assert option.expected() == "NONE or a member of Observer, which has none"


def test_less_than_none_is_refused() -> None:
    class Fewer(Index):
        size = bound("observers") - 1

    class Wrong(Only):
        def declare(self, b: BoundValues) -> State:
            return State(field=Option(Fewer), none=Option(Bool))

        def initial(self, s: StateView) -> None:
            s.none = NONE

    with pytest.raises(
        ModelError, match=r"the sort Fewer has -1 members under .*; a sort has none or more, and at most"
    ):
        Wrong(observers=0).state  # noqa: B018

"""With several initial states z3 begins in any of them, and in nothing else."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from insync.explorer import check, prove
from insync.explorer.replay import ReplayError, replay
from insync.explorer.stepping.stepper import moves_through
from insync.explorer.traces.trace import violation_trace
from insync.model import (
    ANY,
    And,
    Array,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    If,
    Int,
    Model,
    ModelError,
    Option,
    Record,
    State,
    UserError,
    action,
    exists,
    initial,
    invariant,
    require,
)
from insync.properties import lemma
from insync.properties.registry import judge
from insync_initials import Cabinet, Colour, Probe, RingNode, SelfStabilizing

pytest.importorskip("z3")

from insync.proofs.bounded import check_bounded
from insync.proofs.houdini import infer, refuted_at_first
from insync.proofs.k_induction import INITIATION, check_induction
from insync.proofs.results import BoundedVerdict, ProofVerdict
from insync.proofs.smt import Answer, Solver, SymbolicProgram
from insync.runtime.watch import Watch


class Odd(Model):
    """Two ways to begin, one of them with a value that no field keeps."""

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(1, 5), note=Option(Record(i=Int(0, 2), up=Bool)), pair=Array(2, Int(0, 1)))

    @initial
    def half(self, s: Any) -> None:
        s.pair, s.note = ANY, ANY
        s.n = s.pair[0] + s.pair[1] + 1
        require(s.pair[0] >= s.pair[1])
        s.pair[0] = ANY

    @initial
    def fixed(self, s: Any, up: bool) -> None:
        s.n = 5 if up else 4

    @action
    def count(self, s: Any) -> None:
        require(s.n < 5)
        s.n += 1

    @invariant
    def small(self, s: Any) -> Condition:
        below: Condition = s.n < 5
        return below


@pytest.mark.slow_for("cabinet")
@pytest.mark.parametrize("model", [Odd(), Cabinet()], ids=["odd", "cabinet"])
def test_the_first_state_is_an_initial_one_and_any_of_them(model: Model) -> None:
    program, initials = SymbolicProgram(model.program), model.program.initials
    state, conditions = program.initial()
    allowed = 0
    sizes = [range(cell.size) for cell in model.program.schema.cells]
    solver = Solver()
    solver.add(conditions)
    for codes in itertools.islice(itertools.product(*sizes), 0, None, 1 if len(initials) < 30 else 7):
        with solver.scope():
            solver.add(cell == code for cell, code in zip(state.cells, codes, strict=True))
            possible = solver.check(Watch()) is Answer.POSSIBLE
        assert possible == (codes in initials)
        allowed += possible
    assert allowed > 3


class Drawn(Model):
    """A number of three values is drawn, and only what is computed of it is kept, in a field that has room for more."""

    def declare(self, b: BoundValues) -> State:
        return State(drawn=Int(0, 2), n=Int(0, 7))

    @initial
    def draw(self, s: Any) -> None:
        s.drawn = ANY
        s.n = s.drawn + 1
        s.drawn = 0

    @action
    def rest(self, s: Any) -> None:
        s.drawn = 1

    @invariant
    def one_of_three(self, s: Any) -> Condition:
        within: Condition = And(s.n >= 1, s.n <= 3)
        return within


def test_what_is_drawn_and_not_kept_has_a_value_of_its_domain() -> None:
    model = Drawn()
    assert [codes[1] for codes in model.program.initials] == [1, 2, 3]
    assert check_bounded(model, judge(model, ["one_of_three"]).invariants, 2).verdict is BoundedVerdict.NONE_WITHIN


@pytest.mark.parametrize("model", [Odd(), Cabinet(), Probe()], ids=["odd", "cabinet", "probe"])
def test_a_violation_is_as_short_as_that_of_the_search(model: Model) -> None:
    names = [*judge(model).names, *(["small"] if isinstance(model, Odd) else [])]
    searched, found = check(model, properties=names), check_bounded(model, judge(model, names).invariants, 6)
    lengths = {violation.property: violation.trace_length for violation in searched.violations}
    assert {name: len(states.codes) for name, states in zip(found.violated, found.sequences, strict=True)} == lengths
    assert (found.verdict is BoundedVerdict.VIOLATED) == bool(lengths)
    assert all(states.codes[0] in model.program.initials for states in found.sequences)


def test_what_one_initial_state_breaks_is_not_inductive() -> None:
    answer = check_induction(Odd(), judge(Odd(), ["small"]).invariants)
    assert answer.verdict is ProofVerdict.REFUTED
    assert answer.queries[0].name == INITIATION
    assert answer.violation is not None
    assert answer.violation.sequences[0].codes[0][0] == 4


def test_dijkstras_invariant_is_inductive_from_all_of_them() -> None:
    (dijkstra,) = judge(Probe(nodes=4), ["dijkstra"]).invariants
    assert check_induction(Probe(nodes=4), [dijkstra]).verdict is ProofVerdict.PROVED


def test_candidates_that_fail_in_an_initial_state_are_dropped() -> None:
    (small,) = judge(Odd(), ["small"]).invariants
    (dropped,) = refuted_at_first(Odd(), [small], Watch())
    assert (dropped.name, dropped.by) == ("small", "an initial state")
    assert infer(Odd(), [small]).kept == ()


class Settled(SelfStabilizing):
    """The ring with a property that most of its 46,656 initial states break."""

    @invariant
    def one_value(self, s: Any) -> Condition:
        same: Condition = s.c[0] == s.c[1]
        return same

    @invariant
    def in_its_range(self, s: Any) -> Condition:
        below: Condition = s.c[0] + s.c[1] < 11
        return below


def test_of_very_many_initial_states_z3_finds_the_one_that_fails() -> None:
    dropped = refuted_at_first(Settled(), judge(Settled(), ["one_value", "in_its_range"]).invariants, Watch())
    assert [(one.name, one.by) for one in dropped] == [("one_value", "an initial state")]


class Countless(Probe):
    """Far more initial states than can be enumerated."""

    bounds = Bounds(nodes=Bound(14, 1, 20), slack=Bound(0, 0, 9))

    @initial
    def anywhere(self, s: Any, at: RingNode) -> None:
        s.active, s.colour, s.token = ANY, ANY, at

    @invariant
    def some_white(self, s: Any) -> Condition:
        return exists(self.all(RingNode), lambda n: s.colour[n] == Colour.WHITE)


def test_of_initial_states_that_nobody_can_count_one_is_known() -> None:
    initials = Countless().program.initials
    assert not initials.enumerated
    assert initials.example is not None
    assert initials.example in initials


@pytest.mark.slow
def test_initial_states_that_nobody_can_count_can_be_proved_about() -> None:
    model = Countless()
    assert not model.program.initials.enumerated
    with pytest.raises(ModelError, match=r"there are more than 2,000,000 initial states\. Use smaller bounds"):
        check(model)
    (dijkstra, white) = judge(model, ["dijkstra", "some_white"]).invariants
    assert check_bounded(model, [dijkstra], 2).verdict is BoundedVerdict.NONE_WITHIN
    found = check_bounded(model, [white], 2)
    assert found.verdict is BoundedVerdict.VIOLATED
    assert model.decode(found.sequences[0].codes[0])["colour"] == {f"n{n}": "BLACK" for n in range(14)}
    assert [one.name for one in refuted_at_first(model, [dijkstra, white], Watch())] == ["some_white"]
    trace = violation_trace(model, white, moves_through(model, found.sequences[0].codes))
    assert replay(trace, model=model) == trace
    with pytest.raises(ReplayError, match="the state in the trace is none of the initial states of countless"):
        replay(replace(trace, steps=(replace(trace.steps[0], state={}),)), model=model)
    example = model.program.initials.example
    assert example is not None
    assert example in model.program.initials
    origin = model.program.initials.origin(found.sequences[0].codes[0])
    assert origin is not None
    assert origin.startswith("anywhere (at n")
    assert (9,) * len(found.sequences[0].codes[0]) not in model.program.initials


class Wide(Model):
    """Half a hundred million states to begin with at its default bound."""

    bounds = Bounds(most=Bound(9, 1, 20))
    headline = ("low",)

    def declare(self, b: BoundValues) -> State:
        return State(a=Array(8, Int(0, b.most)))

    @initial
    def anywhere(self, s: Any) -> None:
        s.a = ANY
        require(s.a[0] < 5)

    @action
    def climb(self, s: Any) -> None:
        require(s.a[0] < s.a[1], s.a[1] < 5)
        s.a[0] += 1

    @invariant
    def low(self, s: Any) -> Condition:
        below: Condition = s.a[0] < 5
        return below

    @invariant
    def beyond(self, s: Any) -> Condition:
        """No initial state is like this."""
        above: Condition = s.a[0] > 6
        return above


@lemma(Wide)
def true_at_first(model: Wide, s: Any) -> Condition:
    below: Condition = s.a[0] <= s.a[1] + 4
    return below


@lemma(Wide)
def not_true_at_first(model: Wide, s: Any) -> Condition:
    below: Condition = s.a[0] < 3
    return below


@pytest.mark.parametrize("most", [9, 20])
@pytest.mark.parametrize("within", [None, ["low"]])
def test_lemmas_are_inferred_where_no_search_can_begin(
    most: int, within: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.model.tracing.initial_states.MOST_STATES", 1000)
    model = Wide(most=most)
    assert not model.program.initials.enumerated
    found = prove(model, infer=True, within=within)
    assert found.verdict == "holds"
    assert [one.name for one in found.lemmas] == ["true_at_first"]
    assert [(one.name, one.by) for one in found.dropped] == [("not_true_at_first", "an initial state")]


def test_uncounted_initial_states_that_are_all_outside_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.model.tracing.initial_states.MOST_STATES", 1000)
    with pytest.raises(UserError, match="wide: all initial states are outside beyond, so no step would be taken"):
        prove(Wide(), within=["beyond"])


class Unsure(Probe):
    """What z3 is asked about where few values may be tried."""

    def of_active(self, s: Any) -> Any:
        return sum(If(s.active[node], 1, 0) for node in self.all(RingNode))


class Never(Unsure):
    """No initial state, which takes arithmetic to see."""

    @initial
    def anywhere(self, s: Any) -> None:  # type: ignore[override]
        s.active, s.colour = ANY, ANY
        require(self.of_active(s) + self.of_active(s) == 5)


class Beyond(Unsure):
    """A token beyond the last node, where all are active."""

    @initial
    def anywhere(self, s: Any) -> None:  # type: ignore[override]
        s.active, s.colour = ANY, ANY
        s.token = self.of_active(s)


@pytest.mark.parametrize(
    ("kind", "message"),
    [(Never, "never has no initial state under"), (Beyond, "the value assigned to token is not one of n0, n1")],
)
@pytest.mark.parametrize("enumerated", [True, False])
def test_what_is_wrong_with_them_is_said(
    kind: type[Unsure], message: str, enumerated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not enumerated:
        monkeypatch.setattr("insync.model.tracing.initial_states.MOST_TRIED", 3)
        assert not kind().program.initials.enumerated
    with pytest.raises(ModelError, match=message):
        check_bounded(kind(), judge(kind(), ["dijkstra"]).invariants, 1)

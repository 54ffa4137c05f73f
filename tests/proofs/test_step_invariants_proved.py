"""Invariants of steps with z3: as short as the search finds them, and proved by one step from any good state."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings

from insync.explorer import Limits, agree, bounded_check, check, prove
from insync.explorer.agree import evaluator_engine, local_engine, opinion_of, z3_engine
from insync.explorer.prove import induction_trace
from insync.model import Condition, Int, Model, State, StateView, UserError, action, invariant, require, step_invariant
from insync.model.evaluator import evaluate
from insync.properties.invariants import StepInvariant
from insync.properties.registry import invariants_of, judge, select_lemmas, select_run_properties
from insync_random_models import Written, random_model, written
from insync_steps import Careful, Counter, Sealed, Votes

pytest.importorskip("z3")

from insync.proofs.houdini import infer
from insync.proofs.k_induction import check_induction
from insync.proofs.obligations import Preservation
from insync.proofs.results import ProofVerdict


class Guarded(Model):
    """A number that falls from 3, where it never comes."""

    headline = ("grows",)

    def declare(self, b: object) -> State:
        return State(n=Int(0, 3))

    @action
    def up(self, s: StateView) -> None:
        require(s.n < 2)
        s.n += 1

    @action
    def fall(self, s: StateView) -> None:
        require(s.n == 3)
        s.n = 0

    @invariant
    def low(self, s: StateView) -> Condition:
        low: Condition = s.n < 3
        return low

    @step_invariant
    def grows(self, before: StateView, after: StateView) -> Condition:
        grows: Condition = after.n > before.n
        return grows


@pytest.mark.parametrize(
    "model", [Votes(), Votes(voters=1, top=3), Counter(), Careful(), Sealed()], ids=lambda m: m.name
)
def test_a_bounded_check_finds_the_shortest_trace(model: Votes) -> None:
    searched = check(model)
    found = bounded_check(model, depth=6)
    expected = {v.property: [step.state for step in v.trace.steps] for v in searched.violations}
    assert {trace.property: trace.length for trace in found.traces} == {
        violation.property: violation.trace_length for violation in searched.violations
    }
    for trace in found.traces:
        assert trace.steps[0].state == expected[trace.property][0]
        assert trace.reason.startswith(f"{trace.property} fails")


def test_all_engines_agree() -> None:
    engines = {"evaluator": evaluator_engine, "local": local_engine(2), "z3": z3_engine(6)}
    for model in (Votes(), Counter(), Careful()):
        found = agree(model, engines=engines)
        assert found.agreed, found.differences
        assert len({tuple(opinion.failing.items()) for opinion in found.opinions}) == 1


def test_an_engine_that_overlooks_a_bad_step_disagrees() -> None:
    """The step is broken by a step from the last level of the other, which must have looked at it."""
    blind = {"right": local_engine(1), "blind": lambda model, *_: opinion_of(check(model, properties=["low"]))}
    found = agree(Votes(voters=1, top=2), properties=["terms_grow"], engines=blind)
    assert "terms_grow: right: fails after 4 states; blind: no violation." in found.differences


def test_it_is_proved_by_one_step_where_it_holds_of_every_step_from_good_states() -> None:
    assert prove(Sealed()).verdict == "holds"
    assert prove(Careful(), properties=["terms_grow", "one_at_a_time"]).verdict == "holds"


def test_a_lemma_about_states_helps() -> None:
    """Of a state that is not reached z3 knows no better."""
    alone = prove(Guarded())
    assert (alone.verdict, [query.name for query in alone.result.queries if query.counterexample]) == (
        "incomplete",
        ["fall"],
    )
    assert prove(Guarded(), lemmas=["low"]).verdict == "holds"
    assert prove(Guarded(), properties=["grows", "low"], k=2).verdict == "holds"


def test_a_counterexample_to_induction_is_the_bad_step() -> None:
    votes = check_induction(Votes(), judge(Votes(), ["terms_grow"]).invariants)
    found = votes.counterexample
    assert found is not None
    assert (found.failing, found.refused, len(found.states.codes)) == (("terms_grow",), None, 2)
    trace = induction_trace(Votes(), found)
    assert [step.action for step in trace.steps] == [None, "forget"]
    assert "after.term" in trace.reason


def test_an_inference_drops_it_where_a_step_breaks_it() -> None:
    model = Votes()
    found = infer(model, judge(model, ["one_at_a_time", "terms_grow"]).invariants)
    assert found.proved == ("one_at_a_time",)
    assert [(dropped.name, dropped.by) for dropped in found.dropped] == [("terms_grow", "forget")]
    assert "before.term" in found.dropped[0].reason


class Overrun(Model):
    """A lamp, and a number that no step assigns: where it is 3, which it never is, it leaves its domain."""

    headline = ()

    def declare(self, b: object) -> State:
        return State(n=Int(0, 3), lamp=Int(0, 1))

    @action
    def run_over(self, s: StateView) -> None:
        require(s.n == 3)
        s.n += 1

    @action
    def light(self, s: StateView) -> None:
        s.lamp = 1

    @invariant
    def lit_once(self, s: StateView) -> Condition:
        lit: Condition = s.lamp <= 1
        return lit

    @invariant
    def dark(self, s: StateView) -> Condition:
        dark: Condition = s.lamp == 0
        return dark


def test_an_inference_blames_nobody_for_a_step_that_leaves_a_domain() -> None:
    model = Overrun()
    found = infer(model, [invariants_of(model)[name] for name in ("lit_once", "dark")])
    assert found.kept == ("lit_once",)
    assert [(dropped.name, dropped.by) for dropped in found.dropped] == [("dark", "light")]
    assert found.proved == (), "not together with type_ok"
    (refuted,) = [query for query in found.induction.queries if query.verdict is ProofVerdict.REFUTED]
    assert refuted.name == "run_over"


@given(written())
@settings(max_examples=25, deadline=None)
def test_one_step_proves_it_exactly_where_no_typed_state_has_a_bad_step(parts: Written) -> None:
    model = random_model(parts)
    kept = invariants_of(model)["kept"]
    assert isinstance(kept, StepInvariant)
    result = check_induction(model, [kept])
    nodes = [check.node for action in model.program.actions for check in action.checks]
    states = list(itertools.product(*(range(cell.size) for cell in model.program.schema.cells)))
    bad = any(kept.bad_step(model, codes) is not None for codes in states)
    refusable = any(not evaluate(node, codes) for node in nodes for codes in states)
    if not refusable:
        assert (result.verdict is ProofVerdict.PROVED) == (not bad)
    elif bad:
        assert result.verdict is ProofVerdict.REFUTED


def test_it_is_no_lemma_and_no_property_of_runs() -> None:
    with pytest.raises(UserError, match="terms_grow is about steps, and a lemma is about states"):
        select_lemmas(Votes(), ["terms_grow"])
    with pytest.raises(
        UserError, match="terms_grow is about steps, not about runs: `insync check` with the same model, the"
    ):
        select_run_properties(Votes(), ["terms_grow"])
    with pytest.raises(UserError, match="low is about states, not about runs"):
        select_run_properties(Votes(), ["low"])


class Swing(Model):
    """A number that goes up to 2 and then back by one: only the second step is wrong."""

    def declare(self, b: object) -> State:
        return State(n=Int(0, 2))

    @action
    def up(self, s: StateView) -> None:
        require(s.n < 2)
        s.n += 1

    @action
    def back(self, s: StateView) -> None:
        require(s.n == 2)
        s.n = 1

    @step_invariant
    def never_down(self, before: StateView, after: StateView) -> Condition:
        rises: Condition = after.n >= before.n
        return rises

    @invariant
    def in_range(self, s: StateView) -> Condition:
        below: Condition = s.n < 3
        return below


def test_of_several_good_states_it_is_the_last_one_that_the_bad_step_leaves() -> None:
    model = Swing()
    found = check_induction(model, judge(model, ["never_down"]).invariants, k=2).counterexample
    assert found is not None
    assert found.states.codes == ((1,), (2,), (1,))
    assert found.failing == ("never_down",)
    assert "with before.n = 2, after.n = 1" in found.reason


def test_asked_about_one_condition_an_action_need_not_keep_the_invariants_of_steps_beside_it() -> None:
    model = Swing()
    steps = Preservation(model, judge(model, ["in_range", "never_down"]).invariants)
    verdicts = {only: steps.ask("back", only).verdict for only in ("in_range", "never_down", None)}
    proved, refuted = ProofVerdict.PROVED, ProofVerdict.REFUTED
    assert verdicts == {"in_range": proved, "never_down": refuted, None: refuted}


def test_of_several_conditions_only_those_that_fail_are_named() -> None:
    model = Swing()
    found = check_induction(model, judge(model, ["in_range", "never_down"]).invariants).counterexample
    assert found is not None
    assert found.failing == ("never_down",)


@pytest.mark.parametrize(("depth", "length"), [(1, None), (2, None), (3, 4), (4, 4)])
def test_a_bounded_check_looks_at_the_steps_from_its_last_level_as_a_search_does(
    depth: int, length: int | None
) -> None:
    """A trace to a broken step ends with the state after it: four states at depth 3, in both."""
    lengths = [trace.length for trace in bounded_check(Votes(), depth=depth, properties=["terms_grow"]).traces]
    searched = check(Votes(), limits=Limits(depth=depth), properties=["terms_grow"])
    assert lengths == [one.trace_length for one in searched.violations] == ([] if length is None else [length])

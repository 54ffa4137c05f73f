"""Inductions prove what is inductive and nothing else, and their counterexamples are what they say."""

from __future__ import annotations

import itertools
import math

import pytest

from insync.model import Bool, BoundValues, Condition, Int, Model, SetOf, State, StateView, action, invariant
from insync.model.catalogue import find_model
from insync.model.evaluator import Evaluator, evaluate
from insync.model.language.declarations import invariant_names
from insync.properties.invariants import TYPE_OK, Invariant
from insync.properties.registry import judge, lemmas_of
from insync.runtime.errors import UserError
from insync_proofs import Corridor
from insync_toys import TOYS, Overflow

pytest.importorskip("z3")

from insync.proofs.k_induction import check_induction
from insync.proofs.obligations import Preservation, conjuncts
from insync.proofs.results import ALIKE, Bounded, BoundedVerdict, Induction, ProofVerdict, Query
from insync.runtime.watch import Limits, Watch

WRONG = "followers_trail_the_high_watermark"


def with_lemmas(model: Model) -> list[Invariant]:
    return [*judge(model).invariants, *(lemma for name, lemma in lemmas_of(model).items() if name != WRONG)]


def answers(result: Induction) -> dict[str, ProofVerdict]:
    return {query.name: query.verdict for query in result.queries}


def typed_states(model: Model) -> int:
    return math.prod(cell.size for cell in model.program.schema.cells)


def is_a_value(model: Model, codes: tuple[int, ...]) -> bool:
    """Whether these are the codes of some values of the fields."""
    try:
        return model.encode(model.decode(codes)) == codes
    except UserError:
        return False


@pytest.fixture(scope="module")
def kip279() -> Induction:
    return check_induction(model := find_model("kip279")(), with_lemmas(model))


def test_strong_isr_of_kip320_is_proved_with_the_lemmas() -> None:
    model = find_model("kip320")()
    result = check_induction(model, with_lemmas(model))
    assert result.verdict is ProofVerdict.PROVED
    assert list(answers(result)) == ["initiation", ALIKE, *model.program.action_names]
    assert result.counterexample is None


@pytest.mark.slow
def test_the_properties_of_kip320_need_lemmas() -> None:
    model = find_model("kip320")()
    result = check_induction(model, judge(model).invariants)
    assert result.verdict is ProofVerdict.REFUTED
    assert answers(result)["initiation"] is ProofVerdict.PROVED


@pytest.mark.slow
def test_the_same_lemmas_are_refuted_for_kip279_where_it_does_not_fence(kip279: Induction) -> None:
    refuted = {name for name, verdict in answers(kip279).items() if verdict is ProofVerdict.REFUTED}
    assert refuted == {"leader_expand_isr", "leader_advance_high_watermark", "become_follower", "follower_fetch"}


@pytest.mark.slow
def test_a_counterexample_to_induction_is_a_step_from_a_good_state_to_a_bad_one(kip279: Induction) -> None:
    model = find_model("kip279")()
    nodes = {c.name: c.node(model) for c in with_lemmas(model)}
    for query in kip279.queries:
        if query.counterexample is None:
            continue
        (before, after), (number,) = query.counterexample.states.codes, query.counterexample.states.actions
        assert model.program.actions[number].name == query.name
        assert Evaluator(model.program).step(number, before) == after
        assert all(evaluate(node, before) for node in nodes.values())
        failing = tuple(name for name, node in nodes.items() if not evaluate(node, after))
        assert query.counterexample.failing == failing
        assert query.counterexample.reason


def test_a_counterexample_to_induction_names_what_its_step_breaks_and_nothing_else() -> None:
    found = check_induction(Corridor(), judge(Corridor(), ["never_trapped", "at_the_door"]).invariants)
    refuted = {query.name: query.counterexample.failing for query in found.queries if query.counterexample is not None}
    assert refuted == {"walk": ("at_the_door",)}


def test_two_good_states_may_prove_what_one_does_not() -> None:
    model = Corridor()
    assert check_induction(model, judge(model).invariants).verdict is ProofVerdict.REFUTED
    assert check_induction(model, judge(model).invariants, k=2).verdict is ProofVerdict.PROVED
    assert (
        check_induction(model, judge(model, ["never_trapped", "near_the_door"]).invariants).verdict
        is ProofVerdict.PROVED
    )


def is_inductive(model: Model, name: str, k: int) -> bool:
    """Decide by looking at every typed state whether k good states are followed by good ones only."""
    evaluator = Evaluator(model.program)
    (node,) = judge(model, [name]).nodes
    states = itertools.product(*(range(cell.size) for cell in model.program.schema.cells))
    frontier = {codes for codes in states if evaluate(node, codes) and is_a_value(model, codes)}
    good = frontier
    for step in range(k):
        after = set()
        for codes in frontier:
            for number in evaluator.enabled(codes):
                if evaluator.failing_check(number, codes) is None:
                    after.add(evaluator.step(number, codes))
                elif step == k - 1:
                    return False
        last, frontier = after, after & good
    return last <= good


@pytest.mark.slow_for("token_ring0-1", "token_ring0-2", "token_ring1-2", "commit-2", "teams-1", "teams-2", "corridor-1")
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize(
    "model", [toy for toy in (*TOYS, Corridor()) if typed_states(toy) <= 3000], ids=lambda m: m.name
)
def test_inductions_agree_with_looking_at_every_typed_state(model: Model, k: int) -> None:
    for name in invariant_names(type(model)):
        result = check_induction(model, judge(model, [name]).invariants, k=k)
        if result.queries[0].verdict is ProofVerdict.PROVED:
            assert (result.verdict is ProofVerdict.PROVED) == is_inductive(model, name, k), name


class Hands(Model):
    """A set of at most three truths: there are but two, which is so only because equal ones are in it once."""

    def declare(self, b: BoundValues) -> State:
        return State(up=SetOf(Bool, 3))

    @action
    def rises(self, s: StateView, left: bool) -> None:
        """Raise a hand."""
        s.up.add(left)

    @invariant
    def two_at_most(self, s: StateView) -> Condition:
        """There is no third hand."""
        two: Condition = s.up.length <= 2
        return two


def test_what_no_value_has_as_its_codes_refutes_nothing() -> None:
    model = Hands()
    assert check_induction(model, judge(model, ["two_at_most"]).invariants).verdict is ProofVerdict.PROVED
    assert is_inductive(model, "two_at_most", 1)


def test_what_fails_in_the_first_k_states_is_a_violation() -> None:
    model = Corridor()
    result = check_induction(model, judge(model, ["at_the_door"]).invariants, k=2)
    assert result.verdict is ProofVerdict.REFUTED
    assert result.violation is not None
    assert result.violation.violated == ("at_the_door",)
    assert [len(states.codes) for states in result.violation.sequences] == [2]


def test_a_step_that_leaves_a_domain_refutes() -> None:
    model = Overflow()
    result = check_induction(model, [])
    assert result.verdict is ProofVerdict.REFUTED
    assert result.counterexample is not None
    assert result.counterexample.failing == (TYPE_OK,)
    assert result.counterexample.refused is not None
    assert result.counterexample.reason


@pytest.mark.slow
def test_no_answer_in_time_is_unknown_and_never_proved() -> None:
    model = find_model("kip320")(log_size=4, max_records=4, max_leader_epoch=4)
    watch = Watch(Limits(query_seconds=0.3))
    query = Preservation(model, with_lemmas(model), watch=watch).ask("become_leader")
    assert query.verdict is ProofVerdict.UNKNOWN
    assert "no answer in time" in query.reason


@pytest.mark.slow
def test_why_the_beginning_was_not_answered_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    open_ = Query("depth 1", ProofVerdict.UNKNOWN, 0.1, reason="no answer in time")
    bounded = Bounded(BoundedVerdict.UNKNOWN, 0, (), (), (open_,))
    monkeypatch.setitem(check_induction.__globals__, "check_bounded", lambda *given, **named: bounded)
    model = find_model("kip320")()
    (first, *_) = check_induction(model, with_lemmas(model)[:1]).queries
    assert (first.name, first.verdict, first.reason) == ("initiation", ProofVerdict.UNKNOWN, "no answer in time")


def test_conjuncts_reach_into_quantifiers() -> None:
    model = find_model("kip320")()
    (lemma,) = (p for p in with_lemmas(model) if p.name == "high_watermark_is_within_the_log")
    assert len(conjuncts(lemma.node(model))) == 3


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_strong_isr_of_kip320_is_proved_where_no_search_can_go() -> None:
    model = find_model("kip320")(log_size=6, max_records=6, max_leader_epoch=6)
    assert check_induction(model, with_lemmas(model)).verdict is ProofVerdict.PROVED


class Stairs(Model):
    """Nobody looks where the stairs end."""

    def declare(self, b: BoundValues) -> State:
        return State(step=Int(0, 3))

    @action
    def climbs(self, s: StateView) -> None:
        """Go one step up."""
        s.step += 1


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_step_that_leaves_a_domain_is_refused_in_the_last_of_the_good_states(k: int) -> None:
    found = check_induction(Stairs(), [], k=k).counterexample
    assert found is not None
    assert (found.failing, found.refused) == ((TYPE_OK,), 0)
    assert found.states.codes == tuple((step,) for step in range(4 - k, 4))

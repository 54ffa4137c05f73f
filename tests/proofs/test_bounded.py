"""Bounded checks find violations as short as the breadth-first search does, and never call silence a proof."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.model import Bool, BoundValues, Condition, Model, Not, State, StateView, action, invariant, require
from insync.model.catalogue import find_model
from insync.model.evaluator import Evaluator, evaluate
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import judge, select_lemmas
from insync.runtime.errors import InternalError
from insync_toys import DieHard, Overflow

pytest.importorskip("z3")

from insync.proofs.bounded import check_bounded
from insync.proofs.k_induction import check_induction
from insync.proofs.results import BoundedVerdict, ProofVerdict, Query
from insync.proofs.smt import SymbolicState
from insync.proofs.smt.solver import Answer, Found, Solver
from insync.runtime.watch import Limits, Watch

KIP101_LEMMAS = (
    "log_is_blank_from_its_end",
    "unsent_requests_are_blank",
    "record_ids_are_old",
    "leader_is_in_its_isr",
    "quorum_is_the_newest_request",
    "replicas_believe_their_request",
    "isr_shrinks_until_left",
    "record_epochs_had_a_leader",
    "record_ids_are_unique",
)


@pytest.mark.slow_for("model1-12", "model2-9", "model4-10")
@pytest.mark.parametrize(
    ("model", "depth"),
    [
        (DieHard(), 8),
        (find_model("truncate_to_high_watermark")(replicas=2, max_records=1), 12),
        (find_model("kip101")(replicas=2, log_size=1, max_records=2), 9),
        pytest.param(find_model("kip101")(replicas=2, log_size=1, max_records=2), 12, marks=pytest.mark.slow),
        (find_model("async_isr")(replicas=2), 10),
    ],
)
def test_a_violation_is_as_short_as_the_breadth_first_one(model: Model, depth: int) -> None:
    searched = check(model)
    found = check_bounded(model, judge(model).invariants, depth)
    lengths = {violation.property: violation.trace_length for violation in searched.violations}
    assert {name: len(states.codes) for name, states in zip(found.violated, found.sequences, strict=True)} == lengths
    assert (found.verdict is BoundedVerdict.VIOLATED) == bool(lengths)
    assert found.depth == min(lengths.values(), default=depth + 1) - 1, "how many levels are free of violations"
    for name, states in zip(found.violated, found.sequences, strict=True):
        (node,) = judge(model, [name]).nodes
        assert not evaluate(node, states.codes[-1])
        assert states.codes[0] == model.program.initials[0]


@pytest.mark.parametrize(
    ("place", "code", "message"),
    [
        (0, 1, "which is not an initial state"),
        (3, 2, "the evaluator does not"),
        (-1, 1, "the evaluator does not"),
    ],
)
def test_what_z3_finds_is_executed_before_it_is_believed(
    place: int, code: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    def other_codes(found: Found, state: SymbolicState) -> tuple[int, ...]:
        nonlocal asked
        codes, asked = state.codes(found._model), asked + 1
        return (code, *codes[1:]) if (asked - 1) % 7 == place % 7 else codes

    monkeypatch.setattr(Found, "codes", other_codes)
    with pytest.raises(InternalError, match=message):
        check_bounded(DieHard(), judge(DieHard()).invariants, 8)


def test_a_step_that_leaves_a_domain_is_found() -> None:
    model = Overflow()
    found = check_bounded(model, [], 9)
    assert found.violated == (TYPE_OK,)
    (states,) = found.sequences
    evaluator = Evaluator(model.program)
    assert any(evaluator.failing_check(n, states.codes[-1]) for n in evaluator.enabled(states.codes[-1]))
    assert len(states.codes) == next(v.trace_length for v in check(model, properties=[]).violations)


def test_no_violation_within_the_depth_is_not_a_proof() -> None:
    reported: list[Query] = []
    found = check_bounded(DieHard(), judge(DieHard()).invariants, 3, reporter=reported.append)
    assert (found.verdict, found.depth) == (BoundedVerdict.NONE_WITHIN, 3)
    assert [query.name for query in reported] == ["depth 1", "depth 2", "depth 3"]


def test_no_answer_in_time_is_unknown() -> None:
    model = find_model("kip101")(log_size=4, max_records=4, max_leader_epoch=4)
    found = check_bounded(model, judge(model).invariants, 30, watch=Watch(Limits(query_seconds=0.05)))
    assert found.verdict is BoundedVerdict.UNKNOWN
    assert found.queries[-1].verdict is ProofVerdict.UNKNOWN
    assert found.queries[-1].reason == "no answer in time"
    assert found.depth == len(found.queries) - 1


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_kip101_violates_strong_isr_as_early_as_the_search_says() -> None:
    model = find_model("kip101")()
    lemmas = select_lemmas(model, KIP101_LEMMAS)
    assert check_induction(model, lemmas).verdict is ProofVerdict.PROVED
    found = check_bounded(model, judge(model, ["strong_isr"]).invariants, 12, lemmas=lemmas)
    (violation,) = check(model, properties=["strong_isr"]).violations
    assert [len(states.codes) for states in found.sequences] == [violation.trace_length]


class Switches(Model):
    """Two switches, each of which is on after one step, and no two."""

    def declare(self, b: BoundValues) -> State:
        return State(left=Bool, right=Bool)

    @action
    def turn_left_on(self, s: StateView) -> None:
        require(Not(s.right))
        s.left = True

    @action
    def turn_right_on(self, s: StateView) -> None:
        require(Not(s.left))
        s.right = True

    @invariant
    def left_is_off(self, s: StateView) -> Condition:
        return Not(s.left)

    @invariant
    def right_is_off(self, s: StateView) -> Condition:
        return Not(s.right)


@pytest.mark.parametrize(("later", "found"), [(None, 2), (Answer.UNKNOWN, 1), (Answer.IMPOSSIBLE, 1)])
def test_of_several_properties_that_fail_at_a_depth_those_are_told_that_z3_has_shown(
    later: Answer | None, found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first violation z3 says so much of each other property; None leaves it alone."""
    honest, said = Solver.check, list[Answer]()

    def answered(self: Solver, deadline: Watch) -> Answer:
        said.append(later if later is not None and Answer.POSSIBLE in said else honest(self, deadline))
        return said[-1]

    monkeypatch.setattr(Solver, "check", answered)
    model = Switches()
    result = check_bounded(model, judge(model).invariants, 3)
    assert (result.verdict, result.depth, len(result.violated)) == (BoundedVerdict.VIOLATED, 1, found)
    assert len(result.sequences) == found

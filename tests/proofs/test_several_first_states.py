"""With several initial states z3 begins in any of them, and in nothing else."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from insync.explorer import check
from insync.model import (
    ANY,
    Array,
    Bool,
    BoundValues,
    Condition,
    Int,
    Model,
    Option,
    Record,
    State,
    action,
    initial,
    invariant,
    require,
)
from insync.properties.registry import judge
from insync_initials import Cabinet, Probe, SelfStabilizing

pytest.importorskip("z3")

from insync.proofs.bounded import check_bounded
from insync.proofs.induction import INITIATION, check_induction
from insync.proofs.inference import infer, refuted_at_first
from insync.proofs.outcome import BoundedVerdict, ProofVerdict
from insync.proofs.smt import Answer, Solver, SymbolicProgram
from insync.proofs.watch import Deadline


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
            possible = solver.check(Deadline(None)) is Answer.POSSIBLE
        assert possible == (codes in initials)
        allowed += possible
    assert allowed > 3


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
    (dropped,) = refuted_at_first(Odd(), [small])
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
    dropped = refuted_at_first(Settled(), judge(Settled(), ["one_value", "in_its_range"]).invariants)
    assert [(one.name, one.by) for one in dropped] == [("one_value", "an initial state")]

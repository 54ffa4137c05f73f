"""z3's successors are the evaluator's: on random typed states, on reachable ones, and step after step."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insync.model import Bool, Int, Model, State, StateView, action, require
from insync.model.catalogue import find_model
from insync.model.evaluator import Evaluator
from insync.runtime.errors import DomainError
from insync_toys import TOYS, DieHard, Overflow, TokenRing

z3 = pytest.importorskip("z3")

from insync.proofs.smt import Answer, Solver, SymbolicProgram, Unrolling  # noqa: E402 -- it needs z3
from insync.runtime.watch import Limits, Watch  # noqa: E402

NAMES = ("truncate_to_high_watermark", "kip101", "kip279", "kip320_first_try", "kip320", "async_isr")
MODELS = [pytest.param(toy, id=f"{toy.name}{index}") for index, toy in enumerate(TOYS)]
MODELS += [pytest.param(find_model(name)(), id=name) for name in NAMES]


def walked(model: Model, seed: int, steps: int) -> tuple[int, ...]:
    """Return the state after a random walk that refuses steps which leave a domain."""
    evaluator, codes, choose = Evaluator(model.program), model.program.initials[0], random.Random(seed)
    for _ in range(steps):
        numbers = [n for n in evaluator.enabled(codes) if evaluator.failing_check(n, codes) is None]
        if not numbers:
            break
        codes = evaluator.step(choose.choice(numbers), codes)
    return codes


def same_steps(model: Model, codes: Sequence[int]) -> None:
    """Compare guards, checks and successors of every action in one state."""
    evaluator, symbolic = Evaluator(model.program), SymbolicProgram(model.program)
    state = symbolic.constant(codes)
    enabled = evaluator.enabled(codes)
    for number, bound in enumerate(model.program.actions):
        guard = z3.simplify(z3.And(*symbolic.enabled(state, bound)))
        assert z3.is_true(guard) == (number in enabled), bound
        if number not in enabled:
            continue
        fits = z3.is_true(z3.simplify(z3.And(*symbolic.fits(state, bound))))
        after = tuple(z3.simplify(cell).as_long() for cell in symbolic.after(state, bound).cells)
        try:
            expected = evaluator.step(number, codes)
        except DomainError:
            assert not fits, bound
        else:
            assert fits, bound
            assert after == expected, bound


@pytest.mark.slow_for("truncate_to_high_watermark", "kip101", "kip279", "kip320_first_try", "kip320", "async_isr")
@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=8)
@given(data=st.data())
def test_steps_from_any_typed_state(model: Model, data: st.DataObject) -> None:
    same_steps(model, data.draw(st.tuples(*(st.integers(0, c.size - 1) for c in model.program.schema.cells))))


@pytest.mark.slow_for("truncate_to_high_watermark", "kip101", "kip279", "kip320_first_try", "kip320")
@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), steps=st.integers(0, 40))
def test_steps_from_reachable_states(model: Model, seed: int, steps: int) -> None:
    same_steps(model, walked(model, seed, steps))


def ends(model: Model, length: int, *, ordered: bool) -> set[tuple[int, ...]]:
    """Return the last states of z3's sequences of this many steps from the initial state."""
    program = SymbolicProgram(model.program)
    unrolling = Unrolling(program, program.constant(model.program.initials[0]), ordered=ordered)
    solver = Solver()
    for _ in range(length):
        solver.add(unrolling.extend())
    found: set[tuple[int, ...]] = set()
    while solver.check(Watch()) is Answer.POSSIBLE:
        codes = [solver.found.codes(state) for state in unrolling.states]
        for before, step, after in zip(codes, unrolling.steps, codes[1:], strict=False):
            assert Evaluator(model.program).step(solver.found.chosen(step.choices), before) == after
        found.add(codes[-1])
        solver.add([z3.Or(*[cell != code for cell, code in zip(unrolling.states[-1].cells, codes[-1], strict=True)])])
    return found


class Relay(Model):
    """A source, raised by an action between those that read it: as a value, in a guard, in what a field holds.

    One asks only whether what it assigns for a moment would fit.
    """

    def declare(self, b: object) -> State:
        return State(source=Int(0, 1), copies=Int(0, 2), seen=Bool, late=Int(0, 2), apart=Bool, on=Int(0, 1), way=Bool)

    @action
    def early_copy(self, s: StateView) -> None:
        s.copies += s.source

    @action
    def early_look(self, s: StateView) -> None:
        require(s.source == 1)
        s.seen = True

    @action
    def by_way_of_it(self, s: StateView) -> None:
        s.on = s.source - 1
        s.on, s.way = 0, True

    @action
    def lift(self, s: StateView) -> None:
        s.source = 1

    @action
    def late_copy(self, s: StateView) -> None:
        require(s.source == 1)
        s.late += 1

    @action
    def nothing_to_do_with_it(self, s: StateView) -> None:
        s.apart = True


@pytest.mark.slow_for("model0-True", "model4-False", "model4-True")
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("model", [Relay(), DieHard(), TokenRing(), Overflow(), find_model("async_isr")(replicas=2)])
def test_sequences_end_where_the_evaluators_do(model: Model, ordered: bool) -> None:
    evaluator, level = Evaluator(model.program), {model.program.initials[0]}
    for length in range(1, 4):
        level = {
            evaluator.step(number, codes)
            for codes in level
            for number in evaluator.enabled(codes)
            if evaluator.failing_check(number, codes) is None
        }
        assert ends(model, length, ordered=ordered) == level


def test_fresh_states_are_typed() -> None:
    model = TokenRing()
    program = SymbolicProgram(model.program)
    state, solver = program.fresh("s"), Solver()
    solver.add(program.typed(state))
    outside = [z3.UGE(cell, size) for cell, size in zip(state.cells, program.sizes, strict=True) if size & (size - 1)]
    solver.add([z3.Or(*outside)])
    assert solver.check(Watch()) is Answer.IMPOSSIBLE


def test_past_the_deadline_the_answer_is_unknown() -> None:
    a, b, c = (z3.BitVec(name, 40) for name in "abc")
    solver = Solver()
    solver.add([a * b * c == 1234567890123, z3.UGT(a, 1 << 20), z3.UGT(b, 1 << 20), a * a == b * b * c + 7])
    assert solver.check(Watch(Limits(seconds=0.05))) is Answer.UNKNOWN
    assert solver.reason == "no answer in time"

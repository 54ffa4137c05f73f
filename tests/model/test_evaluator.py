from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from insync.model import DomainError, GuardError, Model
from insync.model.evaluator import Evaluator, evaluate
from insync_evaluator import conditions, successors
from insync_toys import TOYS, Clock, Commit, DieHard, Grid, Ledger, Overflow, Teams, TokenRing


def reached(model: Model, limit: int = 400) -> Iterator[tuple[int, ...]]:
    """Yield the first states of a model in breadth-first order; steps that leave a field lead nowhere."""
    evaluator = Evaluator(model.program)
    seen = {model.program.initials[0]: None}
    for codes in (queue := [model.program.initials[0]]):
        yield codes
        for number in evaluator.enabled(codes) if len(queue) < limit else ():
            if evaluator.failing_check(number, codes) is None:
                after = evaluator.step(number, codes)
                if after not in seen:
                    seen[after] = None
                    queue.append(after)


@pytest.mark.parametrize("model", TOYS, ids=lambda m: m.name)
def test_every_step_stays_in_the_domains_or_is_refused(model: Model) -> None:
    evaluator, cells = Evaluator(model.program), model.program.schema.cells
    for codes in reached(model):
        assert model.encode(model.decode(codes)) == codes
        assert model.program.schema.unpack(model.program.schema.pack(codes)) == codes
        enabled = evaluator.enabled(codes)
        failing = [n for n in enabled if evaluator.failing_check(n, codes) is not None]
        good = [(n, evaluator.step(n, codes)) for n in enabled if n not in failing]
        for _, after in good:
            assert all(0 <= code < cell.size for code, cell in zip(after, cells, strict=True))
        for number in failing:
            with pytest.raises(DomainError):
                evaluator.step(number, codes)


@pytest.mark.parametrize(
    ("model", "states"),
    [
        (Clock(), 12),
        (Clock(hours=5), 5),
        (TokenRing(), 6),
        (TokenRing(two_tokens=1), 30),
        (DieHard(), 16),
        (Commit(parties=2), 22),
        (Overflow(), 12),
        (Teams(), 8),
        (Ledger(), 7),
    ],
)
def test_how_many_states_a_toy_has(model: Model, states: int) -> None:
    """Counted by hand or by a plain program; `die hard` is the known figure."""
    assert len(list(reached(model))) == states


@pytest.mark.parametrize(
    ("model", "broken"),
    [
        (Clock(), set()),
        (TokenRing(), set()),
        (TokenRing(two_tokens=1), {"exclusive"}),
        (DieHard(), {"never_four"}),
        (Commit(parties=3), set()),
        (Teams(nodes=3), set()),
        (Ledger(), set()),
    ],
)
def test_which_invariants_of_a_toy_hold(model: Model, broken: set[str]) -> None:
    states = list(reached(model, limit=5_000))
    failing = {name for name, node in conditions(model).items() if not all(evaluate(node, codes) for codes in states)}
    assert failing == broken


def test_die_hard_is_solved_in_six_steps() -> None:
    model = DieHard()
    evaluator = Evaluator(model.program)
    level, steps = {model.program.initials[0]}, 0
    while all(evaluate(conditions(model)["never_four"], codes) for codes in level):
        level = {after for codes in level for _, after in successors(evaluator, codes)}
        steps += 1
    assert steps == 6


def test_a_step_that_is_not_enabled_is_refused() -> None:
    model = TokenRing()
    evaluator = Evaluator(model.program)
    number = model.program.action_number("stop", {"node": "n2"})
    assert number is not None
    with pytest.raises(GuardError, match=r"^stop\(node=n2\) is not enabled in this state\.$"):
        evaluator.step(number, model.program.initials[0])


def test_a_step_that_leaves_its_field_is_refused_with_the_line() -> None:
    model = Overflow(last=1)
    evaluator = Evaluator(model.program)
    codes = model.encode({"count": 1, "end": 2, "items": [1, 1]})
    assert evaluator.enabled(codes) == [0, 1]
    for number, message in [
        (0, r"insync_corners\.py:\d+: the value assigned to count is not a whole number from 0 to 1\."),
        (1, r"insync_corners\.py:\d+: this assigns outside items\[\.\.\.\], which has 2 places\."),
    ]:
        check = evaluator.failing_check(number, codes)
        assert check is not None
        with pytest.raises(DomainError, match=message) as caught:
            evaluator.step(number, codes)
        assert caught.value.check is check


def test_the_nested_arrays_of_the_grid_follow_a_plain_program() -> None:
    model = Grid()
    evaluator = Evaluator(model.program)
    number = model.program.action_number("raise_here", {})
    assert number is not None
    cell = {"value": 0, "seen": None}
    for row, column in itertools.product(range(2), range(2)):
        cells = [[dict(cell) for _ in range(2)] for _ in range(2)]
        state = {
            "row": row,
            "column": column,
            "rows": [{"cells": cells[r], "marks": [None, None]} for r in range(2)],
        }
        codes = model.encode(state)
        cells[row][column] = {"value": 1, "seen": 3 + row}
        assert model.decode(evaluator.step(number, codes)) == state


def test_deep_expressions_need_no_recursion() -> None:
    model = Clock()
    node = model.program.graph.cell(0)
    total = node
    for _ in range(5_000):
        total = model.program.graph.node(conditions(model)["shows_an_hour"].op.MIN, (total, node))
    assert evaluate(total, model.program.initials[0]) == 0

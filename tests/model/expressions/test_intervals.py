from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insync.model.evaluator import evaluate
from insync.model.expressions.graph import CONDITIONS, Graph, Node, Op
from insync.model.expressions.intervals import always_holds
from insync.model.expressions.simplify import apply, combine
from insync.runtime.errors import ModelError
from insync_expressions import SIZES, Tree, conditions, every_state, made, numbers

_COMPARISONS = st.builds(
    lambda op, a, b, negated: Tree(Op.NOT, (Tree(op, (a, b)),)) if negated else Tree(op, (a, b)),
    st.sampled_from([Op.EQ, Op.LT, Op.LE]),
    numbers(1),
    numbers(1),
    st.booleans(),
)


MEASURED = 50
"""How many claims have to be shown because of the guard."""


def sound(guard: list[Node], condition: Node) -> bool:
    """Whether the condition holds in every state in which the guard does."""
    meets = (c for c in every_state() if all(evaluate(g, c) for g in guard))
    return all(evaluate(condition, codes) for codes in meets)


@st.composite
def guards_and_claims(draw: st.DrawFn) -> tuple[list[Tree], Tree]:
    """A guard, and a claim about a part of it: nothing else could be shown, and a law about nothing is no test."""
    guard = draw(st.lists(_COMPARISONS | _COMPARISONS | conditions(2), min_size=1, max_size=3))
    part = draw(st.sampled_from([part for tree in guard for part in parts(tree)]))
    limit = Tree(Op.CONST, arg=draw(st.integers(-2, 6)))
    claim = Tree(draw(st.sampled_from([Op.LE, Op.LT, Op.EQ])), draw(st.permutations([part, limit]).map(tuple)))
    if draw(st.booleans()):
        claim = Tree(Op.NOT, (claim,))
    if draw(st.booleans()):
        return [*guard, Tree(Op.OR, (draw(conditions(1)), claim))], claim
    return guard, claim


def parts(tree: Tree) -> list[Tree]:
    """The numbers that a tree is made of."""
    own = [] if tree.op in CONDITIONS or isinstance(tree.arg, bool) else [tree]
    return [*own, *(part for arg in tree.args for part in parts(arg))] or [Tree(Op.CELL, arg=1)]


def test_what_is_shown_is_true_and_much_is_shown() -> None:
    drawn = Counter[str]()

    @settings(max_examples=500, derandomize=True, database=None, deadline=None)
    @given(guards_and_claims())
    def law(drew: tuple[list[Tree], Tree]) -> None:
        graph = Graph(SIZES)
        try:
            guard, claim = [made(graph, tree) for tree in drew[0]], made(graph, drew[1])
        except ModelError:
            return
        if always_holds(guard, claim):
            assert sound(guard, claim)
            if drawn["because of the guard"] < MEASURED:
                drawn["because of the guard" if not sound([], claim) else "always"] += 1

    law()
    assert drawn["because of the guard"] == MEASURED, drawn


def test_a_disjunction_says_what_its_last_possible_part_says() -> None:
    graph = Graph([4, 4])
    a, b = graph.cell(0), graph.cell(1)
    small, late = apply(Op.LT, a, graph.const(3)), apply(Op.EQ, b, graph.const(2))
    assert always_holds([combine(graph, Op.OR, [late, small]), apply(Op.NOT, late)], small)
    assert always_holds([apply(Op.NOT, late), combine(graph, Op.OR, [late, small])], apply(Op.LE, a, graph.const(2)))
    assert not always_holds([combine(graph, Op.OR, [late, small])], small)
    assert not always_holds([combine(graph, Op.OR, [late, small]), late], small)


SPANS = [(lo, hi) for lo in range(4) for hi in range(lo, 4)]


@pytest.mark.parametrize("op", [Op.LT, Op.LE, Op.EQ, Op.AND, Op.OR])
def test_all_that_is_true_of_two_numbers_by_themselves_is_shown(op: Op) -> None:
    """A comparison of two numbers, or two of them of one number each, is decided exactly where its ranges decide it."""
    graph = Graph([4, 4])
    a, b = graph.cell(0), graph.cell(1)
    if op in (Op.AND, Op.OR):
        parts = [apply(Op.LT, a, graph.const(2)), apply(Op.LE, graph.const(2), b)]
        condition = combine(graph, op, parts)
    else:
        condition = apply(op, a, b)
    shown = Counter[bool]()
    for first, second in itertools.product(SPANS, repeat=2):
        ends = [(n, graph.const(lo), graph.const(hi)) for n, (lo, hi) in ((a, first), (b, second))]
        guard = [part for n, lo, hi in ends for part in (apply(Op.LE, lo, n), apply(Op.LE, n, hi))]
        box = list(itertools.product(*(range(lo, hi + 1) for lo, hi in (first, second))))
        for wanted in (True, False):
            claim = condition if wanted else apply(Op.NOT, condition)
            assert always_holds(guard, claim) == all(bool(evaluate(condition, c)) == wanted for c in box), guard
            shown[wanted] += always_holds(guard, claim)
    assert min(shown.values()) > 3


def test_the_guard_of_an_append_shows_that_the_place_is_there() -> None:
    """`f.leo < l.leo` and both at most 3: then `f.leo` is a place of a log of 3, and `f.leo + 1` fits."""
    graph = Graph([4, 4])
    mine, theirs = graph.cell(0), graph.cell(1)
    guard = [apply(Op.LT, mine, theirs)]
    assert always_holds(guard, apply(Op.LT, mine, graph.const(3)))
    assert always_holds(guard, apply(Op.LE, apply(Op.ADD, mine, graph.const(1)), graph.const(3)))
    assert not always_holds([], apply(Op.LT, mine, graph.const(3)))


def test_a_comparison_uses_what_a_later_one_says() -> None:
    graph = Graph([9, 9])
    a, b = graph.cell(0), graph.cell(1)
    guard = [apply(Op.LT, a, b), apply(Op.LT, b, graph.const(4))]
    assert always_holds(guard, apply(Op.LT, a, graph.const(3)))


def test_an_unequal_end_narrows_the_range() -> None:
    graph = Graph([4])
    a = graph.cell(0)
    guard = [apply(Op.NOT, apply(Op.EQ, a, graph.const(3)))]
    assert always_holds(guard, apply(Op.LT, a, graph.const(3)))


@pytest.mark.parametrize(("first", "last"), [(first, last) for first, last in SPANS if first < last])
def test_a_number_that_is_ruled_out_narrows_a_range_by_itself_alone(first: int, last: int) -> None:
    graph = Graph([4])
    number = graph.cell(0)
    for out in range(4):
        possible = [n for n in range(first, last + 1) if n != out]
        guard = [apply(Op.LE, graph.const(first), number), apply(Op.LE, number, graph.const(last))]
        guard.append(apply(Op.NOT, apply(Op.EQ, number, graph.const(out))))
        for limit in range(4):
            assert not always_holds(guard, apply(Op.LE, graph.const(limit), number)) or limit <= min(possible), out
            assert not always_holds(guard, apply(Op.LE, number, graph.const(limit))) or limit >= max(possible), out


def test_a_conjunct_shows_itself() -> None:
    graph = Graph([2, 8])
    tested = apply(Op.TEST, graph.cell(1), graph.cell(0))
    assert always_holds([tested], tested)


def test_a_contradictory_guard_is_no_trouble() -> None:
    graph = Graph([9])
    a = graph.cell(0)
    guard = [apply(Op.LT, a, graph.const(3)), apply(Op.LT, graph.const(5), a)]
    assert sound(guard, apply(Op.EQ, a, graph.const(8)))
    always_holds(guard, apply(Op.EQ, a, graph.const(8)))


def test_a_quotient_says_where_its_number_lies() -> None:
    graph = Graph([20, 20])
    a, b = graph.cell(0), graph.cell(1)
    guard = [apply(Op.LE, apply(Op.DIV, a, graph.const(3)), graph.const(2))]
    assert always_holds(guard, apply(Op.LE, a, graph.const(8)))
    assert not always_holds(guard, apply(Op.LE, a, graph.const(7)))
    small = [apply(Op.LT, b, graph.const(2))]
    assert always_holds(small, apply(Op.LE, apply(Op.MOD, b, graph.const(4)), graph.const(1)))
    assert always_holds(small, apply(Op.EQ, apply(Op.DIV, b, graph.const(4)), graph.const(0)))


@pytest.mark.parametrize(("n", "quotient"), [(2, 1), (3, 0), (3, 1), (3, 2)])
def test_a_quotient_says_between_which_numbers_what_is_divided_lies(n: int, quotient: int) -> None:
    graph = Graph([9])
    number = graph.cell(0)
    guard = [apply(Op.EQ, apply(Op.DIV, number, graph.const(n)), graph.const(quotient))]
    least, greatest = quotient * n, min(quotient * n + n - 1, 8)
    for limit in range(1, 8):  # what holds of every number from 0 to 8 is no question
        assert always_holds(guard, apply(Op.LE, graph.const(limit), number)) == (limit <= least)
        assert always_holds(guard, apply(Op.LE, number, graph.const(limit))) == (limit >= greatest)

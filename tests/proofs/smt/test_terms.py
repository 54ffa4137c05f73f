"""z3's terms mean what the operations mean: on random expressions and on the corners of every operation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insync.model.expressions.graph import GROUND, Graph, Node, Op
from insync.model.expressions.semantics import MEANING
from insync_expressions import SIZES, Tree, conditions, direct, made, numbers, sets

z3 = pytest.importorskip("z3")

from insync.proofs.smt import RULES, Terms, width_of  # noqa: E402 -- it needs z3
from insync.runtime.watch import Watch  # noqa: E402

STATES = st.tuples(*(st.integers(0, size - 1) for size in SIZES))
TREES = numbers(3) | conditions(3) | sets(3)


def value(node: Node, codes: Sequence[int], sizes: Sequence[int] = SIZES) -> int:
    """Return what z3 makes of a node in a state, as the range of the node reads its bits."""
    cells = [z3.BitVecVal(code, width_of(0, size - 1)) for code, size in zip(codes, sizes, strict=True)]
    terms = Terms(cells, Watch())
    if node.is_bool:
        return int(z3.is_true(z3.simplify(terms.bool(node))))
    found = z3.simplify(terms.number(node))
    assert found.size() == width_of(node.lo, node.hi)
    number: int = found.as_signed_long() if node.lo < 0 else found.as_long()
    return number


def test_every_operation_has_a_rule() -> None:
    assert set(RULES) == GROUND


@given(TREES, STATES)
def test_random_expressions_mean_the_same(tree: Tree, codes: tuple[int, ...]) -> None:
    assert value(made(Graph(SIZES), tree), codes) == direct(tree, codes)


@pytest.mark.parametrize(
    ("op", "shift"),
    [(op, shift) for op in (Op.ADD, Op.SUB, Op.MUL, Op.MIN, Op.MAX, Op.EQ, Op.LT, Op.LE) for shift in (0, -3)],
)
def test_two_numbers_at_every_corner(op: Op, shift: int) -> None:
    graph = Graph((4, 4))
    first, second = (graph.node(Op.ADD, (graph.cell(i), graph.const(shift))) for i in (0, 1))
    node = graph.node(op, (first, second))
    for a, b in itertools.product(range(4), repeat=2):
        assert value(node, (a, b), (4, 4)) == MEANING[op](a + shift, b + shift)


@pytest.mark.parametrize("op", [Op.BITAND, Op.BITOR, Op.BITDIFF])
def test_sets_of_different_sizes(op: Op) -> None:
    graph = Graph((8, 2))
    node = graph.node(op, (graph.cell(0), graph.cell(1)))
    for codes in itertools.product(range(8), range(2)):
        assert value(node, codes, (8, 2)) == MEANING[op](*codes)


@pytest.mark.parametrize("shift", [-2, 0, 58])
def test_members_outside_a_set_and_outside_all_sets(shift: int) -> None:
    graph = Graph((8, 8))
    index = graph.node(Op.ADD, (graph.cell(0), graph.const(shift)))
    bit, contained = graph.node(Op.BIT, (index,)), graph.node(Op.TEST, (graph.cell(1), index))
    for i, mask in itertools.product(range(8), repeat=2):
        assert value(bit, (i, mask), (8, 8)) == MEANING[Op.BIT](i + shift)
        assert value(contained, (i, mask), (8, 8)) == MEANING[Op.TEST](mask, i + shift)


def test_counting_a_set() -> None:
    graph = Graph((16,))
    node = graph.node(Op.COUNT, (graph.cell(0),))
    assert [value(node, (mask,), (16,)) for mask in range(16)] == [mask.bit_count() for mask in range(16)]


@pytest.mark.parametrize("shift", [-2, 0, 1])
def test_selecting_inside_and_outside(shift: int) -> None:
    graph = Graph((4, 4))
    index = graph.node(Op.ADD, (graph.cell(0), graph.const(shift)))
    elements = (graph.const(-5), graph.cell(1), graph.const(7))
    node = graph.node(Op.SELECT, (index, *elements))
    for i, x in itertools.product(range(4), repeat=2):
        assert value(node, (i, x), (4, 4)) == MEANING[Op.SELECT](i + shift, -5, x, 7)


ENDS = st.integers(-(2**62), 2**62) | st.integers(-9, 9)


@given(ENDS, ENDS)
def test_a_width_is_the_least_that_holds_both_ends(a: int, b: int) -> None:
    lo, hi = min(a, b), max(a, b)

    def holds(width: int) -> bool:
        least, greatest = (0, 2**width - 1) if lo >= 0 else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
        return least <= lo and hi <= greatest

    assert next(width for width in range(1, 65) if holds(width)) == width_of(lo, hi)


@pytest.mark.parametrize("op", [Op.ADD, Op.SUB, Op.MIN])
def test_a_number_below_zero_beside_one_that_is_zero(op: Op) -> None:
    """Minus one alone takes no more bits than minus one and zero together."""
    graph = Graph((2,))
    nothing = graph.node(Op.SELECT, (graph.node(Op.SUB, (graph.cell(0), graph.const(2))), graph.const(0)))
    assert value(graph.node(op, (graph.const(-1), nothing)), (1,), (2,)) == -1


@settings(max_examples=30)
@given(TREES, STATES, st.integers(0, len(SIZES) - 1))
def test_terms_shared_with_another_state_mean_the_same(tree: Tree, codes: tuple[int, ...], cell: int) -> None:
    graph = Graph(SIZES)
    node = made(graph, tree)
    other = [*codes]
    other[cell] = (codes[cell] + 1) % SIZES[cell]
    reads: dict[int, bool] = {}
    for n in graph.nodes:
        reads[n.index] = (n.op is Op.CELL and n.arg == cell) or any(reads[a.index] for a in n.args)
    widths = [width_of(0, size - 1) for size in SIZES]
    cells, changed = ([z3.BitVecVal(c, w) for c, w in zip(some, widths, strict=True)] for some in (codes, other))
    before = Terms(cells, Watch())
    after = Terms(changed, Watch(), before, lambda n: reads[n.index])
    term = z3.simplify(after.bool(node) if node.is_bool else after.number(node))
    found = int(z3.is_true(term)) if node.is_bool else term.as_signed_long() if node.lo < 0 else term.as_long()
    assert found == direct(tree, other)

"""The law of substitution: replacing cells in an expression gives the node that building it with constants gives.

The one exception is a number whose range is a single value and that is no constant, such as `SELECT(cell, 0)`: a rule
that prefers a constant sees it or does not, as the other numbers come to be known.
"""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from insync.model.expressions.graph import Graph, Op
from insync.model.expressions.simplify import apply, substituted
from insync.runtime.errors import ModelError
from insync_expressions import SIZES, Tree, conditions, made, numbers, sets

KNOWN = st.dictionaries(st.sampled_from([cell for cell, size in enumerate(SIZES) if size > 1]), st.integers(0, 1))


def with_constants(tree: Tree, known: dict[int, int]) -> Tree:
    """Return a tree with constants in the place of some cells."""
    if tree.op is Op.CELL and tree.arg in known:
        return Tree(Op.CONST, arg=known[tree.arg])
    args = tuple(with_constants(arg, known) for arg in tree.args)
    return Tree(tree.op, args, tree.arg, tree.labelled)


@given(st.one_of(numbers(3), conditions(3), sets(3)), KNOWN)
def test_substitution_gives_the_node_that_building_gives(tree: Tree, known: dict[int, int]) -> None:
    general, graph = Graph(SIZES), Graph(SIZES)
    try:
        first, wanted = made(general, tree), made(graph, with_constants(tree, known))
    except ModelError:
        assume(False)
    assume(all(node.is_bool or node.op is Op.CONST or node.lo < node.hi for node in graph.nodes))
    cells = [graph.const(known[cell]) if cell in known else graph.cell(cell) for cell in range(len(SIZES))]
    assert substituted(graph, [first], cells) == [wanted]


def test_an_equation_has_one_form_whichever_side_and_whichever_node_came_first() -> None:
    graph = Graph([5, 5])
    more, a, b = graph.const(2), graph.cell(1), graph.cell(0)
    plus, minus = apply(Op.ADD, a, more), apply(Op.SUB, b, more)
    assert apply(Op.EQ, plus, b) is apply(Op.EQ, b, plus) is apply(Op.EQ, a, minus) is apply(Op.EQ, minus, a)

"""A condition without one of its parts: it permits more, and is another one."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from insync.explorer.mutants import weakened
from insync.model.evaluator import evaluate
from insync.model.expressions.graph import Graph, Node, Op, Quantifier
from insync.model.expressions.simplify import apply, combine


def made_of_parts(graph: Graph) -> st.SearchStrategy[Node]:
    """Conditions of two layers: all or any of some, or of members, each of which has as many parts as is left of it."""
    both = st.sampled_from([Op.AND, Op.OR])
    atoms = st.sampled_from([apply(Op.EQ, graph.cell(place), graph.const(1)) for place in range(5)])
    parts = st.lists(atoms, min_size=1, max_size=3, unique=True)
    inner = st.builds(lambda op, of: combine(graph, op, of), both, parts)
    members = st.none() | st.just(Quantifier("who", ("b1", "b2", "b3")))
    three = st.lists(inner, min_size=3, max_size=3, unique=True)
    return st.builds(lambda op, of, who: combine(graph, op, of, who), both, three, members)


@given(st.data())
def test_a_condition_that_loses_a_part_permits_all_that_it_did_and_is_another(data: st.DataObject) -> None:
    graph = Graph([2] * 5)
    condition = data.draw(made_of_parts(graph))
    for one in weakened({0: {0: condition}}):
        rest = one.left[0]
        assert [(node.op, node.args) for node in rest] != [(condition.op, condition.args)], "it lost nothing"
        for codes in itertools.product((0, 1), repeat=5):
            if evaluate(condition, codes):
                assert all(evaluate(node, codes) for node in rest)

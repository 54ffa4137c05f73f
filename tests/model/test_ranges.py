from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from insync.model.errors import ModelError
from insync.model.evaluator import evaluate
from insync.model.graph import Graph, Node, Op
from insync.model.ranges import always_holds
from insync.model.simplify import apply
from insync_expressions import SIZES, Tree, conditions, every_state, made, numbers

_COMPARISONS = st.builds(
    lambda op, a, b, negated: Tree(Op.NOT, (Tree(op, (a, b)),)) if negated else Tree(op, (a, b)),
    st.sampled_from([Op.EQ, Op.LT, Op.LE]),
    numbers(1),
    numbers(1),
    st.booleans(),
)


def sound(guard: list[Node], condition: Node) -> bool:
    """Whether the condition holds in every state in which the guard does."""
    meets = (c for c in every_state() if all(evaluate(g, c) for g in guard))
    return all(evaluate(condition, codes) for codes in meets)


@given(st.lists(_COMPARISONS | conditions(2), max_size=4), _COMPARISONS | conditions(2))
def test_what_is_shown_is_true(guard: list[Tree], condition: Tree) -> None:
    graph = Graph(SIZES)
    try:
        given_, shown = [made(graph, g) for g in guard], made(graph, condition)
    except ModelError:
        return
    if always_holds(given_, shown):
        assert sound(given_, shown)


def test_the_guard_of_an_append_shows_that_the_place_is_there() -> None:
    """`f.leo < l.leo` and both at most 3: then `f.leo` is a place of a log of 3, and `f.leo + 1` fits."""
    graph = Graph([4, 4])
    mine, theirs = graph.cell(0), graph.cell(1)
    guard = [apply(graph, Op.LT, mine, theirs)]
    assert always_holds(guard, apply(graph, Op.LT, mine, graph.const(3)))
    assert always_holds(guard, apply(graph, Op.LE, apply(graph, Op.ADD, mine, graph.const(1)), graph.const(3)))
    assert not always_holds([], apply(graph, Op.LT, mine, graph.const(3)))


def test_a_comparison_uses_what_a_later_one_says() -> None:
    graph = Graph([9, 9])
    a, b = graph.cell(0), graph.cell(1)
    guard = [apply(graph, Op.LT, a, b), apply(graph, Op.LT, b, graph.const(4))]
    assert always_holds(guard, apply(graph, Op.LT, a, graph.const(3)))


def test_an_unequal_end_narrows_the_range() -> None:
    graph = Graph([4])
    a = graph.cell(0)
    guard = [apply(graph, Op.NOT, apply(graph, Op.EQ, a, graph.const(3)))]
    assert always_holds(guard, apply(graph, Op.LT, a, graph.const(3)))


def test_a_conjunct_shows_itself() -> None:
    graph = Graph([2, 8])
    tested = apply(graph, Op.TEST, graph.cell(1), graph.cell(0))
    assert always_holds([tested], tested)


def test_a_contradictory_guard_is_no_trouble() -> None:
    graph = Graph([9])
    a = graph.cell(0)
    guard = [apply(graph, Op.LT, a, graph.const(3)), apply(graph, Op.LT, graph.const(5), a)]
    assert sound(guard, apply(graph, Op.EQ, a, graph.const(8)))
    always_holds(guard, apply(graph, Op.EQ, a, graph.const(8)))

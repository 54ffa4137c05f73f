"""Renaming and substitution against the evaluator: what is said of the permuted state is what was said of the state."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from insync.model import Model
from insync.model.catalogue import find_model
from insync.model.evaluator import evaluate
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply, substituted
from insync.model.symmetry.group import Permutation, Symmetry, permuted_value
from insync.model.symmetry.renaming import NormalForms, NotRenamed, Renaming, cells_present, permuted_cells
from insync.model.tracing.program import BoundAction
from insync_symmetric import Columns, Gossip, Messages, Mixed, Partial, TwoPhase

MODELS: list[Model] = [
    Gossip(nodes=3),
    TwoPhase(managers=4),
    Messages(managers=3),
    Partial(nodes=3),
    Partial(nodes=3, way=7),
    find_model("kip320")(replicas=3, log_size=2, max_records=1, max_leader_epoch=1),
]
Case = tuple[Model, Symmetry, BoundAction, tuple[int, ...], Permutation]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    model = draw(st.sampled_from(MODELS))
    program, symmetry = model.program, model.program.symmetry
    assert symmetry is not None
    codes = tuple(draw(st.integers(0, cell.size - 1)) for cell in program.schema.cells)
    moved = tuple(tuple(draw(st.permutations(range(size)))) for size in symmetry.sizes)
    return model, symmetry, draw(st.sampled_from(program.actions)), codes, moved


@given(cases())
@settings(max_examples=300, deadline=None)
def test_what_is_renamed_means_the_same(case: Case) -> None:
    model, symmetry, action, codes, permutation = case
    present = cells_present(action.guard)
    assume(all(codes[cell] for cell in present))
    renaming = Renaming(model.program.graph, symmetry, permutation, present)
    image = symmetry.image(codes, permutation)
    for node in [*action.guard, *(check.node for check in action.checks)]:
        assert evaluate(renaming.of(node), image) == evaluate(node, codes)
    for cell, node in action.updates:
        kind, new = renaming.kind(cell), evaluate(node, codes)
        try:
            moved = evaluate(renaming.of(node, cell), image)
        except NotRenamed:
            assert model.identity.get("way") == 7
        else:
            assert moved == (new if kind is None else permuted_value(kind, new, permutation))


@given(cases())
@settings(max_examples=200, deadline=None)
def test_what_is_substituted_means_the_same(case: Case) -> None:
    model, symmetry, action, codes, permutation = case
    image = symmetry.image(codes, permutation)
    cells = permuted_cells(model.program.graph, symmetry, permutation)
    assert tuple(evaluate(cell, codes) for cell in cells) == image
    nodes = [*action.guard, *(node for _, node in action.updates)]
    for node, made in zip(nodes, substituted(model.program.graph, nodes, cells), strict=True):
        assert evaluate(made, codes) == evaluate(node, image)
    own = Graph(model.program.graph.cell_sizes)
    copied = substituted(own, nodes, [own.cell(number) for number in range(len(own.cell_sizes))])
    assert {made.graph for made in copied} <= {own}
    assert [evaluate(made, codes) for made in copied] == [evaluate(node, codes) for node in nodes]


@given(st.data())
@settings(deadline=None)
def test_codes_of_all_kinds_are_permuted_in_expressions_as_they_are_in_states(data: st.DataObject) -> None:
    """Options of sets, sets of sets, and sets too large for a table of their codes."""
    model = data.draw(st.sampled_from([Mixed(nodes=3, others=2), Columns(nodes=6, others=6)]))
    symmetry = model.program.symmetry
    assert symmetry is not None
    codes = tuple(data.draw(st.integers(0, cell.size - 1)) for cell in model.program.schema.cells)
    permutation = tuple(tuple(data.draw(st.permutations(range(size)))) for size in symmetry.sizes)
    cells = permuted_cells(model.program.graph, symmetry, permutation)
    assert tuple(evaluate(cell, codes) for cell in cells) == symmetry.image(codes, permutation)


def expression(graph: Graph, *, swapped: bool) -> Node:
    first, second, third = (graph.cell(i) for i in ((1, 0, 2) if swapped else (0, 1, 2)))
    total = apply(Op.ADD, apply(Op.ADD, first, second), third)
    least = apply(Op.MIN, first, apply(Op.MIN, third, second))
    return apply(Op.LT, total, least)


def test_the_order_of_arguments_does_not_count_where_it_means_nothing() -> None:
    graph, forms = Graph([4, 4, 4]), NormalForms()
    one, other = expression(graph, swapped=False), expression(graph, swapped=True)
    assert one is not other
    assert forms.of(one) == forms.of(other)
    a, b = graph.cell(0), graph.cell(1)
    assert forms.of(apply(Op.LT, a, b)) != forms.of(apply(Op.LT, b, a))
    assert forms.of(apply(Op.SUB, a, b)) != forms.of(apply(Op.SUB, b, a))
    assert forms.of(apply(Op.ADD, a, a)) != forms.of(a)


@pytest.mark.parametrize("op", [Op.LT, Op.LE, Op.ADD, Op.MIN, Op.SUB])
def test_members_that_are_used_as_numbers_have_no_renaming(op: Op) -> None:
    model = Columns(nodes=3, others=1)
    program, symmetry = model.program, model.program.symmetry
    assert symmetry is not None
    leader, first = (next(c.number for c in program.schema.cells if c.path == path) for path in ("leader", "first"))
    node = apply(op, program.graph.cell(leader), program.graph.cell(first))
    condition = node if node.is_bool else apply(Op.EQ, node, program.graph.const(1))
    with pytest.raises(NotRenamed):
        Renaming(program.graph, symmetry, ((1, 0, 2),)).of(condition)


@pytest.mark.parametrize("border", range(5))
def test_a_member_may_be_compared_where_all_are_on_one_side(border: int) -> None:
    model = Columns(nodes=3, others=1)
    program, symmetry = model.program, model.program.symmetry
    assert symmetry is not None
    cell = next(c.number for c in program.schema.cells if c.path == "leader")
    renaming = Renaming(program.graph, symmetry, ((1, 2, 0),))
    for node in (
        apply(Op.LT, program.graph.cell(cell), program.graph.const(border)),
        apply(Op.LE, program.graph.const(border), program.graph.cell(cell)),
    ):
        if border in (2, 3):
            with pytest.raises(NotRenamed):
                renaming.of(node)
        else:
            assert renaming.of(node) is node


@pytest.mark.parametrize("op", [Op.LT, Op.LE])
def test_a_member_is_compared_with_a_number_only_where_all_members_are_on_one_side(op: Op) -> None:
    tried = {False: 0, True: 0}
    for model in (Partial(nodes=3), Gossip(nodes=3)):
        program, symmetry = model.program, model.program.symmetry
        assert symmetry is not None
        graph, swap = program.graph, next(symmetry.generators())
        for cell, size in enumerate(graph.cell_sizes):
            renaming = Renaming(graph, symmetry, swap, frozenset())
            kind = renaming.kind(cell)
            if kind is None or kind.height:
                continue
            members = range(kind.offset, kind.offset + symmetry.size(kind))
            for number, first in itertools.product(range(size + 1), (False, True)):
                sides = [graph.cell(cell), graph.const(number)]
                node = apply(op, *(sides if first else reversed(sides)))
                if node.op is Op.CONST:
                    continue
                truths = {evaluate(node, [code] * len(graph.cell_sizes)) for code in members}
                tried[len(truths) == 1] += 1
                if len(truths) == 1:
                    renaming.of(node)
                else:
                    with pytest.raises(NotRenamed):
                        renaming.of(node)
    assert min(tried.values()) > 2

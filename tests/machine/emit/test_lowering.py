from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insync.machine.compiler import Library, object_code
from insync.machine.conditions import Checker
from insync.machine.emit.conditions import check_module
from insync.machine.packed import Found, PackedRows, Sizes
from insync.model.domains.layout import Cell
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.semantics import MEANING
from insync.model.expressions.simplify import apply
from insync_expressions import SIZES, Tree, conditions, direct, every_state, made, numbers, sets

WORDS = 2


@dataclass(frozen=True)
class Layout:
    """Cells that are placed by hand."""

    cells: tuple[Cell, ...]
    words: int = WORDS

    def pack(self, codes: Sequence[int]) -> tuple[int, ...]:
        words = [0] * self.words
        for cell, code in zip(self.cells, codes, strict=True):
            words[cell.word] |= code << cell.shift
        return tuple(words)


def layout(places: Sequence[tuple[int, int, int]]) -> Layout:
    """Cells of (size, word, shift)."""
    return Layout(
        tuple(
            Cell(number, f"c{number}", size, (size - 1).bit_length(), word, shift)
            for number, (size, word, shift) in enumerate(places)
        )
    )


def violations(schema: Layout, nodes: Sequence[Node], states: Sequence[Sequence[int]]) -> list[Found]:
    """How many states make each condition true, and the least, by machine code made for this."""
    library = Library(object_code(check_module(schema, nodes)))  # type: ignore[arg-type]
    checker = Checker(Sizes(WORDS, conditions=len(nodes)), library.function("check", 3))
    rows = PackedRows([schema.pack(state) for state in states])
    checker.check(rows.address, len(states))
    found = checker.take()
    checker.close()
    return found


def expected(schema: Layout, values: Sequence[bool], states: Sequence[Sequence[int]]) -> Found:
    true = [schema.pack(state) for state, value in zip(states, values, strict=True) if value]
    return Found(len(true), min(true, default=None))


STATES = list(every_state())
HERE = layout([(2, 0, 0), (3, 1, 5), (4, 0, 1), (8, 1, 61), (1, 0, 0)])
assert [cell.size for cell in HERE.cells] == list(SIZES)


@settings(max_examples=40)
@given(tree=conditions(3))
def test_a_condition_means_what_its_operations_mean(tree: Tree) -> None:
    node = made(Graph(SIZES), tree)
    values = [bool(direct(tree, state)) for state in STATES]
    assert violations(HERE, [node], STATES) == [expected(HERE, values, STATES)]


@settings(max_examples=40)
@given(tree=numbers(3) | sets(3))
def test_a_number_means_what_its_operations_mean(tree: Tree) -> None:
    graph = Graph(SIZES)
    node = made(graph, tree)
    values = [int(direct(tree, state)) for state in STATES]
    wanted = sorted(set(values))[:6]
    nodes = [graph.node(Op.EQ, (node, graph.const(value))) for value in wanted]
    found = [expected(HERE, [value == each for value in values], STATES) for each in wanted]
    assert violations(HERE, nodes, STATES) == found


# Nine cells in the ways that a schema may come to lay out the elements of an array.
STRIPES = {
    "one stripe": [(0, 3 * i) for i in range(9)],
    "broken by a word's end": [(0, 40 + 5 * i) for i in range(4)] + [(1, 5 * i) for i in range(5)],
    "downwards": [(1, 50 - 4 * i) for i in range(9)],
    "no stripe": [(i % 2, 5 * (7 * i % 9)) for i in range(9)],
    "three of three": [(0, 2 + 7 * i) for i in range(3)]
    + [(1, 60 - 3 * i) for i in range(3)]
    + [(0, 30 + 3 * i) for i in range(3)],
}


@settings(max_examples=25)
@given(layout_name=st.sampled_from(sorted(STRIPES)), shift=st.integers(-3, 3), data=st.data())
def test_a_selection_of_cells_is_found_wherever_they_lie(layout_name: str, shift: int, data: st.DataObject) -> None:
    places = STRIPES[layout_name]
    schema = layout([(8, word, at) for word, at in places] + [(13, 1, 20 if layout_name == "downwards" else 58)])
    if layout_name in ("downwards", "three of three", "no stripe"):
        schema = layout([(8, word, at) for word, at in places] + [(13, 0, 56)])
    graph = Graph([8] * 9 + [13])
    index = graph.node(Op.ADD, (graph.cell(9), graph.const(shift)))
    selection = graph.node(Op.SELECT, (index, *(graph.cell(i) for i in range(9))))
    nodes = [graph.node(Op.EQ, (selection, graph.const(value))) for value in range(8)]
    elements = data.draw(st.lists(st.integers(0, 7), min_size=9, max_size=9))
    states = [(*elements, at) for at in range(13)]
    values = [elements[at + shift] if 0 <= at + shift < 9 else 0 for at in range(13)]
    found = [expected(schema, [value == each for value in values], states) for each in range(8)]
    assert violations(schema, nodes, states) == found


@pytest.mark.parametrize("low", [-1, 0, 1])
@pytest.mark.parametrize("high", [2, 3, 4])
def test_beyond_the_last_cell_is_nothing_though_another_cell_lies_there(low: int, high: int) -> None:
    size = high - low + 1
    schema, graph = layout([(8, 0, 0), (8, 0, 3), (8, 0, 6), (size, 0, 9)]), Graph([8, 8, 8, size])
    index = graph.node(Op.ADD, (graph.cell(3), graph.const(low)))
    selection = graph.node(Op.SELECT, (index, *(graph.cell(i) for i in range(3))))
    states = [(5, 6, 7, at) for at in range(size)]
    values = [state[at] if 0 <= (at := state[3] + low) < 3 else 0 for state in states]
    nodes = [graph.node(Op.EQ, (selection, graph.const(value))) for value in range(8)]
    found = [expected(schema, [value == each for value in values], states) for each in range(8)]
    assert violations(schema, nodes, states) == found


def test_before_the_first_cell_is_nothing_though_another_cell_lies_there() -> None:
    """The index is never behind the last cell, so that nothing but its sign tells that it is outside."""
    schema, graph = layout([(8, 0, 3), (8, 0, 6), (8, 0, 9), (8, 0, 0), (3, 0, 12)]), Graph([8, 8, 8, 8, 3])
    index = graph.node(Op.SUB, (graph.cell(4), graph.const(1)))
    selection = graph.node(Op.SELECT, (index, *(graph.cell(i) for i in range(3))))
    states = [(5, 6, 7, 4, at) for at in range(3)]
    nodes = [graph.node(Op.EQ, (selection, graph.const(value))) for value in range(8)]
    found = [expected(schema, [value == each for value in (0, 5, 6)], states) for each in range(8)]
    assert violations(schema, nodes, states) == found


def test_a_selection_of_constants_is_a_table() -> None:
    schema = layout([(13, 0, 3)])
    graph = Graph([13])
    for values in ([5, 0, 3, 7], list(range(20)), [1] * 62, [2**40, 1]):
        index = graph.node(Op.SUB, (graph.cell(0), graph.const(2)))
        selection = graph.node(Op.SELECT, (index, *map(graph.const, values)))
        states = [(at,) for at in range(13)]
        wanted = [values[at - 2] if 0 <= at - 2 < len(values) else 0 for at in range(13)]
        nodes = [graph.node(Op.EQ, (selection, graph.const(value))) for value in sorted(set(wanted))]
        found = [expected(schema, [value == each for value in wanted], states) for each in sorted(set(wanted))]
        assert violations(schema, nodes, states) == found


@pytest.mark.slow_for(
    "40--20-1000-Op.MOD",
    "40--20-1099511627777-Op.MOD",
    "40-0-2-Op.DIV",
    "40-0-3-Op.DIV",
    "40-0-3-Op.MOD",
    "40-0-7-Op.DIV",
    "40-0-8-Op.DIV",
    "40-0-8-Op.MOD",
    "40-0-1000-Op.DIV",
    "40-0-1000-Op.MOD",
    "40-0-1099511627777-Op.MOD",
    "11--5-7-Op.MOD",
    "11--5-10-Op.MOD",
    "11--5-1099511627777-Op.MOD",
    "3000--1500-2-Op.DIV",
    "3000--1500-3-Op.DIV",
    "3000--1500-7-Op.DIV",
    "3000--1500-8-Op.DIV",
    "3000--1500-10-Op.DIV",
    "3000--1500-1000-Op.DIV",
    "3000--1500-1000-Op.MOD",
    "3000--1500-1099511627777-Op.MOD",
    "8589934592--4294967296-2-Op.DIV",
    "8589934592--4294967296-2-Op.MOD",
    "8589934592--4294967296-3-Op.DIV",
    "8589934592--4294967296-3-Op.MOD",
    "8589934592--4294967296-7-Op.DIV",
    "8589934592--4294967296-7-Op.MOD",
    "8589934592--4294967296-8-Op.DIV",
    "8589934592--4294967296-8-Op.MOD",
    "8589934592--4294967296-10-Op.DIV",
    "8589934592--4294967296-10-Op.MOD",
    "8589934592--4294967296-1000-Op.DIV",
    "8589934592--4294967296-1000-Op.MOD",
    "8589934592--4294967296-1099511627777-Op.DIV",
    "8589934592--4294967296-1099511627777-Op.MOD",
    "2305843009213693952--1152921504606846976-2-Op.DIV",
    "2305843009213693952--1152921504606846976-2-Op.MOD",
    "2305843009213693952--1152921504606846976-3-Op.DIV",
    "2305843009213693952--1152921504606846976-7-Op.DIV",
    "2305843009213693952--1152921504606846976-10-Op.DIV",
    "2305843009213693952--1152921504606846976-1000-Op.MOD",
    "2305843009213693952--1152921504606846976-1099511627777-Op.MOD",
    "4611686018427387904-0-2-Op.DIV",
    "4611686018427387904-0-3-Op.DIV",
    "4611686018427387904-0-3-Op.MOD",
    "4611686018427387904-0-7-Op.DIV",
    "4611686018427387904-0-7-Op.MOD",
    "4611686018427387904-0-8-Op.MOD",
    "4611686018427387904-0-10-Op.DIV",
    "4611686018427387904-0-10-Op.MOD",
    "4611686018427387904-0-1000-Op.MOD",
    "4611686018427387904-0-1099511627777-Op.DIV",
    "4611686018427387904-0-1099511627777-Op.MOD",
)
@pytest.mark.parametrize("op", [Op.DIV, Op.MOD])
@pytest.mark.parametrize("n", [2, 3, 7, 8, 10, 1000, 2**40 + 1])
@pytest.mark.parametrize(
    ("size", "low"), [(40, -20), (40, 0), (11, -5), (3000, -1500), (2**33, -(2**32)), (2**61, -(2**60)), (2**62, 0)]
)
def test_a_number_of_any_size_is_divided_and_rounded_down(op: Op, n: int, size: int, low: int) -> None:
    """By a shift, a choice of two, a product, or a division: with numbers around its steps, negative ones too."""
    schema, graph = layout([(size, 0, 1)]), Graph([size])
    number = apply(Op.ADD, graph.cell(0), graph.const(low))
    around = {0, 1, -low, -low - 1, n - low, n - low - 1, size // 3, size - 2, size - 1, size // n * n - low % n}
    codes = sorted({code for code in around if 0 <= code < size} | set(range(min(size, 45))))
    wanted = [MEANING[op](code + low, n) for code in codes]
    nodes = [graph.node(Op.EQ, (apply(op, number, graph.const(n)), graph.const(each))) for each in sorted(set(wanted))]
    found = [
        expected(schema, [value == each for value in wanted], [(c,) for c in codes]) for each in sorted(set(wanted))
    ]
    assert violations(schema, nodes, [(code,) for code in codes]) == found


@pytest.mark.parametrize("size", [62, 63, 64, 65, 70])
def test_a_set_has_the_elements_0_to_62_whatever_an_index_may_be(size: int) -> None:
    """The range of the cell ends before, at and beyond the last element: what is beyond is in no set."""
    schema = layout([(size, 0, 3)])
    graph = Graph([size])
    element = graph.cell(0)
    bit = graph.node(Op.BIT, (element,))
    states = [(code,) for code in range(size)]
    nodes = [
        graph.node(Op.EQ, (graph.node(Op.COUNT, (bit,)), graph.const(1))),
        graph.node(Op.EQ, (bit, graph.const(0))),
        graph.node(Op.TEST, (graph.const(1 << 62), element)),
        graph.node(Op.TEST, (graph.const((1 << 62) - 1), element)),
    ]
    codes = range(size)
    truths = [[c <= 62 for c in codes], [c > 62 for c in codes], [c == 62 for c in codes], [c < 62 for c in codes]]
    assert violations(schema, nodes, states) == [expected(schema, each, states) for each in truths]


@pytest.mark.parametrize(
    ("count", "value"), [(63, 1), (64, 1), (65, 1), (32, 3), (33, 3), (8, 255), (9, 127), (1, 2**62)]
)
def test_a_table_is_right_up_to_the_last_bit_of_a_word(count: int, value: int) -> None:
    schema = layout([(count + 2, 0, 5)])
    graph = Graph([count + 2])
    index = graph.node(Op.SUB, (graph.cell(0), graph.const(1)))
    values = [value if place % 3 else value - 1 for place in range(count - 1)] + [value]
    selection = graph.node(Op.SELECT, (index, *map(graph.const, values)))
    states = [(at,) for at in range(count + 2)]
    wanted = [values[at - 1] if 0 < at <= count else 0 for at in range(count + 2)]
    nodes = [graph.node(Op.EQ, (selection, graph.const(value))) for value in sorted(set(wanted))]
    found = [expected(schema, [value == each for value in wanted], states) for each in sorted(set(wanted))]
    assert violations(schema, nodes, states) == found

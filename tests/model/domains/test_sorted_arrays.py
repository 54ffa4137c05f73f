"""Elements of a bag stand in order, however many bits their cells take together."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from insync.model import Bag, BoundValues, Int, Model, Record, State, action
from insync.model.domains.sorted_arrays import under
from insync.model.evaluator import Evaluator
from insync.model.expressions.graph import Graph, Op
from insync.model.expressions.simplify import apply


@pytest.mark.parametrize(
    "bits", [(62, 1), (1, 62), (31, 31, 1), (41, 20, 20), (21, 21, 21, 21), (1, 41, 20, 41)], ids=str
)
def test_elements_of_many_bits_stand_in_order(bits: tuple[int, ...]) -> None:
    element = Record(**{f"n{place}": Int(0, (1 << size) - 1) for place, size in enumerate(bits)})

    class Held(Model):
        """A bag, and an element to be added."""

        def declare(self, b: BoundValues) -> State:
            return State(bag=Bag(element, 2), more=element)

        @action
        def add(self, s: Any) -> None:
            s.bag.add(s.more)

    model = Held()
    evaluator, least = Evaluator(model.program), dict.fromkeys(element.fields, 0)
    most = {name: (1 << size) - 1 for name, size in zip(element.fields, bits, strict=True)}
    corners = [
        least,
        most,
        *({**one, name: other[name]} for one, other in ((least, most), (most, least)) for name in one),
    ]
    for first, second in itertools.product(corners, repeat=2):
        after = model.decode(evaluator.step(0, model.encode({"bag": [first], "more": second})))
        assert after["bag"] == sorted([first, second], key=lambda one: tuple(one.values()))


@pytest.mark.parametrize(("outer", "inner", "left"), [(True, False, 2), (True, True, 1), (False, True, 3)])
def test_every_choice_that_is_settled_is_left_out_as_long_as_it_is_outermost(
    outer: bool, inner: bool, left: int
) -> None:
    graph = Graph([3, 3, 3])
    one, other, open_ = (apply(Op.EQ, cell, graph.const(1)) for cell in graph.cells())
    numbers = {number: graph.const(number) for number in (1, 2, 3)}
    code = apply(Op.ITE, one, apply(Op.ITE, other, numbers[1], numbers[2]), numbers[3])
    assert under(code, {one: outer, other: inner}) is numbers[left]
    waiting = apply(Op.ITE, open_, code, graph.const(4))
    assert under(waiting, {one: outer, other: inner}) is waiting

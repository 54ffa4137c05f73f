"""Symbolic assignments, through nested symbolic indexes and in blocks, do what plain ones do to a plain copy."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from insync.model import NONE, Array, BoundValues, Int, Model, Option, Record, State, StateView, action, when
from insync.model.domains.layout import Schema
from insync.model.evaluator import Evaluator
from insync.runtime.errors import ModelError

ROWS, COLUMNS, TOP = 2, 3, 2

NUMBER = st.deferred(
    lambda: st.one_of(
        st.integers(0, TOP).map(lambda i: ("const", i)),
        st.sampled_from([("p",), ("q",)]),
        st.tuples(st.just("value"), INDEX, INDEX),
        st.tuples(st.just("seen"), INDEX, INDEX),
    )
)
INDEX: Any = st.one_of(
    st.sampled_from([("p",), ("q",), ("less", ("p",)), ("less", ("q",))]),
    st.integers(0, 1).map(lambda i: ("const", i)),
    st.tuples(st.just("value"), st.sampled_from([("p",), ("const", 1)]), st.just(("q",))),
)
ASSIGNMENT = st.one_of(
    st.tuples(st.just("set p"), NUMBER),
    st.tuples(st.just("set value"), INDEX, INDEX, NUMBER),
    st.tuples(st.just("set seen"), INDEX, INDEX, st.none() | NUMBER),
    st.tuples(st.just("copy"), INDEX, INDEX, INDEX, INDEX),
    st.tuples(st.just("copy row"), INDEX, INDEX),
)
STATEMENT: Any = st.deferred(
    lambda: st.one_of(
        ASSIGNMENT,
        st.tuples(st.just("when"), NUMBER, st.integers(0, TOP), st.lists(STATEMENT, min_size=1, max_size=3)),
    )
)


class OutsideError(Exception):
    """An assignment outside an array."""


class Plain:
    """The plain copy."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = copy.deepcopy(state)

    def number(self, e: Any) -> int:
        match e:
            case ("const", value):
                return int(value)
            case ("less", of):
                return self.number(of) - 1
            case ("value" | "seen" as field, i, j):
                row, column = self.number(i), self.number(j)
                inside = 0 <= row < ROWS and 0 <= column < COLUMNS
                found = self.state["rows"][row]["cells"][column][field] if inside else (0 if field == "value" else None)
                return 1 if found is None else int(found)
        return int(self.state[e[0]])

    def place(self, i: Any, j: Any) -> dict[str, Any]:
        row, column = self.number(i), self.number(j)
        if not (0 <= row < ROWS and 0 <= column < COLUMNS):
            raise OutsideError
        found: dict[str, Any] = self.state["rows"][row]["cells"][column]
        return found

    def row(self, i: Any) -> dict[str, Any]:
        row = self.number(i)
        zero = {"cells": [{"value": 0, "seen": None} for _ in range(COLUMNS)]}
        return self.state["rows"][row] if 0 <= row < ROWS else zero

    def cell(self, i: Any, j: Any) -> dict[str, Any]:
        column = self.number(j)
        found: dict[str, Any] = self.row(i)["cells"][column] if 0 <= column < COLUMNS else {"value": 0, "seen": None}
        return found

    def execute(self, statement: Any) -> None:
        match statement:
            case ("when", e, least, statements):
                if self.number(e) >= least:
                    for one in statements:
                        self.execute(one)
            case ("set p", e):
                self.state["p"] = self.number(e)
            case ("set value", i, j, e):
                value = self.number(e)
                self.place(i, j)["value"] = value
            case ("set seen", i, j, e):
                seen = None if e is None else self.number(e)
                self.place(i, j)["seen"] = seen
            case ("copy", i, j, k, l):
                copied = dict(self.cell(k, l))
                self.place(i, j).update(copied)
            case ("copy row", i, j):
                row = copy.deepcopy(self.row(j))
                if not 0 <= self.number(i) < ROWS:
                    raise OutsideError
                self.state["rows"][self.number(i)] = row


def number(s: Any, e: Any) -> Any:
    match e:
        case ("const", value):
            return value
        case ("less", of):
            return number(s, of) - 1
        case ("value", i, j):
            return s.rows[number(s, i)].cells[number(s, j)].value
        case ("seen", i, j):
            return s.rows[number(s, i)].cells[number(s, j)].seen.or_else(1)
    return getattr(s, e[0])


def execute(s: Any, statement: Any) -> None:
    match statement:
        case ("when", e, least, statements):
            with when(number(s, e) >= least):
                for one in statements:
                    execute(s, one)
        case ("set p", e):
            s.p = number(s, e)
        case ("set value", i, j, e):
            s.rows[number(s, i)].cells[number(s, j)].value = number(s, e)
        case ("set seen", i, j, e):
            s.rows[number(s, i)].cells[number(s, j)].seen = NONE if e is None else number(s, e)
        case ("copy", i, j, k, l):
            s.rows[number(s, i)].cells[number(s, j)] = s.rows[number(s, k)].cells[number(s, l)]
        case ("copy row", i, j):
            s.rows[number(s, i)] = s.rows[number(s, j)]


class Scratch(Model):
    """Nested arrays, and whatever statements a test gives its one action."""

    def __init__(self, statements: list[Any]) -> None:
        super().__init__()
        self.statements = statements

    def declare(self, b: BoundValues) -> State:
        cell = Record(value=Int(0, TOP), seen=Option(Int(0, TOP)))
        return State(p=Int(0, TOP), q=Int(0, TOP), rows=Array(ROWS, Record(cells=Array(COLUMNS, cell))))

    @action
    def run(self, s: StateView) -> None:
        for statement in self.statements:
            execute(s, statement)


@given(st.lists(STATEMENT, min_size=1, max_size=4), st.data())
def test_symbolic_writes_equal_plain_writes(statements: list[Any], data: st.DataObject) -> None:
    model = Scratch(statements)
    cells = Schema(model.state).cells
    try:
        evaluator = Evaluator(model.program)
    except ModelError:  # known while tracing: every state would have the step assign outside
        evaluator = None
    for _ in range(4):
        codes = data.draw(st.tuples(*(st.integers(0, c.size - 1) for c in cells)))
        plain = Plain(model.decode(codes))
        try:
            for statement in statements:
                plain.execute(statement)
        except OutsideError:
            assert evaluator is None or evaluator.failing_check(0, codes) is not None
        else:
            assert evaluator is not None
            assert evaluator.failing_check(0, codes) is None
            assert model.decode(evaluator.step(0, codes)) == plain.state

"""Kernels that evaluate conditions on a range of states: `check` and `count` violations, count states `outside`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from insync.machine.conditions import CheckField, CountField
from insync.machine.emit.builder import I8, I64, I128, PTR, VOID, Function, Module, Value
from insync.machine.emit.canonical import Canonical
from insync.machine.emit.masks import batch_function, states_of
from insync.machine.emit.memory import Elements, Fields, Rows, keep_least_function
from insync.machine.packed import BATCH, BLOCKS
from insync.model.domains.layout import Schema
from insync.model.expressions.graph import Node
from insync.model.symmetry.group import Symmetry
from insync.model.tracing.program import Program

__all__ = [
    "check_module",
    "count_module",
    "outside_module",
]


def check_module(schema: Schema, violated: Sequence[Node]) -> str:
    """Return the IR module that defines `check`.

    `check(context, rows, count) -> violations` evaluates every condition on every state. It records the number of
    violations of each condition and the least violating state, and returns the total number of violations.

    Args:
        schema: where the cells lie.
        violated: the negation of each condition; at least one.
    """
    m = Module()
    batch = batch_function(m, schema, [(node,) for node in violated])
    collect = _collect_function(m, schema.words, len(violated))
    b = m.function("check", I64, (PTR, PTR, I64), exported=True)
    context, rows, count = Fields(b, b.arguments[0]), Rows(b, b.arguments[1], schema.words), b.arguments[2]
    columns, masks = context.pointer(CheckField.COLUMNS), context.pointer(CheckField.MASKS)
    records = context.pointer(CheckField.VIOLATIONS)
    total = b.variable(0)
    with b.loop(count, BATCH) as done:
        here = rows.at(done)
        found = b.call(batch, here, b.least(count - done, BATCH), columns, masks)
        with b.when(found.differs(0)):
            b.call(collect, here, masks, records)
            total += found
    b.give(total.value)
    return m.text


def _collect_function(m: Module, words: int, conditions: int) -> Function:
    """Define `collect(rows, masks, records)`: add the violations of a batch to the records."""
    keep_least = keep_least_function(m, words)
    b = m.function("collect", VOID, (PTR, PTR, PTR), inline=False)
    rows, masks, records = Rows(b, b.arguments[0], words), Elements(b, b.arguments[1]), b.arguments[2]
    with b.loop(conditions) as condition:
        record = b.element(I8, records, condition * (8 + 8 * words))
        with states_of(b, masks, condition) as state:
            b.call(keep_least, record, rows.at(state))
    return b


def count_module(schema: Schema, violated: Sequence[Node]) -> str:
    """Return the IR module that defines `count`.

    `count(context, rows, count) -> violations` evaluates every condition on every state. It adds the number of
    violations of each condition to its counter, and returns the total number of violations.

    Args:
        schema: where the cells lie.
        violated: the negation of each condition; at least one.
    """
    m = Module()
    batch = batch_function(m, schema, [(node,) for node in violated])
    b = m.function("count", I64, (PTR, PTR, I64), exported=True)
    context, rows, count = Fields(b, b.arguments[0]), Rows(b, b.arguments[1], schema.words), b.arguments[2]
    columns, masks = context.pointer(CountField.COLUMNS), context.array(CountField.MASKS)
    counts = context.array(CountField.COUNTS)
    total = b.variable(0)
    with b.loop(count, BATCH) as done:
        found = b.call(batch, rows.at(done), b.least(count - done, BATCH), columns, masks.address)
        with b.when(found.differs(0)):
            total += found
            with b.loop(len(violated)) as condition:
                words = [b.ones(masks[condition * BLOCKS + block]) for block in range(BLOCKS)]
                counts[condition] = reduce(Value.__add__, words, counts[condition])
    b.give(total.value)
    return m.text


def outside_module(program: Program, symmetry: Symmetry | None = None) -> str:
    """Return the IR module that defines `outside`.

    `outside(rows, count, total)` counts the states outside the confinement, and adds their number to the 128-bit number
    at address `total`.

    Args:
        program: a confined program.
        symmetry: if given, each state is counted with the size of its orbit.
    """
    m = Module()
    words = program.schema.words
    canonical = None if symmetry is None else Canonical(m, program.schema, symmetry)
    batch = batch_function(m, program.schema, [(program.outside,)])
    b = m.function("outside", I64, (PTR, I64, PTR), exported=True)
    rows, count, total = Rows(b, b.arguments[0], words), b.arguments[1], Elements(b, b.arguments[2], I128)
    columns, masks = b.space(I64, BATCH * words, 64), b.space(I64, BLOCKS, 64)
    with b.loop(count, BATCH) as done:
        here = rows.at(done)
        found = b.call(batch, here, b.least(count - done, BATCH), columns, masks)
        if canonical is None:
            total[0] = total[0] + b.convert("zext", found, I128)
        else:
            with states_of(b, Elements(b, masks), b.typed(I64, 0)) as state:
                total[0] = total[0] + b.convert("zext", canonical.orbit(b, rows.at(done + state)), I128)
    b.give(0)
    return m.text

"""`check`: which states of a range violate which conditions."""

from __future__ import annotations

from collections.abc import Sequence

from insync.machine.conditions import CheckField
from insync.machine.emit.builder import I8, I64, PTR, VOID, Function, Module
from insync.machine.emit.masks import batch_function, states_of
from insync.machine.emit.memory import Elements, Fields, Rows, keep_least_function
from insync.machine.packed import BATCH
from insync.model.graph import Node
from insync.model.schema import Schema

__all__ = ["check_module"]


def check_module(schema: Schema, violated: Sequence[Node]) -> str:
    """Return the IR module that defines `check`.

    `check(context, rows, count) -> violations` evaluates every condition on every state, counts the violations of each
    in its record, keeps the least violating state there, and returns how many violations there were in all.

    Args:
        schema: where the cells lie.
        violated: for each condition the node that says that it is violated; at least one.
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
    """Define `collect(rows, masks, records)`: enter the violations of a batch in the records."""
    keep_least = keep_least_function(m, words)
    b = m.function("collect", VOID, (PTR, PTR, PTR), inline=False)
    rows, masks, records = Rows(b, b.arguments[0], words), Elements(b, b.arguments[1]), b.arguments[2]
    with b.loop(conditions) as condition:
        record = b.element(I8, records, condition * (8 + 8 * words))
        with states_of(b, masks, condition) as state:
            b.call(keep_least, record, rows.at(state))
    return b

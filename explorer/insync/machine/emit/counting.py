"""`count`: how many states of a range violate which conditions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from insync.machine.conditions import CountField
from insync.machine.emit.builder import I64, PTR, Module, Value
from insync.machine.emit.masks import batch_function
from insync.machine.emit.memory import Fields, Rows
from insync.machine.packed import BATCH, BLOCKS
from insync.model.graph import Node
from insync.model.schema import Schema

__all__ = ["count_module"]


def count_module(schema: Schema, violated: Sequence[Node]) -> str:
    """Return the IR module that defines `count`.

    `count(context, rows, count) -> violations` evaluates every condition on every state, adds to the counter of each
    how many states violate it, and returns how many violations there were in all.

    Args:
        schema: where the cells lie.
        violated: for each condition the node that says that it is violated; at least one.
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

"""`edges`: the steps of a batch of states, each with the state and the action that it is a step of.

The search needs neither, and is faster without them; a graph of the states needs both.
"""

from __future__ import annotations

from insync.machine.emit.builder import I8, I64, PTR, Module
from insync.machine.emit.masks import batch_function
from insync.machine.emit.memory import Elements, Fields, Rows, keep_least_function
from insync.machine.emit.transitions import Steps
from insync.machine.expander import ACTION_BITS, EdgeField
from insync.model.program import Program

__all__ = ["edges_module"]


def edges_module(program: Program) -> str:
    """Return the IR module that defines `edges`.

    `edges(context) -> steps` appends a row for each step of a batch of states: the words of the next state, and one
    word with the place of the state in the batch above the number of the action (`ACTION_BITS`). The rows are in
    the order of the actions, and of the states within one action. Steps whose checks fail are recorded, not appended.
    """
    m = Module()
    words = program.schema.words
    batch = batch_function(m, program.schema, [action.guard for action in program.actions])
    keep_least = keep_least_function(m, words)
    steps = Steps(
        m,
        program,
        EdgeField.STEPS,
        refused=lambda b, context, row: b.call(keep_least, Fields(b, context).pointer(EdgeField.REFUSED), row),
    )
    b = m.function("edges", I64, (PTR,), exported=True)
    context = Fields(b, b.arguments[0])
    rows, count = Rows(b, context.pointer(EdgeField.ROWS), words), context[EdgeField.COUNT]
    masks = context.pointer(EdgeField.MASKS)
    found = b.call(batch, rows.address, count, context.pointer(EdgeField.COLUMNS), masks)
    cursor = b.variable(context.pointer(EdgeField.CURSOR))
    with steps.each(b, masks, context.address) as step:
        here = cursor.value
        behind = step.take(b, rows.at(step.state), here, context.address)
        # A refused step leaves its row behind, to be written over by the next.
        Elements(b, here)[words] = step.state << ACTION_BITS | step.action
        taken = b.convert("ptrtoint", behind, I64).differs(b.convert("ptrtoint", here, I64))
        cursor.set(b.element(I8, here, b.select(taken, 8 * words + 8, 0)))
    context.set_pointer(EdgeField.CURSOR, cursor.value)
    b.give(found)
    return m.text

"""The kernel `expand`: computes the successors of states, and appends each to the buffer of its owning partition."""

from __future__ import annotations

from functools import reduce

from insync.machine.emit.builder import I1, I8, I64, PTR, VOID, Function, Module, Value
from insync.machine.emit.canonical import Canonical
from insync.machine.emit.masks import batch_function
from insync.machine.emit.memory import (
    Elements,
    Fields,
    Rows,
    keep_least_function,
    owner_of,
    part_hash,
    row_hash,
    rows_equal,
    write_row,
)
from insync.machine.emit.transitions import Steps
from insync.machine.expander import ExpandField
from insync.machine.packed import BATCH, BLOCKS
from insync.model.symmetry.group import Symmetry
from insync.model.tracing.program import Program

__all__ = ["expand_module"]


def expand_module(program: Program, symmetry: Symmetry | None = None) -> str:
    """Return the IR module that defines `expand`.

    `expand(context) -> count` takes states in order until all are done, or the successors of the next batch might not
    fit into a buffer. It returns how many states were done. See `ExpandField` for the context. With symmetry the module
    has `represent` and `orbits` as well; see `canonical`.

    Args:
        program: the program.
        symmetry: if given, successors become representatives, and steps count once per state of the orbit.
    """
    m = Module()
    words = program.schema.words
    canonical = None if symmetry is None else Canonical(m, program.schema, symmetry)
    if canonical is not None:
        canonical.define_exported(m)
    stops = [(program.outside,)] if program.within else []
    batch = batch_function(m, program.schema, [*(action.guard for action in program.actions), *stops])
    stepless = _stepless_function(m, len(program.actions), bool(program.within), canonical is not None)
    room, steps = _room_function(m, 8 * words), _steps_function(m, program, canonical)
    route = _route_function(m, words, canonical)
    b = m.function("expand", I64, (PTR,), exported=True)
    context = Fields(b, b.arguments[0])
    rows, count = Rows(b, context.pointer(ExpandField.ROWS), words), context[ExpandField.COUNT]
    columns, masks = context.pointer(ExpandField.COLUMNS), context.pointer(ExpandField.MASKS)
    cursors, ends = context.pointer(ExpandField.CURSORS), context.pointer(ExpandField.ENDS)
    partitions, weights = context[ExpandField.PARTITIONS], Elements(b, b.space(I64, BATCH, 64))
    with b.loop(count, BATCH) as done:
        here = rows.at(done)
        some = b.least(count - done, BATCH)
        successors = b.call(batch, here, some, columns, masks)
        with b.when(~b.call(room, cursors, ends, partitions, successors)):
            b.give(done)
        if canonical is not None:
            with b.loop(some) as state:
                weights[state] = canonical.orbit(b, rows.at(done + state))
        b.call(stepless, context.address, masks, some, weights.address)
        b.call(steps, here, masks, context.address, weights.address)
        b.call(route, context.address)
    b.give(count)
    return m.text


def _room_function(m: Module, row_bytes: int) -> Function:
    """Define `room(cursors, ends, partitions, count)`: whether `count` states fit into every buffer."""
    b = m.function("room", I1, (PTR, PTR, I64, I64))
    cursors, ends = Elements(b, b.arguments[0]), Elements(b, b.arguments[1])
    partitions, count = b.arguments[2:]
    needed = count * row_bytes
    with b.loop(partitions) as partition:
        with b.when(ends[partition] - cursors[partition] < needed):
            b.give(0)
    b.give(1)
    return b


def _stepless_function(m: Module, actions: int, confined: bool, weighted: bool) -> Function:
    """Define `stepless(context, masks, count, weights)`: count the states of a batch that have no step.

    Args:
        m: where to define it.
        actions: how many masks of guards there are.
        confined: whether a mask of the states outside the confinement follows; they are not counted.
        weighted: whether each state is counted with its weight.
    """
    b = m.function("stepless", VOID, (PTR, PTR, I64, PTR))
    context, masks, count = Fields(b, b.arguments[0]), Elements(b, b.arguments[1]), b.arguments[2]
    some = [b.variable(0) for _ in range(BLOCKS)]
    with b.loop(actions + confined) as row:
        for block, variable in enumerate(some):
            variable.set(variable.value | masks[row * BLOCKS + block])
    if weighted:
        enabled = Elements(b, b.space(I64, BLOCKS, 8))
        for block, variable in enumerate(some):
            enabled[block] = variable.value
        weights = Elements(b, b.arguments[3])
        with b.loop(count) as state:
            word, bit = state >> 6, state & 63
            _add(b, context, ExpandField.STUCK, weights[state] * (~enabled[word] >> bit & 1))
        return b
    stepping = reduce(Value.__add__, [b.ones(variable.value) for variable in some])
    context[ExpandField.STUCK] = context[ExpandField.STUCK] + (count - stepping)
    return b


def _add(b: Function, context: Fields, field: ExpandField, amount: Value) -> None:
    """Add to a counter of 128 bits: a field, and the one after it."""
    total = context[field] + amount
    context[field] = total
    context[field + 1] = context[field + 1] + b.convert("zext", total < amount, I64)


def _steps_function(m: Module, program: Program, canonical: Canonical | None) -> Function:
    """Define `steps(rows, masks, context, weights)`: write the successors of a batch to scratch memory."""
    keep_least = keep_least_function(m, program.schema.words)
    steps = Steps(
        m,
        program,
        ExpandField.STEPS,
        refused=lambda b, context, row: b.call(keep_least, Fields(b, context).pointer(ExpandField.REFUSED), row),
        orbit=None if canonical is None else canonical.orbit,
    )
    b = m.function("steps", VOID, (PTR, PTR, PTR, PTR))
    rows, masks, context = Rows(b, b.arguments[0], program.schema.words), b.arguments[1], Fields(b, b.arguments[2])
    weights = None if canonical is None else Elements(b, b.arguments[3])
    following = b.variable(context.pointer(ExpandField.RAW))
    with steps.each(b, masks, context.address, weights) as step:
        following.set(step.take(b, rows.at(step.state), following.value, context.address))
    context.set_pointer(ExpandField.RAW_END, following.value)
    return b


def _route_function(m: Module, words: int, canonical: Canonical | None) -> Function:
    """Define `route(context)`: append the successors of a batch, or their representatives, to their owners' buffers.

    A successor that was found shortly before is dropped, without a branch: it is written anyway, but the end of the
    buffer does not move. A representative costs more than a branch, so none is made of a state found shortly before.
    """
    b = m.function("route", VOID, (PTR,))
    context = Fields(b, b.arguments[0])
    raw = Rows(b, context.pointer(ExpandField.RAW), words)
    end = context[ExpandField.RAW_END]
    cursors, partitions = context.array(ExpandField.CURSORS, PTR), context[ExpandField.PARTITIONS]
    recent, recent_mask = Rows(b, context.pointer(ExpandField.RECENT), words), context[ExpandField.RECENT_MASK]
    count = (end - context[ExpandField.RAW]) // (8 * words)
    by_part, owning = context[ExpandField.OWNING].differs(0), Elements(b, context.pointer(ExpandField.OWNING))
    owned_by = b.variable(0)
    with b.loop(count) as number:
        row = raw[number]
        fresh = None
        if canonical is not None:
            entry = row_hash(b, row) & recent_mask
            with b.when(rows_equal(recent[entry], row)):  # its representative was found as well
                b.again()
            recent[entry] = row
            b.call(canonical.represent, raw.at(number), raw.at(number))
            fresh, row = rows_equal(row, raw[number]), raw[number]  # a representative itself was entered just now
        hashed = row_hash(b, row)
        entry = hashed & recent_mask
        known = rows_equal(recent[entry], row)
        if fresh is not None:
            known = known & ~fresh
        recent[entry] = row
        owned_by.set(hashed)
        with b.when(by_part):
            owned_by.set(part_hash(b, row, owning))
        owner = owner_of(owned_by.value, partitions)
        cursor = cursors[owner]
        write_row(b, cursor, row)
        cursors[owner] = b.element(I8, cursor, b.select(known, 0, 8 * words))
    return b

"""`outside`: how many of some states are outside of what a program is confined to."""

from __future__ import annotations

from insync.machine.emit.builder import I64, I128, PTR, Module
from insync.machine.emit.canonical import Canonical
from insync.machine.emit.masks import batch_function, states_of
from insync.machine.emit.memory import Elements, Rows
from insync.machine.packed import BATCH, BLOCKS
from insync.model.program import Program
from insync.model.symmetry import Symmetry

__all__ = ["outside_module"]


def outside_module(program: Program, symmetry: Symmetry | None = None) -> str:
    """Return the IR module that defines `outside`.

    `outside(rows, count, total)` adds the number of the states outside to the 128-bit number at an address.

    Args:
        program: a confined program.
        symmetry: with it a state counts as often as there are states that it stands for.
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

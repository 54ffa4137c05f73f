"""Code that evaluates conditions on a batch of states without branches, several states per vector instruction.

The result is a mask per condition, with one bit per state. The mask of condition c begins at byte c * MASK_BYTES; the
lowest bit is that of the first state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from insync.machine.emit.builder import I8, I64, NOALIAS, PTR, VOID, Function, Module, Value
from insync.machine.emit.lowering import LANES, Lowering, Shape
from insync.machine.emit.memory import Elements, Rows
from insync.machine.packed import BATCH, BLOCKS, COLUMN_BYTES, MASK_BYTES
from insync.model.domains.layout import Schema
from insync.model.expressions.graph import Node, reachable

__all__ = ["batch_function", "columns_function", "mask_words", "masks_functions", "states_of"]

_NODES_PER_FUNCTION = 1500


def batch_function(m: Module, schema: Schema, conditions: Sequence[Sequence[Node]]) -> Function:
    """Define `batch(rows, count, columns, masks) -> bits`: evaluate conditions on at most a batch of states.

    It writes the masks, with 0 beyond the states, and returns how many bits are set.

    Args:
        m: where to define it.
        schema: where the cells lie.
        conditions: each a conjunction of nodes.
    """
    columns_of, trim = columns_function(m, schema.words), _trim_function(m, len(conditions))
    evaluate = masks_functions(m, "conditions", schema, conditions)
    b = m.function("batch", I64, (PTR, I64, PTR, PTR))
    rows, count, columns, masks = b.arguments
    b.call(columns_of, rows, count, columns)
    for function in evaluate:
        b.call(function, columns, masks, (count + LANES - 1) // LANES)
    b.give(b.call(trim, masks, count))
    return b


def columns_function(m: Module, words: int) -> Function:
    """Define `columns(rows, count, columns)`: transpose a batch, so that each word of all states is contiguous."""
    b = m.function("columns", VOID, (NOALIAS, I64, NOALIAS))
    rows, columns = Rows(b, b.arguments[0], words), Elements(b, b.arguments[2])
    with b.loop(b.arguments[1]) as state:
        for word, value in enumerate(rows[state]):
            columns[state + word * BATCH] = value
    return b


def masks_functions(m: Module, name: str, schema: Schema, conditions: Sequence[Sequence[Node]]) -> list[Function]:
    """Define functions of (columns, masks, vectors) that share the conditions among them.

    Each function evaluates its conditions on vectors * LANES states, and writes a bit for each state.

    Args:
        m: where to define them.
        name: the prefix of their names.
        schema: where the cells lie.
        conditions: each a conjunction of nodes.
    """
    return [
        _masks_function(m, f"{name}{number}", schema, conditions[start:end], start)
        for number, (start, end) in enumerate(_shares(conditions))
    ]


def _shares(conditions: Sequence[Sequence[Node]]) -> list[tuple[int, int]]:
    """Cut the conditions into runs that are small enough to compile fast; a run shares its subexpressions."""
    shares, start, seen = [], 0, set[int]()
    for place, condition in enumerate(conditions):
        seen.update(node.index for node in reachable(condition))
        if len(seen) > _NODES_PER_FUNCTION:
            shares.append((start, place + 1))
            start, seen = place + 1, set()
    return [*shares, (start, len(conditions))] if start < len(conditions) else shares


def _masks_function(m: Module, name: str, schema: Schema, conditions: Sequence[Sequence[Node]], first: int) -> Function:
    b = m.function(name, VOID, (NOALIAS, NOALIAS, I64))
    columns, masks, vectors = b.arguments
    shape = Shape(LANES)
    with b.loop(vectors) as vector:
        here = b.element(I8, columns, vector * (8 * LANES))
        out = Elements(b, b.element(I8, masks, vector), I8)
        places = [b.element(I8, here, word * COLUMN_BYTES) for word in range(schema.words)]
        words = [b.load(shape.ints, place, align=8 * LANES).operand for place in places]
        lowering = Lowering(schema, words, shape, b)
        for place, condition in enumerate(conditions, start=first):
            truths = Value(b, shape.bools, lowering.conjunction(condition))
            out[place * MASK_BYTES] = b.convert("bitcast", truths, I8)
    return b


def _trim_function(m: Module, conditions: int) -> Function:
    """Define `trim(masks, count)`: clear the bits beyond the states of the batch, and count the others."""
    b = m.function("trim", I64, (NOALIAS, I64))
    masks, count = Elements(b, b.arguments[0]), b.arguments[1]
    total = b.variable(0)
    with b.loop(BLOCKS) as block:
        before = block * 64
        left = b.select(count > before, count - before, 0)
        valid = b.select(left < 64, (b.typed(I64, 1) << left) - 1, 2**64 - 1)
        with b.loop(conditions) as condition:
            place = condition * BLOCKS + block
            kept = masks[place] & valid
            masks[place] = kept
            total += b.ones(kept)
    b.give(total.value)
    return b


@contextmanager
def mask_words(b: Function, masks: Elements, condition: Value) -> Iterator[tuple[Value, Value]]:
    """Build a loop over the nonzero words of a condition's mask, each with the index of its first state."""
    with b.loop(BLOCKS) as block:
        word = masks[condition * BLOCKS + block]
        with b.when(word.differs(0)):
            yield word, block * 64


@contextmanager
def states_of(b: Function, masks: Elements, condition: Value) -> Iterator[Value]:
    """Build a loop over the indices of the states in which a condition holds."""
    with mask_words(b, masks, condition) as (word, first), b.bits(word) as bit:
        yield first + bit

"""IR that evaluates conditions on a batch of states: one bit per condition and state, several states at a time."""

from __future__ import annotations

from collections.abc import Sequence

from insync.machine.emit.loops import counted, function, offset
from insync.machine.emit.lowering import LANES, Lowering, Shape
from insync.machine.sizes import BATCH, BLOCKS, COLUMN_BYTES, MASK_BYTES
from insync.model.graph import Node, reachable
from insync.model.schema import Schema

__all__ = ["columns_function", "masks_functions", "trim_function"]

_NODES_PER_FUNCTION = 1500
_VECTOR_BYTES = 8 * LANES


def columns_function(words: int) -> str:
    """Return `@columns(rows, count, columns)`: the batch word by word instead of state by state."""
    body = "".join(
        f"""  %p{word} = getelementptr i64, ptr %row, i64 {word}
  %w{word} = load i64, ptr %p{word}, align 8
  %at{word} = add i64 %i, {word * BATCH}
  %q{word} = getelementptr i64, ptr %columns, i64 %at{word}
  store i64 %w{word}, ptr %q{word}, align 8
"""
        for word in range(words)
    )
    first = f"  %first = mul i64 %i, {words}\n  %row = getelementptr i64, ptr %rows, i64 %first\n"
    signature = "internal void @columns(ptr noalias %rows, i64 %count, ptr noalias %columns) nounwind"
    return function(signature, counted("i", "%count", first + body), ["i"])


def masks_functions(name: str, schema: Schema, conditions: Sequence[Sequence[Node]]) -> tuple[str, str]:
    """Return functions that evaluate conditions, and the calls of them all.

    They are called with `%columns`, `%masks` and `%vectors`: each evaluates its share of the conditions on
    vectors * LANES states and writes their bits; the bits of condition i start at byte i * MASK_BYTES.

    Args:
        name: what the names of the functions start with.
        schema: where the cells lie.
        conditions: each a conjunction of nodes.
    """
    text, calls = "", ""
    for number, (start, end) in enumerate(_shares(conditions)):
        text += _masks_function(f"{name}{number}", schema, conditions[start:end], start)
        calls += f"  call void @{name}{number}(ptr %columns, ptr %masks, i64 %vectors)\n"
    return text, calls


def _shares(conditions: Sequence[Sequence[Node]]) -> list[tuple[int, int]]:
    """Cut the conditions into runs that share their subexpressions and are small enough to compile fast."""
    shares, start, seen = [], 0, set[int]()
    for place, condition in enumerate(conditions):
        seen.update(node.index for node in reachable(condition))
        if len(seen) > _NODES_PER_FUNCTION:
            shares.append((start, place + 1))
            start, seen = place + 1, set()
    return [*shares, (start, len(conditions))] if start < len(conditions) else shares


def _masks_function(name: str, schema: Schema, conditions: Sequence[Sequence[Node]], first: int) -> str:
    shape = Shape(LANES)
    lines: list[str] = []
    lowering = Lowering(schema, [f"%w{word}" for word in range(schema.words)], shape, lines)
    for place, condition in enumerate(conditions, start=first):
        bits = lowering.let(f"bitcast {shape.bools} {lowering.conjunction(condition)} to i{LANES}")
        target = lowering.let(f"getelementptr i8, ptr %out, i64 {place * MASK_BYTES}")
        lines.append(f"  store i{LANES} {bits}, ptr {target}, align 1")
    start = f"  %at = mul i64 %j, {_VECTOR_BYTES}\n"
    start += offset("here", "%columns", "%at") + offset("out", "%masks", "%j")
    for word in range(schema.words):
        start += offset(f"c{word}", "%here", str(word * COLUMN_BYTES))
        start += f"  %w{word} = load {shape.ints}, ptr %c{word}, align {_VECTOR_BYTES}\n"
    signature = f"internal void @{name}(ptr noalias %columns, ptr noalias %masks, i64 %vectors) nounwind"
    return function(signature, counted("j", "%vectors", start + "\n".join(lines) + "\n"), ["j"])


def trim_function(conditions: int) -> str:
    """Return `@trim(masks, count)`: clear the bits beyond the states of the batch, and count those that are left."""
    each = f"""  %row = mul i64 %c, {BLOCKS}
  %place = add i64 %row, %k
  %address = getelementptr i64, ptr %masks, i64 %place
  %bits = load i64, ptr %address, align 8
  %kept = and i64 %bits, %valid
  store i64 %kept, ptr %address, align 8
  %ones = call i64 @llvm.ctpop.i64(i64 %kept)
  %sum = load i64, ptr %sum.var, align 8
  %more = add i64 %sum, %ones
  store i64 %more, ptr %sum.var, align 8
"""
    block = """  %before = mul i64 %k, 64
  %left = sub i64 %count, %before
  %some = call i64 @llvm.smax.i64(i64 %left, i64 0)
  %full = icmp sge i64 %some, 64
  %bit = shl i64 1, %some
  %low = sub i64 %bit, 1
  %valid = select i1 %full, i64 -1, i64 %low
"""
    body = "  store i64 0, ptr %sum.var, align 8\n" + counted(
        "k", str(BLOCKS), block + counted("c", str(conditions), each)
    )
    body += "  %total = load i64, ptr %sum.var, align 8\n"
    signature = "internal i64 @trim(ptr noalias %masks, i64 %count) nounwind"
    return function(signature, body, ["k", "c", "sum"], "ret i64 %total")

"""IR of `check`: which states of a range violate which properties."""

from __future__ import annotations

from collections.abc import Sequence

from insync.machine.checker import CheckField
from insync.machine.emit.loops import bits_of_masks, counted, field, function, offset, when
from insync.machine.emit.masks import columns_function, masks_functions, trim_function
from insync.machine.emit.rows import INTRINSICS, least_row_function
from insync.machine.sizes import BATCH, BLOCKS
from insync.model.graph import Node
from insync.model.schema import Schema

__all__ = ["check_module"]


def check_module(schema: Schema, violated: Sequence[Node]) -> str:
    """Return the IR module that defines `check`.

    `check(context, rows, count) -> violations` evaluates every property on every state, counts the violations of each
    in its record, keeps the least violating state there, and returns how many violations there were in all.

    Args:
        schema: where the cells lie.
        violated: for each property the condition that it is violated; at least one.
    """
    masks, calls = masks_functions("violated", schema, [(node,) for node in violated])
    row_bytes = 8 * schema.words
    return "".join(
        [
            INTRINSICS,
            least_row_function(schema.words),
            columns_function(schema.words),
            masks,
            trim_function(len(violated)),
            _collect_function(row_bytes, len(violated)),
            _check_function(row_bytes, calls),
        ]
    )


def _collect_function(row_bytes: int, properties: int) -> str:
    """`@collect(rows, masks, records)`: enter the violations of a batch in the records."""
    each = f"""  %byte = mul i64 %i, {row_bytes}
{offset("row", "%rows", "%byte")}  call void @keep_least(ptr %record, ptr %row)
"""
    record = f"""  %record.b = mul i64 %property, {8 + row_bytes}
{offset("record", "%records", "%record.b")}  %first = mul i64 %property, {BLOCKS}
"""
    body = counted("property", str(properties), record + bits_of_masks("i", "%masks", "%first", BLOCKS, each))
    signature = "internal void @collect(ptr %rows, ptr %masks, ptr %records) noinline nounwind"
    return function(signature, body, ["property", "i.block", "i.bit"])


def _check_function(row_bytes: int, calls: str) -> str:
    fields = (
        field("columns", CheckField.COLUMNS)
        + field("masks", CheckField.MASKS)
        + field("records", CheckField.VIOLATIONS)
        + f"  store i64 0, ptr %sum.var, align 8\n  %up.count = add i64 %count, {BATCH - 1}\n"
        + f"  %batches = udiv i64 %up.count, {BATCH}\n"
    )
    batch = f"""  %done = mul i64 %b, {BATCH}
  %left = sub i64 %count, %done
  %size = call i64 @llvm.umin.i64(i64 %left, i64 {BATCH})
  %byte = mul i64 %done, {row_bytes}
{offset("here", "%rows", "%byte")}  call void @columns(ptr %here, i64 %size, ptr %columns)
  %up = add i64 %size, 7
  %vectors = lshr i64 %up, 3
{calls}  %found = call i64 @trim(ptr %masks, i64 %size)
"""
    some = """  call void @collect(ptr %here, ptr %masks, ptr %records)
  %sum = load i64, ptr %sum.var, align 8
  %sum.next = add i64 %sum, %found
  store i64 %sum.next, ptr %sum.var, align 8
"""
    body = fields + counted("b", "%batches", batch + when("any", "icmp ne i64 %found, 0", some))
    body += "  %total = load i64, ptr %sum.var, align 8\n"
    signature = "i64 @check(ptr %context, ptr %rows, i64 %count) nounwind"
    return function(signature, body, ["b", "sum"], "ret i64 %total")

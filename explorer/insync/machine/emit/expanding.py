"""IR of `expand`: all successors of a range of states, each appended to the buffer of the partition that owns it."""

from __future__ import annotations

from insync.machine.emit.loops import counted, field, function, offset, when
from insync.machine.emit.masks import columns_function, masks_functions, trim_function
from insync.machine.emit.rows import (
    INTRINSICS,
    least_row_function,
    load_row,
    row_hash_function,
    rows_equal,
    store_row,
)
from insync.machine.emit.transitions import StepsText, steps_functions
from insync.machine.expander import ExpandField
from insync.machine.sizes import BATCH
from insync.model.program import Program

__all__ = ["expand_module"]


def expand_module(program: Program) -> str:
    """Return the IR module that defines `expand`.

    `expand(context) -> count` takes states in order until all are done or the next batch's successors might not fit in
    a buffer, and returns how many states it has done. See `ExpandField` for the context.
    """
    schema, actions = program.schema, program.actions
    guards, guard_calls = masks_functions("guards", schema, [action.guard for action in actions])
    text = StepsText(
        ExpandField.STEPS,
        start=field("raw", ExpandField.RAW) + "  store ptr %raw, ptr %next.var, align 8\n",
        each="""  %next = load ptr, ptr %next.var, align 8
  %behind = call ptr %step(ptr %row, ptr %next, ptr %context)
  store ptr %behind, ptr %next.var, align 8
""",
        refused=field("refused", ExpandField.REFUSED) + "  call void @keep_least(ptr %refused, ptr %row)\n",
        end="  %last = load ptr, ptr %next.var, align 8\n"
        + offset("raw.end", "%context", str(8 * ExpandField.RAW_END))
        + "  store ptr %last, ptr %raw.end, align 8\n",
        variables=("next",),
    )
    return "".join(
        [
            INTRINSICS,
            row_hash_function(schema.words),
            least_row_function(schema.words),
            columns_function(schema.words),
            guards,
            trim_function(len(actions)),
            _room_function(8 * schema.words),
            steps_functions(program, text),
            _route_function(schema.words),
            _expand_function(8 * schema.words, guard_calls),
        ]
    )


def _route_function(words: int) -> str:
    """`@route(context)`: append the successors of a batch to their owners' buffers.

    Many steps lead to a state that another step led to shortly before: such a state is left out. There is no branch on
    it: the state is written anyhow, and the buffer's end moves or not.
    """
    row_bytes = 8 * words
    load, new = load_row("w", "%row", words)
    load_recent, recent = load_row("r", "%recent.row", words)
    fields = (
        field("raw", ExpandField.RAW)
        + field("end", ExpandField.RAW_END)
        + field("cursors", ExpandField.CURSORS)
        + field("partitions", ExpandField.PARTITIONS, "i64")
        + field("recent", ExpandField.RECENT)
        + field("recent.mask", ExpandField.RECENT_MASK, "i64")
    )
    size = f"""  %from = ptrtoint ptr %raw to i64
  %to = ptrtoint ptr %end to i64
  %bytes = sub i64 %to, %from
  %count = udiv i64 %bytes, {row_bytes}
"""
    each = f"""  %byte = mul i64 %i, {row_bytes}
{offset("row", "%raw", "%byte")}{load}  %hash = call i64 @row_hash({", ".join(f"i64 {word}" for word in new)})
  %recent.at = and i64 %hash, %recent.mask
  %recent.byte = mul i64 %recent.at, {row_bytes}
{offset("recent.row", "%recent", "%recent.byte")}{load_recent}{rows_equal("known", recent, new)}\
{store_row("e", "%recent.row", new)}  %owner = call i64 @owner_of(i64 %hash, i64 %partitions)
  %slot = getelementptr ptr, ptr %cursors, i64 %owner
  %cursor = load ptr, ptr %slot, align 8
{store_row("n", "%cursor", new)}  %grow = select i1 %known, i64 0, i64 {row_bytes}
{offset("cursor.next", "%cursor", "%grow")}  store ptr %cursor.next, ptr %slot, align 8
"""
    signature = "internal void @route(ptr %context) nounwind"
    return function(signature, fields + size + counted("i", "%count", each), ["i"])


def _room_function(row_bytes: int) -> str:
    """`@room(cursors, ends, partitions, count)`: whether so many states fit in every buffer."""
    each = """  %cp = getelementptr i64, ptr %cursors, i64 %p
  %ep = getelementptr i64, ptr %ends, i64 %p
  %cursor = load i64, ptr %cp, align 8
  %end = load i64, ptr %ep, align 8
  %free = sub i64 %end, %cursor
"""
    each += when("full", "icmp ult i64 %free, %needed", "  ret i1 false\nunused:\n")
    body = f"  %needed = mul i64 %count, {row_bytes}\n" + counted("p", "%partitions", each)
    signature = "internal i1 @room(ptr %cursors, ptr %ends, i64 %partitions, i64 %count) nounwind"
    return function(signature, body, ["p"], "ret i1 true")


def _expand_function(row_bytes: int, guard_calls: str) -> str:
    fields = (
        field("rows", ExpandField.ROWS)
        + field("count", ExpandField.COUNT, "i64")
        + field("partitions", ExpandField.PARTITIONS, "i64")
        + field("cursors", ExpandField.CURSORS)
        + field("ends", ExpandField.ENDS)
        + field("columns", ExpandField.COLUMNS)
        + field("masks", ExpandField.MASKS)
    )
    batch = f"""  %done = mul i64 %b, {BATCH}
  %left = sub i64 %count, %done
  %size = call i64 @llvm.umin.i64(i64 %left, i64 {BATCH})
  %byte = mul i64 %done, {row_bytes}
{offset("here", "%rows", "%byte")}  call void @columns(ptr %here, i64 %size, ptr %columns)
  %up = add i64 %size, 7
  %vectors = lshr i64 %up, 3
{guard_calls}  %steps = call i64 @trim(ptr %masks, i64 %size)
  %fits = call i1 @room(ptr %cursors, ptr %ends, i64 %partitions, i64 %steps)
"""
    batch += when("stop", "xor i1 %fits, true", "  ret i64 %done\nunused:\n")
    batch += "  call void @steps(ptr %here, ptr %masks, ptr %context)\n  call void @route(ptr %context)\n"
    last = BATCH - 1
    body = fields + f"  %up.count = add i64 %count, {last}\n  %batches = udiv i64 %up.count, {BATCH}\n"
    return function(
        "i64 @expand(ptr %context) nounwind", body + counted("b", "%batches", batch), ["b"], "ret i64 %count"
    )

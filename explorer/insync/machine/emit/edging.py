"""IR of `edges`: the steps of a batch of states, each with the state and the action that it is a step of.

The search needs neither, and is faster without them; a graph of the states needs both.
"""

from __future__ import annotations

from insync.machine.edges import ACTION_BITS, EdgeField
from insync.machine.emit.loops import field, function, offset
from insync.machine.emit.masks import columns_function, masks_functions, trim_function
from insync.machine.emit.rows import INTRINSICS, least_row_function
from insync.machine.emit.transitions import StepsText, steps_functions
from insync.model.program import Program

__all__ = ["edges_module"]


def edges_module(program: Program) -> str:
    """Return the IR module that defines `edges`.

    `edges(context) -> steps` appends a row for each step of a batch of states: the words of the next state, and one
    word with the place of the state in the batch above the number of the action (`ACTION_BITS`). The rows are in
    the order of the actions, and of the states within one action. Steps whose checks fail are recorded, not appended.
    """
    schema, actions = program.schema, program.actions
    guards, guard_calls = masks_functions("guards", schema, [action.guard for action in actions])
    row_bytes = 8 * schema.words
    each = f"""  %cursor = load ptr, ptr %cursor.slot, align 8
  %behind = call ptr %step(ptr %row, ptr %cursor, ptr %context)
  %taken = icmp ne ptr %behind, %cursor
  %origin.high = shl i64 %i, {ACTION_BITS}
  %origin = or i64 %origin.high, %a
{offset("origin.p", "%cursor", str(row_bytes))}  store i64 %origin, ptr %origin.p, align 8
  %grow = select i1 %taken, i64 {row_bytes + 8}, i64 0
{offset("cursor.next", "%cursor", "%grow")}  store ptr %cursor.next, ptr %cursor.slot, align 8
"""
    text = StepsText(
        EdgeField.STEPS,
        start=offset("cursor.slot", "%context", str(8 * EdgeField.CURSOR)),
        each=each,
        refused=field("refused", EdgeField.REFUSED) + "  call void @keep_least(ptr %refused, ptr %row)\n",
    )
    body = (
        field("rows", EdgeField.ROWS)
        + field("count", EdgeField.COUNT, "i64")
        + field("columns", EdgeField.COLUMNS)
        + field("masks", EdgeField.MASKS)
        + "  call void @columns(ptr %rows, i64 %count, ptr %columns)\n"
        + "  %up = add i64 %count, 7\n  %vectors = lshr i64 %up, 3\n"
        + guard_calls
        + "  %found = call i64 @trim(ptr %masks, i64 %count)\n"
        + "  call void @steps(ptr %rows, ptr %masks, ptr %context)\n"
    )
    return "".join(
        [
            INTRINSICS,
            least_row_function(schema.words),
            columns_function(schema.words),
            guards,
            trim_function(len(actions)),
            steps_functions(program, text),
            function("i64 @edges(ptr %context) nounwind", body, [], "ret i64 %found"),
        ]
    )

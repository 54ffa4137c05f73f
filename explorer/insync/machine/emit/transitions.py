"""IR of the steps of a program: a function per action, and the loop that takes the steps of a batch of states."""

from __future__ import annotations

from dataclasses import dataclass

from insync.machine.emit.loops import bits_of_masks, counted, field, function, offset
from insync.machine.emit.lowering import Lowering, Shape
from insync.machine.emit.rows import load_row, store_row
from insync.machine.sizes import BLOCKS
from insync.model.graph import Node, Op
from insync.model.program import BoundAction, Program
from insync.model.schema import Schema

__all__ = ["StepsText", "steps_functions"]


@dataclass(frozen=True, slots=True)
class StepsText:
    """What an engine does with the steps, as instructions.

    Attributes:
        steps_field: the field of the context with the address of the counters of steps, one per action.
        start: what is done first.
        each: done for each step. The state is at `%row`, the `%i`-th of the batch; the action's number is `%a`, and
            `call ptr %step(ptr %row, ptr %to, ptr %context)` writes the next state to `%to`, which may be `%row`, and
            gives the address behind it. It gives `%to` itself if the step is refused because its checks fail.
        refused: done for a step that is refused, with `%row` and `%context`.
        end: what is done last.
        variables: that start, each and end need.
    """

    steps_field: int
    start: str
    each: str
    refused: str
    end: str = ""
    variables: tuple[str, ...] = ()


def steps_functions(program: Program, text: StepsText) -> str:
    """Return `@steps(rows, masks, context)`: the steps from the states of a batch, action by action.

    `masks` has the bits of the states in which each action is enabled. Every step is counted that is not refused.
    """
    actions, row_bytes = len(program.actions), 8 * program.schema.words
    functions = "".join(_step_function(n, action, program.schema) for n, action in enumerate(program.actions))
    table = ", ".join(f"ptr @step{number}" for number in range(actions))
    first = f"""  %step.p = getelementptr ptr, ptr @step.table, i64 %a
  %step = load ptr, ptr %step.p, align 8
  %counter = getelementptr i64, ptr %steps, i64 %a
  %first = mul i64 %a, {BLOCKS}
"""
    each = f"  %byte = mul i64 %i, {row_bytes}\n" + offset("row", "%rows", "%byte") + text.each
    ones = "  %ones = call i64 @llvm.ctpop.i64(i64 %i.word)\n" + _count("add", "%ones")
    body = field("steps", text.steps_field) + text.start
    body += counted("a", str(actions), first + bits_of_masks("i", "%masks", "%first", BLOCKS, each, ones)) + text.end
    refuse = field("steps", text.steps_field) + "  %counter = getelementptr i64, ptr %steps, i64 %action\n"
    refuse += _count("sub", "1") + text.refused
    return "".join(
        [
            function("internal void @refuse(ptr %context, ptr %row, i64 %action) noinline nounwind", refuse),
            functions,
            f"\n@step.table = internal constant [{actions} x ptr] [{table}]\n",
            function(
                "internal void @steps(ptr %rows, ptr %masks, ptr %context) nounwind",
                body,
                ["a", "i.block", "i.bit", *text.variables],
            ),
        ]
    )


def _step_function(number: int, action: BoundAction, schema: Schema) -> str:
    load, old = load_row("w", "%row", schema.words)
    lines: list[str] = []
    lowering = Lowering(schema, old, Shape(1), lines)
    refusal = ""
    if action.checks:
        sound = lowering.conjunction(check.node for check in action.checks)
        lines += [f"  br i1 {sound}, label %sound, label %refused", "sound:"]
        refusal = f"refused:\n  call void @refuse(ptr %context, ptr %row, i64 {number})\n  ret ptr %to\n"
    new = _next_words(action, lowering, old)
    store = store_row("n", "%to", new) + offset("behind", "%to", str(8 * schema.words)) + "  ret ptr %behind\n"
    body = "\n".join([load, *lines, store])
    return f"\ndefine internal ptr @step{number}(ptr %row, ptr %to, ptr %context) nounwind {{\n{body}{refusal}}}\n"


def _count(operation: str, amount: str) -> str:
    """Change the counter of steps."""
    return f"""  %count.old = load i64, ptr %counter, align 8
  %count.new = {operation} i64 %count.old, {amount}
  store i64 %count.new, ptr %counter, align 8
"""


def _next_words(action: BoundAction, lowering: Lowering, old: list[str]) -> list[str]:
    new = list(old)
    cells = lowering.schema.cells
    changes = [(cells[number], node) for number, node in action.updates if not _unchanged(number, node)]
    for word in {cell.word: None for cell, _ in changes if cell.bits}:
        here = [(cell, node) for cell, node in changes if cell.word == word and cell.bits]
        mask = sum((1 << cell.bits) - 1 << cell.shift for cell, _ in here)
        kept = ~mask & 2**64 - 1
        value = lowering.let(f"and i64 {old[word]}, {kept - 2**64 if kept >= 2**63 else kept}")
        for cell, node in here:
            code = lowering.operand(node)
            moved = code if cell.shift == 0 else lowering.let(f"shl i64 {code}, {cell.shift}")
            value = lowering.let(f"or i64 {value}, {moved}")
        new[word] = value
    return new


def _unchanged(number: int, node: Node) -> bool:
    return node.op is Op.CELL and node.arg == number

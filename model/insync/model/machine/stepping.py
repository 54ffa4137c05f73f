"""IR of the steps of one action: from the words of a state in which it is enabled to those of the next state."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from insync.model.graph import Node, Op
from insync.model.machine.loops import bits_of_masks, function, offset
from insync.model.machine.lowering import Lowering, Shape
from insync.model.machine.masks import BLOCKS
from insync.model.machine.rows import load_row
from insync.model.program import BoundAction
from insync.model.schema import Schema

__all__ = ["steps_function"]


def steps_function(
    name: str,
    number: int,
    action: BoundAction,
    schema: Schema,
    start: str,
    taken: Callable[[Sequence[str]], str],
    refused: str,
) -> str:
    """Return `@name(rows, masks, context)`: the steps of an action from those states of a batch whose bits are set.

    Args:
        name: of the function.
        number: of the action: which of the masks are its own, and which counter.
        action: the action.
        schema: where the cells lie.
        start: loads what else is needed from the context; `%steps`, the counters of steps, at least.
        taken: given the operands of the next state's words, the instructions that do something with it; the state's
            address is `%row`, its place in the batch `%i`.
        refused: the instructions for a step whose checks fail, which is not counted.
    """
    load, old = load_row("w", "%row", schema.words)
    lines: list[str] = []
    lowering = Lowering(schema, old, Shape(1), lines)
    refusal = ""
    if action.checks:
        sound = lowering.conjunction(check.node for check in action.checks)
        lines.append(f"  br i1 {sound}, label %sound, label %refuse")
        lines.append("sound:")
        refusal = f"  br label %i.bit.test\nrefuse:\n{_count('sub', '1')}{refused}"
    new = _next_words(action, lowering, old)
    address = f"  %byte = mul i64 %i, {8 * schema.words}\n" + offset("row", "%rows", "%byte")
    each = address + load + "\n".join(lines) + "\n" + taken(new) + refusal
    ones = "  %ones = call i64 @llvm.ctpop.i64(i64 %i.word)\n"
    body = start + f"  %counter = getelementptr i64, ptr %steps, i64 {number}\n"
    body += bits_of_masks("i", "%masks", str(number * BLOCKS), BLOCKS, each, ones + _count("add", "%ones"))
    return function(f"internal void @{name}(ptr %rows, ptr %masks, ptr %context) nounwind", body, ["i.block", "i.bit"])


def _count(operation: str, amount: str) -> str:
    """Change the counter of steps."""
    return f"""  %{operation}.old = load i64, ptr %counter, align 8
  %{operation}.new = {operation} i64 %{operation}.old, {amount}
  store i64 %{operation}.new, ptr %counter, align 8
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

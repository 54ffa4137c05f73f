"""Structured IR text: loops and branches around pieces of instructions.

The counter of a loop lies in a variable (`%name.var`), which LLVM turns into a register; its value is `%name`. A branch
to `%name.test` goes on with the next round, one to `%name.end` leaves the loop.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["bits_of_masks", "counted", "field", "function", "offset", "set_bits", "when"]


def function(signature: str, body: str, variables: Sequence[str] = (), result: str = "ret void") -> str:
    """Return a definition.

    Args:
        signature: from the result type to the attributes, such as `internal void @f(ptr %a) nounwind`.
        body: its instructions.
        variables: names of the loops in it.
        result: the last instruction.
    """
    allocations = "".join(f"  %{name}.var = alloca i64, align 8\n" for name in variables)
    return f"\ndefine {signature} {{\nentry:\n{allocations}{body}  {result}\n}}\n"


def counted(name: str, end: str, body: str) -> str:
    """Return a loop over the numbers from 0 to before `end`."""
    return f"""  store i64 0, ptr %{name}.var, align 8
  br label %{name}.test
{name}.test:
  %{name} = load i64, ptr %{name}.var, align 8
  %{name}.next = add i64 %{name}, 1
  %{name}.more = icmp ult i64 %{name}, {end}
  br i1 %{name}.more, label %{name}.body, label %{name}.end
{name}.body:
  store i64 %{name}.next, ptr %{name}.var, align 8
{body}  br label %{name}.test
{name}.end:
"""


def set_bits(name: str, word: str, body: str) -> str:
    """Return a loop over the numbers of the bits that are set in a word."""
    return f"""  store i64 {word}, ptr %{name}.var, align 8
  br label %{name}.test
{name}.test:
  %{name}.left = load i64, ptr %{name}.var, align 8
  %{name}.none = icmp eq i64 %{name}.left, 0
  br i1 %{name}.none, label %{name}.end, label %{name}.body
{name}.body:
  %{name} = call i64 @llvm.cttz.i64(i64 %{name}.left, i1 true)
  %{name}.less = sub i64 %{name}.left, 1
  %{name}.rest = and i64 %{name}.left, %{name}.less
  store i64 %{name}.rest, ptr %{name}.var, align 8
{body}  br label %{name}.test
{name}.end:
"""


def bits_of_masks(name: str, masks: str, first: str, blocks: int, body: str, before: str = "") -> str:
    """Return a loop over the states of a batch whose bit is set; `%name` is the state's place in the batch.

    It needs the variables `name.block` and `name.bit`.

    Args:
        name: of the loop.
        masks: the address of masks, one bit a state.
        first: at which 64-bit word the bits of these states begin.
        blocks: how many words they take.
        body: done for each state.
        before: done for each word that is not zero, which is `%name.word`.
    """
    block, bit = f"{name}.block", f"{name}.bit"
    inner = f"  %{name} = add i64 %{name}.base, %{bit}\n{body}"
    return counted(
        block,
        str(blocks),
        f"""  %{name}.at = add i64 %{block}, {first}
  %{name}.p = getelementptr i64, ptr {masks}, i64 %{name}.at
  %{name}.word = load i64, ptr %{name}.p, align 8
  %{name}.base = mul i64 %{block}, 64
"""
        + when(f"{name}.any", f"icmp ne i64 %{name}.word, 0", before + set_bits(bit, f"%{name}.word", inner)),
    )


def when(name: str, comparison: str, body: str) -> str:
    """Return instructions that are done only if a comparison holds."""
    return f"""  %{name} = {comparison}
  br i1 %{name}, label %{name}.then, label %{name}.end
{name}.then:
{body}  br label %{name}.end
{name}.end:
"""


def offset(name: str, base: str, amount: str) -> str:
    """Return the instruction that adds bytes to an address."""
    return f"  %{name} = getelementptr i8, ptr {base}, i64 {amount}\n"


def field(name: str, number: int, kind: str = "ptr") -> str:
    """Return the instructions that load a 64-bit field of `%context`."""
    return offset(f"{name}.p", "%context", str(8 * number)) + f"  %{name} = load {kind}, ptr %{name}.p, align 8\n"

"""IR for packed states in memory: a row is the words of one state, one after the other; rows follow each other."""

from __future__ import annotations

from collections.abc import Sequence

from insync.machine.emit.loops import offset

__all__ = [
    "INTRINSICS",
    "least_row_function",
    "load_row",
    "row_hash_function",
    "rows_equal",
    "store_row",
]

# Odd 64-bit constants with about half their bits set and no pattern: fractional digits of square roots of primes.
_MIX = (
    0x6A09E667F3BCC909,
    0xBB67AE8584CAA73B,
    0x3C6EF372FE94F82B,
    0xA54FF53A5F1D36F1,
    0x510E527FADE682D1,
    0x9B05688C2B3E6C1F,
    0x1F83D9ABFB41BD6B,
    0x5BE0CD19137E2179,
)

INTRINSICS = """
declare i64 @llvm.cttz.i64(i64, i1)
declare i8 @llvm.cttz.i8(i8, i1)
declare i64 @llvm.ctpop.i64(i64)
declare <8 x i64> @llvm.ctpop.v8i64(<8 x i64>)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
declare <8 x i64> @llvm.smin.v8i64(<8 x i64>, <8 x i64>)
declare <8 x i64> @llvm.smax.v8i64(<8 x i64>, <8 x i64>)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
"""


def load_row(prefix: str, address: str, words: int) -> tuple[str, list[str]]:
    """Return the instructions that load a row, and the operands of its words."""
    text, operands = "", []
    for word in range(words):
        text += offset(f"{prefix}p{word}", address, str(8 * word))
        text += f"  %{prefix}{word} = load i64, ptr %{prefix}p{word}, align 8\n"
        operands.append(f"%{prefix}{word}")
    return text, operands


def store_row(prefix: str, address: str, operands: Sequence[str]) -> str:
    """Return the instructions that write a row."""
    text = ""
    for word, operand in enumerate(operands):
        text += offset(f"{prefix}q{word}", address, str(8 * word))
        text += f"  store i64 {operand}, ptr %{prefix}q{word}, align 8\n"
    return text


def rows_equal(result: str, left: Sequence[str], right: Sequence[str]) -> str:
    """Return the instructions that compare two loaded rows, without a branch."""
    text, differences = "", []
    for word, (a, b) in enumerate(zip(left, right, strict=True)):
        text += f"  %{result}x{word} = xor i64 {a}, {b}\n"
        differences.append(f"%{result}x{word}")
    joined = differences[0]
    for word, difference in enumerate(differences[1:], start=1):
        text += f"  %{result}o{word} = or i64 {joined}, {difference}\n"
        joined = f"%{result}o{word}"
    return text + f"  %{result} = icmp eq i64 {joined}, 0\n"


def row_hash_function(words: int) -> str:
    """Return `@row_hash(words)` and `@owner_of(hash, partitions)`.

    All words of a state are hashed to 64 bits, every one of which depends on every bit of the state. Two words at a
    time are multiplied into 128 bits, whose halves are folded; the last fold spreads the sums. States differ in a few
    low bits of each word, and both halves of the result are used: the high half names the owning partition, the low
    half the place in its table.
    """
    arguments = [f"i64 %w{word}" for word in range(words)]
    lines = [f"define internal i64 @row_hash({', '.join(arguments)}) alwaysinline nounwind {{"]
    state = str(_signed(_MIX[7]))
    for pair in range(0, words, 2):
        first, second = _MIX[pair % 6], _MIX[pair % 6 + 1] + 2 * pair
        lines.append(f"  %a{pair} = xor i64 %w{pair}, {_signed(first)}")
        if pair + 1 < words:
            lines.append(f"  %c{pair} = xor i64 %w{pair + 1}, {_signed(second)}")
            lines.append(f"  %b{pair} = xor i64 %c{pair}, {state}")
        else:
            lines.append(f"  %b{pair} = xor i64 {_signed(second)}, {state}")
        lines += _fold(f"h{pair}", f"%a{pair}", f"%b{pair}")
        state = f"%h{pair}"
    lines.append(f"  %last = xor i64 {state}, {_signed(_MIX[6])}")
    lines += _fold("h", "%last", str(_signed(_MIX[5])))
    return "\n".join([*lines, "  ret i64 %h", "}", ""]) + _OWNER


_OWNER = """
define internal i64 @owner_of(i64 %hash, i64 %partitions) alwaysinline nounwind {
  %high = lshr i64 %hash, 32
  %scaled = mul i64 %high, %partitions
  %owner = lshr i64 %scaled, 32
  ret i64 %owner
}
"""


def _fold(name: str, a: str, b: str) -> list[str]:
    return [
        f"  %{name}.a = zext i64 {a} to i128",
        f"  %{name}.b = zext i64 {b} to i128",
        f"  %{name}.p = mul i128 %{name}.a, %{name}.b",
        f"  %{name}.s = lshr i128 %{name}.p, 64",
        f"  %{name}.l = trunc i128 %{name}.p to i64",
        f"  %{name}.h = trunc i128 %{name}.s to i64",
        f"  %{name} = xor i64 %{name}.l, %{name}.h",
    ]


def _signed(value: int) -> int:
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


def least_row_function(words: int) -> str:
    """Return `@keep_least`: count a state in a record of (count, least state), and keep the least one seen.

    States are compared word by word, the first word first, as unsigned numbers.
    """
    load_new, new = load_row("n", "%row", words)
    load_old, old = load_row("o", "%kept", words)
    less = "false"
    compare = ""
    for word in reversed(range(words)):
        compare += f"  %lt{word} = icmp ult i64 {new[word]}, {old[word]}\n"
        compare += f"  %eq{word} = icmp eq i64 {new[word]}, {old[word]}\n"
        compare += f"  %le{word} = and i1 %eq{word}, {less}\n"
        compare += f"  %less{word} = or i1 %lt{word}, %le{word}\n"
        less = f"%less{word}"
    return f"""
define internal void @keep_least(ptr %record, ptr %row) noinline nounwind {{
  %count = load i64, ptr %record, align 8
  %more = add i64 %count, 1
  store i64 %more, ptr %record, align 8
  %kept = getelementptr i8, ptr %record, i64 8
{load_new}{load_old}{compare}  %first = icmp eq i64 %count, 0
  %take = or i1 %first, {less}
  br i1 %take, label %copy, label %done
copy:
{store_row("k", "%kept", new)}  br label %done
done:
  ret void
}}
"""

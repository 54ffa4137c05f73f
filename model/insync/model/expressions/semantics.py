"""What each operation means on plain values: the definition that every engine is tested against."""

from __future__ import annotations

from collections.abc import Callable

from insync.model.expressions.graph import GROUND, Op

__all__ = ["MEANING"]


def _select(index: int, *elements: int) -> int:
    return elements[index] if 0 <= index < len(elements) else 0


MEANING: dict[Op, Callable[..., int]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, n: a // n,
    Op.MOD: lambda a, n: a % n,
    Op.MIN: min,
    Op.MAX: max,
    Op.EQ: lambda a, b: a == b,
    Op.LT: lambda a, b: a < b,
    Op.LE: lambda a, b: a <= b,
    Op.AND: lambda *xs: all(xs),
    Op.OR: lambda *xs: any(xs),
    Op.NOT: lambda a: not a,
    Op.ITE: lambda c, a, b: a if c else b,
    Op.SELECT: _select,
    Op.BITAND: lambda a, b: a & b,
    Op.BITOR: lambda a, b: a | b,
    Op.BITDIFF: lambda a, b: a & ~b,
    Op.BIT: lambda i: 1 << i if 0 <= i <= 62 else 0,
    Op.TEST: lambda mask, i: bool(mask >> i & 1) if 0 <= i <= 62 else False,
    Op.COUNT: lambda mask: mask.bit_count(),
}
"""For every operation of programs but CONST and CELL, its value from the values of its arguments."""

assert set(MEANING) == GROUND - {Op.CONST, Op.CELL}

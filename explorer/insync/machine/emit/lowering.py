"""Lowering of the expression graph to LLVM IR: straight-line code for one state, or for several in vector lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from insync.machine.emit.builder import Instructions
from insync.model.domains.layout import Schema
from insync.model.expressions.graph import GROUND, Node, Op, fold

__all__ = [
    "LANES",
    "Lowering",
    "Shape",
    "product_and_shift",
]


LANES = 8
"""States per vector instruction: eight 64-bit numbers fill a 512-bit register."""

_WORD = 64
_INT_OPS = {Op.ADD: "add", Op.SUB: "sub", Op.MUL: "mul", Op.BITAND: "and", Op.BITOR: "or"}
_COMPARISONS = {Op.EQ: "eq", Op.LT: "slt", Op.LE: "sle"}


@dataclass(frozen=True, slots=True)
class Shape:
    """How many states an instruction works on: 1, or several lanes."""

    lanes: int

    @property
    def ints(self) -> str:
        """The IR type of a number."""
        return "i64" if self.lanes == 1 else f"<{self.lanes} x i64>"

    @property
    def bools(self) -> str:
        """The IR type of a condition."""
        return "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"

    @property
    def suffix(self) -> str:
        """The spelling of the type in the name of an intrinsic."""
        return "i64" if self.lanes == 1 else f"v{self.lanes}i64"

    def number(self, value: int) -> str:
        """Return the operand of a constant number."""
        return str(value) if self.lanes == 1 else f"splat (i64 {value})"

    def truth(self, value: bool) -> str:
        """Return the operand of a constant condition."""
        word = "true" if value else "false"
        return word if self.lanes == 1 else f"splat (i1 {word})"


@dataclass(frozen=True, slots=True)
class _Stripe:
    """Cells of a selection, from `first` on, at equal distances in one word: read by a computed shift."""

    first: int
    count: int
    word: int
    shift: int
    stride: int
    bits: int


class Lowering:
    """Appends the instructions that compute nodes, each node and each instruction once.

    Args:
        schema: where each cell lies in the packed state.
        words: the operands that hold the words of the state.
        shape: one state, or lanes.
        b: the function where the instructions are appended.
    """

    def __init__(self, schema: Schema, words: Sequence[str], shape: Shape, b: Instructions) -> None:
        self.schema, self.words, self.shape, self._b = schema, words, shape, b
        self._operands: dict[Node, str] = {}
        self._results: dict[str, str] = {}

    def _let(self, instruction: str) -> str:
        """Append an instruction and return its result; reuse the result of an equal instruction."""
        found = self._results.get(instruction)
        if found is None:
            found = self._results[instruction] = self._b.let(instruction)
        return found

    def operand(self, root: Node) -> str:
        """Return the operand of a node; append the instructions that compute it."""
        if root not in self._operands:
            fold([root], self._emit, self._operands, self._needs)
        return self._operands[root]

    def conjunction(self, nodes: Iterable[Node]) -> str:
        """Return the operand of the AND of conditions (true when there are none)."""
        operands = [self.operand(node) for node in nodes]
        return self._fold("and", operands) if operands else self.shape.truth(True)

    def _needs(self, node: Node) -> tuple[Node, ...]:
        # Elements of a selection that are read by a computed shift need no instructions of their own.
        if node.op is Op.SELECT and (self._table(node) is not None or self._stripes(node) is not None):
            return node.args[:1]
        return node.args

    def _emit(self, node: Node, operands: list[str]) -> str:
        if node.op is Op.CONST:
            return self.shape.truth(bool(node.value)) if node.is_bool else self.shape.number(node.value)
        if node.op is Op.CELL:
            return self._read_cell(node.cell)
        if node.op is Op.SELECT:
            return self._select(node)
        return _RULES[node.op](self, node, operands)

    # ------------------------------------------------------------------------------------------------- reading cells

    def _read_cell(self, number: int) -> str:
        cell = self.schema.cells[number]
        if cell.bits == 0:
            return self.shape.number(0)
        return self._field(self.words[cell.word], self.shape.number(cell.shift), cell.bits)

    def _field(self, word: str, shift: str, bits: int) -> str:
        ints = self.shape.ints
        moved = word if shift in ("0", "splat (i64 0)") else self._let(f"lshr {ints} {word}, {shift}")
        return moved if bits == _WORD else self._let(f"and {ints} {moved}, {self.shape.number((1 << bits) - 1)}")

    # ------------------------------------------------------------------------------------------------------ selection

    def _select(self, node: Node) -> str:
        index = self._operands[node.args[0]]
        table = self._table(node)
        if table is not None:
            constant, bits = table
            shift = self._scaled(index, bits, 0)
            return self._inside(node, index, self._field(self.shape.number(constant), shift, bits))
        stripes = self._stripes(node)
        if stripes is not None:
            return self._inside(node, index, self._from_stripes(index, stripes))
        result = self.shape.number(0)
        for position in range(len(node.args) - 2, -1, -1):
            here = self._compare("eq", index, self.shape.number(position))
            result = self._choose(here, self._operands[node.args[position + 1]], result)
        return result

    def _inside(self, node: Node, index: str, value: str) -> str:
        """Return 0 for an index outside the elements, unless its range shows that it is never outside."""
        count = len(node.args) - 1
        if node.args[0].lo >= 0 and node.args[0].hi < count:
            return value
        return self._choose(self._compare("ult", index, self.shape.number(count)), value, self.shape.number(0))

    def _scaled(self, index: str, stride: int, base: int) -> str:
        ints = self.shape.ints
        scaled = index if stride == 1 else self._let(f"mul {ints} {index}, {self.shape.number(stride)}")
        return scaled if base == 0 else self._let(f"add {ints} {scaled}, {self.shape.number(base)}")

    def _from_stripes(self, index: str, stripes: list[_Stripe]) -> str:
        result = ""
        for stripe in stripes:
            shift = self._scaled(index, stripe.stride, stripe.shift - stripe.first * stripe.stride)
            value = self._field(self.words[stripe.word], shift, stripe.bits)
            if result:
                value = self._choose(self._compare("sge", index, self.shape.number(stripe.first)), value, result)
            result = value
        return result

    def _table(self, node: Node) -> tuple[int, int] | None:
        """The constant elements of a selection as one number, and the bits of each; None if they exceed a word."""
        values = [arg.value for arg in node.args[1:] if arg.op is Op.CONST and arg.value >= 0]
        bits = max([value.bit_length() for value in values] + [1])
        if len(values) != len(node.args) - 1 or bits * len(values) > _WORD:
            return None
        return sum(value << place * bits for place, value in enumerate(values)), bits

    def _stripes(self, node: Node) -> list[_Stripe] | None:
        """The elements of a selection as stripes of cells; None if there are too many stripes for a gain."""
        if any(arg.op is not Op.CELL for arg in node.args[1:]):
            return None
        cells = [self.schema.cells[arg.cell] for arg in node.args[1:]]
        stripes: list[_Stripe] = []
        place = 0
        while place < len(cells):
            first = cells[place]
            end = place + 1
            stride = cells[end].shift - first.shift if end < len(cells) else 0
            while (
                end < len(cells)
                and (cells[end].word, cells[end].bits) == (first.word, first.bits)
                and cells[end].shift == first.shift + (end - place) * stride
            ):
                end += 1
            stripes.append(
                _Stripe(place, end - place, first.word, first.shift, stride if end > place + 1 else 0, first.bits)
            )
            place = end
        return stripes if 2 * len(stripes) <= len(cells) and all(cell.bits for cell in cells) else None

    # --------------------------------------------------------------------------------------------- other instructions

    def _compare(self, how: str, a: str, b: str) -> str:
        return self._let(f"icmp {how} {self.shape.ints} {a}, {b}")

    def _choose(self, condition: str, yes: str, no: str) -> str:
        bools, ints = self.shape.bools, self.shape.ints
        return self._let(f"select {bools} {condition}, {ints} {yes}, {ints} {no}")

    def _call(self, name: str, *ops: str) -> str:
        ints, called = self.shape.ints, f"@llvm.{name}.{self.shape.suffix}"
        self._b.declared[f"declare {ints} {called}({', '.join(ints for _ in ops)})"] = None
        return self._let(f"call {ints} {called}({', '.join(f'{ints} {op}' for op in ops)})")

    def _fold(self, instruction: str, operands: list[str]) -> str:
        result = operands[0]
        for operand in operands[1:]:
            result = self._let(f"{instruction} {self.shape.bools} {result}, {operand}")
        return result

    def _int(self, node: Node, ops: list[str]) -> str:
        return self._let(f"{_INT_OPS[node.op]} {self.shape.ints} {ops[0]}, {ops[1]}")

    def _division(self, node: Node, ops: list[str]) -> str:
        n, ints, shape = node.args[1].lo, self.shape.ints, self.shape
        power = n & (n - 1) == 0
        if node.op is Op.DIV:
            by_shift = f"ashr {ints} {ops[0]}, {shape.number(n.bit_length() - 1)}"
            return self._let(by_shift) if power else self._quotient(node.args[0], ops[0], n)
        if power:
            return self._let(f"and {ints} {ops[0]}, {shape.number(n - 1)}")
        whole = self._let(f"mul {ints} {self._quotient(node.args[0], ops[0], n)}, {shape.number(n)}")
        return self._let(f"sub {ints} {ops[0]}, {whole}")

    def _quotient(self, number: Node, operand: str, n: int) -> str:
        """Return the quotient rounded down; a multiple of the divisor makes negative numbers positive first."""
        ints, shape = self.shape.ints, self.shape
        first, last = number.lo // n, number.hi // n
        if last == first + 1:
            above = self._compare("sge", operand, shape.number(last * n))
            return self._choose(above, shape.number(last), shape.number(first))
        more = max(0, -first)
        positive = self._scaled(operand, 1, more * n)
        found = product_and_shift(n, number.hi + more * n)
        if found is None:
            quotient = self._let(f"udiv {ints} {positive}, {shape.number(n)}")
        else:
            product = self._let(f"mul {ints} {positive}, {shape.number(found[0])}")
            quotient = self._let(f"lshr {ints} {product}, {shape.number(found[1])}")
        return self._scaled(quotient, 1, -more)

    def _comparison(self, node: Node, ops: list[str]) -> str:
        if node.op is Op.EQ and node.args[0].is_bool:
            return self._not(node, [self._fold("xor", ops)])
        return self._compare(_COMPARISONS[node.op], ops[0], ops[1])

    def _extreme(self, node: Node, ops: list[str]) -> str:
        return self._call("smin" if node.op is Op.MIN else "smax", *ops)

    def _connective(self, node: Node, ops: list[str]) -> str:
        return self._fold("and" if node.op is Op.AND else "or", ops)

    def _not(self, _: Node, ops: list[str]) -> str:
        return self._let(f"xor {self.shape.bools} {ops[0]}, {self.shape.truth(True)}")

    def _ite(self, _: Node, ops: list[str]) -> str:
        return self._choose(ops[0], ops[1], ops[2])

    def _difference(self, _: Node, ops: list[str]) -> str:
        inverse = self._let(f"xor {self.shape.ints} {ops[1]}, {self.shape.number(-1)}")
        return self._let(f"and {self.shape.ints} {ops[0]}, {inverse}")

    def _bit(self, node: Node, ops: list[str]) -> str:
        bit = self._let(f"shl {self.shape.ints} {self.shape.number(1)}, {ops[0]}")
        return self._if_element(node.args[0], ops[0], bit)

    def _test(self, node: Node, ops: list[str]) -> str:
        moved = self._let(f"lshr {self.shape.ints} {ops[0]}, {ops[1]}")
        bit = self._let(f"and {self.shape.ints} {moved}, {self.shape.number(1)}")
        return self._compare("ne", self._if_element(node.args[1], ops[1], bit), self.shape.number(0))

    def _if_element(self, element: Node, operand: str, value: str) -> str:
        if element.lo >= 0 and element.hi <= 62:
            return value
        return self._choose(self._compare("ult", operand, self.shape.number(63)), value, self.shape.number(0))

    def _popcount(self, _: Node, ops: list[str]) -> str:
        return self._call("ctpop", ops[0])


_RULES: dict[Op, Callable[[Lowering, Node, list[str]], str]] = {
    Op.ADD: Lowering._int,
    Op.SUB: Lowering._int,
    Op.MUL: Lowering._int,
    Op.BITAND: Lowering._int,
    Op.BITOR: Lowering._int,
    Op.DIV: Lowering._division,
    Op.MOD: Lowering._division,
    Op.MIN: Lowering._extreme,
    Op.MAX: Lowering._extreme,
    Op.EQ: Lowering._comparison,
    Op.LT: Lowering._comparison,
    Op.LE: Lowering._comparison,
    Op.AND: Lowering._connective,
    Op.OR: Lowering._connective,
    Op.NOT: Lowering._not,
    Op.ITE: Lowering._ite,
    Op.BITDIFF: Lowering._difference,
    Op.BIT: Lowering._bit,
    Op.TEST: Lowering._test,
    Op.COUNT: Lowering._popcount,
}

assert set(_RULES) == GROUND - {Op.CONST, Op.CELL, Op.SELECT}, "these three have methods of their own"


def product_and_shift(n: int, most: int) -> tuple[int, int] | None:
    """Return m and s such that `x // n` is `(x * m) >> s` for all x from 0 to `most`, and `x * m` stays below 2^63.

    Processors divide slowly, and have no division of vectors: see Granlund & Montgomery 1994. With m = 2^s / n, rounded
    up by e / n, the product is too large by x * e / n. The quotient is right as long as that does not reach the next
    multiple, which is at least 2^s / n away: so as long as x * e is less than 2^s.

    Args:
        n: the divisor, at least 1.
        most: the largest number that is divided, not negative.

    Returns:
        None if the numbers are too large for such a product.
    """
    for s in range(63):
        m = -(-(1 << s) // n)
        if most * m >= 1 << 63:
            return None
        if most * (m * n - (1 << s)) < 1 << s:
            return m, s
    return None

"""Translation of expressions to z3 terms: one rule for every operation.

A condition becomes a z3 Bool. A number becomes a bit-vector just wide enough for the values that its node can take:
unsigned where none of them is negative, else in two's complement. An operation is done at a width that holds its
arguments and its result, so nothing ever wraps, and the result is cut back to its own width. Reasons for bit-vectors:
docs/adr/0008-cells-as-bit-vectors.md.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence

from insync.model.expressions.graph import GROUND, Node, Op, fold
from insync.proofs.smt.z3_module import z3
from insync.runtime.watch import Watch

__all__ = ["RULES", "Formula", "Terms", "all_of", "any_of", "negation", "width_of"]

Term = z3.ExprRef
Formula = z3.BoolRef
"""A condition, as a term."""

Rule = Callable[[Node, list[Term]], Term]


def width_of(lo: int, hi: int) -> int:
    """Return the number of bits for the values from lo to hi: unsigned if lo is not negative, else two's complement."""
    if lo >= 0:
        return max(1, hi.bit_length())
    return max(-lo - 1, hi).bit_length() + 1


class Terms:
    """The z3 terms of expressions in one symbolic state, each made at most once.

    Args:
        cells: for each cell the bit-vector of its code, as wide as its codes need.
        watch: the limits of the proof; at large bounds making terms takes longer than the answers.
        before: the terms of another state, which are used for nodes with the same value in both.
        changed: whether the value of a node may differ from that in the other state.
    """

    def __init__(
        self,
        cells: Sequence[z3.BitVecRef],
        watch: Watch,
        before: Terms | None = None,
        changed: Callable[[Node], bool] = lambda node: True,
    ) -> None:
        self.cells = cells
        self._watch = watch
        self._before, self._changed = before, changed
        self._terms: dict[Node, Term] = {}

    def bool(self, node: Node) -> z3.BoolRef:
        """Return the term of a condition."""
        term = self._term(node)
        assert isinstance(term, z3.BoolRef)
        return term

    def number(self, node: Node) -> z3.BitVecRef:
        """Return the term of a number, `width_of(node.lo, node.hi)` bits wide."""
        return _bits(self._term(node))

    def code(self, node: Node, size: int) -> z3.BitVecRef:
        """Return the term of a code of a cell with `size` codes, as wide as that cell."""
        return _fit(node, self.number(node), width_of(0, size - 1))

    def _term(self, root: Node) -> Term:
        self._watch.check()
        return fold([root], self._apply, self._terms, self._needs)[0]

    def _needs(self, node: Node) -> tuple[Node, ...]:
        return () if self._before is not None and not self._changed(node) else node.args

    def _apply(self, node: Node, args: list[Term]) -> Term:
        if self._before is not None and not self._changed(node):
            return self._before._term(node)
        return self.cells[node.cell] if node.op is Op.CELL else RULES[node.op](node, args)


# --------------------------------------------------------------------------------------------------------- conditions

# z3.And and z3.Or check every argument several times in Python, as they accept plain values too. Here all arguments are
# conditions. The checks took more than half of a translation: 3.5 of 6 seconds of a proof of kip320.


def all_of(conditions: Iterable[Term]) -> Formula:
    """Return the condition that all of these hold."""
    return _joined(z3.Z3_mk_and, conditions)


def any_of(conditions: Iterable[Term]) -> Formula:
    """Return the condition that one of these holds."""
    return _joined(z3.Z3_mk_or, conditions)


def _joined(make: Callable[[z3.ContextObj, int, ctypes.Array[z3.Ast]], z3.Ast], conditions: Iterable[Term]) -> Formula:
    parts = [condition.as_ast() for condition in conditions]
    context = z3.main_ctx()
    return z3.BoolRef(make(context.ref(), len(parts), (z3.Ast * len(parts))(*parts)), context)


def negation(condition: Term) -> Formula:
    """Return the condition that this one does not hold."""
    return z3.Not(condition)


# ------------------------------------------------------------------------------------------------------------- widths


def _bits(term: Term) -> z3.BitVecRef:
    assert isinstance(term, z3.BitVecRef)
    return term


def _fit(node: Node, term: Term, width: int) -> z3.BitVecRef:
    """Return a number at another width, which must be enough for its value."""
    bits = _bits(term)
    have = bits.size()
    if have == width:
        return bits
    if have > width:
        return z3.Extract(width - 1, 0, bits)
    extend = z3.SignExt if node.lo < 0 else z3.ZeroExt
    return extend(width - have, bits)


def _common(nodes: Sequence[Node]) -> tuple[int, bool]:
    """Return a width for the values of all nodes, and whether it is two's complement."""
    lo, hi = min(n.lo for n in nodes), max(n.hi for n in nodes)
    return width_of(lo, hi), lo < 0


def _aligned(nodes: Sequence[Node], terms: Sequence[Term]) -> list[z3.BitVecRef]:
    """Return the terms at one width that holds the values of all nodes."""
    width, _ = _common(nodes)
    return [_fit(n, t, width) for n, t in zip(nodes, terms, strict=True)]


def _result(node: Node, computed: z3.BitVecRef) -> z3.BitVecRef:
    width = width_of(node.lo, node.hi)
    return computed if computed.size() == width else z3.Extract(width - 1, 0, computed)


# -------------------------------------------------------------------------------------------------------------- rules


def _const(node: Node, args: list[Term]) -> Term:
    return z3.BoolVal(bool(node.value)) if node.is_bool else z3.BitVecVal(node.lo, width_of(node.lo, node.hi))


def _cell(node: Node, args: list[Term]) -> Term:
    raise AssertionError(node)  # a cell's term comes from the state


def _arithmetic(operation: Callable[[z3.BitVecRef, z3.BitVecRef], z3.BitVecRef]) -> Rule:
    def rule(node: Node, args: list[Term]) -> Term:
        width, _ = _common([*node.args, node])
        a, b = (_fit(n, t, width) for n, t in zip(node.args, args, strict=True))
        return _result(node, operation(a, b))

    return rule


def _divided(node: Node, args: list[Term]) -> Term:
    """Return a quotient or remainder; a multiple of the divisor makes the number positive, so that UDiv rounds down."""
    number, n = node.args[0], node.args[1].lo
    more = max(0, -(number.lo // n))
    width = width_of(number.lo, max(number.hi + more * n, n))
    positive, divisor = _fit(number, args[0], width) + more * n, z3.BitVecVal(n, width)
    if node.op is Op.MOD:
        return _result(node, z3.URem(positive, divisor))
    return _result(node, z3.UDiv(positive, divisor) - more)


def _less(node_args: Sequence[Node], args: Sequence[Term], strict: bool) -> z3.BoolRef:
    (a, b), (_, signed) = _aligned(node_args, args), _common(node_args)
    if signed:
        return a < b if strict else a <= b
    return (z3.ULT if strict else z3.ULE)(a, b)


def _extreme(least: bool) -> Rule:
    def rule(node: Node, args: list[Term]) -> Term:
        a, b = _aligned(node.args, args)
        first = _less(node.args, args, strict=False)
        chosen = z3.If(first, a, b) if least else z3.If(first, b, a)
        return _result(node, chosen)

    return rule


def _equal(node: Node, args: list[Term]) -> Term:
    a, b = _aligned(node.args, args)
    return a == b


def _choice(node: Node, args: list[Term]) -> Term:
    width = width_of(node.lo, node.hi)
    then, other = (_fit(n, t, width) for n, t in zip(node.args[1:], args[1:], strict=True))
    return z3.If(args[0], then, other)


def _is(term: Term, value: int) -> z3.BoolRef:
    """Return whether a number has this value, which must lie in the range of its node."""
    return _bits(term) == value


def _select(node: Node, args: list[Term]) -> Term:
    width = width_of(node.lo, node.hi)
    (index, *elements), (place, *values) = node.args, args
    inside = range(max(index.lo, 0), min(index.hi + 1, len(elements)))
    covered = index.lo >= 0 and index.hi < len(elements)
    chosen: z3.BitVecRef
    chosen = _fit(elements[inside[-1]], values[inside[-1]], width) if covered else z3.BitVecVal(0, width)
    for i in reversed(inside[:-1] if covered else inside):
        chosen = z3.If(_is(place, i), _fit(elements[i], values[i], width), chosen)
    return chosen


def _bit(node: Node, args: list[Term]) -> Term:
    width, (index,) = width_of(node.lo, node.hi), node.args
    chosen: z3.BitVecRef = z3.BitVecVal(0, width)
    for i in range(max(index.lo, 0), min(index.hi, 62) + 1):
        chosen = z3.If(_is(args[0], i), z3.BitVecVal(1 << i, width), chosen)
    return chosen


def _is_set(mask: Term, i: int) -> z3.BoolRef:
    return z3.Extract(i, i, _bits(mask)) == 1


def _test(node: Node, args: list[Term]) -> Term:
    mask, index = node.args
    places = range(max(index.lo, 0), min(index.hi + 1, width_of(mask.lo, mask.hi), 63))
    if index.op is Op.CONST:
        return _is_set(args[0], index.lo) if index.lo in places else z3.BoolVal(False)
    return z3.Or(*[z3.And(_is(args[1], i), _is_set(args[0], i)) for i in places])


def _count(node: Node, args: list[Term]) -> Term:
    width = width_of(node.lo, node.hi)
    total: z3.BitVecRef = z3.BitVecVal(0, width)
    for i in range(width_of(node.args[0].lo, node.args[0].hi)):
        total = total + z3.If(_is_set(args[0], i), z3.BitVecVal(1, width), z3.BitVecVal(0, width))
    return total


RULES: dict[Op, Rule] = {
    Op.CONST: _const,
    Op.CELL: _cell,
    Op.ADD: _arithmetic(lambda a, b: a + b),
    Op.SUB: _arithmetic(lambda a, b: a - b),
    Op.MUL: _arithmetic(lambda a, b: a * b),
    Op.DIV: _divided,
    Op.MOD: _divided,
    Op.MIN: _extreme(least=True),
    Op.MAX: _extreme(least=False),
    Op.EQ: _equal,
    Op.LT: lambda node, args: _less(node.args, args, strict=True),
    Op.LE: lambda node, args: _less(node.args, args, strict=False),
    Op.AND: lambda node, args: all_of(args),
    Op.OR: lambda node, args: any_of(args),
    Op.NOT: lambda node, args: negation(args[0]),
    Op.ITE: _choice,
    Op.SELECT: _select,
    Op.BITAND: _arithmetic(lambda a, b: a & b),
    Op.BITOR: _arithmetic(lambda a, b: a | b),
    Op.BITDIFF: _arithmetic(lambda a, b: a & ~b),
    Op.BIT: _bit,
    Op.TEST: _test,
    Op.COUNT: _count,
}
"""For every operation, its term from the terms of its arguments."""

assert set(RULES) == GROUND

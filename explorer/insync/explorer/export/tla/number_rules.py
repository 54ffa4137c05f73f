"""How each operation that gives a number is written in TLA+."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from insync.explorer.export.tla.values import PLAIN_SET, Linear, aligned, calculated
from insync.model.expressions.graph import Node, Op

if TYPE_CHECKING:
    from insync.explorer.export.tla.translation import Translation

__all__ = ["NUMBERS"]

NumberRule = Callable[["Translation", Node], Linear]


def _constant(t: Translation, node: Node) -> Linear:
    return Linear(None, node.lo)


def _condition(t: Translation, node: Node) -> Linear:
    return Linear(t.terms.chosen(t.condition(node), t.terms.number(1), t.terms.number(0)), 0)


def _sum(t: Translation, node: Node) -> Linear:
    a, b = map(t.number, node.args)
    if a.term is None or b.term is None:
        kept = b if a.term is None else a
        return Linear(kept.term, a.more + b.more, kept.kind)
    calculated(t.terms, a, b)
    return Linear(t.terms.infix("+", a.term, b.term), a.more + b.more)


def _difference(t: Translation, node: Node) -> Linear:
    a, b = map(t.number, node.args)
    if b.term is None:
        return Linear(a.term, a.more - b.more, a.kind)
    calculated(t.terms, a, b)
    if a.term is None:
        return Linear(t.terms.infix("-", t.terms.number(a.more - b.more), b.term), 0)
    return Linear(t.terms.infix("-", a.term, b.term), a.more - b.more)


def _calculated(operator: str) -> NumberRule:
    return lambda t, node: Linear(t.terms.infix(operator, *map(t.plain, node.args)), 0)


def _extreme(operator: str) -> NumberRule:
    def rule(t: Translation, node: Node) -> Linear:
        numbers = [t.number(arg) for arg in node.args]
        calculated(t.terms, *numbers)
        a, b, more, kind = aligned(t.terms, *numbers, named=False)
        return Linear(t.terms.call(operator, a, b), more, kind)

    return rule


def _choice(t: Translation, node: Node) -> Linear:
    yes, no = t.arms(node)
    one, other, more, kind = aligned(t.terms, yes.number(node.args[1]), no.number(node.args[2]), named=True)
    return Linear(t.terms.chosen(t.condition(node.args[0]), one, other), more, kind)


def _selected(t: Translation, node: Node) -> Linear:
    return Linear(t.chain(node, t.plain, t.terms.number(0)), 0)


def _counted(t: Translation, node: Node) -> Linear:
    (counted,) = node.args
    return Linear(t.terms.call("Cardinality", t.set(counted, t.kind(counted) or PLAIN_SET)), 0)


def _no_number(t: Translation, node: Node) -> Linear:
    raise AssertionError(node)  # a part of the state, or a set, which the caller has dealt with


NUMBERS: Mapping[Op, NumberRule] = {
    Op.CONST: _constant,
    Op.CELL: _no_number,
    Op.ADD: _sum,
    Op.SUB: _difference,
    Op.MUL: _calculated("*"),
    Op.DIV: _calculated("\\div"),
    Op.MOD: _calculated("%"),
    Op.MIN: _extreme("Min"),
    Op.MAX: _extreme("Max"),
    Op.ITE: _choice,
    Op.SELECT: _selected,
    Op.COUNT: _counted,
    **dict.fromkeys((Op.EQ, Op.LT, Op.LE, Op.AND, Op.OR, Op.NOT, Op.TEST), _condition),
    **dict.fromkeys((Op.BITAND, Op.BITOR, Op.BITDIFF, Op.BIT), _no_number),
}
assert set(NUMBERS) == set(Op)

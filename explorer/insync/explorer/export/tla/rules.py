"""The rules of the translation, one for each operation: conditions, numbers, sets, and options as sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from insync.explorer.export.tla.terms import Form, Term
from insync.explorer.export.tla.values import PLAIN, PLAIN_SET, Kind, Linear, What, aligned, calculated
from insync.model.expressions.graph import CONDITIONS as CONDITION_OPS
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply
from insync.runtime.errors import UserError

if TYPE_CHECKING:
    from insync.explorer.export.tla.translation import Translation

__all__ = [
    "CONDITIONS",
    "NUMBERS",
    "option_of",
    "set_of",
    "truth",
]


ConditionRule = Callable[["Translation", Node], Term]


def _truth(t: Translation, node: Node) -> Term:
    return t.terms.truth(node.arg is True)


def _all(t: Translation, node: Node) -> Term:
    parts, whole = [], t.whole_equalities(node.args)
    for place, part in enumerate(node.args):
        if part in whole:
            parts.append(whole[part])
            continue
        known = t.within(node.args[:place]) if t.is_partial(part) else t
        parts.append(known.condition(part))
    return t.terms.all_of(parts)


def _any(t: Translation, node: Node) -> Term:
    parts = []
    for place, part in enumerate(node.args):
        denied = [apply(Op.NOT, one) for one in node.args[:place]] if t.is_partial(part) else []
        parts.append((t.within(denied) if denied else t).condition(part))
    return t.terms.any_of(parts)


def _not(t: Translation, node: Node) -> Term:
    return t.terms.negated(t.condition(node.args[0]))


def _equal(t: Translation, node: Node) -> Term:
    a, b = node.args
    kind = t.kind_of_both(a, b)
    if kind.what is What.TRUTH:
        for one, other in ((a, b), (b, a)):
            if other.op is Op.CONST:
                return t.truth(one) if other.lo else t.terms.negated(t.truth(one))
        return t.terms.infix("<=>", t.truth(a), t.truth(b))
    if kind.what is not What.NUMBER:
        return t.terms.infix("=", t.value(a, kind), t.value(b, kind))
    return _compared("=")(t, node)


def _compared(operator: str) -> ConditionRule:
    def rule(t: Translation, node: Node) -> Term:
        a, b = map(t.number, node.args)
        if operator != "=":
            calculated(t.terms, a, b)
        one, other, _, _ = aligned(t.terms, a, b, named=operator == "=")
        if operator == "=" and one.form in (Form.NAME, Form.NUMBER) and other.form not in (Form.NAME, Form.NUMBER):
            one, other = other, one
        return t.terms.infix(operator, one, other)

    return rule


def _ordered(operator: str) -> ConditionRule:
    def rule(t: Translation, node: Node) -> Term:
        a, b = node.args
        if t.kind_of_both(a, b).what is What.TRUTH:
            first, second = t.truth(a), t.truth(b)
            if operator == "<=":
                return t.terms.any_of([t.terms.negated(first), second])
            return t.terms.all_of([t.terms.negated(first), second])
        if t.kind_of_both(a, b).what is What.SET:
            return _fitting(t, node)
        return _compared(operator)(t, node)

    return rule


def _fitting(t: Translation, node: Node) -> Term:
    """Return whether a mask is below 2^n, that is, whether the set contains only numbers below n."""
    a, b = node.args
    mask, end, negated = (a, b, False) if node.op is Op.LT else (b, a, True)
    if node.op is Op.LE and a.op is Op.CONST and a.lo <= 0:
        return t.terms.truth(True)
    if end.op is not Op.CONST or end.lo.bit_count() != 1:
        message = f"Sets are compared as numbers here, and TLA+ has no word for that: {node!r}."
        raise UserError(message)
    kind, size = t.kind(mask) or PLAIN_SET, end.lo.bit_length() - 1
    numbers = t.terms.infix("..", t.terms.number(0), t.terms.number(size - 1))
    whole = numbers if kind.of is None or kind.of.size != size else kind.of.extent(t.terms)
    fits = t.terms.infix("\\subseteq", t.set(mask, kind), whole)
    return t.terms.negated(fits) if negated else fits


def _member(t: Translation, node: Node) -> Term:
    mask, member = node.args
    kind = t.kind(mask) or PLAIN_SET
    of = kind.of if kind.of not in (None, PLAIN) else t.kind(member)
    element = t.value(member, of or PLAIN)
    whole = kind if of is None or kind.of is of else kind.holding(of)
    return t.terms.infix("\\in", element, t.set(mask, whole))


CONDITIONS: Mapping[Op, ConditionRule] = {
    Op.CONST: _truth,
    Op.AND: _all,
    Op.OR: _any,
    Op.NOT: _not,
    Op.EQ: _equal,
    Op.LT: _ordered("<"),
    Op.LE: _ordered("<="),
    Op.TEST: _member,
    Op.BIND: lambda t, node: t.opaque(node).term,
}
assert set(CONDITIONS) == CONDITION_OPS | {Op.CONST, Op.BIND}


def truth(t: Translation, node: Node) -> Term:
    """Return the condition that a code, which is 0 or 1, equals 1."""
    terms, path = t.terms, t.paths.of(node)
    if path is not None and path.kind.what is What.TRUTH:
        return t.read(path)
    some = t.option_read(node)
    if some is not None:
        kind = t.kind(some)
        assert kind is not None
        return terms.infix("\\in", terms.truth(True), t.some(some, kind))
    if node.op is Op.CONST:
        return terms.truth(node.lo == 1)
    if node.op in (Op.CELL, Op.VAR, Op.BIND):
        return t.opaque(node).term
    if node.op is Op.ITE:
        return _either(t, node)
    if node.op is Op.SELECT:
        return t.chain(node, t.truth, terms.truth(False))
    if node.op in (Op.BITAND, Op.BITOR, Op.BITDIFF):
        a, b = map(t.truth, node.args)
        if node.op is Op.BITDIFF:
            return terms.all_of([a, terms.negated(b)])
        return terms.all_of([a, b]) if node.op is Op.BITAND else terms.any_of([a, b])
    return terms.infix("=", t.plain(node), terms.number(1))


def _either(t: Translation, node: Node) -> Term:
    """Return the choice between two conditions, without IF where one of them is TRUE or FALSE."""
    terms, condition = t.terms, t.condition(node.args[0])
    yes, no = t.arms(node)
    then, otherwise = yes.truth(node.args[1]), no.truth(node.args[2])
    known = {terms.truth(False): False, terms.truth(True): True}
    if then in known:
        first = condition if known[then] else terms.negated(condition)
        return (terms.any_of if known[then] else terms.all_of)([first, otherwise])
    if otherwise in known:
        first = terms.negated(condition) if known[otherwise] else condition
        return (terms.any_of if known[otherwise] else terms.all_of)([first, then])
    return terms.chosen(condition, then, otherwise)


# Numbers.


NumberRule = Callable[["Translation", Node], Linear]


def _number(t: Translation, node: Node) -> Linear:
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
    raise AssertionError(node)  # a part of the state, a variable, a quantifier or a set, which the caller handles


NUMBERS: Mapping[Op, NumberRule] = {
    Op.CONST: _number,
    **dict.fromkeys((Op.CELL, Op.VAR, Op.READ, Op.BIND), _no_number),
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


# Masks as sets, and options of values that are not numbers as sets of at most one value.


_OPERATORS = {Op.BITAND: "\\cap", Op.BITOR: "\\cup", Op.BITDIFF: "\\"}


def set_of(t: Translation, node: Node, kind: Kind) -> Term:
    """Return the set of a kind that a mask encodes."""
    terms, of = t.terms, kind.of or PLAIN
    some = t.option_read(node)
    if some is not None:
        inside = t.kind(some)
        assert inside is not None
        return terms.call("UNION", t.some(some, inside))
    if node.op in _OPERATORS:
        return terms.infix(_OPERATORS[node.op], *(t.set(arg, kind) for arg in node.args))
    if node.op is Op.BIT:
        (member,) = node.args
        single = terms.set_of([t.value(member, of)])
        if member.lo >= 0:
            return single
        return terms.chosen(terms.infix("<=", terms.number(0), t.plain(member)), single, terms.set_of([]))
    return _common(t, node, kind, t.set)


def option_of(t: Translation, node: Node, kind: Kind) -> Term:
    """Return the set of at most one value that the code of an option encodes."""
    assert kind.of is not None
    if node.op is Op.ADD and node.args[1].op is Op.CONST and node.args[1].lo == 1:
        return t.terms.set_of([t.value(node.args[0], kind.of)])
    return _common(t, node, kind, t.some)


def _common(t: Translation, node: Node, kind: Kind, again: Callable[[Node, Kind], Term]) -> Term:
    """Return the set for a constant, a part of the state or a choice."""
    terms, path = t.terms, t.paths.of(node)
    if path is not None and path.kind.what is kind.what:
        return t.read(path)
    if node.op is Op.CONST:
        return kind.literal(terms, node.lo)
    if node.op in (Op.CELL, Op.VAR) and path is None:
        return t.opaque(node).term
    if node.op is Op.ITE:
        yes, no = t.arms(node)
        then = yes.value(node.args[1], kind)
        return terms.chosen(t.condition(node.args[0]), then, no.value(node.args[2], kind))
    if node.op is Op.SELECT:
        return t.chain(node, lambda one: again(one, kind), kind.literal(terms, 0))
    what = "set" if kind.what is What.SET else "value that may be none"
    message = f"TLA+ has no word for this {what}, which is calculated as a number: {node!r}."
    raise UserError(message)

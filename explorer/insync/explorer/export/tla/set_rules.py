"""Masks as sets of TLA+, and options of what is no number as sets of at most one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from insync.explorer.export.tla.terms import Term
from insync.explorer.export.tla.values import PLAIN, Kind, What
from insync.model.errors import UserError
from insync.model.expressions.graph import Node, Op

if TYPE_CHECKING:
    from insync.explorer.export.tla.translation import Translation

__all__ = ["option_of", "set_of"]

_OPERATORS = {Op.BITAND: "\\cap", Op.BITOR: "\\cup", Op.BITDIFF: "\\"}


def set_of(t: Translation, node: Node, kind: Kind) -> Term:
    """Return the set of a kind that a mask stands for."""
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
    """Return the set of at most one value that the code of an option stands for."""
    assert kind.of is not None
    if node.op is Op.ADD and node.args[1].op is Op.CONST and node.args[1].lo == 1:
        return t.terms.set_of([t.value(node.args[0], kind.of)])
    return _common(t, node, kind, t.some)


def _common(t: Translation, node: Node, kind: Kind, again: Callable[[Node, Kind], Term]) -> Term:
    """Return what constants, parts of the state and choices are."""
    terms, path = t.terms, t.paths.of(node)
    if path is not None and path.kind.what is kind.what:
        return t.read(path)
    if node.op is Op.CONST:
        return kind.literal(terms, node.lo)
    if node.op is Op.CELL and path is None:
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

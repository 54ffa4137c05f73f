"""A choice between two values, of which domain only its use says: what `If` gives for NONE, records and arrays."""

from __future__ import annotations

from insync.model.domains.symbolic import Symbolic
from insync.model.domains.values import Bool, Nothing, condition, decides
from insync.model.expressions.graph import Op
from insync.model.expressions.simplify import apply, combine

__all__ = ["Either"]


class Either(Symbolic):
    """What `If` gives where its two values alone do not say of which domain it is: to be assigned or compared."""

    __slots__ = ("otherwise", "test", "then")
    __hash__ = Symbolic.__hash__
    compares_last = True

    def __init__(self, test: Bool, then: object, otherwise: object) -> None:
        self.test, self.then, self.otherwise = test, then, otherwise

    def __repr__(self) -> str:
        return "this choice"

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        yes, no = (condition(self.test.graph, _same(arm, other)) for arm in (self.then, self.otherwise))
        graph, test = self.test.graph, self.test.node
        chosen = [combine(graph, Op.AND, [test, yes]), combine(graph, Op.AND, [apply(Op.NOT, test), no])]
        return Bool(combine(graph, Op.OR, chosen))

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return ~(self == other)


def _same(arm: object, other: object) -> object:
    if decides(arm) or decides(other):
        return arm == other
    none, no_other = (value is None or isinstance(value, Nothing) for value in (arm, other))
    return none and no_other if none or no_other else arm == other

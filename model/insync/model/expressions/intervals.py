"""Interval analysis (Cousot and Cousot 1977): shows from the guard that an assignment fits its field.

A guard's comparisons narrow the ranges of the nodes that they mention, and so the ranges of all nodes built on those.
Where all parts of a disjunction but one are known to be false, that one holds. A condition that this analysis cannot
show is checked by every engine when the model runs.
"""

from __future__ import annotations

from collections.abc import Iterable

from insync.model.expressions.graph import LIFTED, Node, Op, range_of

__all__ = ["Facts", "always_holds"]

Ranges = dict[int, tuple[int, int]]

_GIVEN = frozenset({Op.CONST, Op.CELL}) | LIFTED
"""The operations whose ranges do not follow from those of arguments."""

_FAR = 1 << 63


class Facts:
    """The known ranges of nodes where some conditions hold.

    Args:
        guard: the conditions.
    """

    def __init__(self, guard: Iterable[Node]) -> None:
        self._conjuncts = list(guard)
        self._ranges: Ranges = {}
        self._found: Ranges = {}
        for _ in range(2):  # in the second pass a comparison uses the ranges that later ones narrowed
            for conjunct in self._conjuncts:
                _learn(conjunct, self._ranges)

    def show(self, condition: Node) -> bool:
        """Return whether a condition follows by ranges alone; False means "not shown"."""
        return condition in self._conjuncts or _ranges(condition, self._ranges, self._found)[0] == 1


def always_holds(guard: Iterable[Node], condition: Node) -> bool:
    """Return whether the guard implies the condition by ranges alone; False means "not shown"."""
    return Facts(guard).show(condition)


def _known(node: Node, facts: Ranges) -> tuple[int, int]:
    return facts.get(node.index, (node.lo, node.hi))


def _narrow(node: Node, lo: int, hi: int, facts: Ranges) -> None:
    known = facts.get(node.index)
    known_lo, known_hi = (node.lo, node.hi) if known is None else known
    facts[node.index] = (lo if lo > known_lo else known_lo, hi if hi < known_hi else known_hi)
    if node.op is Op.ADD and node.args[1].op is Op.CONST:
        shift = node.args[1].lo
        _narrow(node.args[0], lo - shift, hi - shift, facts)
    elif node.op is Op.DIV:
        n = node.args[1].lo
        _narrow(node.args[0], lo * n, hi * n + n - 1, facts)


def _denied(condition: Node, facts: Ranges) -> bool:
    """Return whether a condition is known to be false."""
    if condition.op is Op.NOT:
        return _known(condition.args[0], facts)[0] == 1
    return _known(condition, facts)[1] == 0


def _learn(conjunct: Node, facts: Ranges) -> None:
    """Narrow the ranges of the nodes in a condition that holds."""
    facts[conjunct.index] = (1, 1)
    if conjunct.op is Op.AND:
        for part in conjunct.args:
            _learn(part, facts)
    elif conjunct.op is Op.OR:
        possible = [part for part in conjunct.args if not _denied(part, facts)]
        if len(possible) == 1:
            _learn(possible[0], facts)
    elif conjunct.op in (Op.LT, Op.LE):
        a, b = conjunct.args
        gap = 1 if conjunct.op is Op.LT else 0
        _narrow(a, -_FAR, _known(b, facts)[1] - gap, facts)
        _narrow(b, _known(a, facts)[0] + gap, _FAR, facts)
    elif conjunct.op is Op.EQ:
        a, b = conjunct.args
        _narrow(a, *_known(b, facts), facts)
        _narrow(b, *_known(a, facts), facts)
    elif conjunct.op is Op.NOT:
        (denied,) = conjunct.args
        facts[denied.index] = (0, 0)
        if denied.op is Op.EQ and denied.args[1].op is Op.CONST:
            a, b = denied.args
            lo, hi = _known(a, facts)
            _narrow(a, lo + (lo == b.lo), hi - (hi == b.lo), facts)


def _ranges(root: Node, facts: Ranges, found: Ranges) -> tuple[int, int]:
    """Return the range of a node under facts.

    Args:
        root: the node.
        facts: the ranges that are known.
        found: the ranges of nodes under these facts so far; those of the node and of its arguments are added.
    """
    for node in _unknown(root, found):
        if node.op in _GIVEN:
            lo, hi = node.lo, node.hi
        elif node.is_bool:
            lo, hi = _condition(node, [found[a.index] for a in node.args])
        else:
            lo, hi = range_of(node.op, [found[a.index] for a in node.args])
        known = facts.get(node.index)
        if known is not None:
            lo, hi = max(lo, known[0]), min(hi, known[1])
        # An empty range means that the guard never holds. Every answer is correct then, and this one is consistent.
        found[node.index] = (lo, hi) if lo <= hi else (node.lo, node.hi)
    return found[root.index]


def _unknown(root: Node, found: Ranges) -> list[Node]:
    """Return a node and the nodes below it that have no range yet, arguments first."""
    seen: dict[int, Node] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node.index not in seen and node.index not in found:
            seen[node.index] = node
            stack.extend(node.args)
    return [seen[index] for index in sorted(seen)]


def _condition(node: Node, args: list[tuple[int, int]]) -> tuple[int, int]:
    match node.op:
        case Op.AND:
            return min(a[0] for a in args), min(a[1] for a in args)
        case Op.OR:
            return max(a[0] for a in args), max(a[1] for a in args)
        case Op.NOT:
            return 1 - args[0][1], 1 - args[0][0]
        case Op.LT:
            (alo, ahi), (blo, bhi) = args
            return int(ahi < blo), int(alo < bhi)
        case Op.LE:
            (alo, ahi), (blo, bhi) = args
            return int(ahi <= blo), int(alo <= bhi)
        case Op.EQ:
            (alo, ahi), (blo, bhi) = args
            return int(alo == ahi == blo == bhi), int(alo <= bhi and blo <= ahi)
    return 0, 1

"""Rewrite rules: `apply` and `combine` make the simplest node for an operation, by rules that hold for all values.

The rest of the package makes operations with these two. A rule looks at constants, at the ranges of its arguments and
at one level of their structure, never deeper, so that making a node takes constant time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from insync.model.expressions.graph import LARGEST_SET, Graph, Node, Op, Quantifier, fold
from insync.model.expressions.semantics import MEANING

__all__ = ["apply", "as_number", "combine", "substituted"]


def apply(op: Op, *args: Node) -> Node:
    """Return a node equivalent to `op` applied to the arguments, for any operation but CONST, CELL, AND and OR."""
    graph = args[0].graph
    asked = (op, args)
    found = graph.applied.get(asked)
    if found is None:
        found = graph.applied[asked] = _applied(graph, op, args)
    return found


def _applied(graph: Graph, op: Op, args: tuple[Node, ...]) -> Node:
    for arg in args:
        if arg.op is not Op.CONST:
            rule = _RULES.get(op)
            found = rule(graph, *args) if rule is not None else None
            return found if found is not None else graph.node(op, args)
    value = MEANING[op](*[a.arg for a in args])
    return graph.boolean(value) if isinstance(value, bool) else graph.const(value)


def as_number(node: Node) -> Node:
    """Return a number as it is, and a condition as 1 where it holds, else 0."""
    graph = node.graph
    return apply(Op.ITE, node, graph.const(1), graph.const(0)) if node.is_bool else node


def combine(graph: Graph, op: Op, conditions: list[Node], quantifier: Quantifier | None = None) -> Node:
    """Return the AND or OR of conditions; a quantifier keeps the labels of the conditions that are left."""
    if quantifier is not None:
        return _quantified(graph, op, conditions, quantifier)
    neutral, absorbing = (graph.true, graph.false) if op is Op.AND else (graph.false, graph.true)
    kept: dict[Node, None] = {}
    for condition in conditions:
        if condition is absorbing:
            return absorbing
        if condition.op is op and condition.arg is None:
            kept.update(dict.fromkeys(condition.args))
        elif condition is not neutral:
            kept[condition] = None
    if not kept:
        return neutral
    return next(iter(kept)) if len(kept) == 1 else graph.node(op, tuple(kept))


def _quantified(graph: Graph, op: Op, conditions: list[Node], quantifier: Quantifier) -> Node:
    neutral, absorbing = (graph.true, graph.false) if op is Op.AND else (graph.false, graph.true)
    kept: dict[Node, str] = {}
    for condition, label in zip(conditions, quantifier.labels, strict=True):
        if condition is absorbing:
            return absorbing
        if condition is not neutral:
            kept.setdefault(condition, label)
    return graph.node(op, tuple(kept), Quantifier(quantifier.variable, tuple(kept.values()))) if kept else neutral


def substituted(graph: Graph, nodes: Sequence[Node], cells: Sequence[Node]) -> list[Node]:
    """Return the nodes with a node substituted for each cell.

    Args:
        graph: the graph of the result and of the substituted nodes.
        nodes: nodes of any graph.
        cells: the node to substitute for each cell, by the cell's number.
    """

    def substitute(node: Node, args: list[Node]) -> Node:
        if node.op is Op.CELL:
            return cells[node.cell]
        if node.op is Op.CONST:
            return graph.boolean(bool(node.value)) if node.is_bool else graph.const(node.lo)
        if node.op in (Op.AND, Op.OR):
            return combine(graph, node.op, args, node.quantifier)
        return apply(node.op, *args)

    return fold(nodes, substitute)


def _split(node: Node) -> tuple[Node | None, int]:
    """Return (rest, constant) such that the node is their sum; the rest of a constant is None."""
    if node.op is Op.CONST:
        return None, node.lo
    if node.op is Op.ADD and node.args[1].op is Op.CONST:
        return node.args[0], node.args[1].lo
    return node, 0


def _add(graph: Graph, a: Node, b: Node) -> Node | None:
    if a.op is Op.CONST:
        a, b = b, a
    if b.op is not Op.CONST:
        return None
    rest, constant = _split(a)
    total = constant + b.lo
    assert rest is not None
    return rest if total == 0 else graph.node(Op.ADD, (rest, graph.const(total)))


def _sub(graph: Graph, a: Node, b: Node) -> Node | None:
    if a is b:
        return graph.const(0)
    return _add(graph, a, graph.const(-b.lo)) if b.op is Op.CONST else None


def _mul(graph: Graph, a: Node, b: Node) -> Node | None:
    if a.op is Op.CONST:
        a, b = b, a
    if b.op is Op.CONST and b.lo in (0, 1):
        return a if b.lo == 1 else b
    return graph.node(Op.MUL, (a, b)) if b.op is Op.CONST else None


def _divisor(b: Node) -> int:
    assert b.op is Op.CONST, f"{b} is no constant; only Divided makes divisions"
    assert b.lo > 0, f"{b} is below 1; only Divided makes divisions"
    return b.lo


def _times(node: Node) -> int:
    """Return a known divisor of every value of the node."""
    return node.args[1].lo if node.op is Op.MUL and node.args[1].op is Op.CONST else 1


def _div(graph: Graph, a: Node, b: Node) -> Node | None:
    n = _divisor(b)
    if n == 1:
        return a
    if a.lo // n == a.hi // n:
        return graph.const(a.lo // n)
    if _times(a) % n == 0:
        return apply(Op.MUL, a.args[0], graph.const(_times(a) // n))
    if a.op is Op.DIV and (n * a.args[1].lo).bit_length() <= LARGEST_SET:
        return apply(Op.DIV, a.args[0], graph.const(n * a.args[1].lo))
    return None


def _mod(graph: Graph, a: Node, b: Node) -> Node | None:
    n = _divisor(b)
    if a.lo // n == a.hi // n:
        return apply(Op.SUB, a, graph.const(a.lo // n * n))
    if _times(a) % n == 0:
        return graph.const(0)
    if a.op is Op.MOD and a.args[1].lo % n == 0:
        return apply(Op.MOD, a.args[0], b)
    rest, more = _split(a)
    if rest is not None and not 0 <= more < n:
        return apply(Op.MOD, apply(Op.ADD, rest, graph.const(more % n)), b)
    return None


def _min(graph: Graph, a: Node, b: Node) -> Node | None:
    if a.hi <= b.lo or a is b or _joins(a, Op.MIN, b):
        return a
    return b if b.hi <= a.lo or _joins(b, Op.MIN, a) else None


def _joins(a: Node, op: Op, b: Node) -> bool:
    """Return whether a node is the result of an operation on another one."""
    return a.op is op and b in a.args


def _max(graph: Graph, a: Node, b: Node) -> Node | None:
    if a.lo >= b.hi or a is b or _joins(a, Op.MAX, b):
        return a
    return b if b.lo >= a.hi or _joins(b, Op.MAX, a) else None


def _eq(graph: Graph, a: Node, b: Node) -> Node | None:
    """Equate one number with another plus a constant from 0, so that equal equations have one form."""
    if a is b:
        return graph.true
    if a.hi < b.lo or b.hi < a.lo:
        return graph.false
    (x, c), (y, d) = _split(a), _split(b)
    if x is None:
        (x, c), (y, d) = (y, d), (x, c)
    assert x is not None
    if y is not None:
        if c > d:
            (x, c), (y, d) = (y, d), (x, c)
        other = apply(Op.ADD, y, graph.const(d - c)) if c != d else y
        return graph.node(Op.EQ, (x, other) if x.index < other.index else (other, x))
    if x.op is Op.ITE and x.args[1].op is Op.CONST and x.args[2].op is Op.CONST:
        if_true, if_false = (arm.lo == d - c for arm in x.args[1:])
        if if_true != if_false:
            return x.args[0] if if_true else apply(Op.NOT, x.args[0])
    target = graph.const(d - c)
    if x.hi < target.lo or target.hi < x.lo:
        return graph.false
    return graph.node(Op.EQ, (x, target))


def _order(strict: bool) -> Callable[[Graph, Node, Node], Node | None]:
    def rule(graph: Graph, a: Node, b: Node) -> Node | None:
        if a is b:
            return graph.boolean(not strict)
        if a.hi < b.lo or (not strict and a.hi <= b.lo):
            return graph.true
        if b.hi < a.lo or (strict and b.hi <= a.lo):
            return graph.false
        return None

    return rule


def _not(graph: Graph, a: Node) -> Node | None:
    if a.op is Op.NOT:
        return a.args[0]
    if a.op in (Op.LT, Op.LE):
        return apply(Op.LE if a.op is Op.LT else Op.LT, a.args[1], a.args[0])
    return None


def _ite(graph: Graph, condition: Node, then: Node, other: Node) -> Node | None:
    if condition.op is Op.CONST:
        return then if condition is graph.true else other
    if then is other:
        return then
    if condition.op is Op.NOT:
        return apply(Op.ITE, condition.args[0], other, then)
    if then.op is Op.ITE and then.args[0] is condition:
        return apply(Op.ITE, condition, then.args[1], other)
    if other.op is Op.ITE and other.args[0] is condition:
        return apply(Op.ITE, condition, then, other.args[2])
    return None


def _select(graph: Graph, index: Node, *elements: Node) -> Node | None:
    if index.op is Op.CONST:
        place = index.lo
        return elements[place] if 0 <= place < len(elements) else graph.const(0)
    if index.hi < 0 or index.lo >= len(elements):
        return graph.const(0)
    if index.lo >= 0 and index.hi < len(elements) and len({id(e) for e in elements[index.lo : index.hi + 1]}) == 1:
        return elements[index.lo]
    return None


def _bitand(graph: Graph, a: Node, b: Node) -> Node | None:
    return a if a is b or a.hi == 0 else b if b.hi == 0 else None


def _bitor(graph: Graph, a: Node, b: Node) -> Node | None:
    return a if a is b or b.hi == 0 else b if a.hi == 0 else None


def _bitdiff(graph: Graph, a: Node, b: Node) -> Node | None:
    return graph.const(0) if a is b or a.hi == 0 else a if b.hi == 0 else None


def _test(graph: Graph, mask: Node, index: Node) -> Node | None:
    if index.op is not Op.CONST or mask.op not in (Op.BITOR, Op.BITDIFF):
        return None
    a, b = (apply(Op.TEST, part, index) for part in mask.args)
    if b is graph.true:
        return graph.boolean(mask.op is Op.BITOR)
    return a if b is graph.false else None


_RULES: dict[Op, Callable[..., Node | None]] = {
    Op.ADD: _add,
    Op.SUB: _sub,
    Op.MUL: _mul,
    Op.DIV: _div,
    Op.MOD: _mod,
    Op.MIN: _min,
    Op.MAX: _max,
    Op.EQ: _eq,
    Op.LT: _order(strict=True),
    Op.LE: _order(strict=False),
    Op.NOT: _not,
    Op.ITE: _ite,
    Op.SELECT: _select,
    Op.BITAND: _bitand,
    Op.BITOR: _bitor,
    Op.BITDIFF: _bitdiff,
    Op.TEST: _test,
}

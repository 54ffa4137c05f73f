"""Conditions with one of them taken away, or one part of one, in all bindings of an action or method at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from insync.model.expressions.graph import Graph, Node, Op, Quantifier
from insync.model.expressions.simplify import combine

__all__ = ["Weakened", "weakened"]


@dataclass(frozen=True, slots=True)
class Weakened:
    """What is left of some conditions.

    Attributes:
        binding: a binding that has the condition, to name it by.
        condition: the condition.
        part: the part of it that is taken away; None where it is all.
        left: for each binding that it changes, the conditions that are left.
    """

    binding: int
    condition: Node
    part: Node | None
    left: Mapping[int, list[Node]]


def weakened(conditions: Mapping[int, Sequence[Node]]) -> Iterator[Weakened]:
    """Take away each condition, and each part of one that is made of parts.

    Args:
        conditions: those of each binding, by its number.
    """
    binding = max(conditions, key=lambda number: len(conditions[number]))
    most = conditions[binding]
    rows = {number: _aligned(most, own) for number, own in conditions.items()}
    for place, condition in enumerate(most):
        left = {
            number: [own for own in conditions[number] if own is not row[place]]
            for number, row in rows.items()
            if row[place] is not None
        }
        yield Weakened(binding, condition, None, left)
        for part, gone in enumerate(_parts(condition)):
            weaker = {
                number: _weaker(conditions[number], own, part)
                for number, row in rows.items()
                if (own := row[place]) is not None and part < len(_parts(own))
            }
            yield Weakened(binding, condition, gone, weaker)


def _weaker(conditions: Sequence[Node], one: Node, part: int) -> list[Node]:
    """Return conditions without a part of one of them."""
    graph = one.graph
    weaker = _without_part(graph, one, part)
    made = [weaker if condition is one else condition for condition in conditions]
    return [condition for condition in made if condition is not graph.true]


def _parts(conjunct: Node) -> Sequence[Node]:
    """The conditions that must all hold within a quantified conjunct or an alternative of one; none elsewhere."""
    if isinstance(conjunct.arg, Quantifier) and conjunct.op is Op.AND:
        return max((_inner(child) for child in conjunct.args), key=len, default=())
    return _inner(conjunct) if conjunct.op is Op.OR else ()


def _inner(node: Node) -> Sequence[Node]:
    """The parts of a conjunction, or of the last alternative that is one."""
    if node.op is Op.AND and node.arg is None:
        return node.args
    if node.op is Op.OR:
        return next((_inner(child) for child in reversed(node.args) if _inner(child)), ())
    return ()


def _without_part(graph: Graph, node: Node, part: int) -> Node:
    if isinstance(node.arg, Quantifier) and node.op is Op.AND:
        size = len(_parts(node))  # where simplification has left less, it is not known which parts these are
        children = [_without_part(graph, c, part) if len(_inner(c)) == size else c for c in node.args]
        return combine(graph, Op.AND, children, node.arg)
    if node.op is Op.AND and node.arg is None:
        return combine(graph, Op.AND, [child for number, child in enumerate(node.args) if number != part])
    if node.op is Op.OR:
        last = max((number for number, child in enumerate(node.args) if _inner(child)), default=None)
        if last is not None:
            changed = _without_part(graph, node.args[last], part)
            return combine(graph, Op.OR, [*node.args[:last], changed, *node.args[last + 1 :]])
    return node


def _aligned(most: Sequence[Node], guard: Sequence[Node]) -> list[Node | None]:
    """For each of the longest conditions the one of another binding that was written at the same place."""
    if len(most) == len(guard):
        return list(guard)
    shapes = [[_shape(node) for node in one] for one in (most, guard)]
    row: list[Node | None] = [None] * len(most)
    for at, other, size in difflib.SequenceMatcher(None, shapes[0], shapes[1], autojunk=False).get_matching_blocks():
        row[at : at + size] = guard[other : other + size]
    return row


def _shape(node: Node) -> str:
    return f"{node.op.value}({','.join(map(_shape, node.args))})" if node.op is not Op.SELECT else "select"

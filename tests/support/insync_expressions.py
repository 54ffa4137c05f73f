"""Random expressions: what they mean by `MEANING` alone, and the nodes that the rest of the package makes of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st

from insync.model.expressions.graph import Graph, Node, Op, Quantifier
from insync.model.expressions.semantics import MEANING
from insync.model.expressions.simplify import apply, combine

__all__ = ["SIZES", "Tree", "conditions", "direct", "every_state", "made", "numbers", "sets"]

SIZES = (2, 3, 4, 8, 1)
"""The cells of every random expression; the fourth is a set of three members."""

MASK = 3


@dataclass(frozen=True, slots=True)
class Tree:
    """An operation on trees; `arg` is a constant's value or a cell's number."""

    op: Op
    args: tuple[Tree, ...] = ()
    arg: int = 0
    labelled: bool = False


def direct(tree: Tree, codes: Sequence[int]) -> int:
    """Return what a tree means, by the definition of its operations and nothing else."""
    if tree.op is Op.CONST:
        return tree.arg
    if tree.op is Op.CELL:
        return codes[tree.arg]
    return MEANING[tree.op](*[direct(a, codes) for a in tree.args])


def made(graph: Graph, tree: Tree) -> Node:
    """Return the node that is made of a tree."""
    if tree.op is Op.CONST:
        return graph.boolean(tree.arg) if isinstance(tree.arg, bool) else graph.const(tree.arg)
    if tree.op is Op.CELL:
        return graph.cell(tree.arg)
    args = [made(graph, a) for a in tree.args]
    if tree.op in (Op.AND, Op.OR):
        labels = tuple(str(i) for i in range(len(args)))
        return combine(graph, tree.op, args, Quantifier("x", labels) if tree.labelled else None)
    return apply(tree.op, *args)


def every_state() -> Iterator[tuple[int, ...]]:
    """Yield the codes of every state."""
    return itertools.product(*(range(size) for size in SIZES))


def _of(op: Op, *args: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.tuples(*args).map(lambda parts: Tree(op, parts))


def _joined(op: Op, part: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    parts = st.lists(part, min_size=0, max_size=4)
    return st.builds(lambda ps, labelled: Tree(op, tuple(ps), labelled=labelled), parts, st.booleans())


_CELLS = st.sampled_from([Tree(Op.CELL, arg=i) for i in range(len(SIZES))])
_INTS = st.integers(-3, 6).map(lambda i: Tree(Op.CONST, arg=i))
_MASKS = st.integers(0, 15).map(lambda i: Tree(Op.CONST, arg=i))
_MASK_CELL = st.just(Tree(Op.CELL, arg=MASK))
_DIVISORS = st.integers(1, 7).map(lambda i: Tree(Op.CONST, arg=i))
_TRUTHS = st.booleans().map(lambda b: Tree(Op.CONST, arg=b))


@cache
def numbers(depth: int) -> st.SearchStrategy[Tree]:
    """Return random numbers of at most this depth."""
    leaf = _CELLS | _INTS
    if depth == 0:
        return leaf
    num, cond = numbers(depth - 1), conditions(depth - 1)
    arithmetic = [_of(op, num, num) for op in (Op.ADD, Op.SUB, Op.MUL, Op.MIN, Op.MAX)]
    arithmetic += [_of(op, num, _DIVISORS) for op in (Op.DIV, Op.MOD)]
    select = st.lists(num, min_size=1, max_size=5).map(lambda parts: Tree(Op.SELECT, tuple(parts)))
    return st.one_of(leaf, *arithmetic, _of(Op.ITE, cond, num, num), select, _of(Op.COUNT, sets(depth - 1)))


@cache
def sets(depth: int) -> st.SearchStrategy[Tree]:
    """Return random sets of at most this depth."""
    leaf = _MASK_CELL | _MASKS | _of(Op.BIT, _CELLS | st.integers(-1, 6).map(lambda i: Tree(Op.CONST, arg=i)))
    if depth == 0:
        return leaf
    part = sets(depth - 1)
    return st.one_of(
        leaf,
        *[_of(op, part, part) for op in (Op.BITAND, Op.BITOR, Op.BITDIFF)],
        _of(Op.ITE, conditions(depth - 1), part, part),
    )


@cache
def conditions(depth: int) -> st.SearchStrategy[Tree]:
    """Return random conditions of at most this depth."""
    if depth == 0:
        return _TRUTHS | _of(Op.EQ, _CELLS, _INTS) | _of(Op.LT, _CELLS, _INTS)
    num, mask, cond = numbers(depth - 1), sets(depth - 1), conditions(depth - 1)
    return st.one_of(
        *[_of(op, num, num) for op in (Op.EQ, Op.LT, Op.LE)],
        _of(Op.EQ, mask, mask),
        _of(Op.TEST, mask, num),
        _of(Op.NOT, cond),
        _joined(Op.AND, cond),
        _joined(Op.OR, cond),
    )

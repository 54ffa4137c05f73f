"""What a model compares: the numbers that places of its states are compared with, and the sorts whose order counts."""

from __future__ import annotations

from dataclasses import dataclass

from insync.model import Model
from insync.model.domains import composite as d
from insync.model.domains.layout import cell_domains
from insync.model.expressions.graph import Node, Op, reachable
from insync.properties.invariants import kept_for
from insync.properties.registry import default_names, judge

__all__ = ["Compared", "compared"]

_MOST = 6
_ORDERS = (Op.LT, Op.LE, Op.MIN, Op.MAX)


@dataclass(frozen=True, slots=True)
class Compared:
    """What the guards, updates and properties of a model compare.

    Attributes:
        by_shape: for each domain of numbers, by its shape, those that its values are compared with.
        sorts: the sorts whose members are compared as to which is less.
    """

    by_shape: dict[tuple[object, ...], set[int]]
    sorts: frozenset[type]

    def numbers(self, domain: d.Int) -> list[int]:
        """Return the numbers of a domain to compare its values with: its least and greatest, and the model's own."""
        mine = self.by_shape.get(domain.shape(), set())
        return sorted({domain.lo, domain.hi, *sorted(n for n in mine if domain.lo < n < domain.hi)[:_MOST]})

    def ordered(self, sort: type | None) -> bool:
        """Return whether the model compares members of a sort as to which is less."""
        return sort in self.sorts


def compared(model: Model) -> Compared:
    """Return what a model's guards, updates and properties compare."""
    return kept_for(model, Compared, lambda: _compared(model))


def _compared(model: Model) -> Compared:
    program = model.program
    roots = [node for action in program.actions for node in action.guard]
    roots += [node for action in program.actions for _, node in action.updates]
    domains = list(cell_domains(model.state))
    by_shape: dict[tuple[object, ...], set[int]] = {}
    sorts: set[type] = set()
    for node in reachable([*roots, *judge(model, default_names(model)).nodes]):
        if node.op not in (*_ORDERS, Op.EQ):
            continue
        for one, other in (node.args, node.args[::-1]):
            for cell, more in _cells(one):
                domain = domains[cell]
                of = domain.of if isinstance(domain, d.OptionalScalar) else domain
                if isinstance(domain, d.Int) and other.op is Op.CONST:
                    by_shape.setdefault(domain.shape(), set()).add(other.lo - more + domain.lo)
                elif isinstance(of, d.Member) and node.op in _ORDERS:
                    sorts.add(of.sort)
    return Compared(by_shape, frozenset(sorts))


def _cells(node: Node) -> list[tuple[int, int]]:
    """Return the cells whose code, with a number added to it, is the value of a node."""
    more = 0
    if node.op is Op.ADD and node.args[1].op is Op.CONST:
        node, more = node.args[0], node.args[1].lo
    chosen = node.args[1:] if node.op is Op.SELECT else (node,)
    return [(int(str(one.arg)), more) for one in chosen if one.op is Op.CELL]

"""What an action makes of the state: for each variable that changes its new value, whole or by EXCEPT."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from insync.explorer.export.tla.definitions import NewValue
from insync.explorer.export.tla.state import Shapes
from insync.explorer.export.tla.terms import Form, Term
from insync.explorer.export.tla.translation import Translation
from insync.explorer.export.tla.values import Kind
from insync.model.domains import composite as d
from insync.model.expressions.graph import Node

__all__ = ["changed_variables"]

PartChange = tuple[str, tuple[Term, ...], Term]
"""A change below a variable: the path with `[]` for each index, the indexes, and the value."""


def changed_variables(
    shapes: Shapes, translation: Translation, state: d.State, updates: Mapping[int, Node]
) -> tuple[list[NewValue], list[str]]:
    """Return the variables that change, and the names of those that do not.

    Args:
        shapes: of the state.
        translation: of the nodes, where the guard of the action holds.
        state: the domain.
        updates: the node of the new code of each cell that changes.
    """
    cells = shapes.cells
    live = {number: node for number, node in updates.items() if cells[number].kind.size > 1}
    finder = _Finder(shapes, lambda number, kind: translation.value(live[number], kind), set(live))
    changes, same = [], []
    for name, domain in state.fields.items():
        if not shapes.live(domain):
            continue
        found = list(finder.changes(domain, state.offsets[name], "", ()))
        if found:
            changes.append(NewValue(name, _new_value(shapes, name, found)))
        else:
            same.append(name)
    return changes, same


def _new_value(shapes: Shapes, name: str, found: Sequence[PartChange]) -> Term:
    if found[0][0] == "":
        return found[0][2]
    args = [shapes.terms.name(name)]
    for _, indexes, value in found:
        args += [*indexes, value]
    return shapes.terms.make(Form.EXCEPT, args, fields=[path for path, _, _ in found])


class _Finder:
    """Finds the largest parts of a variable that are given anew as a whole."""

    def __init__(self, shapes: Shapes, leaf: Callable[[int, Kind], Term], changed: set[int]) -> None:
        self.shapes, self.leaf, self.changed = shapes, leaf, changed

    def changes(self, domain: d.Domain, at: int, path: str, indexes: tuple[Term, ...]) -> Iterator[PartChange]:
        """Yield the changes of a part of the state whose cells begin at a number."""
        live = {at + offset for offset, (_, size) in enumerate(domain.cells("")) if size > 1}
        touched = live & self.changed
        if not touched:
            return
        if touched == live and type(domain) not in _BY_PLACE:
            yield path, indexes, self.shapes.value(domain, at, self.leaf)
            return
        for step, offset, inner in _INNER[type(domain)](self.shapes, domain):
            more = (*indexes, *step[1:])
            yield from self.changes(inner, at + offset, path + str(step[0]), more)


Inner = Iterator[tuple[tuple[Any, ...], int, d.Domain]]


def _scalar(shapes: Shapes, domain: d.Scalar) -> Inner:
    raise AssertionError(domain)  # it has one cell, which is given as a whole


def _record(shapes: Shapes, domain: d.Record) -> Inner:
    return (((f".{name}",), domain.offsets[name], inner) for name, inner in domain.fields.items())


def _option(shapes: Shapes, domain: d.Option) -> Inner:
    assert isinstance(domain.of, d.Record)
    yield (f".{shapes.there(domain)}",), 0, d.Boolean()
    yield from ((step, 1 + offset, inner) for step, offset, inner in _record(shapes, domain.of))


def _array(shapes: Shapes, domain: d.Array) -> Inner:
    axis = shapes.axis(domain)
    for place in range(len(domain.labels)):
        yield ("[]", axis.argument(shapes.terms, place)), place * domain.of.width, domain.of


def _listed(shapes: Shapes, domain: Any) -> Inner:
    yield (".length",), 0, d.Int(0, domain.most)
    axis = shapes.axis(domain)
    for place in range(domain.most):
        yield (".at[]", axis.argument(shapes.terms, place)), 1 + place * domain.of.width, domain.of


def _bits(shapes: Shapes, domain: d.BitSet) -> Inner:
    axis = shapes.axis(domain)
    return ((("[]", axis.argument(shapes.terms, place)), place, d.Boolean()) for place in range(domain.width))


_BY_PLACE = {d.Array, d.BitSet, d.Seq, d.Bag, d.ListedSet}
_INNER: dict[type[d.Domain], Callable[[Shapes, Any], Inner]] = {
    **dict.fromkeys(d.SCALARS, _scalar),
    **dict.fromkeys((d.Record, d.State), _record),
    d.Option: _option,
    d.Absent: lambda shapes, domain: iter(()),
    d.Array: _array,
    **dict.fromkeys((d.Seq, d.Bag, d.ListedSet), _listed),
    d.BitSet: _bits,
}
assert set(_INNER) == d.DOMAINS

"""The translation of the nodes of a model's graph to terms of TLA+, and the part of the state that a node reads.

The rules of the operations are in `rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from insync.explorer.export.tla.rules import CONDITIONS, NUMBERS, option_of, set_of, truth
from insync.explorer.export.tla.state import PathStep, PlacedCell
from insync.explorer.export.tla.terms import Form, Term, Terms
from insync.explorer.export.tla.values import PLAIN, Kind, Linear, What, calculated
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.intervals import always_holds
from insync.model.expressions.simplify import apply
from insync.runtime.errors import UserError

__all__ = [
    "OpaqueTerm",
    "StatePath",
    "Translation",
]


T = TypeVar("T")

OPAQUE = frozenset({Op.CELL, Op.VAR, Op.BIND})
"""The operations whose terms the caller gives, where they are no part of the state."""


@dataclass(frozen=True, slots=True)
class OpaqueTerm:
    """A parameter, a variable that a quantifier binds, or what a quantifier gives."""

    term: Term
    kind: Kind


@dataclass(slots=True)
class _KnownOfNodes:
    """Facts about nodes that do not depend on the known conditions."""

    kinds: dict[int, Kind | None] = field(default_factory=dict)
    partial: dict[int, bool] = field(default_factory=dict)
    within: dict[tuple[Node, ...], Translation] = field(default_factory=dict)


class Translation:
    """The terms of the nodes of one graph, each made once.

    Args:
        terms: the maker of terms.
        cells: the place of each cell of the state.
        opaque: the terms of variables and quantifiers: by their nodes' `arg`, or by the node of a `BIND`.
        known: conditions that hold wherever the terms are used; index checks that they imply are left out.
        general: the translation without known conditions; None is this one.
    """

    def __init__(
        self,
        terms: Terms,
        cells: Sequence[PlacedCell],
        opaque: Mapping[Any, OpaqueTerm],
        known: tuple[Node, ...] = (),
        general: Translation | None = None,
    ) -> None:
        self.terms, self._cells, self._opaque, self._known = terms, cells, opaque, known
        self._general = general or self
        self.paths: Paths = Paths(cells) if general is None else general.paths
        self._found: _KnownOfNodes = _KnownOfNodes() if general is None else general._found
        self._numbers: dict[int, Linear] = {}
        self._terms: dict[tuple[str, int, Kind], Term] = {}

    def within(self, known: Sequence[Node]) -> Translation:
        """Return the translation under additional conditions."""
        more = tuple(dict.fromkeys((*self._known, *known)))
        if more not in self._found.within:
            made = Translation(self.terms, self._cells, self._opaque, more, self._general)
            self._found.within[more] = made
        return self._found.within[more]

    def is_partial(self, node: Node) -> bool:
        """Return whether a node contains a read whose index may be outside of the array."""
        partial = self._found.partial
        if node.index not in partial:
            mine = node.op is Op.SELECT and (node.args[0].lo < 0 or node.args[0].hi >= len(node.args) - 1)
            inside = () if node.op is Op.BIND else node.args
            partial[node.index] = mine or any(self.is_partial(arg) for arg in inside)
        return partial[node.index]

    def arms(self, node: Node) -> tuple[Translation, Translation]:
        """Return the translations of both arms of a choice, under its condition and the negation of it."""
        if not self.is_partial(node):
            return self, self
        return self.within([node.args[0]]), self.within([apply(Op.NOT, node.args[0])])

    # ------------------------------------------------------------------------------------------------------- kinds

    def kind(self, node: Node) -> Kind | None:
        """Return the kind of a node's codes; None for plain numbers."""
        kinds = self._found.kinds
        if node.index not in kinds:
            kinds[node.index] = self._kind(node)
        return kinds[node.index]

    def kind_of_both(self, a: Node, b: Node) -> Kind:
        """Return the common kind of two nodes that are compared."""
        return self._first_kind((a, b)) or PLAIN

    def _kind(self, node: Node) -> Kind | None:
        path = self.paths.of(node)
        if path is not None:
            return path.kind
        if node.op in OPAQUE:
            return self.opaque(node).kind
        if node.op is Op.BIT:
            return Kind(What.SET, 0, of=self.kind(node.args[0]) or PLAIN)
        if node.op in (Op.BITAND, Op.BITOR, Op.BITDIFF):
            return self._first_kind(node.args) or Kind(What.SET, 0, of=PLAIN)
        if node.op in (Op.ITE, Op.SELECT):
            return self._first_kind(node.args[1:])
        some = self.option_read(node)
        if some is not None:
            found = self.kind(some)
            return None if found is None else found.of
        if node.op is Op.ADD and node.args[1].op is Op.CONST and node.args[1].lo == 1:
            of = self.kind(node.args[0])
            if of is not None and of.what is not What.NUMBER:
                return Kind(What.SOME, 0, of=of)
        return None

    def _first_kind(self, nodes: Sequence[Node]) -> Kind | None:
        """Return the most specific kind among nodes of one common kind; None if none of them has one."""
        found = [kind for node in nodes if (kind := self.kind(node)) is not None]
        return next((kind for kind in found if kind.of is not PLAIN), found[0] if found else None)

    def option_read(self, node: Node) -> Node | None:
        """Return the option that a node reads the value of; None unless that value is something else than a number."""
        inner = node
        if node.op is Op.MAX and node.args[1].op is Op.CONST and node.args[1].lo == 0:
            inner = node.args[0]
        if inner.op is not Op.ADD or inner.args[1].op is not Op.CONST or inner.args[1].lo != -1:
            return None
        kind = self.kind(inner.args[0])
        return inner.args[0] if kind is not None and kind.what is What.SOME else None

    # ------------------------------------------------------------------------------------------------------- values

    def value(self, node: Node, kind: Kind) -> Term:
        """Return the value of a kind that a code encodes."""
        match kind.what:
            case What.TRUTH:
                return self.truth(node)
            case What.SET:
                return self.set(node, kind)
            case What.SOME:
                return self.some(node, kind)
            case What.NUMBER:
                found = self.number(node)
                if found.term is not None and (found.kind is None or found.kind.members_of != kind.members_of):
                    calculated(self.terms, found, Linear(None, 0, kind))
                return found.written(self.terms, kind.low, kind)

    def plain(self, node: Node) -> Term:
        """Return a node as a number, and note that its value is used in arithmetic."""
        found = self.number(node)
        calculated(self.terms, found)
        return found.written(self.terms)

    def number(self, node: Node) -> Linear:
        """Return a code or a number as a term plus a constant."""
        home = self if self.is_partial(node) else self._general
        if node.index not in home._numbers:
            home._numbers[node.index] = home._number(node)
        return home._numbers[node.index]

    def condition(self, node: Node) -> Term:
        """Return a node that is a condition."""
        return self._kept("condition", node, PLAIN, lambda t: CONDITIONS[node.op](t, node))

    def truth(self, node: Node) -> Term:
        """Return the condition that a code, which is 0 or 1, equals 1."""
        return self._kept("truth", node, PLAIN, lambda t: truth(t, node))

    def set(self, node: Node, kind: Kind) -> Term:
        """Return the set of a kind that a mask encodes."""
        return self._kept("set", node, kind, lambda t: set_of(t, node, kind))

    def some(self, node: Node, kind: Kind) -> Term:
        """Return the set of at most one value that the code of an option encodes."""
        return self._kept("some", node, kind, lambda t: option_of(t, node, kind))

    def _kept(self, what: str, node: Node, kind: Kind, make: Callable[[Translation], Term]) -> Term:
        home = self if self.is_partial(node) else self._general
        key = (what, node.index, kind)
        if key not in home._terms:
            home._terms[key] = make(home)
        return home._terms[key]

    def _number(self, node: Node) -> Linear:
        kind, path, terms = self.kind(node), self.paths.of(node), self.terms
        if kind is not None and kind.what is What.TRUTH:
            return Linear(terms.chosen(self.truth(node), terms.number(1), terms.number(0)), 0)
        if kind is not None and kind.what is not What.NUMBER:
            message = f"A set is used as a number here, and TLA+ has no word for that: {node!r}."
            raise UserError(message)
        if path is not None:
            return Linear(self.read(path), -path.kind.low, path.kind)
        if node.op in OPAQUE and not node.is_bool:
            opaque = self.opaque(node)
            return Linear(opaque.term, -opaque.kind.low, opaque.kind)
        return NUMBERS[node.op](self, node)

    def whole_equalities(self, nodes: Sequence[Node]) -> dict[Node, Term]:
        """Find groups of equalities that cover all fields of two records. Map each member to the equality of both."""
        groups: dict[tuple[object, ...], list[tuple[Node, StatePath, StatePath]]] = {}
        for node in nodes:
            if node.op is Op.EQ and not self.is_partial(node):
                one, other = map(self.paths.of, node.args)
                if one is not None and other is not None and one.steps[-1] == other.steps[-1] and one.steps[-1].name:
                    key = tuple((path.steps[:-1], path.indexes[:-1]) for path in (one, other))
                    groups.setdefault(key, []).append((node, one, other))
        found: dict[Node, Term] = {}
        for group in groups.values():
            _, one, other = group[0]
            if len(group) > 1 and all(self._is_whole(path, len(group)) for path in (one, other)):
                sides = [self.part(path, len(path.steps) - 1) for path in (one, other)]
                found.update(dict.fromkeys((node for node, _, _ in group), self.terms.infix("=", *sides)))
        return found

    def _is_whole(self, path: StatePath, fields: int) -> bool:
        """Return whether the record that contains the end of a path has `fields` fields, each of one cell."""
        above = path.steps[:-1]
        inside = [cell for cell in self._cells if cell.steps[: len(above)] == above and cell.kind.size > 1]
        return bool(above) and len(inside) == fields and all(len(cell.steps) == len(path.steps) for cell in inside)

    def opaque(self, node: Node) -> OpaqueTerm:
        """Return the term of a variable, or of a quantifier."""
        return self._opaque[node if node.op is Op.BIND else node.arg]

    # ------------------------------------------------------------------------------------------------------ reading

    def part(self, path: StatePath, steps: int | None = None) -> Term:
        """Return the part of the state at the end of a path, or after its first `steps` steps."""
        terms = self.terms
        found = terms.state_variable(path.steps[0].name)
        for step, index in list(zip(path.steps, path.indexes, strict=True))[1:steps]:
            if step.axis is None:
                found = terms.make(Form.FIELD, (found,), step.name)
                continue
            argument = step.axis.argument(terms, step.place) if index is None else self.value(index, step.axis.kind)
            found = terms.make(Form.INDEX, (found, argument))
        return found

    def read(self, path: StatePath) -> Term:
        """Return the value at a path, or the value of code 0 where an index is outside of its array."""
        return self.read_part(path, None, lambda: path.kind.literal(self.terms, 0))

    def read_part(self, path: StatePath, steps: int | None, zero: Callable[[], Term]) -> Term:
        """Return the value after the first `steps` steps of a path, or `zero()` where an index is outside."""
        found, terms = self.part(path, steps), self.terms
        for index, length in path.outside:
            if not self._inside(index, length):
                extent = terms.infix("..", terms.number(0), terms.number(length - 1))
                inside = terms.infix("\\in", self.plain(index), extent)
                found = terms.chosen(inside, found, zero())
        return found

    def _inside(self, index: Node, length: int) -> bool:
        """Return whether the known conditions imply that an index is inside an array of `length` places."""
        graph = index.graph
        below = index.hi < length or always_holds(self._known, apply(Op.LT, index, graph.const(length)))
        return below and (index.lo >= 0 or always_holds(self._known, apply(Op.LE, graph.const(0), index)))

    def chain(self, node: Node, term: Callable[[Node], Term], zero: Term) -> Term:
        """Return a SELECT whose elements form no function in the state, as a chain of IF."""
        index, elements = node.args[0], node.args[1:]
        kind = self.kind(index) or PLAIN
        kind = kind if kind.what is What.NUMBER else PLAIN
        chosen = self.plain(index) if kind is PLAIN else self.value(index, kind)
        places = range(max(index.lo, 0), min(index.hi, len(elements) - 1) + 1)
        found = None if self._inside(index, len(elements)) else zero
        for place in reversed(places):
            here = self.terms.infix("=", chosen, kind.literal(self.terms, place))
            value = term(elements[place])
            found = value if found is None else self.terms.chosen(here, value, found)
        return zero if found is None else found


# Paths: the part of the state that a node reads, if it is a cell or selects among cells of one array.


@dataclass(frozen=True, slots=True)
class StatePath:
    """A part of the state.

    Attributes:
        steps: the steps that lead to it.
        indexes: for each step the node of its index; None where the step is a field or a fixed place.
        kind: the kind of the values there.
        outside: indexes that may be outside of their array, with its length; a read there gives code 0.
    """

    steps: tuple[PathStep, ...]
    indexes: tuple[Node | None, ...]
    kind: Kind
    outside: tuple[tuple[Node, int], ...] = ()

    def below(self, number: int) -> tuple[PathStep, ...]:
        """Return the steps after the first `number` ones."""
        return self.steps[number:]


class Paths:
    """The paths of nodes, each computed once.

    Args:
        cells: the place of each cell.
    """

    def __init__(self, cells: Sequence[PlacedCell]) -> None:
        self._cells = cells
        self._known: dict[int, StatePath | None] = {}

    def of(self, node: Node) -> StatePath | None:
        """Return the path of a node; None if it reads no part of the state, or several."""
        if node.index not in self._known:
            self._known[node.index] = self._found(node)
        return self._known[node.index]

    def _found(self, node: Node) -> StatePath | None:
        if node.op is Op.CELL:
            assert isinstance(node.arg, int)
            if node.arg >= len(self._cells):
                return None
            cell = self._cells[node.arg]
            return StatePath(cell.steps, (None,) * len(cell.steps), cell.kind)
        if node.op is not Op.SELECT:
            return None
        elements = [self.of(element) for element in node.args[1:]]
        found = [element for element in elements if element is not None]
        return self._joined(node.args[0], found) if found and len(found) == len(elements) else None

    def _joined(self, index: Node, found: Sequence[StatePath]) -> StatePath | None:
        """Return the path of a SELECT, if its elements differ in one place alone and cover the axis there in order."""
        first, length = found[0], len(found)
        if any(len(one.steps) != len(first.steps) or one.outside != first.outside for one in found):
            return None
        if any(one.indexes != first.indexes for one in found):
            return None
        different = [at for at in range(len(first.steps)) if any(one.steps[at] != first.steps[at] for one in found)]
        outside = first.outside
        if index.lo < 0 or index.hi >= length:
            outside = (*outside, (index, length))
        if not different:
            return replace(first, outside=outside) if length == 1 else None
        (at, *more) = different
        axis = first.steps[at].axis
        alike = axis is not None and all(one.steps[at].axis is axis for one in found)
        if more or not alike or axis is None or first.indexes[at] is not None:
            return None
        if [one.steps[at].place for one in found] != list(range(len(axis))):
            return None
        indexes = (*first.indexes[:at], index, *first.indexes[at + 1 :])
        return replace(first, indexes=indexes, outside=outside)

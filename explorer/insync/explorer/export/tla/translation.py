"""From expressions of a model's graph to terms of TLA+: what is made of a node, and where it is kept.

The rules of the operations are in `number_rules`, `condition_rules` and `set_rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from insync.explorer.export.tla.rules import CONDITIONS, NUMBERS, option_of, set_of, truth
from insync.explorer.export.tla.state import PathStep, PlacedCell
from insync.explorer.export.tla.terms import Form, Term, Terms
from insync.explorer.export.tla.values import PLAIN, Kind, Linear, What, calculated
from insync.model.errors import UserError
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.intervals import always_holds
from insync.model.expressions.simplify import apply

__all__ = [
    "OpaqueTerm",
    "StatePath",
    "Translation",
]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OpaqueTerm:
    """A cell that is no part of the state: a parameter, or a variable that a quantifier binds."""

    term: Term
    kind: Kind


@dataclass(slots=True)
class _KnownOfNodes:
    """What was found out about nodes, whatever else is known."""

    kinds: dict[int, Kind | None] = field(default_factory=dict)
    partial: dict[int, bool] = field(default_factory=dict)
    within: dict[tuple[Node, ...], Translation] = field(default_factory=dict)


class Translation:
    """The terms of the nodes of one graph, each made once.

    Args:
        terms: makes the terms.
        cells: where each cell of the state lies.
        opaque: what the cells beyond those of the state are.
        known: conditions that hold wherever the terms are used, so that what they rule out need not be written.
        general: the same translation where nothing is known.
    """

    def __init__(
        self,
        terms: Terms,
        cells: Sequence[PlacedCell],
        opaque: Mapping[int, OpaqueTerm],
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
        """Return the translation of what is used only where more conditions hold."""
        more = tuple(dict.fromkeys((*self._known, *known)))
        if more not in self._found.within:
            made = Translation(self.terms, self._cells, self._opaque, more, self._general)
            self._found.within[more] = made
        return self._found.within[more]

    def is_partial(self, node: Node) -> bool:
        """Return whether a node may read outside of an array somewhere in it."""
        partial = self._found.partial
        if node.index not in partial:
            mine = node.op is Op.SELECT and (node.args[0].lo < 0 or node.args[0].hi >= len(node.args) - 1)
            partial[node.index] = mine or any(self.is_partial(arg) for arg in node.args)
        return partial[node.index]

    def arms(self, node: Node) -> tuple[Translation, Translation]:
        """Return the translations of both arms of a choice, in each of which its condition is known."""
        if not self.is_partial(node):
            return self, self
        return self.within([node.args[0]]), self.within([apply(Op.NOT, node.args[0])])

    # ------------------------------------------------------------------------------------------------------- kinds

    def kind(self, node: Node) -> Kind | None:
        """Return what the codes that a node gives stand for; None where they are numbers as any other."""
        kinds = self._found.kinds
        if node.index not in kinds:
            kinds[node.index] = self._kind(node)
        return kinds[node.index]

    def kind_of_both(self, a: Node, b: Node) -> Kind:
        """Return what the codes of two nodes that are compared stand for."""
        return self._first_kind((a, b)) or PLAIN

    def _kind(self, node: Node) -> Kind | None:
        path = self.paths.of(node)
        if path is not None:
            return path.kind
        if node.op is Op.CELL:
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
        """Return the kind of nodes that are of one: of those that some of them tell, the one that says most."""
        found = [kind for node in nodes if (kind := self.kind(node)) is not None]
        return next((kind for kind in found if kind.of is not PLAIN), found[0] if found else None)

    def option_read(self, node: Node) -> Node | None:
        """Return the option of which a node is the value, where that is no number."""
        inner = node
        if node.op is Op.MAX and node.args[1].op is Op.CONST and node.args[1].lo == 0:
            inner = node.args[0]
        if inner.op is not Op.ADD or inner.args[1].op is not Op.CONST or inner.args[1].lo != -1:
            return None
        kind = self.kind(inner.args[0])
        return inner.args[0] if kind is not None and kind.what is What.SOME else None

    # ------------------------------------------------------------------------------------------------------- values

    def value(self, node: Node, kind: Kind) -> Term:
        """Return the value of a kind that a code stands for."""
        match kind.what:
            case What.TRUTH:
                return self.truth(node)
            case What.SET:
                return self.set(node, kind)
            case What.SOME:
                return self.some(node, kind)
            case What.NUMBER:
                return self.number(node).written(self.terms, kind.low, kind)

    def plain(self, node: Node) -> Term:
        """Return a number."""
        found = self.number(node)
        calculated(self.terms, found)
        return found.written(self.terms)

    def number(self, node: Node) -> Linear:
        """Return a code or a number."""
        home = self if self.is_partial(node) else self._general
        if node.index not in home._numbers:
            home._numbers[node.index] = home._number(node)
        return home._numbers[node.index]

    def condition(self, node: Node) -> Term:
        """Return a condition."""
        return self._kept("condition", node, PLAIN, lambda t: CONDITIONS[node.op](t, node))

    def truth(self, node: Node) -> Term:
        """Return the condition that a code, which is 0 or 1, is 1."""
        return self._kept("truth", node, PLAIN, lambda t: truth(t, node))

    def set(self, node: Node, kind: Kind) -> Term:
        """Return the set of a kind that a mask stands for."""
        return self._kept("set", node, kind, lambda t: set_of(t, node, kind))

    def some(self, node: Node, kind: Kind) -> Term:
        """Return the set of at most one value that the code of an option stands for."""
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
        if node.op is Op.CELL:
            opaque = self.opaque(node)
            return Linear(opaque.term, -opaque.kind.low, opaque.kind)
        return NUMBERS[node.op](self, node)

    def whole_equalities(self, nodes: Sequence[Node]) -> dict[Node, Term]:
        """Return, for conditions that together say that two parts of the state are equal, that they are."""
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
        """Return whether a record, of which a path leads to one field, has so many fields, each of one cell."""
        above = path.steps[:-1]
        inside = [cell for cell in self._cells if cell.steps[: len(above)] == above and cell.kind.size > 1]
        return bool(above) and len(inside) == fields and all(len(cell.steps) == len(path.steps) for cell in inside)

    def opaque(self, node: Node) -> OpaqueTerm:
        """Return what a cell is that is no part of the state."""
        assert isinstance(node.arg, int)
        return self._opaque[node.arg]

    # ------------------------------------------------------------------------------------------------------ reading

    def part(self, path: StatePath, steps: int | None = None) -> Term:
        """Return a part of the state, or that to which so many of its steps lead."""
        terms = self.terms
        found = terms.name(path.steps[0].name)
        for step, index in list(zip(path.steps, path.indexes, strict=True))[1:steps]:
            if step.axis is None:
                found = terms.make(Form.FIELD, (found,), step.name)
                continue
            argument = step.axis.argument(terms, step.place) if index is None else self.value(index, step.axis.kind)
            found = terms.make(Form.INDEX, (found, argument))
        return found

    def read(self, path: StatePath) -> Term:
        """Return what a part of the state has where it is there, and the value of code 0 elsewhere."""
        return self.read_part(path, None, lambda: path.kind.literal(self.terms, 0))

    def read_part(self, path: StatePath, steps: int | None, zero: Callable[[], Term]) -> Term:
        """Return what lies where so many steps of a path lead to, and something else where that is nowhere."""
        found, terms = self.part(path, steps), self.terms
        for index, length in path.outside:
            if not self._inside(index, length):
                extent = terms.infix("..", terms.number(0), terms.number(length - 1))
                inside = terms.infix("\\in", self.plain(index), extent)
                found = terms.chosen(inside, found, zero())
        return found

    def _inside(self, index: Node, length: int) -> bool:
        """Return whether what is known shows that an index is one of so many places."""
        graph = index.graph
        below = index.hi < length or always_holds(self._known, apply(Op.LT, index, graph.const(length)))
        return below and (index.lo >= 0 or always_holds(self._known, apply(Op.LE, graph.const(0), index)))

    def chain(self, node: Node, term: Callable[[Node], Term], zero: Term) -> Term:
        """Return the choice that a SELECT makes among values that lie nowhere together."""
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


# What a node reads: the part of the state that it is, where it is a cell or chooses one of several like cells.


@dataclass(frozen=True, slots=True)
class StatePath:
    """A part of the state.

    Attributes:
        steps: on the way to it.
        indexes: for each step the node of its place; None where the step has it.
        kind: of the values there.
        outside: indexes that may be outside of so many places; what is read there is code 0.
    """

    steps: tuple[PathStep, ...]
    indexes: tuple[Node | None, ...]
    kind: Kind
    outside: tuple[tuple[Node, int], ...] = ()

    def below(self, number: int) -> tuple[PathStep, ...]:
        """Return the steps after the first ones, with the fixed places among them."""
        return self.steps[number:]


class Paths:
    """The parts of the state that nodes read, each found once.

    Args:
        cells: where each cell lies.
    """

    def __init__(self, cells: Sequence[PlacedCell]) -> None:
        self._cells = cells
        self._known: dict[int, StatePath | None] = {}

    def of(self, node: Node) -> StatePath | None:
        """Return the part of the state that a node reads; None where it reads none, or several."""
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
        """Return what several parts are that differ in one place alone, which an index chooses."""
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

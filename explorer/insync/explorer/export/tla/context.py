"""The context that all parts of a module share: the model, its names, terms, bound variables and compound values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from insync.explorer.export.tla.printing import Printer
from insync.explorer.export.tla.state import PathStep, PlacedCell, Shapes
from insync.explorer.export.tla.terms import Form, Names, Term, Terms
from insync.explorer.export.tla.translation import OpaqueTerm, StatePath, Translation
from insync.explorer.export.tla.values import Kind, Kinds, What
from insync.model import Model
from insync.model.domains import composite as d
from insync.model.domains.sorts import Index
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.language.binders import Binders, Opaque, Quantified, keeping
from insync.model.tracing.retracing import with_graph
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import invariants_of, run_properties_of

__all__ = [
    "Speaker",
    "Values",
]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Speaker:
    """Everything that the writers of one module share.

    Attributes:
        model: the model.
        again: the same model over another graph, in which quantifiers and parameters are kept.
        binders: the kept quantifiers and parameters.
        names: the names of the module.
        terms: the maker of terms.
        kinds: the kinds of the values of cells.
        shapes: the places of cells in the state.
        opaque: the terms of `binders`.
        plain: the translation of the nodes of the program.
        printer: the printer of terms.
    """

    model: Model
    again: Model
    binders: Binders
    names: Names
    terms: Terms
    kinds: Kinds
    shapes: Shapes
    opaque: BinderTerms
    plain: Translation
    printer: Printer

    @classmethod
    def about(cls, model: Model) -> Speaker:
        """Return the context of a model."""
        names = Names(model.state.fields)
        for one in (*invariants_of(model), *run_properties_of(model), TYPE_OK):
            names.name(("property", one), one)
        terms = Terms(taken=names.taken)
        kinds = Kinds(model.b, names.name)
        shapes = Shapes(terms, kinds, model.state)
        binders = Binders(Graph(model.program.graph.cell_sizes))
        opaque = BinderTerms(binders, names, terms, kinds, shapes.cells)
        again, plain = with_graph(model, binders.graph), Translation(terms, shapes.cells, {})
        return cls(model, again, binders, names, terms, kinds, shapes, opaque, plain, Printer(names.taken))

    @property
    def translation(self) -> Translation:
        """The translation of the graph in which quantifiers and parameters are kept."""
        return self.opaque.translation

    def traced(self, trace: Callable[[Model], T]) -> T:
        """Return the result of a trace in which quantifiers are kept as written."""
        with keeping(self.binders):
            return trace(self.again)

    def conditions(self, translation: Translation, nodes: Sequence[Node]) -> list[Term]:
        """Return the terms of conditions; each is translated under the assumption that those before it hold."""
        return [translation.within(nodes[:place]).condition(node) for place, node in enumerate(nodes)]

    @property
    def variables(self) -> list[str]:
        """The fields with more than one value; the others are left out of the module."""
        return [name for name, domain in self.model.state.fields.items() if self.shapes.live(domain)]


# Parameters and quantifiers: the cells beyond those of the state.


_TRUTH = Kind(What.TRUTH, 2)
_FORMS = {"for_all": Form.FOR_ALL, "exists": Form.EXISTS}


class BinderTerms(Mapping[int, OpaqueTerm]):
    """The terms of cells beyond those of the state, made on first use.

    Args:
        binders: the parameters and quantifiers that the cells stand for.
        names: the names of the module.
        terms: the maker of terms.
        kinds: the kinds of values.
        cells: the places of the cells of the state.
    """

    def __init__(self, binders: Binders, names: Names, terms: Terms, kinds: Kinds, cells: list[PlacedCell]) -> None:
        self._binders, self._names, self._terms, self._kinds = binders, names, terms, kinds
        self._made: dict[int, OpaqueTerm] = {}
        self.translation = Translation(terms, cells, self)

    def __getitem__(self, cell: int) -> OpaqueTerm:
        if cell not in self._made:
            if cell in self._binders.quantified:
                self._made[cell] = self._quantified(self._binders.quantified[cell])
            else:
                self._made[cell] = self._parameter(self._binders.opaque[cell])
        return self._made[cell]

    def __iter__(self) -> Iterator[int]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def kind(self, opaque: Opaque) -> Kind:
        """Return the kind of a parameter or of a bound variable."""
        kind = opaque.kind
        if kind is None or (not issubclass(kind, (Index, Enum)) and kind is not bool):
            return Kind(What.NUMBER, opaque.size, low=opaque.lo)
        if kind is bool:
            return _TRUTH
        return self._kinds.of_sort(kind) if issubclass(kind, Index) else self._kinds.of_enum(kind)

    def _parameter(self, opaque: Opaque) -> OpaqueTerm:
        name = self._terms.variable(opaque.name)
        self._terms.scope.append(name)
        return OpaqueTerm(self._terms.name(name), self.kind(opaque))

    def _quantified(self, found: Quantified) -> OpaqueTerm:
        terms, opaque, t = self._terms, self._binders.opaque[found.cell], self.translation
        kind = self.kind(opaque)
        name = terms.variable(opaque.name)
        self._made[found.cell] = OpaqueTerm(terms.variable_name(name), kind)
        terms.scope.append(name)
        body = t.condition(found.body)
        terms.scope.pop()
        over = self._over(found, kind)
        if found.what == "count":
            members = terms.binding(Form.FILTER, name, over, body)
            return OpaqueTerm(terms.call("Cardinality", members), Kind(What.NUMBER, opaque.size + 1))
        return OpaqueTerm(terms.binding(_FORMS[found.what], name, over, body), _TRUTH)

    def _over(self, found: Quantified, kind: Kind) -> Term:
        if found.inside is None:
            return kind.extent(self._terms)
        return self.translation.set(found.inside, Kind(What.SET, 0, of=kind))


# Values of several cells: a copied part of the state, a choice between two such values, or a record of its fields.


def domain_at(state: d.State, steps: Sequence[PathStep]) -> d.Domain:
    """Return the domain at the end of a path."""
    found: d.Domain = state
    for step in steps:
        inside = found.of if isinstance(found, d.Option) else found
        if isinstance(inside, d.Record):
            found = inside.fields.get(step.name, d.Boolean())
        elif isinstance(inside, d.Array):
            found = inside.of
        else:
            return d.Boolean()  # inside a sequence, bag or set, which is copied whole or not at all
    return found


@dataclass(frozen=True, slots=True)
class Values:
    """Translates values of whole domains."""

    shapes: Shapes
    translation: Translation
    state: d.State

    def value(self, domain: d.Domain, codes: Sequence[Node]) -> Term:
        """Return the value of a domain whose cells have these codes."""
        sizes = [size for _, size in domain.cells("")]
        live = [code for code, size in zip(codes, sizes, strict=True) if size > 1]
        if len(live) > 1 and type(domain) not in d.SCALARS:
            chosen = self._chosen(domain, codes, live) or self._copied(domain, live)
            if chosen is not None:
                return chosen
        return self.shapes.value(domain, 0, lambda number, kind: self._leaf(codes[number], kind))

    def _leaf(self, code: Node, kind: Kind) -> Term:
        return self.translation.value(code, kind)

    def _chosen(self, domain: d.Domain, codes: Sequence[Node], live: Sequence[Node]) -> Term | None:
        """Return one IF for the whole value, if all codes choose by the same condition."""
        if any(code.op is not Op.ITE or code.args[0] is not live[0].args[0] for code in live):
            return None
        then, otherwise = self.translation.arms(live[0])
        arms = []
        for known, place in ((then, 1), (otherwise, 2)):
            inside = [code.args[place] if code.op is Op.ITE else code for code in codes]
            arms.append(Values(self.shapes, known, self.state).value(domain, inside))
        return self.shapes.terms.chosen(self.translation.condition(live[0].args[0]), *arms)

    def _copied(self, domain: d.Domain, live: Sequence[Node]) -> Term | None:
        """Return the part of the state that these codes copy cell by cell, if there is one."""
        paths = [self.translation.paths.of(code) for code in live]
        suffixes = [cell.steps for cell in self.shapes.cells_of(domain) if cell.kind.size > 1]
        first = paths[0]
        if first is None or len(first.steps) <= len(suffixes[0]):
            return None
        length = len(first.steps) - len(suffixes[0])
        for path, suffix in zip(paths, suffixes, strict=True):
            if path is None or not _continues(path, first, length, suffix):
                return None
        if domain_at(self.state, first.steps[:length]).shape() != domain.shape():
            return None
        return self.translation.read_part(first, length, lambda: self._zero(domain))

    def _zero(self, domain: d.Domain) -> Term:
        return self.shapes.value(domain, 0, lambda _, kind: kind.literal(self.shapes.terms, 0))


def _continues(path: StatePath, first: StatePath, length: int, suffix: Sequence[PathStep]) -> bool:
    """Return whether a path is the first `length` steps of another path followed by a suffix without indexes."""
    return (
        path.steps[length:] == tuple(suffix)
        and not any(path.indexes[length:])
        and (path.steps[:length], path.indexes[:length]) == (first.steps[:length], first.indexes[:length])
        and path.outside == first.outside
    )

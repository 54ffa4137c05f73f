"""The context that all parts of a module share: the model, its names, terms, bound variables and compound values."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from insync.model.expressions.graph import Binder, Graph, Node, Op, Variable, reachable
from insync.model.expressions.lifted import LiftedGraph, lifting
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import invariants_of, run_properties_of

__all__ = [
    "Speaker",
    "Values",
    "properties_by_name",
]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Speaker:
    """Everything that the writers of one module share.

    Attributes:
        model: the model.
        again: the same model over the graph of lifted actions.
        graph: the graph of lifted actions, in which quantifiers and parameters are kept.
        names: the names of the module.
        terms: the maker of terms.
        kinds: the kinds of the values of cells.
        shapes: the places of cells in the state.
        opaque: the terms of parameters and quantifiers.
        plain: the translation of the nodes of the program.
        printer: the printer of terms.
    """

    model: Model
    again: Model
    graph: LiftedGraph
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
        for one in _properties(model):
            names.name(("property", one), one)
        terms = Terms(taken=names.taken, variables=names.variables)
        kinds = Kinds(model.b, names.name)
        shapes = Shapes(terms, kinds, model.state)
        graph = LiftedGraph(model.program.graph.cell_sizes)
        opaque = BinderTerms(names, terms, kinds, shapes.cells)
        again, plain = _with_graph(model, graph), Translation(terms, shapes.cells, {})
        return cls(model, again, graph, names, terms, kinds, shapes, opaque, plain, Printer(names.taken))

    @property
    def translation(self) -> Translation:
        """The translation of the graph in which quantifiers and parameters are kept."""
        return self.opaque.translation

    def traced(self, trace: Callable[[Model], T]) -> T:
        """Return the result of a trace in which quantifiers are kept as written."""
        with lifting(self.graph):
            return trace(self.again)

    def conditions(self, translation: Translation, nodes: Sequence[Node]) -> list[Term]:
        """Return the terms of conditions; each is translated under the assumption that those before it hold."""
        return [translation.within(nodes[:place]).condition(node) for place, node in enumerate(nodes)]

    @property
    def variables(self) -> list[str]:
        """The fields with more than one value; the others are left out of the module."""
        return [name for name, domain in self.model.state.fields.items() if self.shapes.live(domain)]


def _properties(model: Model) -> tuple[str, ...]:
    return *invariants_of(model), *run_properties_of(model), TYPE_OK


def properties_by_name(model: Model) -> dict[str, str]:
    """Return the properties of a model by their names in its module."""
    names = Names(model.state.fields)
    return {names.name(("property", one), one): one for one in _properties(model)}


def _with_graph(model: Model, graph: Graph) -> Model:
    """Return a copy of a model with another graph for later tracing; its program has the same actions."""
    made = copy.copy(model)
    made._program = replace(model.program, graph=graph)
    return made


# Parameters and quantifiers.


_TRUTH = Kind(What.TRUTH, 2)
_FORMS = {"for_all": Form.FOR_ALL, "exists": Form.EXISTS}


class BinderTerms(Mapping[object, OpaqueTerm]):
    """The terms of variables and quantifiers, made on first use.

    Args:
        names: the names of the module.
        terms: the maker of terms.
        kinds: the kinds of values.
        cells: the places of the cells of the state.
    """

    def __init__(self, names: Names, terms: Terms, kinds: Kinds, cells: list[PlacedCell]) -> None:
        self._names, self._terms, self._kinds = names, terms, kinds
        self._made: dict[object, OpaqueTerm] = {}
        self.translation = Translation(terms, cells, self)

    def __getitem__(self, what: object) -> OpaqueTerm:
        if what not in self._made:
            if isinstance(what, Variable):
                self._made[what] = self._parameter(what)
            else:
                assert isinstance(what, Node)
                assert isinstance(what.arg, Binder)
                self._made[what] = self._quantified(what, what.arg)
        return self._made[what]

    def __iter__(self) -> Iterator[object]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def kind(self, variable: Variable) -> Kind:
        """Return the kind of a parameter or of a bound variable."""
        kind = variable.kind
        if kind is None or (not issubclass(kind, (Index, Enum)) and kind is not bool):
            return Kind(What.NUMBER, variable.size, low=variable.lo)
        if kind is bool:
            return _TRUTH
        return self._kinds.of_sort(kind) if issubclass(kind, Index) else self._kinds.of_enum(kind)

    def _parameter(self, variable: Variable) -> OpaqueTerm:
        name = self._terms.variable(variable.name)
        self._terms.scope.append(name)
        return OpaqueTerm(self._terms.name(name), self.kind(variable))

    def _quantified(self, node: Node, binder: Binder) -> OpaqueTerm:
        terms, variable, t = self._terms, binder.variable, self.translation
        kind = self.kind(variable)
        # Quantifiers inside that were made before, elsewhere, may bind the wanted name already.
        inside = [self._made[one].term for one in reachable([node.args[0]]) if one in self._made]
        name = terms.variable(variable.name, *inside)
        self._made[variable] = OpaqueTerm(terms.variable_name(name), kind)
        terms.scope.append(name)
        body = t.condition(node.args[0])
        terms.scope.pop()
        over = kind.extent(terms) if len(node.args) == 1 else t.set(node.args[1], Kind(What.SET, 0, of=kind))
        if binder.word == "count":
            members = terms.binding(Form.FILTER, name, over, body)
            return OpaqueTerm(terms.call("Cardinality", members), Kind(What.NUMBER, variable.size + 1))
        return OpaqueTerm(terms.binding(_FORMS[binder.word], name, over, body), _TRUTH)


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

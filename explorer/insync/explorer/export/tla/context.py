"""What all parts of a module share: the model, traced anew, the names, the terms, where the state lies, the printer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from insync.explorer.export.tla.binder_terms import BinderTerms
from insync.explorer.export.tla.module_names import Names
from insync.explorer.export.tla.printing import Printer
from insync.explorer.export.tla.state import Shapes
from insync.explorer.export.tla.terms import Term, Terms
from insync.explorer.export.tla.translation import Translation
from insync.explorer.export.tla.values import Kinds
from insync.model import Model
from insync.model.expressions.graph import Graph, Node
from insync.model.language.binders import Binders, keeping
from insync.model.tracing.retracing import with_graph
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import invariants_of, run_properties_of

__all__ = ["Speaker"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Speaker:
    """What speaks TLA+ about one model.

    Attributes:
        model: the model.
        again: the same model with another graph, in which quantifiers and parameters are kept.
        binders: what is kept of these.
        names: of the module.
        terms: makes the terms.
        kinds: of the values of cells.
        shapes: where cells lie in the state.
        opaque: the terms of what is kept.
        plain: the translation of the program's own nodes.
        printer: writes the terms.
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
        """Return what speaks about a model."""
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
        """The translation of nodes of the graph in which quantifiers and parameters are kept."""
        return self.opaque.translation

    def traced(self, trace: Callable[[Model], T]) -> T:
        """Return what is traced of the model, with its quantifiers as they are written."""
        with keeping(self.binders):
            return trace(self.again)

    def conditions(self, translation: Translation, nodes: Sequence[Node]) -> list[Term]:
        """Return conditions one by one, each where those before it hold."""
        return [translation.within(nodes[:place]).condition(node) for place, node in enumerate(nodes)]

    @property
    def variables(self) -> list[str]:
        """The fields that TLA+ needs: all that have more than one value."""
        return [name for name, domain in self.model.state.fields.items() if self.shapes.live(domain)]

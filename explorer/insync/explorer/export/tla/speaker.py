"""What all parts of a module share: the names, the terms, where the state lies, and the printer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from insync.explorer.export.tla.kinds_of_values import Kinds
from insync.explorer.export.tla.names import Names
from insync.explorer.export.tla.printing import Printer
from insync.explorer.export.tla.shapes import Shapes
from insync.explorer.export.tla.terms import Term, Terms
from insync.explorer.export.tla.translation import Translation
from insync.model import Model
from insync.model.graph import Node
from insync.properties.every_model import TYPE_OK
from insync.properties.registry import invariants_of, run_properties_of

__all__ = ["Speaker"]


@dataclass(frozen=True, slots=True)
class Speaker:
    """What speaks TLA+ about one model."""

    model: Model
    names: Names
    terms: Terms
    kinds: Kinds
    shapes: Shapes
    translation: Translation
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
        return cls(model, names, terms, kinds, shapes, Translation(terms, shapes.cells, {}), Printer(names.taken))

    def conditions(self, nodes: Sequence[Node]) -> list[Term]:
        """Return conditions one by one, each where those before it hold."""
        return [self.translation.within(nodes[:place]).condition(node) for place, node in enumerate(nodes)]

    @property
    def variables(self) -> list[str]:
        """The fields that TLA+ needs: all that have more than one value."""
        return [name for name, domain in self.model.state.fields.items() if self.shapes.live(domain)]

"""Values of several cells as one term: a part of the state that is copied, a choice between two, or a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from insync.explorer.export.tla.paths import StatePath
from insync.explorer.export.tla.state import PathStep, Shapes
from insync.explorer.export.tla.terms import Term
from insync.explorer.export.tla.translation import Translation
from insync.explorer.export.tla.values import Kind
from insync.model.domains import composite as d
from insync.model.expressions.graph import Node, Op

__all__ = ["Values", "domain_at"]


def domain_at(state: d.State, steps: Sequence[PathStep]) -> d.Domain:
    """Return the domain of the part of the state that some steps lead to."""
    found: d.Domain = state
    for step in steps:
        inside = found.of if isinstance(found, d.Option) else found
        if isinstance(inside, d.Record):
            found = inside.fields.get(step.name, d.Boolean())
        elif isinstance(inside, d.Array):
            found = inside.of
        else:
            return d.Boolean()  # inside of what is stored as a whole, of which no part is a record
    return found


@dataclass(frozen=True, slots=True)
class Values:
    """Writes the values of domains."""

    shapes: Shapes
    translation: Translation
    state: d.State

    def value(self, domain: d.Domain, codes: Sequence[Node]) -> Term:
        """Return the value of a domain with these codes."""
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
        """Return the choice between two values by one condition."""
        if any(code.op is not Op.ITE or code.args[0] is not live[0].args[0] for code in live):
            return None
        then, otherwise = self.translation.arms(live[0])
        arms = []
        for known, place in ((then, 1), (otherwise, 2)):
            inside = [code.args[place] if code.op is Op.ITE else code for code in codes]
            arms.append(Values(self.shapes, known, self.state).value(domain, inside))
        return self.shapes.terms.chosen(self.translation.condition(live[0].args[0]), *arms)

    def _copied(self, domain: d.Domain, live: Sequence[Node]) -> Term | None:
        """Return the part of the state of which all codes are those of another value."""
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
    """Return whether a path leads to what another does with so many steps, and then on by other steps."""
    return (
        path.steps[length:] == tuple(suffix)
        and not any(path.indexes[length:])
        and (path.steps[:length], path.indexes[:length]) == (first.steps[:length], first.indexes[:length])
        and path.outside == first.outside
    )

"""What the cells beyond those of the state are called in TLA+: parameters, and quantifiers with their variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from insync.explorer.export.tla.module_names import Names
from insync.explorer.export.tla.state import PlacedCell
from insync.explorer.export.tla.terms import Form, Term, Terms
from insync.explorer.export.tla.translation import OpaqueTerm, Translation
from insync.explorer.export.tla.values import Kind, Kinds, What
from insync.model.domains.sorts import Index
from insync.model.language.binders import Binders, Opaque, Quantified

__all__ = ["BinderTerms"]

_TRUTH = Kind(What.TRUTH, 2)
_FORMS = {"for_all": Form.FOR_ALL, "exists": Form.EXISTS}


class BinderTerms(Mapping[int, OpaqueTerm]):
    """The terms of cells beyond those of the state, made when they are first asked for.

    Args:
        binders: what the cells stand for.
        names: of the module.
        terms: makes the terms.
        kinds: makes the kinds.
        cells: where the cells of the state lie.
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
        """Return what the values of a parameter or a variable are."""
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

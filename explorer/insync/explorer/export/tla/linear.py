"""Numbers as terms of TLA+: a term and a constant beside it.

The code of a value begins with 0 and the value need not, so codes and values differ by a constant. Keeping it apart
makes `epoch + 1 = new + 1` be `epoch = new`.
"""

from __future__ import annotations

from dataclasses import dataclass

from insync.explorer.export.tla.terms import Term, Terms
from insync.explorer.export.tla.values import Kind

__all__ = ["Linear", "aligned", "calculated"]


@dataclass(frozen=True, slots=True)
class Linear:
    """A number: a term, and what is to be added to it; without a term it is that constant.

    Attributes:
        term: the term, if any.
        more: what is added.
        kind: what the values of the term are, where that is known.
    """

    term: Term | None
    more: int
    kind: Kind | None = None

    def written(self, terms: Terms, more: int = 0, kind: Kind | None = None) -> Term:
        """Return it with something added, a constant by its name among the values of a kind."""
        if self.term is not None:
            if self.more + more and self.kind is not None:
                terms.calculated.add(self.kind.members_of)
            return terms.shifted(self.term, self.more + more)
        value = self.more + more
        return terms.number(value) if kind is None else kind.number(terms, value)


def aligned(terms: Terms, a: Linear, b: Linear, *, named: bool) -> tuple[Term, Term, int, Kind | None]:
    """Return two numbers as terms with one constant to be added to both, and what they are values of.

    Args:
        terms: makes the terms.
        a: one number.
        b: the other.
        named: whether a constant is written by its name.
    """
    if a.term is None and b.term is None:
        return terms.number(a.more), terms.number(b.more), 0, None
    if a.term is None:
        second, first, more, kind = aligned(terms, b, a, named=named)
        return first, second, more, kind
    kind = a.kind if b.term is None or b.kind == a.kind else None
    return a.term, b.written(terms, -a.more, a.kind if named else None), a.more, kind


def calculated(terms: Terms, *numbers: Linear) -> None:
    """Note that something is calculated with numbers, so that none of them can be a member that is no number."""
    terms.calculated.update(one.kind.members_of for one in numbers if one.kind is not None)

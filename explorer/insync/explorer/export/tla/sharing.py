"""What is used twice in a definition, and the names by which LET says it once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager

from insync.explorer.export.tla.terms import Form, Term

__all__ = ["Lets"]

_SHORT = 48  # what is about as long as this or shorter is written twice
_ATOMS = (Form.NAME, Form.NUMBER)


class Lets:
    """The names of what LETs define, as far as they are open.

    Args:
        taken: the names that mean something else.
    """

    def __init__(self, taken: Set[str]) -> None:
        self._taken = taken
        self._names: dict[Term, str] = {}
        self._variables: list[str] = []
        self._number = 0

    def begin(self) -> None:
        """Begin a definition, in which no LET is open."""
        self._names, self._variables, self._number = {}, [], 0

    def name_of(self, term: Term) -> str | None:
        """Return the name of a term; None where it has to be written."""
        return self._names.get(term)

    @contextmanager
    def opened(self, roots: Sequence[Term], variable: str | None = None) -> Iterator[list[tuple[str, Term]]]:
        """Open a LET around some terms, below the binding of a variable, and yield what it defines, in order."""
        number = self._number
        self._variables += [] if variable is None else [variable]
        found = self.define(self.shared(roots))
        try:
            yield found
        finally:
            for _, term in found:
                del self._names[term]
            self._number = number
            if variable is not None:
                self._variables.pop()

    def define(self, shared: Sequence[Term]) -> list[tuple[str, Term]]:
        """Give terms names from here on."""
        found = []
        for term in shared:
            found.append((self._new_name(_word(term)), term))
        self._names.update((term, name) for name, term in found)
        return found

    def _new_name(self, word: str) -> str:
        while True:
            self._number += 1
            if (name := f"{word}{self._number}") not in self._taken:
                return name

    @contextmanager
    def unnamed(self, term: Term) -> Iterator[None]:
        """Let a term be written out, where its name is defined."""
        name = self._names.pop(term)
        try:
            yield
        finally:
            self._names[term] = name

    def shared(self, roots: Sequence[Term]) -> list[Term]:
        """Return what is used twice in some terms and has no name, each after what it is made of."""
        order, uses = self._counted(roots)
        scope = set(self._variables)
        return [term for term in order if uses[term] > 1 and _worth_it(term) and term.bound <= scope]

    def _counted(self, roots: Sequence[Term]) -> tuple[list[Term], dict[Term, int]]:
        order: list[Term] = []
        uses: dict[Term, int] = dict.fromkeys(roots, 1)
        seen: set[Term] = set()
        stack = [(root, False) for root in reversed(roots)]
        while stack:
            term, done = stack.pop()
            if done:
                order.append(term)
            elif term not in seen and term not in self._names:
                seen.add(term)
                stack.append((term, True))
                for arg in reversed(term.args):
                    uses[arg] = uses.get(arg, 0) + 1
                    stack.append((arg, False))
        return order, uses


def _worth_it(term: Term) -> bool:
    return term.form not in _ATOMS and term.size > _SHORT


def _word(term: Term) -> str:
    """Return what to call a term: the field that it reads, or a letter."""
    while term.form is Form.INDEX:
        term = term.args[0]
    return f"{term.text}_" if term.form is Form.FIELD else "v_"

"""The names of a module: each means one thing, and none is a word of TLA+."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["Names", "camel"]

_WORDS = frozenset({
    "ACTION", "ASSUME", "ASSUMPTION", "AXIOM", "BOOLEAN", "BY", "CASE", "CHOOSE", "CONSTANT", "CONSTANTS",
    "COROLLARY", "DEF", "DEFINE", "DEFS", "DOMAIN", "ELSE", "ENABLED", "EXCEPT", "EXTENDS", "FALSE", "HAVE", "HIDE",
    "IF", "IN", "INSTANCE", "LAMBDA", "LEMMA", "LET", "LOCAL", "MODULE", "NEW", "OBVIOUS", "OMITTED", "ONLY",
    "OTHER", "PICK", "PROOF", "PROPOSITION", "PROVE", "QED", "RECURSIVE", "SF_", "STATE", "STRING", "SUBSET",
    "SUFFICES", "TAKE", "TEMPORAL", "THEN", "THEOREM", "TRUE", "UNCHANGED", "UNION", "USE", "VARIABLE", "VARIABLES",
    "WF_", "WITH", "WITNESS", "Nat", "Int", "Real", "Seq", "Append", "Head", "Tail", "Len", "SubSeq", "SelectSeq",
    "Cardinality", "IsFiniteSet", "Permutations", "Min", "Max", "Holds", "Init", "Next", "Spec", "Within", "TypeOK",
    "Symmetry", "vars", "None",
})  # fmt: skip
"""What names cannot be: the words of TLA+ and of the modules that are extended, and what each export has."""


def camel(name: str) -> str:
    """Return a name in snake case as TLA+ names operators: controller_elect_leader is ControllerElectLeader."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


class Names:
    """The names that are taken.

    Args:
        taken: the names that are spoken for from the start: the variables.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = {*_WORDS, *taken}
        self._known: dict[object, str] = {}

    def __contains__(self, what: object) -> bool:
        return what in self._known

    def name(self, what: object, wanted: str) -> str:
        """Return the name of a thing, the same each time: what is wanted, or that with something more."""
        if what not in self._known:
            base = re.sub(r"\W", "_", wanted, flags=re.ASCII)
            name = base = base if re.search("[A-Za-z]", base) else f"x{base}"
            number = 1
            while name in self.taken:
                number += 1
                name = f"{base}_{number}"
            self.taken.add(name)
            self._known[what] = name
        return self._known[what]

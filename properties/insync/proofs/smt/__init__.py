"""Internal: the program of a model in z3, with states as bit-vectors; importing this package imports z3.

`z3_module` imports the library. `terms` has a rule for each operation, `transition_system` makes states, guards and
updates, `unrolling` strings states together, and `solver` calls z3.
"""

from __future__ import annotations

from insync.proofs.smt.solver import Answer, Found, Question, Solver, z3_version
from insync.proofs.smt.terms import RULES, Formula, Terms, all_of, any_of, negation, width_of
from insync.proofs.smt.transition_system import SymbolicProgram, SymbolicState
from insync.proofs.smt.unrolling import SymbolicStep, Unrolling

__all__ = [
    "RULES",
    "Answer",
    "Formula",
    "Found",
    "Question",
    "Solver",
    "SymbolicProgram",
    "SymbolicState",
    "SymbolicStep",
    "Terms",
    "Unrolling",
    "all_of",
    "any_of",
    "negation",
    "width_of",
    "z3_version",
]

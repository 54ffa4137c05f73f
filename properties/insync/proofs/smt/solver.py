"""z3's solver, reduced to what proofs need: conditions in, an answer that cannot be mistaken out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum

from insync.model.errors import InternalError
from insync.proofs.smt.symbolic_program import SymbolicState
from insync.proofs.smt.terms import Formula
from insync.proofs.smt.z3_module import z3
from insync.proofs.watch import Deadline, ProofWatch

__all__ = ["Answer", "Solver", "z3_version"]

_NEVER = 2**32 - 1
"""The most milliseconds that z3 takes for a timeout; 0 would be none at all."""

_ONE_SHOT = ("simplify", "propagate-values", "solve-eqs", "card2bv", "simplify", "bit-blast", "sat")


class Answer(Enum):
    """What z3 says of a set of conditions."""

    POSSIBLE = "possible"
    IMPOSSIBLE = "impossible"
    UNKNOWN = "unknown"


class Solver:
    """Conditions, and whether they can hold together.

    Args:
        watch: says when it must not go on; None is never.
        one_shot: whether it is asked once. Then the conditions are simplified as a whole and given to z3's SAT solver,
            which is several times faster on long paths; else z3 keeps what it learns from one question to the next.

    Attributes:
        reason: why the last answer is unknown.
    """

    def __init__(self, watch: ProofWatch | None = None, *, one_shot: bool = False) -> None:
        self._watch = watch if watch is not None else ProofWatch()
        self._solver = z3.Then(*_ONE_SHOT).solver() if one_shot else z3.Solver()
        self._solver.set("ctrl_c", False)  # else z3 puts its own handler in place of Python's, and keeps the signal
        self.reason = ""

    def add(self, conditions: Iterable[Formula]) -> None:
        """Demand conditions."""
        self._solver.add(*conditions)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Forget at the end of the block what was demanded in it."""
        self._solver.push()
        try:
            yield
        finally:
            self._solver.pop()

    def check(self, deadline: Deadline) -> Answer:
        """Return whether all that is demanded can hold together; past the deadline the answer is unknown.

        Raises:
            Stopped: the proof has to stop.
        """
        self._watch.go_on()
        left = deadline.left
        self._solver.set("timeout", _NEVER if left is None else min(_NEVER, max(1, int(left * 1000))))
        found = self._watch.attend(self._solver.check, self._solver.interrupt)
        if found == z3.sat:
            return Answer.POSSIBLE
        if found == z3.unsat:
            return Answer.IMPOSSIBLE
        self._watch.go_on()
        why = self._solver.reason_unknown()
        self.reason = "no answer in time" if why in ("timeout", "canceled") or deadline.passed else f"z3 says: {why}"
        return Answer.UNKNOWN

    def codes(self, state: SymbolicState) -> tuple[int, ...]:
        """Return a state's codes in the case that made the last answer POSSIBLE."""
        return state.codes(self._solver.model())

    def chosen(self, choices: Iterable[Formula]) -> int:
        """Return the place of the first choice that is true in the case that made the last answer POSSIBLE."""
        found = self._solver.model()
        for place, choice in enumerate(choices):
            if z3.is_true(found.eval(choice, model_completion=True)):
                return place
        message = "z3 takes a step by no action"
        raise InternalError(message)


def z3_version() -> str:
    """Return the version of the library."""
    return str(z3.get_version_string())

"""z3's solver, reduced to what proofs need: conditions, an answer of three values, and the model of z3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum

from insync.proofs.smt.terms import Formula, all_of
from insync.proofs.smt.transition_system import SymbolicState
from insync.proofs.smt.z3_module import z3
from insync.runtime.errors import InternalError
from insync.runtime.watch import Watch

__all__ = ["Answer", "Found", "Question", "Solver", "limit", "z3_version"]

_NEVER = 2**32 - 1
"""The largest timeout of z3 in milliseconds; 0 would be no timeout at all."""

_ONE_SHOT = ("simplify", "propagate-values", "solve-eqs", "card2bv", "simplify", "bit-blast", "sat")


class Answer(Enum):
    """The answer of z3 to whether conditions can hold together."""

    POSSIBLE = "possible"
    IMPOSSIBLE = "impossible"
    UNKNOWN = "unknown"


class Solver:
    """Decides whether conditions can hold together.

    Args:
        watch: the limits of the proof; None is no limit.
        one_shot: whether there is one question only. Then the conditions are simplified as a whole and given to z3's
            SAT solver, which is several times faster on long paths. Else z3 is incremental and keeps what it learns.

    Attributes:
        reason: why the last answer is unknown.
    """

    def __init__(self, watch: Watch | None = None, *, one_shot: bool = False) -> None:
        self._watch = watch if watch is not None else Watch()
        self._solver = z3.Then(*_ONE_SHOT).solver() if one_shot else z3.Solver()
        self._solver.set("ctrl_c", False)  # else z3 puts its own handler in place of Python's, and keeps the signal
        self.reason = ""

    def add(self, conditions: Iterable[Formula]) -> None:
        """Add conditions that must hold."""
        self._solver.add(*conditions)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Remove the conditions that are added in this context at its end."""
        self._solver.push()
        try:
            yield
        finally:
            self._solver.pop()

    def check(self, query: Watch) -> Answer:
        """Return whether all conditions can hold together; when the query must stop, the answer is unknown.

        Raises:
            Stopped: the proof has to stop.
        """
        self._watch.check()
        limit(self._solver, query)
        found = self._watch.attend(self._solver.check, self._solver.interrupt)
        answer, self.reason = _answered(found, self._solver, query)
        if answer is Answer.UNKNOWN:
            self._watch.check()
        return answer

    @property
    def found(self) -> Found:
        """The model of z3 for the last answer, which was POSSIBLE."""
        return Found(self._solver.model())


class Question:
    """A one-shot question in a context of z3 of its own, so that several questions run in parallel.

    The conditions are simplified as a whole and given to z3's SAT solver.

    Args:
        conditions: the conditions; the question is whether they can hold together.
        query: when it must stop, the answer is unknown.
        seconds: the most time that z3 may take.

    Attributes:
        reason: why the answer is unknown.
        seconds: the time that z3 took.
    """

    def __init__(self, conditions: Iterable[Formula], query: Watch, seconds: float) -> None:
        context = z3.Context()
        self._solver = z3.Then(*_ONE_SHOT, ctx=context).solver()
        self._solver.set("ctrl_c", False)
        self._solver.add(all_of(list(conditions)).translate(context))
        self._query, self._most = query, seconds
        self.reason, self.seconds = "", 0.0

    def answer(self) -> Answer:
        """Return whether the conditions can hold together; this may be called in any thread, once."""
        query = self._query.within(self._most)
        limit(self._solver, query)
        answer, self.reason = _answered(self._solver.check(), self._solver, query)
        self.seconds = query.seconds
        return answer

    def interrupt(self) -> None:
        """End the question early: the answer is unknown."""
        self._solver.interrupt()

    @property
    def found(self) -> Found:
        """The model of z3 for the answer, which was POSSIBLE."""
        return Found(self._solver.model().translate(z3.main_ctx()))


class Found:
    """A case in which all conditions hold.

    Args:
        model: the model of z3.
    """

    def __init__(self, model: z3.ModelRef) -> None:
        self._model = model

    def codes(self, state: SymbolicState) -> tuple[int, ...]:
        """Return the codes of a symbolic state in this case."""
        return state.codes(self._model)

    def chosen(self, choices: Iterable[Formula]) -> int:
        """Return the place of the first choice that is true."""
        for place, choice in enumerate(choices):
            if z3.is_true(self._model.eval(choice, model_completion=True)):
                return place
        message = "z3 takes a step by no action"
        raise InternalError(message)


def limit(solver: z3.Solver, query: Watch) -> None:
    """Set the timeout of a solver's next question."""
    left = query.left
    solver.set("timeout", _NEVER if left is None else min(_NEVER, max(1, int(left * 1000))))


def _answered(found: z3.CheckSatResult, solver: z3.Solver, query: Watch) -> tuple[Answer, str]:
    """Return z3's answer, and the reason if it is unknown."""
    if found == z3.sat:
        return Answer.POSSIBLE, ""
    if found == z3.unsat:
        return Answer.IMPOSSIBLE, ""
    why = solver.reason_unknown()
    late = why in ("timeout", "canceled") or query.reason() is not None
    return Answer.UNKNOWN, "no answer in time" if late else f"z3 says: {why}"


def z3_version() -> str:
    """Return the version of the library."""
    return str(z3.get_version_string())

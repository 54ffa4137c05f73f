"""z3's solver, reduced to what proofs need: conditions in, an answer that cannot be mistaken out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum

from insync.model.errors import InternalError
from insync.proofs.smt.terms import Formula, all_of
from insync.proofs.smt.transition_system import SymbolicState
from insync.proofs.smt.z3_module import z3
from insync.proofs.watch import Deadline, ProofWatch

__all__ = ["Answer", "Found", "Question", "Solver", "limit", "z3_version"]

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
        limit(self._solver, deadline)
        found = self._watch.attend(self._solver.check, self._solver.interrupt)
        answer, self.reason = _answered(found, self._solver, deadline)
        if answer is Answer.UNKNOWN:
            self._watch.go_on()
        return answer

    @property
    def found(self) -> Found:
        """The case that made the last answer POSSIBLE."""
        return Found(self._solver.model())


class Question:
    """Conditions that are asked once, in a z3 of their own, so that several questions are answered at a time.

    They are simplified as a whole and given to z3's SAT solver.

    Args:
        conditions: whether they can hold together.
        deadline: past it the answer is unknown.
        seconds: the most that z3 may think.

    Attributes:
        reason: why the answer is unknown.
        seconds: how long z3 has thought.
    """

    def __init__(self, conditions: Iterable[Formula], deadline: Deadline, seconds: float) -> None:
        context = z3.Context()
        self._solver = z3.Then(*_ONE_SHOT, ctx=context).solver()
        self._solver.set("ctrl_c", False)
        self._solver.add(all_of(list(conditions)).translate(context))
        self._deadline, self._most = deadline, seconds
        self.reason, self.seconds = "", 0.0

    def answer(self) -> Answer:
        """Return whether the conditions can hold together; this may be called in any thread, once."""
        deadline = self._deadline.within(self._most)
        limit(self._solver, deadline)
        answer, self.reason = _answered(self._solver.check(), self._solver, deadline)
        self.seconds = deadline.elapsed
        return answer

    def interrupt(self) -> None:
        """End it early: the answer is unknown."""
        self._solver.interrupt()

    @property
    def found(self) -> Found:
        """The case that made the answer POSSIBLE."""
        return Found(self._solver.model().translate(z3.main_ctx()))


class Found:
    """A case in which all conditions hold.

    Args:
        model: z3's.
    """

    def __init__(self, model: z3.ModelRef) -> None:
        self._model = model

    def codes(self, state: SymbolicState) -> tuple[int, ...]:
        """Return a state's codes."""
        return state.codes(self._model)

    def chosen(self, choices: Iterable[Formula]) -> int:
        """Return the place of the first choice that is true."""
        for place, choice in enumerate(choices):
            if z3.is_true(self._model.eval(choice, model_completion=True)):
                return place
        message = "z3 takes a step by no action"
        raise InternalError(message)


def limit(solver: z3.Solver, deadline: Deadline) -> None:
    """Let z3 think about its next question up to a deadline."""
    left = deadline.left
    solver.set("timeout", _NEVER if left is None else min(_NEVER, max(1, int(left * 1000))))


def _answered(found: z3.CheckSatResult, solver: z3.Solver, deadline: Deadline) -> tuple[Answer, str]:
    """Return z3's answer, and why there is none."""
    if found == z3.sat:
        return Answer.POSSIBLE, ""
    if found == z3.unsat:
        return Answer.IMPOSSIBLE, ""
    why = solver.reason_unknown()
    late = why in ("timeout", "canceled") or deadline.passed
    return Answer.UNKNOWN, "no answer in time" if late else f"z3 says: {why}"


def z3_version() -> str:
    """Return the version of the library."""
    return str(z3.get_version_string())

"""Questions to z3 about any state of a model with open bounds: do conclusions follow from what is assumed?

z3 instantiates quantifiers at terms that are mentioned, and looks for no model of the others. So the answer that a
conclusion cannot fail is a proof, and every other answer says nothing: what is not proved may be true.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from insync.proofs.smt.solver import limit
from insync.proofs.smt.z3_module import z3
from insync.proofs.watch import Deadline, ProofWatch

__all__ = ["Conclusion", "Questions"]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What is to follow: a name, and the condition."""

    name: str
    holds: z3.BoolRef


class Questions:
    """Conclusions from the same assumptions, asked one after the other in a z3 of their own.

    Args:
        watch: whose threads answer.
        assumed: the assumptions.
        conclusions: what is to follow from them, each alone.
        deadline: past it there is no answer.

    Attributes:
        seconds: how long they took, translation included.

    Raises:
        Stopped: the proof has to stop.
    """

    def __init__(
        self, watch: ProofWatch, assumed: Sequence[z3.BoolRef], conclusions: Sequence[Conclusion], deadline: Deadline
    ) -> None:
        watch.go_on()
        begun = Deadline(None)
        self._watch, self._deadline = watch, deadline
        self._context = z3.Context()
        z3.Z3_enable_concurrent_dec_ref(self._context.ref())
        self._solver = z3.SimpleSolver(ctx=self._context)
        self._solver.set("auto_config", False)
        self._solver.set("mbqi", False)
        self._solver.set("ctrl_c", False)
        self._solver.add(z3.And(*assumed).translate(self._context))
        self._asked = [(one.name, z3.Not(one.holds).translate(self._context)) for one in conclusions]
        self._given_up = threading.Event()
        self.seconds = begun.elapsed
        self._under_way: Future[str | None] = watch.begin(self._answer)

    def _answer(self) -> str | None:
        """Return why not all follow, naming the first that does not; None if all do. Done in a thread of the watch."""
        begun = Deadline(None)
        try:
            for name, negation in self._asked:
                if self._given_up.is_set():
                    return "no answer in time"
                limit(self._solver, self._deadline)
                self._solver.push()
                self._solver.add(negation)
                if self._solver.check() != z3.unsat:
                    late = self._given_up.is_set() or self._deadline.passed
                    return "no answer in time" if late else f"{name} is not proved"
                self._solver.pop()
            return None
        finally:
            self.seconds += begun.elapsed

    def wait(self) -> str | None:
        """Return why not all follow; None if all do.

        Raises:
            Stopped: the proof has to stop.
        """
        found = self._watch.end(self._under_way, self._interrupt)
        if found is not None:
            self._watch.go_on()
        return found

    def give_up(self) -> None:
        """End it without an answer."""
        self._watch.give_up(self._under_way, self._interrupt)

    def _interrupt(self) -> None:
        self._given_up.set()
        self._solver.interrupt()

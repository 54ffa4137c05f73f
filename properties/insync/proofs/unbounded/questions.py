"""Questions to z3 about any state of a model with open bounds: do conclusions follow from what is assumed?

z3 instantiates quantifiers at terms that are mentioned, and looks for no model of the others. So the answer that a
conclusion cannot fail is a proof, and every other answer says nothing: what is not proved may be true.

Each quantifier that z3 is told of is instantiated at each term, whether it helps or not, and most conclusions need two
or three of the conditions that make a state good. So a conclusion is first asked for with a few of them, and with all
if it does not follow from these. To assume less proves no less, so which few these are is a matter of time alone.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from insync.proofs.smt.solver import limit
from insync.proofs.smt.z3_module import z3
from insync.proofs.watch import Deadline, ProofWatch

__all__ = ["Assumed", "Conclusion", "Helpers", "Questions"]

_FEW_STEPS = 10_000_000
"""How long z3 may try with a few conditions, in its own count of steps: several seconds."""

_NOT_IN_TIME = "no answer in time"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What is to follow: the name of a condition, and one of the conditions that it joins."""

    name: str
    holds: z3.BoolRef


@dataclass(frozen=True, slots=True)
class Assumed:
    """What conclusions may follow from.

    Attributes:
        always: what z3 is always told.
        good: by their names, the conditions of which it is first told a few.
    """

    always: Sequence[z3.BoolRef]
    good: Mapping[str, z3.BoolRef] = field(default_factory=dict)


class Helpers:
    """Which conditions have helped z3 to conclude which, by the names of both; a condition always helps itself.

    Threads may share one: what one of them learns may be lost, which costs time and nothing else.
    """

    def __init__(self) -> None:
        self._of: dict[str, frozenset[str]] = {}

    def of(self, name: str) -> frozenset[str]:
        """Return the conditions with which to try first."""
        return self._of.get(name, frozenset([name]))

    def learn(self, name: str, helped: frozenset[str]) -> None:
        """Note that a condition has followed from these."""
        self._of[name] = self.of(name) | helped


class Questions:
    """Conclusions from the same assumptions, asked one after the other in a z3 of their own.

    Args:
        watch: whose threads answer.
        assumed: the assumptions.
        conclusions: what is to follow from them, each alone.
        helpers: with which of them to try first, and learns more.
        deadline: past it there is no answer.

    Attributes:
        seconds: how long they took, translation included.

    Raises:
        Stopped: the proof has to stop.
    """

    def __init__(
        self,
        watch: ProofWatch,
        assumed: Assumed,
        conclusions: Sequence[Conclusion],
        helpers: Helpers,
        deadline: Deadline,
    ) -> None:
        watch.go_on()
        begun = Deadline(None)
        self._watch, self._helpers, self._deadline = watch, helpers, deadline
        self._context = z3.Context()
        z3.Z3_enable_concurrent_dec_ref(self._context.ref())
        self._always = z3.And(*assumed.always).translate(self._context)
        self._good = {name: holds.translate(self._context) for name, holds in assumed.good.items()}
        self._asked = [(one.name, z3.Not(one.holds).translate(self._context)) for one in conclusions]
        self._given_up = threading.Event()
        self.seconds = begun.elapsed
        self._under_way: Future[str | None] = watch.begin(self._answer)

    def _answer(self) -> str | None:
        """Return why not all follow, naming the first that does not; None if all do. Done in a thread of the watch."""
        begun = Deadline(None)
        try:
            for name, negation in self._asked:
                if not (self._follows_from_few(name, negation) or self._follows_from_all(name, negation)):
                    return _NOT_IN_TIME if self._late else f"{name} is not proved"
            return None
        finally:
            self.seconds += begun.elapsed

    @property
    def _late(self) -> bool:
        return self._given_up.is_set() or self._deadline.passed

    def _follows_from_few(self, name: str, negation: z3.BoolRef) -> bool:
        few = self._helpers.of(name)
        if self._late or few.issuperset(self._good):
            return False
        solver = self._solver(negation)
        solver.add(*[holds for other, holds in self._good.items() if other in few])
        solver.set("rlimit", _FEW_STEPS)
        found: z3.CheckSatResult = solver.check()
        return found == z3.unsat

    def _follows_from_all(self, name: str, negation: z3.BoolRef) -> bool:
        """Return whether it follows from all that is assumed, and learn which conditions z3 has made use of."""
        if self._late:
            return False
        solver = self._solver(negation)
        told = {other: z3.Bool(f"told {other}", self._context) for other in self._good}
        solver.add(*[z3.Implies(literal, self._good[other]) for other, literal in told.items()])
        if solver.check(*told.values()) != z3.unsat:
            return False
        used = solver.unsat_core()
        helped = [other for other, literal in told.items() if any(map(literal.eq, used))]
        self._helpers.learn(name, frozenset(helped))
        return True

    def _solver(self, negation: z3.BoolRef) -> z3.Solver:
        solver = z3.SimpleSolver(ctx=self._context)
        solver.set("auto_config", False)
        solver.set("mbqi", False)
        solver.set("ctrl_c", False)
        limit(solver, self._deadline)
        solver.add(self._always, negation)
        return solver

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
        self._context.interrupt()

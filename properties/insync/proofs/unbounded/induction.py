"""Induction for all values of the bounds that a model leaves open.

As in `induction` the question is whether the initial state is good and every step from a good state leads to a good
one, action by action. Here an action is traced with its bounds open, and one question is about all logs, epochs and
numbers of records. What the steps of alike replicas do is asked of one of them, if z3 shows that they are alike.

What helps z3 with a step of a few replicas helps with that of more. So a proof of a large instance is rehearsed with a
small one: nothing is concluded from that, but which conditions to try first.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from insync.model import Model
from insync.model.errors import UserError
from insync.model.open_tracing import OpenAction, OpenModel
from insync.proofs.k_induction import INITIATION, concluded_from
from insync.proofs.obligations import conjuncts
from insync.proofs.results import ALIKE, Induction, ProofVerdict, Query, QueryReporter
from insync.proofs.smt.z3_module import z3
from insync.proofs.unbounded.likeness import alike_by, likeness_of, swaps_of
from insync.proofs.unbounded.questions import Assumed, Conclusion, Helpers, Questions
from insync.proofs.unbounded.terms import OpenState, OpenTerms
from insync.proofs.unbounded.transition_system import SymbolicTaken, begun, fits_of, symbols_of, taken
from insync.proofs.watch import ProofLimits, ProofWatch, Stopped
from insync.properties.every_model import DEADLOCK_FREE, TYPE_OK
from insync.properties.invariants import Invariant
from insync.properties.step_invariants import StepInvariant

__all__ = ["AllBounds", "check_all_bounds"]


def check_all_bounds(
    model: Model,
    conditions: Sequence[Invariant],
    *,
    limits: ProofLimits | None = None,
    rehearsal: Model | None = None,
    reporter: QueryReporter | None = None,
    stop: threading.Event | None = None,
) -> Induction:
    """Return whether conditions are inductive together for all values of the bounds that the model leaves open.

    What is not proved is unknown, never refuted: z3 is not asked for a counterexample.

    Args:
        model: the model; its other bounds are what they are.
        conditions: what is to hold in every state, properties and lemmas; type_ok is proved with them.
        limits: its bounds.
        rehearsal: a smaller instance of the model, from which to learn which conditions help with which step; or None.
        reporter: is told of each query when it is answered.
        stop: ends it when it is set.

    Raises:
        UserError: the model has no such bounds, or says something that is not translated; z3 is not installed.
    """
    watch = ProofWatch(limits, stop)
    queries: list[Query] = []
    helpers: dict[str, Helpers] = {}
    proof = AllBounds(model, conditions, watch, helpers)

    def answered(query: Query) -> None:
        queries.append(query)
        if reporter is not None:
            reporter(query)

    with suppress(Stopped):
        answered(proof.initiation())
        alike = proof.likeness()
        if alike is not None:
            answered(alike)
        if rehearsal is not None:
            AllBounds(rehearsal, conditions, watch, helpers).rehearse()
        for query in proof.steps():
            answered(query)
    return concluded_from((INITIATION, *proof.names), [c.name for c in conditions], queries, watch)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is being asked of an action."""

    action: OpenAction
    questions: Questions


class AllBounds:
    """The queries of such an induction.

    Args:
        model: the model.
        conditions: what makes a state good.
        watch: says when to stop.
        helpers: what is known to help with the steps of each action; it learns more. None knows nothing.

    Attributes:
        names: of the actions.
    """

    def __init__(
        self,
        model: Model,
        conditions: Sequence[Invariant],
        watch: ProofWatch,
        helpers: dict[str, Helpers] | None = None,
    ) -> None:
        for found in conditions:
            if isinstance(found, StepInvariant) or found.name == DEADLOCK_FREE:
                message = f"{model.name}: {found.name} is not a condition on single states; prove it at bounds."
                raise UserError(message)
        self.watch = watch
        self.model = OpenModel(model)
        self.actions = list(self.model.actions())
        self.names = tuple(dict.fromkeys(action.name for action in self.actions))
        self._nodes = {found.name: found.node(self.model.model) for found in conditions}
        self._helpers = {} if helpers is None else helpers
        self.symbols = symbols_of(self.model)
        self.start = begun(self.symbols)
        self._before = OpenTerms(self.symbols, self.start.state)
        self._good = {name: self._before.condition(node) for name, node in self._nodes.items()}
        self._parts = {
            name: [(part, self._before.condition(part)) for part in conjuncts(node)]
            for name, node in self._nodes.items()
        }
        self._asked = {id(action) for action in self.actions}

    def initiation(self) -> Query:
        """Return whether the initial state is good.

        Raises:
            Stopped: the proof has to stop.
        """
        zeros = OpenState(
            {
                number: [z3.BoolVal(False)] * self.symbols.width if self.symbols.is_set(number) else z3.IntVal(0)
                for number, cell in enumerate(self.model.cells)
                if not cell.lengths
            },
            lambda cell, _: [z3.BoolVal(False)] * self.symbols.width if self.symbols.is_set(cell) else z3.IntVal(0),
        )
        action = self.model.initial()
        first = taken(self.symbols, zeros, action)
        terms = OpenTerms(self.symbols, first.after)
        good = [Conclusion(name, terms.condition(node)) for name, node in self._nodes.items()]
        least = [self.symbols.bounds[name] >= value for name, value in self.model.lowest.items()]
        conclusions = [*self._typed(first, action), *good]
        assumed = Assumed([*least, *first.terms.facts])
        questions = Questions(self.watch, assumed, conclusions, Helpers(), self.watch.query())
        return _answered(INITIATION, [questions.wait()], questions.seconds, 1)

    def _typed(self, step: SymbolicTaken, action: OpenAction) -> list[Conclusion]:
        """Return that a step leaves no domain."""
        return [Conclusion(TYPE_OK, fits) for fits in fits_of(self.symbols, step, action)]

    def _conclusions(self, state: OpenState) -> list[Conclusion]:
        """Return that a state is good, but for what it has in common with the one before, which is assumed to be."""
        terms = OpenTerms(self.symbols, state)
        return [
            Conclusion(name, holds)
            for name, parts in self._parts.items()
            for part, before in parts
            if not (holds := terms.condition(part)).eq(before)
        ]

    def likeness(self) -> Query | None:
        """Return that members of symmetric sorts are alike, if they are; the others' steps are then not asked about.

        Raises:
            Stopped: the proof has to stop.
        """
        deadline, seconds, helpers = self.watch.query(), 0.0, Helpers()
        swaps, kept = swaps_of(self.symbols, self.actions), []
        good = Assumed([*self.start.typed, *self.start.hints], self._good)
        for swap in swaps:
            state = swap.state(self.symbols, self.start.state)
            questions = Questions(self.watch, good, self._conclusions(state), helpers, deadline)
            if questions.wait() is None:
                kept.append(swap)
            seconds += questions.seconds
        spared = 0
        for further, nearer, swap in alike_by(kept, self.actions):
            assumed, same = likeness_of(self.symbols, self.start.state, further, nearer, swap)
            questions = Questions(self.watch, Assumed([*self.start.typed, *assumed]), same, Helpers(), deadline)
            if questions.wait() is None:
                self._asked.discard(id(further))
                spared += 1
            seconds += questions.seconds
        return Query(ALIKE, ProofVerdict.PROVED, seconds, spared) if spared else None

    def steps(self, only: str | None = None) -> Iterator[Query]:
        """Yield for each action (or `only` one) whether each of its steps from a good state leads to a good one.

        Raises:
            Stopped: the proof has to stop.
        """
        ahead = iter([a for a in self.actions if id(a) in self._asked and only in (None, a.name)])
        line: deque[_Asked] = deque()
        try:
            for name in self.names if only is None else (only,):
                failures, seconds = [], 0.0
                while True:
                    while len(line) < 2 * self.watch.threads and (action := next(ahead, None)) is not None:
                        self.watch.go_on()
                        line.append(_Asked(action, self._questions(action)))
                    if not line or line[0].action.name != name:
                        break
                    asked = line.popleft()
                    failures.append(_named(asked.action, asked.questions.wait()))
                    seconds += asked.questions.seconds
                yield _answered(name, failures, seconds, sum(a.name == name for a in self.actions))
        finally:
            for asked in line:
                asked.questions.give_up()

    def rehearse(self) -> None:
        """Ask about one step by each action, whether or not it stands for all: it is `helpers` that learn from it.

        Raises:
            Stopped: the proof has to stop.
        """
        self._asked = {id(action) for action in {action.name: action for action in reversed(self.actions)}.values()}
        for _ in self.steps():
            pass

    def _questions(self, action: OpenAction) -> Questions:
        step = taken(self.symbols, self.start.state, action)
        conclusions = [*self._typed(step, action), *self._conclusions(step.after)]
        told = [*self.start.typed, *self.start.hints, *step.enabled, *step.terms.facts, *step.hints]
        helpers = self._helpers.setdefault(action.name, Helpers())
        return Questions(self.watch, Assumed(told, self._good), conclusions, helpers, self.watch.query())


def _named(action: OpenAction, failure: str | None) -> str | None:
    return None if failure is None else f"{failure}, with {action}"


def _answered(name: str, failures: Sequence[str | None], seconds: float, cases: int) -> Query:
    reasons = [failure for failure in failures if failure is not None]
    verdict = ProofVerdict.UNKNOWN if reasons else ProofVerdict.PROVED
    return Query(name, verdict, seconds, cases, reasons[0] if reasons else "")

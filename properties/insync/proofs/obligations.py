"""The proof obligations of an induction: no step from good states breaks a condition (preservation).

A bound action is first one question to z3's SAT solver: can its step from a good state break anything? Several such
questions run at a time. At large bounds a question can be too large. Past a time limit the conjuncts after the step are
checked one by one, with few assumptions on the state before: the conjunct itself and the guard.

The evaluator judges each state that z3 finds then. A good state refutes preservation. For another one, conjuncts that
fail in it are assumed as well, and z3 is called again. If no such state exists, the conjunct is proved: more
assumptions would not change that. The assumptions that one conjunct of a condition needed are kept for the next.
Measured in benchmarks/README.md.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice

from insync.model import Model
from insync.model.domains.layout import well_formed
from insync.model.evaluator import Codes, Evaluator, evaluate_each
from insync.model.expressions.graph import Node, Op
from insync.model.tracing.program import BoundAction
from insync.proofs.bounded import replayed, traced
from insync.proofs.equivariance import spared_steps
from insync.proofs.results import ALIKE, CounterexampleToInduction, ProofVerdict, Query, StateSequence
from insync.proofs.smt import (
    Answer,
    Formula,
    Found,
    Question,
    Solver,
    SymbolicProgram,
    SymbolicState,
    Unrolling,
    all_of,
    any_of,
    negation,
)
from insync.properties.explain import explain, explain_step
from insync.properties.invariants import TYPE_OK, Failure, Invariant, StepInvariant
from insync.runtime.errors import InternalError
from insync.runtime.watch import Watch, Work

__all__ = [
    "Preservation",
    "broken_by",
    "conjuncts",
    "enabled_actions",
]


SECONDS_FOR_ALL = 600.0
"""The time of z3 for a bound action as a whole; after it, all bindings of the action are asked conjunct by conjunct."""

SECONDS_FOR_LIKENESS = 10.0
"""The time of z3 to show that a bound action's step is another one's with members swapped."""


def enabled_actions(model: Model) -> list[str]:
    """Return the names of the actions that can be enabled, in the model's order."""
    return list(dict.fromkeys(action.name for action in model.program.actions))


class Preservation:
    """The queries of preservation: does any action lead from k good states to a bad one?

    Args:
        model: the model.
        conditions: the conditions of a good state, and step invariants, which every step from good states must meet.
        k: the number of successive good states before the step.
        watch: the limits of the proof and of each query; None is no limit.

    Raises:
        Stopped: the proof has to stop.
    """

    def __init__(self, model: Model, conditions: Sequence[Invariant], k: int = 1, watch: Watch | None = None) -> None:
        self.model = model
        self.watch = watch if watch is not None else Watch()
        self.conditions = list(conditions)
        self.program = SymbolicProgram(model.program, self.watch)
        states = [c for c in conditions if not isinstance(c, StepInvariant)]
        self.good = traced(model, states, self.watch)
        named = zip((c.name for c in states), self.good, strict=True)
        self.parts = [Part(name, part, self.program.reads(part)) for name, node in named for part in conjuncts(node)]
        self.unrolling = Unrolling(self.program, self.program.fresh("s0"))
        self.shape = self._codes_of_values()
        for _ in range(k - 1):
            self.shape += self.unrolling.extend()

    def ask(self, name: str, only: str | None = None) -> Query:
        """Return the query whether the actions of this name preserve the conditions, or `only` one of them.

        Raises:
            Stopped: the proof has to stop.
        """
        with closing(self.ask_each([name], only)) as answers:
            return next(answers)

    def ask_each(self, names: Sequence[str], only: str | None = None) -> Generator[Query]:
        """Yield the query of each of several names, in their order; later queries begin while one is under way.

        Close the generator if you do not take all answers. The seconds of a query are the sum over its cases.

        Raises:
            Stopped: the proof has to stop.
        """
        line = _Line(self, names, only)
        try:
            for name in names:
                yield self._query(name, line)
        finally:
            line.give_up()

    def likeness(self) -> Query | None:
        """Return the query with the number of bound actions that others cover; None if there are none.

        Raises:
            Stopped: the proof has to stop.
        """
        begun = time.perf_counter()
        spared = len(self.spared)
        return Query(ALIKE, ProofVerdict.PROVED, time.perf_counter() - begun, spared) if spared else None

    @cached_property
    def spared(self) -> frozenset[int]:
        """The numbers of the bound actions that others cover; see `spared_steps`.

        Raises:
            Stopped: the proof has to stop.
        """
        if len(self.unrolling.states) > 1:  # the actions of the earlier steps would have to be permuted as well
            return frozenset()
        numbers = range(len(self.model.program.actions))
        return spared_steps(self.model, self.good, numbers, self._step_conditions, self._always)

    def _step_conditions(self, number: int) -> list[Node]:
        """Return the step invariants for an action, as conditions on the state before."""
        self.watch.check()
        return [part.node for group in self._of_steps(number, None) for part in group]

    def _always(self, condition: Node) -> bool:
        """Return whether z3 shows within `SECONDS_FOR_LIKENESS` that a condition holds in all good states."""
        solver = Solver(self.watch, one_shot=True)
        solver.add([self.all_good, negation(self.unrolling.states[0].holds(condition))])
        return solver.check(self.watch.query().within(SECONDS_FOR_LIKENESS)) is Answer.IMPOSSIBLE

    def _query(self, name: str, line: _Line) -> Query:
        cases, seconds = sum(action.name == name for action in self.model.program.actions), 0.0
        for case in line.cases_of(name):
            answer = case.answer_at_once()
            if answer is Answer.UNKNOWN:
                line.take_apart(name)
                answer = case.ask_one_by_one()
            seconds += case.seconds
            if answer is not Answer.IMPOSSIBLE:
                line.skip(name)
            if answer is Answer.POSSIBLE:
                return Query(name, ProofVerdict.REFUTED, seconds, cases, counterexample=case.counterexample)
            if answer is Answer.UNKNOWN:
                return Query(name, ProofVerdict.UNKNOWN, seconds, cases, f"{case.action}: {case.reason}")
        return Query(name, ProofVerdict.PROVED, seconds, cases)

    @cached_property
    def all_good(self) -> Formula:
        """The conditions of k good states."""
        return all_of([*self.shape, *Told(self.parts, self.unrolling.states).of(self.parts)])

    def groups(self, number: int, only: str | None) -> list[list[Part]]:
        """Return the conjuncts and step invariants that an action may break, grouped by condition."""
        return [*self._at_risk(self.model.program.actions[number], only), *self._of_steps(number, only)]

    def _codes_of_values(self) -> list[Formula]:
        """Return the conditions that the codes of the first state are in range and well-formed."""
        first, graph = self.unrolling.states[0], self.model.program.graph
        cells = [graph.cell(number) for number in range(len(graph.cell_sizes))]
        return [*self.program.typed(first), *first.all_hold(well_formed(self.model.state, cells))]

    def _at_risk(self, action: BoundAction, only: str | None) -> list[list[Part]]:
        """Return the conjuncts that an action may break, grouped by condition; an empty group stands for its checks."""
        touched = sum(1 << cell for cell, _ in action.updates)
        at_risk = [part for part in self.parts if part.reads & touched and only in (None, part.name)]
        groups = [list(group) for _, group in groupby(at_risk, key=lambda part: part.name)]
        return [[], *groups] if action.checks else groups

    def _of_steps(self, number: int, only: str | None) -> list[list[Part]]:
        """Return the step invariants for an action, except those that are plainly true."""
        groups = []
        for found in self.conditions:
            if isinstance(found, StepInvariant) and only in (None, found.name):
                self.watch.check()
                node = found.by_action(self.model)[number]
                if node is not node.graph.true:
                    groups.append([Part(found.name, node, 0, of_step=True)])
        return groups


class _Line:
    """The queue of cases of several actions, in their order; some cases begin before their turn."""

    def __init__(self, steps: Preservation, names: Sequence[str], only: str | None) -> None:
        self.steps, self.names, self.only = steps, names, only
        threads = steps.watch.threads
        self.most = 1 if threads == 1 else 2 * threads  # so that a free thread always has a next question
        self.ahead = self._cases()
        self.begun: deque[_Case] = deque()
        self.skipped: set[str] = set()
        self.apart: set[str] = set()

    def _cases(self) -> Iterator[_Case]:
        for name in self.names:
            query = self.steps.watch.query()
            for number, action in enumerate(self.steps.model.program.actions):
                if action.name == name and name not in self.skipped and number not in self.steps.spared:
                    yield _Case(self.steps, number, query, self.only)

    def cases_of(self, name: str) -> Iterator[_Case]:
        """Yield the cases of the next action in line."""
        while True:
            while len(self.begun) < self.most and (case := next(self.ahead, None)) is not None:
                self.begun.append(case)
            for case in self.begun:
                if case.action.name not in self.apart:
                    case.begin()
            if not self.begun or self.begun[0].action.name != name:
                return
            yield self.begun.popleft()

    def skip(self, name: str) -> None:
        """Leave out the other cases of an action."""
        self.skipped.add(name)
        for case in self.begun:
            if case.action.name == name:
                case.give_up()
        self.begun = deque(case for case in self.begun if case.action.name != name)

    def take_apart(self, name: str) -> None:
        """Begin no case of an action as a whole any more, and end all cases that are under way."""
        self.apart.add(name)
        self.give_up()

    def give_up(self) -> None:
        """End the cases that are under way."""
        for case in self.begun:
            case.give_up()


class _Case:
    """The obligation of one bound action."""

    def __init__(self, steps: Preservation, number: int, query: Watch, only: str | None) -> None:
        begun = time.perf_counter()
        self.steps, self.number, self.query = steps, number, query
        self.action = steps.model.program.actions[number]
        self.evaluator = Evaluator(steps.model.program)
        last = steps.unrolling.states[-1]
        self.fits = steps.program.fits(last, self.action)
        self.after = steps.program.after(last, self.action)
        self.guard = steps.program.enabled(last, self.action)
        self.groups = steps.groups(number, only)
        self.counterexample: CounterexampleToInduction | None = None
        self.reason = ""
        self.seconds = time.perf_counter() - begun
        self._under_way: tuple[Question, Work[Answer]] | None = None

    def begin(self) -> None:
        """Begin the question whether the step can break anything, in a thread of the watch."""
        if self._under_way is not None or not self.groups:
            return
        begun = time.perf_counter()
        bad = [all_of(formulas) for parts in self.groups for _, formulas in self._questions(parts)]
        question = Question([self.steps.all_good, *self.guard, any_of(bad)], self.query, SECONDS_FOR_ALL)
        self._under_way = question, self.steps.watch.begin(question.answer, question.interrupt)
        self.seconds += time.perf_counter() - begun

    def give_up(self) -> None:
        """End the question without an answer; it may begin again."""
        if self._under_way is not None:
            self._under_way[1].give_up()
            self._under_way = None

    def answer_at_once(self) -> Answer:
        """Return whether the step can break anything; unknown if the question was not begun, or takes too long."""
        if not self.groups:
            return Answer.IMPOSSIBLE
        self.steps.watch.check()
        if self._under_way is None:
            return Answer.UNKNOWN
        (question, under_way), self._under_way = self._under_way, None
        answer = under_way.result()
        self.seconds += question.seconds
        if answer is Answer.POSSIBLE:
            self._refuted(question.found)
        if answer is Answer.UNKNOWN:
            self.steps.watch.check()
        return answer

    def ask_one_by_one(self) -> Answer:
        """Return whether the step can break anything, by a question for each conjunct until the query must stop."""
        begun = time.perf_counter()
        answers = (self._ask(parts) for parts in self.groups)
        answer = next((answer for answer in answers if answer is not Answer.IMPOSSIBLE), Answer.IMPOSSIBLE)
        self.seconds += time.perf_counter() - begun
        return answer

    def _ask(self, parts: Sequence[Part]) -> Answer:
        """Return whether the step can break one of a condition's conjuncts; without any, whether it leaves a domain."""
        solver, told = Solver(self.steps.watch), Told(self.steps.parts, self.steps.unrolling.states)
        solver.add([*self.steps.shape, *self.guard])
        for own, bad in self._questions(parts):
            solver.add(told.of(own))
            with solver.scope():
                solver.add(bad)
                answer, needed = self._search(solver, told)
            if answer is not Answer.IMPOSSIBLE:
                return answer
            solver.add(needed)
        return Answer.IMPOSSIBLE

    def _questions(self, parts: Sequence[Part]) -> list[tuple[list[Part], list[Formula]]]:
        """Return for each conjunct the formulas that must be impossible together; without any, for leaving a domain."""
        if not parts:
            return [([], [negation(all_of(self.fits))])]
        before = self.steps.unrolling.states[-1]
        return [
            ([], [negation(before.holds(part.node))])
            if part.of_step
            else ([part], [*self.fits, negation(self.after.holds(part.node))])
            for part in parts
        ]

    def _search(self, solver: Solver, told: Told) -> tuple[Answer, list[Formula]]:
        """Call z3 until there is no such state or a good one; return its answer and the assumptions that were added."""
        needed: list[Formula] = []
        while True:
            answer = solver.check(self.query)
            if answer is not Answer.POSSIBLE:
                self.reason = solver.reason
                return answer, needed
            found = solver.found
            more = told.failing([found.codes(state) for state in self.steps.unrolling.states])
            if not more:
                self._refuted(found)
                return answer, needed
            solver.add(more)
            needed += more

    def _refuted(self, found: Found) -> None:
        codes = [found.codes(state) for state in self.steps.unrolling.states]
        actions = [found.chosen(step.choices) for step in self.steps.unrolling.steps]
        self.counterexample = self._refutation(codes, actions)

    def _refutation(self, codes: list[tuple[int, ...]], actions: list[int]) -> CounterexampleToInduction:
        states = replayed(self.steps.model, StateSequence(tuple(codes), tuple(actions)))
        check = self.evaluator.failing_check(self.number, codes[-1])
        if check is not None:
            return CounterexampleToInduction(states, self.number, (TYPE_OK,), check.message)
        after = self.evaluator.step(self.number, codes[-1])
        failures = {c.name: broken_by(self.steps.model, c, codes[-1], after) for c in self.steps.conditions}
        failing = {name: failure for name, failure in failures.items() if failure is not None}
        if not failing:
            message = f"z3 finds that {self.action} breaks a condition from {codes[-1]}; the evaluator does not"
            raise InternalError(message)
        whole = StateSequence((*states.codes, after), (*actions, self.number))
        first = next(iter(failing.values()))
        return CounterexampleToInduction(whole, None, tuple(failing), first.sentence, first)


def broken_by(model: Model, condition: Invariant, before: Codes, after: Codes) -> Failure | None:
    """Return the failure of a condition after a step, or of a step invariant in it; None where it holds."""
    if isinstance(condition, StepInvariant):
        return explain_step(model, condition, before, after)
    return explain(model, condition, after)


# --------------------------------------------------------------------------------- conjuncts, and those that z3 assumes


TOLD_AT_ONCE = 20
"""The number of failing conjuncts per state that are added before z3 is asked again."""


def conjuncts(node: Node) -> list[Node]:
    """Return the conjuncts of a condition, those of quantifiers included."""
    found, stack = [], [node]
    while stack:
        current = stack.pop()
        if current.op is Op.AND:
            stack.extend(reversed(current.args))
        else:
            found.append(current)
    return found


@dataclass(frozen=True, slots=True)
class Part:
    """A conjunct of a condition, and the cells that it reads as a bit mask.

    With `of_step` it is a step invariant for one action, a condition on the state before. It is not assumed, and the
    step breaks it where it fails in that state.
    """

    name: str
    node: Node
    reads: int
    of_step: bool = False


class Told:
    """The conjuncts that z3 assumes of each of the good states.

    Args:
        parts: all conjuncts.
        states: the good states.
    """

    def __init__(self, parts: Sequence[Part], states: Sequence[SymbolicState]) -> None:
        self.parts, self.states = parts, states
        self.known: set[tuple[int, int]] = set()

    def of(self, parts: Iterable[Part]) -> list[Formula]:
        """Return the new assumptions that these conjuncts hold in all good states."""
        wanted = {id(part) for part in parts}
        places = [place for place, part in enumerate(self.parts) if id(part) in wanted]
        return self._tell((state, place) for state in range(len(self.states)) for place in places)

    def failing(self, codes: Sequence[tuple[int, ...]]) -> list[Formula]:
        """Return new assumptions, some that fail in the states with these codes; none where all states are good."""
        failing: list[tuple[int, int]] = []
        for state, own in enumerate(codes):
            untold = [place for place in range(len(self.parts)) if (state, place) not in self.known]
            values = evaluate_each((self.parts[place].node for place in untold), own)
            bad = ((state, place) for place, value in zip(untold, values, strict=True) if not value)
            failing += islice(bad, TOLD_AT_ONCE)
        return self._tell(failing)

    def _tell(self, wanted: Iterable[tuple[int, int]]) -> list[Formula]:
        new = [pair for pair in wanted if pair not in self.known]
        self.known.update(new)
        return [self.states[state].holds(self.parts[place].node) for state, place in new]

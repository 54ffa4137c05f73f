"""Induction for all values of a model's open bounds (parameterized verification: Apt and Kozen 1986).

As in `k_induction` with k = 1, the initial state must be good and every step from a good state must lead to a good one,
action by action. Here an action is traced with its bounds open, so one question covers logs, epochs and numbers of
records of all sizes. Steps that differ only in which replica takes them share one question, if z3 shows that they are
alike.

The conditions that help z3 with a step of a few replicas also help with more. So a proof of a large instance is
rehearsed with a small one: that proves nothing, but shows which conditions to try first.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from insync.model import Model
from insync.model.domains import composite as d
from insync.model.domains.sorts import Index, Subset, label_of
from insync.model.expressions.graph import Variable
from insync.model.expressions.lifted import Action
from insync.proofs.k_induction import INITIATION, concluded_from
from insync.proofs.obligations import conjuncts
from insync.proofs.results import ALIKE, Induction, ProofVerdict, Query, QueryReporter
from insync.proofs.smt.solver import limit
from insync.proofs.smt.z3_module import z3
from insync.proofs.unbounded.open_model import OpenModel
from insync.proofs.unbounded.terms import OpenState, OpenTerms, Symbols, Value
from insync.proofs.unbounded.transition_system import SymbolicTaken, begun, fits_of, symbols_of, taken
from insync.properties.invariants import DEADLOCK_FREE, TYPE_OK, Invariant, StepInvariant
from insync.runtime.errors import UserError
from insync.runtime.oversight import Oversight
from insync.runtime.watch import Stopped, Watch, Work

__all__ = [
    "AllBounds",
    "Assumed",
    "Conclusion",
    "Helpers",
    "Questions",
    "check_all_bounds",
]


def check_all_bounds(
    model: Model,
    conditions: Sequence[Invariant],
    *,
    rehearsal: Model | None = None,
    reporter: QueryReporter | None = None,
    watch: Watch | None = None,
) -> Induction:
    """Return whether conditions are inductive together for all values of the bounds that the model leaves open.

    What is not proved is unknown, never refuted: z3 is not asked for a counterexample.

    Args:
        model: the model; its other bounds keep their values.
        conditions: the properties and lemmas to prove; type_ok is proved with them.
        rehearsal: a smaller instance of the model, which shows which conditions help with which step; or None.
        reporter: receives each query when it is answered.
        watch: the limits of the proof.

    Raises:
        UserError: the model has no such bounds, or contains an expression that is not translated; z3 is not installed.
        Stopped: a limit was reached before the model was read.
    """
    watch = watch or Watch()
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
    """The questions about an action that are under way."""

    action: Action
    questions: Questions


class AllBounds:
    """The queries of such an induction.

    Args:
        model: the model.
        conditions: the conditions of a good state.
        watch: the limits of the proof.
        helpers: the helpful conditions known for each action; queries add to them. None is an empty dict.

    Attributes:
        names: the names of the actions.

    Raises:
        Stopped: a limit was reached in the model's own code.
    """

    def __init__(
        self,
        model: Model,
        conditions: Sequence[Invariant],
        watch: Watch,
        helpers: dict[str, Helpers] | None = None,
    ) -> None:
        for found in conditions:
            if isinstance(found, StepInvariant) or found.name == DEADLOCK_FREE:
                message = (
                    f"{model.name}: {found.name} is not a condition on single states; prove it at bounds. To leave it "
                    f"out here, name the other properties with --property NAME."
                )
                raise UserError(message)
        self.watch = watch
        with Oversight(watch):
            self.model = OpenModel(model)
            self.actions = list(self.model.actions())
            self._nodes = {found.name: found.node(self.model.model) for found in conditions}
        self.names = tuple(dict.fromkeys(action.name for action in self.actions))
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
        """Return the query whether the initial state is good.

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
        with Oversight(self.watch):
            action = self.model.initial()
        first = taken(self.symbols, zeros, action)
        terms = OpenTerms(self.symbols, first.after)
        good = [Conclusion(name, terms.condition(node)) for name, node in self._nodes.items()]
        least = [self.symbols.bounds[name] >= value for name, value in self.model.lowest.items()]
        conclusions = [*self._typed(first, action), *good]
        assumed = Assumed([*least, *first.terms.facts])
        questions = Questions(self.watch, assumed, conclusions, Helpers(), self.watch.query())
        return _answered(INITIATION, [questions.wait()], questions.seconds, 1)

    def _typed(self, step: SymbolicTaken, action: Action) -> list[Conclusion]:
        """Return the conclusions that a step leaves no domain."""
        return [Conclusion(TYPE_OK, fits) for fits in fits_of(self.symbols, step, action)]

    def _conclusions(self, state: OpenState) -> list[Conclusion]:
        """Return the conclusions that a state is good, without those that are equal to ones of the state before."""
        terms = OpenTerms(self.symbols, state)
        return [
            Conclusion(name, holds)
            for name, parts in self._parts.items()
            for part, before in parts
            if not (holds := terms.condition(part)).eq(before)
        ]

    def likeness(self) -> Query | None:
        """Return the query with the number of bound actions that others cover, as members are alike; None if none are.

        Raises:
            Stopped: the proof has to stop.
        """
        query, seconds, helpers = self.watch.query(), 0.0, Helpers()
        swaps, kept = swaps_of(self.symbols, self.actions), []
        good = Assumed([*self.start.typed, *self.start.hints], self._good)
        for swap in swaps:
            state = swap.state(self.symbols, self.start.state)
            questions = Questions(self.watch, good, self._conclusions(state), helpers, query)
            if questions.wait() is None:
                kept.append(swap)
            seconds += questions.seconds
        spared = 0
        for further, nearer, swap in alike_by(kept, self.actions):
            assumed, same = likeness_of(self.symbols, self.start.state, further, nearer, swap)
            questions = Questions(self.watch, Assumed([*self.start.typed, *assumed]), same, Helpers(), query)
            if questions.wait() is None:
                self._asked.discard(id(further))
                spared += 1
            seconds += questions.seconds
        return Query(ALIKE, ProofVerdict.PROVED, seconds, spared) if spared else None

    def steps(self, only: str | None = None) -> Iterator[Query]:
        """Yield for each action (or `only` one) the query whether its steps from a good state lead to a good one.

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
                        self.watch.check()
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
        """Check one bound action of each name; the answers only add to `helpers`.

        Raises:
            Stopped: the proof has to stop.
        """
        self._asked = {id(action) for action in {action.name: action for action in reversed(self.actions)}.values()}
        for _ in self.steps():
            pass

    def _questions(self, action: Action) -> Questions:
        step = taken(self.symbols, self.start.state, action)
        conclusions = [*self._typed(step, action), *self._conclusions(step.after)]
        told = [*self.start.typed, *self.start.hints, *step.enabled, *step.terms.facts, *step.hints]
        helpers = self._helpers.setdefault(action.name, Helpers())
        return Questions(self.watch, Assumed(told, self._good), conclusions, helpers, self.watch.query())


def _named(action: Action, failure: str | None) -> str | None:
    if failure is None:
        return None
    values = [f"{name}={name if isinstance(one, Variable) else label_of(one)}" for name, one in action.parameters]
    return f"{failure}, with {action.name}({', '.join(values)})"


def _answered(name: str, failures: Sequence[str | None], seconds: float, cases: int) -> Query:
    reasons = [failure for failure in failures if failure is not None]
    verdict = ProofVerdict.UNKNOWN if reasons else ProofVerdict.PROVED
    return Query(name, verdict, seconds, cases, reasons[0] if reasons else "")


# ------------------------------------------------------------------- questions: do conclusions follow from assumptions?
#
# z3 instantiates quantifiers at mentioned terms only (E-matching), and does not look for models of quantifiers. So
# "unsatisfiable" is a proof, and every other answer is unknown: a conclusion that is not proved may be true.
#
# Every assumed quantifier is instantiated at each term, and most conclusions need two or three of the conditions of a
# good state. So a conclusion is first checked with a few of them, and with all if it does not follow. A proof from
# fewer assumptions is a proof, so the choice only affects the time.


_FEW_STEPS = 10_000_000
"""The resource limit (rlimit) of z3 for a question with a few conditions: several seconds."""

_NOT_IN_TIME = "no answer in time"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A conclusion to prove: the name of a condition, and one of its conjuncts."""

    name: str
    holds: z3.BoolRef


@dataclass(frozen=True, slots=True)
class Assumed:
    """The assumptions of conclusions.

    Attributes:
        always: the assumptions that z3 always has.
        good: the conditions of a good state by their names; z3 is given a few of them at first.
    """

    always: Sequence[z3.BoolRef]
    good: Mapping[str, z3.BoolRef] = field(default_factory=dict)


class Helpers:
    """The conditions that helped z3 to prove another one, by names; a condition always helps itself.

    Threads may share an instance. An entry of one of them may be lost, which only costs time.
    """

    def __init__(self) -> None:
        self._of: dict[str, frozenset[str]] = {}

    def of(self, name: str) -> frozenset[str]:
        """Return the conditions to assume first for a conclusion of this name."""
        return self._of.get(name, frozenset([name]))

    def learn(self, name: str, helped: frozenset[str]) -> None:
        """Record that a condition followed from these."""
        self._of[name] = self.of(name) | helped


class Questions:
    """Conclusions from the same assumptions, checked one after the other in a context of z3 of their own.

    Args:
        watch: its threads do the work.
        assumed: the assumptions.
        conclusions: the conclusions, each to be proved alone.
        helpers: the assumptions to try first for each; answers add to them.
        query: when it must stop, there is no answer.

    Attributes:
        seconds: the time that they took, translation included.

    Raises:
        Stopped: the proof has to stop.
    """

    def __init__(
        self,
        watch: Watch,
        assumed: Assumed,
        conclusions: Sequence[Conclusion],
        helpers: Helpers,
        query: Watch,
    ) -> None:
        watch.check()
        begun = time.perf_counter()
        self._query, self._watch, self._helpers = query, watch, helpers
        self._context = z3.Context()
        z3.Z3_enable_concurrent_dec_ref(self._context.ref())
        self._always = z3.And(*assumed.always).translate(self._context)
        self._good = {name: holds.translate(self._context) for name, holds in assumed.good.items()}
        self._asked = [(one.name, z3.Not(one.holds).translate(self._context)) for one in conclusions]
        self._given_up = threading.Event()
        self.seconds = time.perf_counter() - begun
        self._under_way: Work[str | None] = watch.begin(self._answer, self._interrupt)

    def _answer(self) -> str | None:
        """Return a reason with the first conclusion that is not proved; None if all are. Runs in a watch's thread."""
        begun = time.perf_counter()
        try:
            for name, negation in self._asked:
                if not (self._follows_from_few(name, negation) or self._follows_from_all(name, negation)):
                    return _NOT_IN_TIME if self._late else f"{name} is not proved"
            return None
        finally:
            self.seconds += time.perf_counter() - begun

    @property
    def _late(self) -> bool:
        return self._given_up.is_set() or self._query.reason() is not None

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
        """Return whether a conclusion follows from all assumptions, and add the conditions in z3's core as helpers."""
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
        limit(solver, self._query)
        solver.add(self._always, negation)
        return solver

    def wait(self) -> str | None:
        """Return a reason why not all conclusions are proved; None if all are.

        Raises:
            Stopped: the proof has to stop.
        """
        found = self._under_way.result()
        if found is not None:
            self._watch.check()
        return found

    def give_up(self) -> None:
        """End the questions without an answer."""
        self._under_way.give_up()

    def _interrupt(self) -> None:
        self._given_up.set()
        self._context.interrupt()


# ---------------------------------------------------------------------------------------- obligations that others cover
#
# As in `equivariance`: two members of a symmetric sort are swapped in a state. Assume that the conditions hold in the
# swapped state wherever they hold, and that the action with the swapped parameters has the swapped step there. Then the
# one obligation implies the other. z3 proves both assumptions, for swaps of neighbours.


@dataclass(frozen=True, slots=True)
class Swap:
    """The swap of two neighbours among the members of a sort."""

    sort: type[Index]
    first: int

    def member(self, number: int) -> int:
        """Return the image of a member."""
        return {self.first: self.first + 1, self.first + 1: self.first}.get(number, number)

    def step(self, step: object) -> object:
        """Return the image of a step to a cell."""
        if isinstance(step, tuple) and step[0] is self.sort:
            return self.sort, self.member(step[1])
        return step

    def parameters(self, action: Action) -> tuple[object, ...]:
        """Return the name of an action, then its bound parameters with the members swapped."""
        values = action.fixed.values()
        swapped = [self.member(value) if isinstance(value, self.sort) else value for value in values]
        return (action.name, *swapped)

    def value(self, domain: d.Scalar | None, code: Value) -> Value:
        """Return the image of a code."""
        inner, lowest = (domain.of, 1) if isinstance(domain, d.OptionalScalar) else (domain, 0)
        if isinstance(inner, d.Set) and isinstance(code, list):
            return [code[self.member(place)] for place in range(len(code))] if inner.of.sort is self.sort else code
        if isinstance(code, list) or not isinstance(inner, d.Member) or inner.sort is not self.sort:
            return code
        first, second = self.first + lowest, self.first + 1 + lowest
        return z3.If(code == first, z3.IntVal(second), z3.If(code == second, z3.IntVal(first), code))

    def state(self, symbols: Symbols, before: OpenState) -> OpenState:
        """Return the image of a state."""
        cells = symbols.model.cells
        by_steps = {cell.steps: number for number, cell in enumerate(cells)}
        source = {number: by_steps[tuple(map(self.step, cell.steps))] for number, cell in enumerate(cells)}
        codes = {number: self.value(cells[number].domain, before.codes[source[number]]) for number in before.codes}

        def at(cell: int, places: Sequence[z3.ArithRef]) -> Value:
            return self.value(cells[cell].domain, before.at(source[cell], places))

        return OpenState(codes, at)


def swaps_of(symbols: Symbols, actions: Sequence[Action]) -> list[Swap]:
    """Return the swaps of neighbours in the symmetric sorts of the parameters; none if a `Subset` is used."""
    values = [value for action in actions for value in action.fixed.values()]
    sorts = dict.fromkeys(type(value) for value in values if isinstance(value, Index) and value.symmetric)
    subsets = any(isinstance(value, Subset) for value in values) or any(
        isinstance(inner, d.Member) and issubclass(inner.sort, Subset)
        for cell in symbols.model.cells
        for inner in (cell.domain, getattr(cell.domain, "of", None))
    )
    if subsets:
        return []
    sizes = {sort: sort.size(symbols.model.model.b) for sort in sorts}
    return [Swap(sort, first) for sort in sorts for first in range(sizes[sort] - 1)]


def alike_by(swaps: Sequence[Swap], actions: Sequence[Action]) -> Iterator[tuple[Action, Action, Swap]]:
    """Yield each action that swaps reach from an earlier one, with the action one swap nearer, and that swap."""
    by_parameters: dict[tuple[object, ...], Action] = {
        (action.name, *action.fixed.values()): action for action in actions
    }
    seen: set[int] = set()
    for first in actions:
        front = [] if id(first) in seen else [first]
        seen.add(id(first))
        while front:
            nearer = front.pop(0)
            for swap in swaps:
                further = by_parameters.get(swap.parameters(nearer))
                if further is not None and id(further) not in seen:
                    seen.add(id(further))
                    front.append(further)
                    yield further, nearer, swap


def likeness_of(
    symbols: Symbols, before: OpenState, further: Action, nearer: Action, swap: Swap
) -> tuple[list[z3.BoolRef], list[Conclusion]]:
    """Return the assumptions on an action's step, and the conclusions that the nearer action has the swapped step."""
    one = taken(symbols, before, further)
    swapped = Symbols(symbols.model, symbols.bounds, symbols.mentioned, symbols.width, dict(symbols.variables))
    for mine, its in zip(further.variables, nearer.variables, strict=True):
        swapped.variables[its] = symbols.variable(mine)  # both are bindings of one action, so the order is the same
    other = taken(swapped, swap.state(symbols, before), nearer)
    same = [Conclusion("the guard", z3.And(*other.enabled))]
    after = swap.state(symbols, one.after)
    for number, cell in enumerate(symbols.model.cells):
        places = [z3.Int(f"any place {i}") for i in range(len(cell.lengths))]
        both = [s.at(number, places) if places else s.codes[number] for s in (after, other.after)]
        listed = [code if isinstance(code, list) else [code] for code in both]
        different = [a == b for a, b in zip(*listed, strict=True) if not a.eq(b)]
        if different:
            same.append(Conclusion(cell.path, z3.And(*different)))
    fits = z3.And(*fits_of(swapped, other, nearer)), z3.And(*fits_of(symbols, one, further))
    same.append(Conclusion(TYPE_OK, z3.Implies(*fits)))
    return [*one.enabled, *one.terms.facts, *other.terms.facts, *one.hints, *other.hints], same

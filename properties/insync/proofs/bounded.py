"""Bounded model checking (Biere et al. 1999): looks for a trace of a given length that ends in a violation.

Depths are checked one by one, so the first violation has a shortest trace, as in a breadth-first search. The evaluator
executes a trace of z3 again before it is returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from insync.model import Model
from insync.model.evaluator import Evaluator, evaluate
from insync.model.expressions.graph import Node
from insync.proofs.results import Bounded, BoundedVerdict, ProofVerdict, Query, QueryReporter, StateSequence
from insync.proofs.smt import Answer, Formula, Solver, SymbolicProgram, Unrolling, all_of, any_of, negation
from insync.properties.invariants import TYPE_OK, Invariant
from insync.runtime.errors import InternalError, ModelError
from insync.runtime.watch import Stopped, Watch

__all__ = ["check_bounded", "replayed", "traced"]

_VERDICTS = {
    Answer.POSSIBLE: ProofVerdict.REFUTED,
    Answer.IMPOSSIBLE: ProofVerdict.PROVED,
    Answer.UNKNOWN: ProofVerdict.UNKNOWN,
}


def check_bounded(
    model: Model,
    properties: Sequence[Invariant],
    depth: int,
    *,
    lemmas: Sequence[Invariant] = (),
    reporter: QueryReporter | None = None,
    watch: Watch | None = None,
) -> Bounded:
    """Return whether a violation is in the states of `depth` levels or the steps from them; type_ok is always checked.

    Args:
        model: the model.
        properties: the properties to check.
        depth: the number of levels; the initial states are the first.
        lemmas: conditions that are proved to hold in every reachable state; z3 assumes them.
        reporter: receives each query when it is answered.
        watch: the limits of the check; each depth is a query.

    Raises:
        UserError: z3 is not installed.
    """
    watch = watch or Watch()
    try:
        return _BoundedCheck(model, properties, lemmas, watch, reporter).run(depth)
    except Stopped as stopped:
        return Bounded(BoundedVerdict.UNKNOWN, 0, (), (), (), stopped.reason)


class _BoundedCheck:
    def __init__(
        self,
        model: Model,
        properties: Sequence[Invariant],
        lemmas: Sequence[Invariant],
        watch: Watch,
        reporter: QueryReporter | None,
    ) -> None:
        self.model = model
        self.watch = watch
        self.lemmas = traced(model, lemmas, watch)
        self.nodes = dict(zip((p.name for p in properties), traced(model, properties, watch), strict=True))
        self.reporter = reporter
        self.program = SymbolicProgram(model.program, watch)
        first, self.conditions = self.program.initial()
        self.unrolling = Unrolling(self.program, first, ordered=True)
        self.queries: list[Query] = []

    def run(self, depth: int) -> Bounded:
        if not self.model.program.initials.enumerated:
            self._examine_start()
        for length in range(1, depth + 1):
            try:
                found = self._at(length)
            except Stopped:
                return self._answer(BoundedVerdict.UNKNOWN, length - 1)
            if found is not None:
                return found
        return self._answer(BoundedVerdict.NONE_WITHIN, depth)

    def _examine_start(self) -> None:
        """Check that initial states, which are too many to enumerate, exist and fit their fields.

        Raises:
            ModelError: there are none, or one of them does not fit.
            Stopped: the proof has to stop.
        """
        if self._asked(self.conditions) is Answer.IMPOSSIBLE:
            places = " and ".join(dict.fromkeys(one.place for one in self.model.program.initials.beginnings))
            message = f"{places}: {self.model.name} has no initial state under {self.model.identity}. Require less."
            raise ModelError(message)
        for misfit, conditions in self.program.misfits():
            if self._asked(conditions) is Answer.POSSIBLE:
                raise ModelError(misfit)

    def _asked(self, conditions: Sequence[Formula]) -> Answer:
        solver = Solver(self.watch, one_shot=True)
        solver.add(conditions)
        return solver.check(self.watch.query())

    def _answer(
        self, verdict: BoundedVerdict, depth: int, violations: Mapping[str, StateSequence] | None = None
    ) -> Bounded:
        found = violations or {}
        stopped = self.watch.reason() if verdict is BoundedVerdict.UNKNOWN else None
        return Bounded(verdict, depth, tuple(found), tuple(found.values()), tuple(self.queries), stopped)

    def _at(self, length: int) -> Bounded | None:
        """Check the traces of one length; return the result of the whole check if this decides it."""
        query = self.watch.query()
        if length > 1:
            self.conditions += self.unrolling.extend()
            self.conditions += self.unrolling.states[-1].all_hold(self.lemmas)
        failing = self._failing()
        solver, answer = self._ask(any_of(failing.values()), query)
        self._report(Query(f"depth {length}", _VERDICTS[answer], query.seconds, reason=solver.reason))
        if answer is Answer.UNKNOWN:
            return self._answer(BoundedVerdict.UNKNOWN, length - 1)
        if answer is Answer.POSSIBLE:
            return self._answer(BoundedVerdict.VIOLATED, length - 1, self._violations(failing, solver))
        return None

    def _failing(self) -> dict[str, Formula]:
        """Return for each property the condition that it fails in the last state, or for type_ok in a step from it."""
        last = self.unrolling.states[-1]
        failing = {name: negation(last.holds(node)) for name, node in self.nodes.items()}
        leaving = [
            all_of([*self.program.enabled(last, action), negation(all_of(self.program.fits(last, action)))])
            for action in self.model.program.actions
            if action.checks
        ]
        return {**failing, TYPE_OK: any_of(leaving)} if leaving else failing

    def _ask(self, violation: Formula, query: Watch) -> tuple[Solver, Answer]:
        solver = Solver(self.watch, one_shot=True)
        solver.add([*self.conditions, violation])
        return solver, solver.check(query)

    def _violations(self, failing: dict[str, Formula], solver: Solver) -> dict[str, StateSequence]:
        """Return a trace for each property that fails at this depth; properties that fail in one trace share it."""
        found = self._found(solver)
        sequences = {name: found for name in failing if self._fails(name, found.codes[-1])}
        if not sequences:
            message = f"z3 finds a violation after {found.actions}; by the evaluator every property holds there"
            raise InternalError(message)
        with suppress(Stopped):  # the violations found so far stay
            for name, violation in failing.items():
                if name not in sequences:
                    another, answer = self._ask(violation, self.watch.query())
                    if answer is Answer.POSSIBLE:
                        sequences[name] = self._found(another)
        return {name: sequences[name] for name in failing if name in sequences}

    def _found(self, solver: Solver) -> StateSequence:
        found = solver.found
        codes = tuple(found.codes(state) for state in self.unrolling.states)
        if codes[0] not in self.model.program.initials:
            message = f"z3 begins in {codes[0]}, which is not an initial state"
            raise InternalError(message)
        return replayed(
            self.model, StateSequence(codes, tuple(found.chosen(step.choices) for step in self.unrolling.steps))
        )

    def _fails(self, name: str, codes: tuple[int, ...]) -> bool:
        if name != TYPE_OK or name in self.nodes:
            return not evaluate(self.nodes[name], codes)
        evaluator = Evaluator(self.model.program)
        return any(evaluator.failing_check(number, codes) is not None for number in evaluator.enabled(codes))

    def _report(self, query: Query) -> None:
        self.queries.append(query)
        if self.reporter is not None:
            self.reporter(query)


def traced(model: Model, conditions: Sequence[Invariant], watch: Watch) -> list[Node]:
    """Return the nodes of conditions in a model's graph.

    Raises:
        Stopped: the proof has to stop.
    """
    nodes = []
    for condition in conditions:
        watch.check()
        nodes.append(condition.node(model))
    return nodes


def replayed(model: Model, states: StateSequence) -> StateSequence:
    """Return the states, once the evaluator has confirmed their steps.

    Raises:
        InternalError: the evaluator does not confirm a step.
    """
    evaluator = Evaluator(model.program)
    for before, number, after in zip(states.codes, states.actions, states.codes[1:], strict=False):
        if not evaluator.leads(before, number, after):
            message = f"z3 takes {model.program.actions[number]} from {before} to {after}; the evaluator does not"
            raise InternalError(message)
    return states

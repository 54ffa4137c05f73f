"""Houdini (Flanagan and Leino, FME 2001): the largest inductive subset of candidate lemmas.

Assume all candidates, drop each one that a step from such states breaks, and begin again, until no step breaks any. The
remaining candidates are inductive, and no larger subset is, unless z3 gave up on a question. So wrong candidates only
cost time.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass

from insync.model import Model
from insync.proofs.bounded import check_bounded
from insync.proofs.k_induction import INITIATION, concluded_from
from insync.proofs.obligations import Preservation, broken_by, enabled_actions
from insync.proofs.results import Induction, ProofVerdict, Query, QueryReporter
from insync.properties.explain import explain
from insync.properties.invariants import TYPE_OK, Invariant
from insync.runtime.watch import Stopped, Watch

__all__ = ["Dropped", "Inferred", "infer", "refuted_at_first"]

_FEW = 1000  # the most initial states for the evaluator; for more of them z3 is used


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that is dropped.

    Attributes:
        name: the candidate.
        by: what refuted it, such as `the initial state`, `an initial state`, or an action.
        reason: why it fails there.
    """

    name: str
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Inferred:
    """The result of an inference.

    Attributes:
        kept: the names of the candidates that nothing refuted.
        dropped: the others, in the order in which they were dropped.
        induction: the last queries about those kept; PROVED unless a step leaves a domain or z3 gave no answer.
    """

    kept: tuple[str, ...]
    dropped: tuple[Dropped, ...]
    induction: Induction

    @property
    def proved(self) -> tuple[str, ...]:
        """The names of the candidates that are inductive together: those kept, or none."""
        return self.kept if self.induction.verdict is ProofVerdict.PROVED else ()


def infer(
    model: Model,
    candidates: Sequence[Invariant],
    *,
    reporter: QueryReporter | None = None,
    watch: Watch | None = None,
) -> Inferred:
    """Return the largest inductive subset of the candidates; if it is stopped, those that nothing has refuted so far.

    Args:
        model: the model.
        candidates: properties and lemmas alike.
        reporter: receives each query when it is answered.
        watch: the limits of the proof; a candidate without an answer within the time of a query is dropped.

    Raises:
        UserError: z3 is not installed.
    """
    report = reporter if reporter is not None else lambda query: None
    return _Inference(model, candidates, report, watch or Watch()).run()


def refuted_at_first(model: Model, candidates: Sequence[Invariant], watch: Watch) -> list[Dropped]:
    """Return the candidates that fail in an initial state; those found so far if the work must stop."""
    initials = model.program.initials
    many = not initials.enumerated or len(initials) > _FEW
    where = "an initial state" if many or len(initials) > 1 else "the initial state"
    if many:
        answer = check_bounded(model, candidates, 1, watch=watch)
        first = {name: found.codes[0] for name, found in zip(answer.violated, answer.sequences, strict=True)}
        failing = [candidate for candidate in candidates if candidate.name in first]
        known = [(one, explain(model, one, first[one.name])) for one in failing]
        return [Dropped(one.name, where, "" if why is None else why.sentence) for one, why in known]
    found = []
    for candidate in candidates:
        if watch.stopped:
            break
        failures = (explain(model, candidate, codes) for codes in initials)
        least = next((failure for failure in failures if failure is not None), None)
        if least is not None:
            found.append(Dropped(candidate.name, where, least.sentence))
    return found


class _Inference:
    def __init__(
        self,
        model: Model,
        candidates: Sequence[Invariant],
        report: QueryReporter,
        watch: Watch,
    ) -> None:
        self.model, self.watch, self.report = model, watch, report
        self.dropped = refuted_at_first(model, candidates, watch)
        fallen = {d.name for d in self.dropped}
        self.kept = [c for c in candidates if c.name not in fallen]
        self.alike: Query | None = None
        self.answered: dict[str, Query] = {}

    def run(self) -> Inferred:
        with suppress(Stopped):
            self._drop_until_inductive()
        first = Query(INITIATION, ProofVerdict.PROVED, 0.0)
        queries = [query for query in (first, self.alike, *self.answered.values()) if query is not None]
        kept = tuple(c.name for c in self.kept)
        questions = (INITIATION, *enabled_actions(self.model))
        return Inferred(kept, tuple(self.dropped), concluded_from(questions, kept, queries, self.watch))

    def _drop_until_inductive(self) -> None:
        self.watch.check()
        while unanswered := [name for name in enabled_actions(self.model) if name not in self.answered]:
            steps = Preservation(self.model, self.kept, watch=self.watch)
            self.alike = steps.likeness()
            if self.alike is not None:
                self.report(self.alike)
            fallen = self._first_fallen(steps, unanswered)
            self.dropped += fallen
            gone = {d.name for d in fallen}
            self.kept = [c for c in self.kept if c.name not in gone]
            if fallen:
                self.answered.clear()

    def _first_fallen(self, steps: Preservation, names: Sequence[str]) -> list[Dropped]:
        """Return the candidates that the first failing action refutes; record the queries before it."""
        with closing(steps.ask_each(names)) as answers:
            for query in answers:
                self.report(query)
                refuted = query.verdict is not ProofVerdict.PROVED
                if refuted and (fallen := self._fallen(query, steps)):
                    return fallen
                self.answered[query.name] = query  # proved, or refuted by type_ok, for which no candidate is dropped
        return []

    def _fallen(self, query: Query, steps: Preservation) -> list[Dropped]:
        """Return the candidates to drop after a query that did not prove preservation."""
        found = query.counterexample
        if found is None:
            unknown = [c for c in self.kept if steps.ask(query.name, only=c.name).verdict is not ProofVerdict.PROVED]
            return [Dropped(c.name, query.name, query.reason) for c in unknown]
        if found.failing == (TYPE_OK,):
            return []
        before, after = found.states.codes[-2:]
        failures = {c.name: broken_by(self.model, c, before, after) for c in self.kept}
        return [Dropped(name, query.name, one.sentence) for name, one in failures.items() if one is not None]

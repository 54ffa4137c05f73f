"""k-induction (Sheeran, Singh and Stålmarck 2000): proves that conditions hold in every reachable state.

Conditions are inductive together if they hold in the first k states of every trace (initiation), and if every step
after k good states leads to a good state (preservation). A state is good if all conditions hold in it. Preservation is
checked action by action, from arbitrary states. So its counterexamples need not be reachable: they show that the
conditions are too weak, not that one of them is false.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress

from insync.model import Model
from insync.proofs.bounded import check_bounded
from insync.proofs.obligations import Preservation, enabled_actions
from insync.proofs.results import Bounded, BoundedVerdict, Induction, ProofVerdict, Query, QueryReporter
from insync.properties.invariants import Invariant
from insync.runtime.watch import Stopped, Watch

__all__ = ["INITIATION", "check_induction", "concluded_from"]

INITIATION = "initiation"
"""The name of the query about the first states."""


def check_induction(
    model: Model,
    conditions: Sequence[Invariant],
    *,
    k: int = 1,
    reporter: QueryReporter | None = None,
    watch: Watch | None = None,
) -> Induction:
    """Return whether the conditions, properties and lemmas alike, are inductive together; type_ok is proved with them.

    Args:
        model: the model.
        conditions: the conditions to prove.
        k: the number of successive good states that are assumed before a step.
        reporter: receives each query when it is answered.
        watch: the limits of the proof.

    Raises:
        UserError: z3 is not installed.
    """
    watch = watch or Watch()
    names = tuple(c.name for c in conditions)
    queries: list[Query] = []

    def answered(query: Query) -> None:
        queries.append(query)
        if reporter is not None:
            reporter(query)

    begun = time.perf_counter()
    first = check_bounded(model, conditions, k, watch=watch)
    if first.stopped_by is None:
        answered(_initiation(first, time.perf_counter() - begun))
    if first.verdict is BoundedVerdict.VIOLATED:
        return Induction(ProofVerdict.REFUTED, k, names, tuple(queries), violation=first)
    with suppress(Stopped):
        watch.check()
        steps = Preservation(model, conditions, k, watch)
        if (alike := steps.likeness()) is not None:
            answered(alike)
        with closing(steps.ask_each(enabled_actions(model))) as answers:
            for query in answers:
                answered(query)
    return concluded_from((INITIATION, *enabled_actions(model)), names, queries, watch, k)


def concluded_from(
    questions: Sequence[str], conditions: Sequence[str], queries: Sequence[Query], watch: Watch, k: int = 1
) -> Induction:
    """Return the result of an induction from its queries: a query without an answer makes the verdict unknown.

    Args:
        questions: the names of all queries that the induction needs.
        conditions: the names of the conditions.
        queries: the answered queries.
        watch: has the reason why others were not answered.
        k: the number of successive good states that were assumed before a step.
    """
    known = {query.name for query in queries}
    unanswered = tuple(name for name in questions if name not in known)
    worst = _worst([*(query.verdict for query in queries), *([ProofVerdict.UNKNOWN] if unanswered else [])])
    stopped = watch.reason() if unanswered else None
    return Induction(worst, k, tuple(conditions), tuple(queries), unanswered, stopped)


def _initiation(first: Bounded, seconds: float) -> Query:
    verdict = {
        BoundedVerdict.VIOLATED: ProofVerdict.REFUTED,
        BoundedVerdict.NONE_WITHIN: ProofVerdict.PROVED,
        BoundedVerdict.UNKNOWN: ProofVerdict.UNKNOWN,
    }[first.verdict]
    return Query(INITIATION, verdict, seconds, reason=first.queries[-1].reason)


def _worst(verdicts: Iterable[ProofVerdict]) -> ProofVerdict:
    found = set(verdicts)
    return next((v for v in (ProofVerdict.REFUTED, ProofVerdict.UNKNOWN) if v in found), ProofVerdict.PROVED)

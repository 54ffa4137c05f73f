"""Induction: are conditions that hold at first kept by every step?

Conditions are inductive together if they hold in the first k states of every trace (initiation), and if every step
after k good states leads to a good state (preservation). Then they hold in every reachable state, of which none needs
to be looked at. Preservation is asked action by action, about any states at all, so its counterexamples need not be
reachable: they say that the conditions are too weak, not that one of them is false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from insync.model import Model
from insync.proofs.bounded import check_bounded
from insync.proofs.outcome import Bounded, BoundedVerdict, Induction, Query, Verdict
from insync.proofs.preservation import Preservation
from insync.proofs.smt import Deadline
from insync.properties.invariants import Invariant

__all__ = ["check_induction"]


Reporter = Callable[[Query], None]


def check_induction(
    model: Model,
    conditions: Sequence[Invariant],
    k: int = 1,
    seconds: float | None = None,
    reporter: Reporter | None = None,
) -> Induction:
    """Return whether the conditions, properties and lemmas alike, are inductive together; type_ok is proved with them.

    Args:
        model: the model.
        conditions: what is to hold in every state.
        k: how many good states in a row are assumed before a step.
        seconds: the time for each query; past it the answer is unknown.
        reporter: is told of each query when it is answered.

    Raises:
        UserError: z3 is not installed.
    """
    report = reporter if reporter is not None else lambda query: None
    names = tuple(c.name for c in conditions)
    start = Deadline(None)
    first = check_bounded(model, conditions, k, seconds)
    queries = [_initiation(first, start.elapsed)]
    report(queries[0])
    if first.verdict is BoundedVerdict.VIOLATED:
        return Induction(Verdict.REFUTED, k, names, tuple(queries), violation=first)
    steps = Preservation(model, conditions, k)
    for name in steps.action_names:
        queries.append(steps.ask(name, seconds))
        report(queries[-1])
    return Induction(_worst(queries), k, names, tuple(queries))


def _initiation(first: Bounded, seconds: float) -> Query:
    verdict = {
        BoundedVerdict.VIOLATED: Verdict.REFUTED,
        BoundedVerdict.NONE_WITHIN: Verdict.PROVED,
        BoundedVerdict.UNKNOWN: Verdict.UNKNOWN,
    }[first.verdict]
    return Query("initiation", verdict, seconds, reason=first.queries[-1].reason)


def _worst(queries: Iterable[Query]) -> Verdict:
    verdicts = {query.verdict for query in queries}
    return next((v for v in (Verdict.REFUTED, Verdict.UNKNOWN) if v in verdicts), Verdict.PROVED)

"""What keeps properties from being proved by induction, for builds and for pages."""

from __future__ import annotations

from insync.explorer.pictures.picture import Picture, induction_picture
from insync.explorer.proof_results import ProofResult
from insync.explorer.prove import induction_trace
from insync.proofs.results import ProofVerdict

__all__ = ["inductions", "unproved"]


def unproved(attempt: ProofResult) -> dict[str, str]:
    """Return what keeps each property that is not proved from it: a step that breaks it, or what z3 does not know."""
    if attempt.traces:
        return {}
    reasons = dict.fromkeys(attempt.lost, "A step breaks it, so no induction can have it.")
    for query in attempt.result.queries:
        for name in () if query.counterexample is None else query.counterexample.failing:
            said = f"{query.name} breaks it in a step from a good state, which may be one that is never reached."
            reasons.setdefault(name, said)
        if query.verdict is ProofVerdict.UNKNOWN:
            said = f"z3 does not know whether {query.name} keeps it{f' ({query.reason})' if query.reason else ''}."
            for found in attempt.properties:
                reasons.setdefault(found.name, said)
    return reasons


def inductions(attempt: ProofResult, command: str) -> list[Picture]:
    """Return the counterexamples to induction as pictures; `command` finds them again."""
    return [
        induction_picture(induction_trace(attempt.model, found), attempt.model, query.name, found.failing, command)
        for query in attempt.result.queries
        if (found := query.counterexample) is not None
    ]

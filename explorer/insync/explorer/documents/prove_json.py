"""`insync prove` as JSON. Scripts rely on the keys, so no key changes its name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from insync.explorer.documents.as_json import violation_entry
from insync.explorer.mining.clauses import texts_of
from insync.explorer.prove import induction_trace
from insync.model.catalogue import model_reference
from insync.proofs.results import BoundedVerdict
from insync.proofs.smt import z3_version
from insync.properties.invariants import names_within

if TYPE_CHECKING:
    from insync.explorer.mining.synthesis import Mined
    from insync.explorer.proof_results import BoundedResult, ProofResult
    from insync.explorer.traces.trace import Trace
    from insync.proofs.results import Query

__all__ = ["attempt_json", "search_json"]


def search_json(search: BoundedResult, files: Sequence[Path | None]) -> str:
    """Return the object for a bounded check; `files` are the files of its traces."""
    result = search.result
    stopped_by = {BoundedVerdict.NONE_WITHIN: "depth", BoundedVerdict.UNKNOWN: "unknown"}.get(result.verdict)
    return _object(
        search,
        method="bmc",
        verdict=search.verdict,
        stopped_by=result.stopped_by or stopped_by,
        complete_depth=result.depth,
        queries=[_query(search, query) for query in result.queries],
        violations=_violations(search.traces, files),
        seconds=round(result.seconds, 3),
    )


def attempt_json(attempt: ProofResult, saved: Path | None, files: Sequence[Path | None]) -> str:
    """Return the object for an induction; `saved` has the proof, and `files` the traces of initiation."""
    result = attempt.result
    return _object(
        attempt,
        bounds=attempt.identity,
        method="induction",
        verdict=attempt.verdict,
        induction=result.verdict.value,
        k=result.k,
        stopped_by=result.stopped_by,
        queries=[_query(attempt, query) for query in result.queries],
        unanswered=list(result.unanswered),
        ways=list(attempt.tried),
        unbounded=list(attempt.unbounded),
        conditions=texts_of(attempt.lemmas),
        mined=None if attempt.mined is None else _mined(attempt, attempt.mined),
        not_proved=list(attempt.lost),
        dropped=[{"name": d.name, "by": d.by, "reason": d.reason} for d in attempt.dropped],
        violations=_violations(attempt.traces, files),
        proof=None if saved is None else str(saved),
        seconds=round(result.seconds, 3),
    )


def _object(tried: ProofResult | BoundedResult, **rest: object) -> str:
    head = {
        "model": model_reference(tried.model),
        "bounds": tried.model.identity,
        "engine": "z3",
        "engine_version": z3_version(),
        "properties": [p.name for p in tried.properties],
        "lemmas": [lemma.name for lemma in tried.lemmas],
        "within": list(names_within(tried.model)),
        "warnings": list(tried.warnings),
    }
    return json.dumps({**head, **rest}, ensure_ascii=False)


def _mined(attempt: ProofResult, mined: Mined) -> dict[str, object]:
    return {
        "candidates": mined.candidates,
        "fallen": mined.fallen,
        "states": mined.states,
        "all_states": mined.all_states,
        "bounds": dict(mined.bounds),
        "questions": mined.questions,
        "open": None if mined.open is None else _query(attempt, mined.open),
    }


def _query(tried: ProofResult | BoundedResult, query: Query) -> dict[str, object]:
    found = query.counterexample
    counterexample = None
    if found is not None:
        trace = induction_trace(tried.model, found)
        steps = [{"action": s.action, "parameters": dict(s.parameters), "state": s.state} for s in trace.steps]
        counterexample = {"failing": list(found.failing), "reason": found.reason, "steps": steps}
    return {
        "name": query.name,
        "verdict": query.verdict.value,
        "seconds": round(query.seconds, 3),
        "cases": query.cases,
        "reason": query.reason,
        "counterexample": counterexample,
    }


def _violations(traces: Sequence[Trace], files: Sequence[Path | None]) -> list[dict[str, object]]:
    return [violation_entry(trace, file) for trace, file in zip(traces, files, strict=True)]

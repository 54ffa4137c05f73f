"""What `insync kafka claims` says, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from insync.conformance.catalogue.catalogue_record import RecordedRun
from insync.conformance.catalogue.claim_evidence import ClaimEvidence
from insync.conformance.catalogue.vocabulary import present_fact
from insync.kafka.releases import Rules

if TYPE_CHECKING:
    from insync.conformance.documents.json_types import ClaimEntry, ClaimsObject

__all__ = ["claim_rows", "claims_json", "describe_claims"]


def describe_claims(found: Sequence[ClaimEvidence]) -> str:
    """Return a line for each claim, and the sentence about its rule."""
    rows = [("before", "since", "rule", "shown by", ""), *claim_rows(found)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        "  ".join([*(f"{cell:{width}}" for cell, width in zip(row, widths, strict=False)), row[4]]) for row in rows
    ]
    rules = dict.fromkeys(one.claim.rule for one in found)
    return "\n".join(
        [*(line.rstrip() for line in lines), "", *(f"{name}: {Rules.documentation(name)}" for name in rules)]
    )


def claim_rows(found: Sequence[ClaimEvidence]) -> list[tuple[str, str, str, str, str]]:
    """Return for each claim the two versions, the rule, what shows it, and what was seen."""
    return [
        (one.claim.before, one.claim.since, one.claim.rule, one.shown_by or "nothing", _words(one)) for one in found
    ]


def _words(one: ClaimEvidence) -> str:
    if one.before is None or one.since is None:
        return "not run"
    said = f"{_seen(one.before)}, then {_seen(one.since)}"
    return f"confirmed: {said}" if one.confirmed else f"not confirmed: {said}"


def _seen(run: RecordedRun) -> str:
    return {"diverges": f"not, at step {run.steps}", "not_schedulable": "cannot be asked"}.get(run.verdict, run.verdict)


def claims_json(found: Sequence[ClaimEvidence]) -> str:
    """Return the object that says the same."""
    entries: list[ClaimEntry] = [
        {
            "rule": one.claim.rule,
            "before": one.claim.before,
            "since": one.claim.since,
            "old": str(one.claim.old),
            "new": str(one.claim.new),
            "shown_by": one.shown_by or None,
            "confirmed": one.confirmed,
            "runs": [
                {**asdict(run), "field": present_fact(run.field)} for run in (one.before, one.since) if run is not None
            ],
        }
        for one in found
    ]
    told: ClaimsObject = {"claims": entries}
    return json.dumps(told, ensure_ascii=False)

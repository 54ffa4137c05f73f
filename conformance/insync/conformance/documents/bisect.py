"""What `insync kafka bisect` says, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from insync.conformance.catalogue.bisection import Bisection
from insync.conformance.catalogue.catalogue_runs import as_expected
from insync.conformance.documents.outcomes import outcome_words
from insync.explorer.documents.text import plural

if TYPE_CHECKING:
    from insync.conformance.documents.json_types import BisectionObject

__all__ = ["bisection_json", "describe_bisection"]


def describe_bisection(found: Bisection, left: Sequence[str]) -> str:
    """Return a line for each version, and one for each change.

    Args:
        found: what came of the trace.
        left: the versions that are not here.
    """
    lines = [f"{found.name} on {plural(len(found.runs), 'release')} of Kafka", ""]
    for run in found.runs:
        unlike = "  (not as the model's rules of that release say)" if as_expected(run) is False else ""
        lines.append(f"  {run.kafka:<7} {outcome_words(run)}{unlike}")
    lines.append("")
    for change in found.changes:
        before = "reproduced up to" if change.before.taken else "not reproduced up to"
        since = "reproduced from" if change.since.taken else "not any more from"
        lines.append(f"{before} {change.before.kafka}, {since} {change.since.kafka} on")
    if not found.changes:
        taken = [run.taken for run in found.runs if run.verdict != "not_schedulable"]
        where = "no release gave an answer" if not taken else "in all of them" if taken[0] else "in none of them"
        lines.append(f"it does not change: {where}" if taken else where)
    if left:
        lines.append(f"not here, so not tried: {', '.join(left)}. --fetch fetches them.")
    return "\n".join(lines)


def bisection_json(found: Bisection, left: Sequence[str]) -> str:
    """Return the object that says the same."""
    told: BisectionObject = {
        "trace": found.name,
        "runs": [{**asdict(run), "as_the_rules_say": as_expected(run)} for run in found.runs],
        "changes": [
            {"before": change.before.kafka, "since": change.since.kafka, "reproduced_since": change.since.taken}
            for change in found.changes
        ],
        "not_here": list(left),
    }
    return json.dumps(told, ensure_ascii=False)

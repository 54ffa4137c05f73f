"""`insync why` as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from insync.explorer import ActionCoverage, PropertyCoverage, WhyResult
    from insync.model.expressions.source import Spot

__all__ = ["why_json"]


def why_json(result: WhyResult, html: Path | None) -> str:
    """Return the object for the coverage of a search; `html` is the file of its page."""
    return json.dumps(
        {
            "model": result.model,
            "bounds": dict(result.bounds),
            "distinct_states": result.states,
            "depth": result.depth,
            "stopped_by": result.stopped_by,
            "within": list(result.within),
            "actions": [_action(one) for one in result.actions],
            "unchanged_fields": list(result.unchanged),
            "properties": [_property(one) for one in result.properties],
            "html": None if html is None else str(html),
            "warnings": list(result.warnings),
            "seconds": round(result.seconds, 6),
        },
        ensure_ascii=False,
    )


def _action(one: ActionCoverage) -> dict[str, object]:
    return {
        "name": one.name,
        "file": one.file,
        "line": one.line,
        "bindings": one.bindings,
        "states": one.states,
        "chances": one.chances,
        "steps": one.steps,
        "refused": one.refused,
        "guards": [
            {
                **_place(g.spot),
                "text": g.text,
                "false": g.false,
                "alone": g.alone,
                "ruled_out": g.ruled_out,
                "decided": g.decided,
            }
            for g in one.guards
        ],
        "branches": [
            {**_place(b.spot), "word": b.word, "text": b.text, "true": b.true, "false": b.false, "decided": b.decided}
            for b in one.branches
        ],
        "assignments": [
            {**_place(a.spot), "text": " ".join(a.spot.source.split()), "steps": a.steps} for a in one.assignments
        ],
        "changed": dict(one.changed),
    }


def _property(one: PropertyCoverage) -> dict[str, object]:
    return {
        "name": one.name,
        "fails": one.fails,
        "near": one.near,
        "premises": [{**_place(p.spot), "word": p.word, "text": p.text, "true": p.true} for p in one.premises],
        "comparisons": one.comparisons,
        "settled": list(one.settled),
    }


def _place(spot: Spot) -> dict[str, object]:
    return {"file": spot.file, "line": spot.line}

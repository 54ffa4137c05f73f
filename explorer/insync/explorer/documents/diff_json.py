"""`insync diff` as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from insync.explorer.documents.as_json import steps_json

if TYPE_CHECKING:
    from insync.explorer import CheckResult, DiffResult, OnlyOne, TraceDifference

__all__ = ["diff_json", "trace_difference_json"]


def diff_json(result: DiffResult, files: Sequence[Path | None]) -> str:
    """Return the object for the difference of two models; `files` are the files of the traces that only one allows."""
    states = result.states
    return json.dumps(
        {
            "same": result.same,
            "stopped_by": result.stopped_by,
            "first": _side(result.first),
            "second": _side(result.second),
            "settings": {name: list(pair) for name, pair in result.settings.items()},
            "properties": [
                {
                    "name": one.name,
                    "first": one.first,
                    "second": one.second,
                    "trace_lengths": list(one.lengths),
                    "changed": one.changed,
                }
                for one in result.properties
            ],
            "own_fields": [list(paths) for paths in result.own_fields],
            "states": None
            if states is None
            else {
                "both": states.both,
                "only_first": list(states.only_first),
                "only_second": list(states.only_second),
            },
            "only": [_only(one, file) for one, file in zip(result.only, files, strict=True)],
            "seconds": round(result.seconds, 6),
        },
        ensure_ascii=False,
    )


def _side(result: CheckResult) -> dict[str, object]:
    return {
        "model": result.model,
        "bounds": dict(result.bounds),
        "distinct_states": result.distinct_states,
        "transitions": result.transitions,
        "levels": list(result.levels),
        "actions": dict(result.actions),
        "stopped_by": result.stopped_by,
    }


def _only(one: OnlyOne | None, file: Path | None) -> dict[str, object] | None:
    if one is None:
        return None
    return {
        "trace_length": one.trace.length,
        "reason": one.reason,
        "steps": steps_json(one.trace),
        "trace": None if file is None else str(file),
    }


def trace_difference_json(found: TraceDifference, files: Sequence[Path]) -> str:
    """Return the object for the difference of the traces in two files."""
    return json.dumps(
        {
            "same": found.same,
            "files": [str(file) for file in files],
            "step": found.step,
            "labels": list(found.labels),
            "fields": {path: list(pair) for path, pair in found.fields.items()},
            "about": {name: list(pair) for name, pair in found.about.items()},
            "trace_lengths": list(found.lengths),
        },
        ensure_ascii=False,
    )

"""What `insync ask --json` prints: the answer with its traces step by step, or the table of settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from insync.cli.show.as_json import demands_json, steps_json
from insync.explorer import Violation
from insync.explorer.ask import Asked, Cell, Given, shown_bounds
from insync.explorer.availability import Stopped
from insync.explorer.disturbances import Disturbed
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import Defect

__all__ = ["Files", "answer_json", "matrix_json"]

Files = Mapping[str, Path | None]
"""Where the trace of each broken promise was written."""


def answer_json(
    asked: Asked,
    cells: Sequence[Cell],
    files: Files,
    calm: tuple[Asked, Files] | None,
    disturbances: Sequence[tuple[Disturbed, Files]],
    stops: Sequence[Stopped],
    verdict: str,
) -> str:
    """Return the object for an answer.

    Args:
        asked: the answer.
        cells: what single changes of the settings would have done.
        files: where the traces of the broken promises were written.
        calm: what breaks without a race what takes one otherwise, with the files of its traces.
        disturbances: what is broken by disturbances, each with the files of its traces.
        stops: when writes stop.
        verdict: what all of it comes to.
    """
    answer = {
        **_asked_json(asked, files),
        "verdict": verdict,
        "warnings": list(asked.result.warnings),
        "without_races": None if calm is None else _asked_json(*calm),
        "remedies": [_cell_json(cell) for cell in cells],
        "disturbances": [
            {
                "with": found.disturbance.words,
                **_asked_json(found.asked, written),
                "defect": None if found.defect is None else _defect_json(found.defect),
            }
            for found, written in disturbances
        ],
    }
    answer["writes_stop"] = [
        {"name": found.name, "failures": found.failures, "more_than": found.more_than, "steps": list(found.steps)}
        for found in stops
    ]
    return json.dumps(answer, ensure_ascii=False)


def _asked_json(asked: Asked, files: Files) -> dict[str, object]:
    """What one search says of the promises."""
    result = asked.result
    broken = {violation.property: violation for violation in result.violations}
    return {
        "settings": shown_bounds(asked.model),
        "bounds": asked.model.identity,
        "verdict": str(result.verdict),
        "stopped_by": result.stopped_by,
        "distinct_states": result.distinct_states,
        "promises": [
            {"name": found.name, "verdict": str(found.verdict), **_broken_json(broken.get(found.name), files)}
            for found in result.properties
        ],
    }


def _defect_json(defect: Defect) -> dict[str, object]:
    return {"name": defect.name, "title": defect.title, "affected": defect.affected}


def _broken_json(violation: Violation | None, files: Files) -> dict[str, object]:
    """How a promise is broken; null where it is not."""
    if violation is None:
        return {"trace_length": None, "reason": None, "demands": None, "steps": None, "trace": None}
    file = files.get(violation.property)
    return {
        "trace_length": violation.trace_length,
        "reason": violation.trace.reason,
        "demands": demands_json(violation.trace),
        "steps": steps_json(violation.trace),
        "trace": None if file is None else str(file),
    }


def matrix_json(given: Given, cells: Sequence[Cell], warnings: Sequence[str], verdict: str) -> str:
    """Return the object for the table."""
    answer = {
        "bounds": Cluster(**given).identity,
        "verdict": verdict,
        "matrix": [_cell_json(cell) for cell in cells],
        "warnings": list(warnings),
    }
    return json.dumps(answer, ensure_ascii=False)


def _cell_json(cell: Cell) -> dict[str, object]:
    return {
        "settings": dict(cell.settings),
        "verdict": cell.verdict or None,
        "trace_length": cell.length,
        "stopped_by": cell.stopped_by,
        "steps": None if cell.trace is None else steps_json(cell.trace),
    }

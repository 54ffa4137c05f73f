"""`insync ask` as JSON: the answer with the steps of its traces, or the table of settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from insync.cli.show.as_json import demands_json, steps_json
from insync.cli.show.availability_report import availability_json
from insync.cli.show.finding_words import finding_json
from insync.cli.show.seen_on_kafka import seen_in_short
from insync.explorer import Violation
from insync.explorer.results import Verdict
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.ask import FEWEST_RECORDS, Asked, Cell, Given, is_promised, shown_bounds
from insync.kafka_questions.disturbances import Disturbed, FewestFailures, Remedy

__all__ = ["Files", "answer_json", "disturbed_json", "matrix_json", "promises_json", "remedy_json"]

Files = Mapping[str, Path | None]
"""The file of the trace of each broken promise, by its name."""

NOWHERE: Files = {}


def answer_json(
    asked: Asked,
    tried: Sequence[Remedy],
    files: Files,
    calm: tuple[Asked, Files] | None,
    disturbances: Sequence[tuple[Disturbed, Files]],
    stops: Sequence[FewestFailures],
    verdict: str,
) -> str:
    """Return the object for an answer.

    Args:
        asked: the answer.
        tried: the results of single changes of settings.
        files: the files of the traces of the broken promises.
        calm: the result without races, if the shortest trace has a race, with the files of its traces.
        disturbances: the results with disturbances, each with the files of its traces.
        stops: the failures that stop writes.
        verdict: the verdict on all of it together.
    """
    answer = {
        **_asked_json(asked, files),
        "verdict": verdict,
        "warnings": list(asked.result.warnings),
        "without_races": None if calm is None else _asked_json(*calm),
        "remedies": [remedy_json(remedy) for remedy in tried],
        "disturbances": [disturbed_json(found, written) for found, written in disturbances],
        "writes_stop": availability_json(stops),
    }
    return json.dumps(answer, ensure_ascii=False)


def _asked_json(asked: Asked, files: Files) -> dict[str, object]:
    """Return the result of one search."""
    result = asked.result
    return {
        "settings": shown_bounds(asked.model),
        "bounds": asked.model.identity,
        "verdict": str(result.verdict),
        "stopped_by": result.stopped_by,
        "distinct_states": result.distinct_states,
        "promises": promises_json(asked, files),
    }


def promises_json(asked: Asked, files: Files) -> list[dict[str, object]]:
    """Return the result of a search for each promise; `promised` is false if its settings do not promise it.

    A promise holds trivially if it takes more records to break (`takes_records`) than there are.
    """
    broken = {violation.property: violation for violation in asked.result.violations}
    return [
        {
            "name": found.name,
            "verdict": str(found.verdict),
            "promised": is_promised(found.name, asked.model),
            "takes_records": FEWEST_RECORDS.get(found.name, 1),
            **_broken_json(broken.get(found.name), files),
        }
        for found in asked.result.properties
    ]


def disturbed_json(found: Disturbed, files: Files = NOWHERE) -> dict[str, object]:
    """Return the promises that a disturbance breaks, and those that the fix of its entry of the catalogue keeps."""
    entry = found.defect
    defect = None
    if entry is not None:
        told: dict[str, object] = {"name": entry.name, "title": entry.title, "affected": entry.affected}
        told["finding"] = finding_json(entry.name)
        defect = {**told, "seen": seen_in_short(entry.name), "keeps": list(found.kept)}
    named = {"with": found.disturbance.words, **_asked_json(found.asked, files), "defect": defect}
    return {**named, "with_fix": _with_fix_json(found), **_attempts_json(found)}


def _attempts_json(found: Disturbed) -> dict[str, object]:
    """Return the results of changes of settings, and for a confirmed entry of the catalogue what operators can do."""
    helps = [attempt for attempt in found.attempts if attempt.verdict == Verdict.HOLDS]
    return {
        "remedy": dict(helps[0].cell.settings) if helps else None,
        "remedies": [
            {
                **_cell_json(attempt.cell),
                "undisturbed": None if attempt.undisturbed is None else _cell_json(attempt.undisturbed),
            }
            for attempt in found.attempts
        ],
        "avoided_by": found.disturbance.avoided_by if found.kept else None,
    }


def _with_fix_json(found: Disturbed) -> dict[str, object] | None:
    """Return the broken promises that the fix of the disturbance's entry keeps; None if none is broken."""
    if found.fixed is None:
        return None
    return {
        "of": found.disturbance.defect.name,
        "keeps": list(found.kept),
        "unknown": list(found.undecided),
        "stopped_by": found.fixed.stopped_by,
    }


def _broken_json(violation: Violation | None, files: Files) -> dict[str, object]:
    """Return how a promise is broken; the values are None if it is not."""
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


def remedy_json(remedy: Remedy) -> dict[str, object]:
    """Return the result of a change of a setting, without disturbance and with each."""
    return {**_cell_json(remedy.cell), "disturbances": [disturbed_json(found) for found in remedy.disturbed]}


def matrix_json(
    given: Given,
    promises: Sequence[str],
    cells: Sequence[tuple[Cell, Path | None]],
    stops: Sequence[tuple[Given, Sequence[FewestFailures]]],
    warnings: Sequence[str],
    verdict: str,
) -> str:
    """Return the object for the table.

    Args:
        given: the bounds that are not the default.
        promises: the names of the promises.
        cells: each cell, with the file of its trace.
        stops: the failures that stop writes, by settings.
        warnings: sentences.
        verdict: the verdict on all cells together.
    """
    answer = {
        "bounds": Cluster(**given).identity,
        "promises": list(promises),
        "verdict": verdict,
        "matrix": [{**_cell_json(cell), "trace": None if file is None else str(file)} for cell, file in cells],
        "writes_stop": [{"settings": dict(settings), "stops": availability_json(found)} for settings, found in stops],
        "warnings": list(warnings),
    }
    return json.dumps(answer, ensure_ascii=False)


def _cell_json(cell: Cell) -> dict[str, object]:
    return {
        "settings": dict(cell.settings),
        "verdict": cell.verdict or None,
        "property": None if cell.trace is None else cell.trace.property,
        "trace_length": cell.length,
        "stopped_by": cell.stopped_by,
        "steps": None if cell.trace is None else steps_json(cell.trace),
    }

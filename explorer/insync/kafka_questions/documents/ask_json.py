"""`insync ask` as JSON: each combination of settings with its rows, its causes and their traces."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from insync.explorer.documents.traces import demands_json, steps_json
from insync.kafka_questions.ask import Answer
from insync.kafka_questions.causes.cause import Cause
from insync.kafka_questions.cluster_settings import Asked
from insync.kafka_questions.disturbances import Row
from insync.kafka_questions.documents.availability import availability_json
from insync.kafka_questions.documents.findings import finding_json
from insync.kafka_questions.documents.verdict import verdict_sentence
from insync.kafka_questions.liveness import Ended
from insync.kafka_questions.question import PROMISES

if TYPE_CHECKING:
    from insync.kafka_questions.documents.json_types import AnswersObject, CauseEntry, CombinationEntry, RowEntry

__all__ = ["Shown", "answers_json"]

Shown = tuple[Asked, Answer, Mapping[str, Path | None], Sequence[Ended]]
"""What was asked, its answer, the files of the traces of its causes by name, and what always happens in the end."""


def answers_json(
    shown: Sequence[Shown], verdict: str, named: Mapping[str, str], ignored: Sequence[str], accepted: Sequence[str]
) -> str:
    """Return the object for all combinations.

    Args:
        shown: the combinations.
        verdict: the verdict on which the exit code rests.
        named: keys of files that matter and are not asked about, with descriptions.
        ignored: the other keys.
        accepted: the names of causes that are set aside.
    """
    told: AnswersObject = {
        "verdict": verdict,
        "accepted": list(accepted),
        "combinations": [_one(one, accepted) for one in shown],
        "not_asked_about": dict(named),
        "ignored": list(ignored),
    }
    return json.dumps(told, ensure_ascii=False)


def _one(shown: Shown, accepted: Sequence[str]) -> CombinationEntry:
    asked, answer, files, ended = shown
    return {
        "topics": list(asked.topics),
        "settings": {**answer.model.identity, "elr": "on" if answer.model.features.elr else "off"},
        "version": asked.version or answer.model.b.settings.release.value,
        "origins": dict(asked.origins),
        "remarks": [*answer.model.remarks(), *asked.remarks],
        "sentence": verdict_sentence(answer, accepted),
        "verdict": {fail_on: str(answer.verdict_for(fail_on, accepted)) for fail_on in ("settings", "any")},
        "rows": [_row(row) for row in answer.rows],
        "causes": [_cause(cause, files.get(cause.name)) for cause in answer.causes],
        "open": [_cause(cause, files.get(cause.name)) for cause in answer.open],
        "not_searched": list(answer.not_searched),
        "open_after_upgrade": list(answer.open_after_upgrade),
        "writes_stop": availability_json(answer.stops),
        "endings": [
            {"property": one.ending.property, "words": one.ending.sentence(), "verdict": str(one.verdict)}
            for one in ended
        ],
    }


def _row(row: Row) -> RowEntry:
    found = row.searched
    return {
        "against": row.name,
        "words": row.words,
        "likelihood": row.disturbances[0].likelihood,
        "states": None if found is None else found.result.distinct_states,
        "stopped_by": None if found is None else found.result.stopped_by,
        "promises": {name: row.outcome(name) for name in PROMISES},
    }


def _cause(cause: Cause, file: Path | None) -> CauseEntry:
    entry = cause.entry
    return {
        "name": cause.name or None,
        "kind": cause.kind.value,
        "story": cause.story,
        "title": None if entry is None else entry.title,
        "ticket": None if entry is None else entry.ticket,
        "against": [row.name for row in cause.rows],
        "promises": [violation.property for violation in cause.violations],
        "change": dict(cause.change),
        "fixed_in": cause.fixed_in or None,
        "avoided_by": cause.avoided_by or None,
        "finding": finding_json(cause.name),
        "trace_length": cause.violation.trace_length,
        "reason": cause.violation.trace.reason,
        "demands": demands_json(cause.violation.trace),
        "steps": steps_json(cause.violation.trace),
        "bounds": cause.model.identity,
        "trace": None if file is None else str(file),
    }

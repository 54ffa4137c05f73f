"""What `insync ask --config` says: the topics of each combination of settings, what they risk, what helps."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence

from insync.cli.show.as_json import steps_json
from insync.cli.show.ask_report import describe_settings
from insync.cli.show.figures import plural
from insync.cli.show.report import STOPPED_BY
from insync.cli.show.warned import warning_lines
from insync.explorer.disturbances import Disturbed
from insync.explorer.exposure import Exposure
from insync.explorer.traces.grid import Paint

__all__ = ["describe_exposure", "describe_unasked", "exposures_json"]

_SHOWN = 8


def describe_exposure(found: Exposure, topics: Sequence[str], paint: Paint, width: int) -> str:
    """Return what a combination of settings comes to, and the topics that have it."""
    more = f" and {len(topics) - _SHOWN} more" if len(topics) > _SHOWN else ""
    lines = [f"{describe_settings(found.settings)}", f"  topics: {', '.join(topics[:_SHOWN])}{more}"]
    lines.append(f"  {_outcome(found)}")
    lines += [f"  {_when_disturbed(one)}" for one in found.disturbed]
    if found.causes:
        lines.append(f"  by: {'; '.join(found.causes)}")
    if found.is_lossy:
        remedy = found.remedy
        lines.append(f"  what helps: {'no single change' if remedy is None else describe_settings(remedy.settings)}")
    wrapped = [part for line in lines for part in textwrap.wrap(line, width, subsequent_indent="    ")]
    warnings = () if found.asked is None else found.asked.result.warnings
    return "\n".join(["", *wrapped, *warning_lines(warnings, paint, width)])


def _outcome(found: Exposure) -> str:
    if found.asked is None:
        return f"unknown: {found.beyond}"
    result = found.asked.result
    if result.violations:
        return f"at risk: an acknowledged record is lost in {plural(result.violations[0].trace_length - 1, 'step')}"
    if result.stopped_by is not None:
        return f"unknown: stopped by {STOPPED_BY[str(result.stopped_by)]}"
    return f"safe: no acknowledged record is lost in {plural(result.distinct_states, 'state')}, all of them"


def _when_disturbed(found: Disturbed) -> str:
    result, words = found.asked.result, f"with {found.disturbance.words}"
    if result.violations:
        entry = "" if found.defect is None else f" ({found.defect.name}: {found.defect.title})"
        return f"{words} at risk: a record is lost in {plural(result.violations[0].trace_length - 1, 'step')}{entry}"
    if result.stopped_by is not None:
        return f"{words} unknown: stopped by {STOPPED_BY[str(result.stopped_by)]}"
    return f"{words} safe too, in {plural(result.distinct_states, 'state')}, all of them"


def describe_unasked(named: Mapping[str, str], ignored: Sequence[str], width: int) -> str:
    """Return which keys matter and were not asked about, and which others there are, each wrapped."""
    lines = [f"not asked about: {key} ({about})" for key, about in named.items()]
    if ignored:
        lines.append(f"ignored: {', '.join(ignored)}")
    if not lines:
        return ""
    wrapped = [part for line in lines for part in textwrap.wrap(line, width, subsequent_indent="  ")]
    return "\n".join(["", *wrapped])


def exposures_json(
    found: Sequence[tuple[Exposure, Sequence[str]]], named: Mapping[str, str], ignored: Sequence[str], verdict: str
) -> str:
    """Return the object for scripts."""
    return json.dumps(
        {
            "verdict": verdict,
            "combinations": [{**_one(exposure), "topics": list(topics)} for exposure, topics in found],
            "not_asked_about": dict(named),
            "ignored": list(ignored),
        },
        ensure_ascii=False,
    )


def _one(found: Exposure) -> dict[str, object]:
    trace = found.asked.result.violations[0].trace if found.asked and found.asked.result.violations else None
    remedy = found.remedy
    return {
        "settings": dict(found.settings),
        "bounds": None if found.asked is None else found.asked.model.identity,
        "verdict": found.verdict,
        "unknown_because": found.beyond or (found.asked.result.stopped_by if found.asked else None),
        "warnings": list(found.asked.result.warnings) if found.asked else [],
        "causes": found.causes,
        "trace_length": None if trace is None else len(trace.steps),
        "steps": None if trace is None else steps_json(trace),
        "remedy": None if remedy is None else dict(remedy.settings),
        "disturbed": [_disturbed_json(one) for one in found.disturbed],
    }


def _disturbed_json(found: Disturbed) -> dict[str, object]:
    violations = found.asked.result.violations
    return {
        "by": found.disturbance.words,
        "verdict": str(found.asked.result.verdict),
        "trace_length": violations[0].trace_length if violations else None,
        "steps": steps_json(violations[0].trace) if violations else None,
        "defect": None if found.defect is None else found.defect.name,
    }

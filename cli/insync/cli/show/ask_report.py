"""What `insync ask` says: which promises hold, how one is broken, what would have kept it, the table of settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from insync.cli.show.as_json import steps_json
from insync.cli.show.figures import plural
from insync.cli.show.report import STOPPED_BY
from insync.cli.show.trace_files import replay_hint
from insync.cli.show.warned import warning_lines
from insync.explorer import Violation
from insync.explorer.ask import PROMISES, Asked, Cell, Given, shown_bounds, with_shown_bounds
from insync.explorer.traces.grid import Paint, render_grid
from insync.kafka.cluster.model import Cluster

__all__ = [
    "answer_json",
    "by_promise",
    "describe_answer",
    "describe_notes",
    "describe_question",
    "describe_remedy",
    "describe_row",
    "describe_settings",
    "matrix_json",
]


def by_promise(asked: Asked) -> list[Violation]:
    """Return the violations in the order of the promises that they break."""
    return sorted(asked.result.violations, key=lambda violation: list(PROMISES).index(violation.property))


def describe_answer(asked: Asked, files: Mapping[str, Path | None], paint: Paint, width: int) -> str:
    """Return the answer, with at most two traces; `files` are where those of the broken promises were written."""
    result = asked.result
    lines = [describe_question(asked.model)]
    complete = result.verdict != "incomplete" and result.stopped_by is None
    extent = "all of them" if complete else f"not all of them: stopped by {_by(result.stopped_by)}"
    lines += [f"{plural(result.distinct_states, 'state')} searched, {extent}"]
    lines += [*warning_lines(result.warnings, paint, width), ""]
    lengths = {violation.property: violation.trace_length for violation in result.violations}
    words = {"holds": "holds", "incomplete": "unknown"}
    for found in result.properties:
        if found.name in PROMISES:
            length = lengths.get(found.name)
            outcome = words.get(str(found.verdict), "") if length is None else f"broken in {plural(length - 1, 'step')}"
            lines.append(f"  {PROMISES[found.name]:<62}  {outcome}")
    shown: list[object] = []
    for violation in by_promise(asked):
        if violation.trace.steps not in shown and len(shown) < 2:
            shown.append(violation.trace.steps)
            trace = with_shown_bounds(violation.trace, asked.model)
            lines += ["", render_grid(trace, asked.model.grid, width=width, paint=paint)]
            if (file := files.get(violation.property)) is not None:
                lines.append(replay_hint(trace, file))
    return "\n".join(lines)


def describe_question(model: Cluster) -> str:
    """Return what was asked: the release, and every bound that is not the default."""
    shown = shown_bounds(model)
    others = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in shown.items() if name != "release")
    return f"Kafka {shown['release']}" + (f", {others}" if others else "")


def _by(stopped_by: str | None) -> str:
    return STOPPED_BY[str(stopped_by)]


def describe_settings(settings: Given) -> str:
    """Return settings by the names that Kafka has for them."""
    names = {"acks": "acks", "min_insync": "min.insync.replicas", "unclean": "unclean.leader.election.enable"}
    words = {"elr": "eligible leader replicas", "release": "Kafka", "flushing": "records flushed"}
    values = {"off": "false", "on": "true"}
    return ", ".join(
        f"{names[name]}={values.get(str(value), value)}" if name in names else f"{words[name]} {value}"
        for name, value in settings.items()
    )


def describe_remedy(cell: Cell, first: bool) -> str:
    """Return what a change of the settings would have done, below a heading if it is the first."""
    if cell.verdict == "holds":
        outcome = "no record is lost"
    elif cell.verdict == "incomplete":
        outcome = f"unknown: stopped by {_by(cell.stopped_by)}"
    else:
        outcome = f"a record is lost all the same, in {plural((cell.length or 1) - 1, 'step')}"
    head = "\nWhat would have kept the record:\n" if first else ""
    return f"{head}  {describe_settings(cell.settings):<48}  {outcome}"


def describe_notes(cells: Sequence[Cell], warnings: Sequence[str], paint: Paint, width: int) -> str:
    """Return what is to be said below the table: what stopped a search, and the warnings."""
    stopped = dict.fromkeys(_by(cell.stopped_by) for cell in cells if cell.stopped_by is not None)
    notes = [f"unknown: stopped by {by}" for by in stopped]
    notes += warning_lines(warnings, paint, width)
    return "\n".join(["", *notes] if notes else [])


def describe_row(row: Sequence[Cell]) -> str:
    """Return a row of the table: without and with unclean election."""
    first, second = (_outcome(cell) for cell in row)
    settings = row[0].settings
    return f"  {settings['acks']:<4}  {settings['min_insync']:<20}  {first:<24}  {second}".rstrip()


def _outcome(cell: Cell) -> str:
    if cell.verdict == "violated":
        return f"lost in {plural((cell.length or 1) - 1, 'step')}"
    return {"holds": "safe", "incomplete": "unknown"}.get(cell.verdict, "nothing is promised")


def answer_json(asked: Asked, cells: Sequence[Cell], files: Mapping[str, Path | None]) -> str:
    """Return the object for an answer; `files` are where the traces of the broken promises were written."""
    result = asked.result
    broken = {violation.property: violation for violation in result.violations}
    answer = {
        "settings": shown_bounds(asked.model),
        "bounds": asked.model.identity,
        "verdict": str(result.verdict),
        "stopped_by": result.stopped_by,
        "distinct_states": result.distinct_states,
        "warnings": list(result.warnings),
        "promises": [
            {"name": found.name, "verdict": str(found.verdict), **_broken_json(broken.get(found.name), files)}
            for found in result.properties
        ],
        "remedies": [_cell_json(cell) for cell in cells],
    }
    return json.dumps(answer, ensure_ascii=False)


def _broken_json(violation: Violation | None, files: Mapping[str, Path | None]) -> dict[str, object]:
    """How a promise is broken; null where it is not."""
    if violation is None:
        return {"trace_length": None, "reason": None, "steps": None, "trace": None}
    file = files.get(violation.property)
    return {
        "trace_length": violation.trace_length,
        "reason": violation.trace.reason,
        "steps": steps_json(violation.trace),
        "trace": None if file is None else str(file),
    }


def matrix_json(given: Given, cells: Sequence[Cell], warnings: Sequence[str]) -> str:
    """Return the object for the table."""
    answer = {
        "bounds": Cluster(**given).identity,
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
    }

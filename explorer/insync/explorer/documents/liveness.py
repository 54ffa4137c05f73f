"""`insync liveness` as text, as JSON and as HTML: the verdict on each property of runs, and the runs that show it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from insync.explorer.documents.document import Document, Style
from insync.explorer.documents.text import STOPPED_BY, describe_choices, plural, seconds, warning_lines
from insync.explorer.liveness import LivenessResult, RunResult
from insync.explorer.traces.grid import Columns, Tone, render_grid
from insync.explorer.traces.state_diff import model_behind
from insync.explorer.traces.trace import Trace
from insync.explorer.traces.trace_file import replay_hint
from insync.properties.invariants import TYPE_OK
from insync.properties.temporal import RunKind

if TYPE_CHECKING:
    from insync.explorer.documents.json_types.searches import LivenessObject, RefusedEntry, RunPropertyEntry

__all__ = ["LivenessDocument", "html", "seen"]


@dataclass(frozen=True, slots=True)
class LivenessDocument(Document):
    """The verdicts on properties of runs.

    Attributes:
        result: the result.
        columns: the columns of grids.
        shown: the properties whose traces the report shows.
        files: the files of these traces, by property.
    """

    result: LivenessResult
    columns: Columns
    shown: Sequence[RunResult] = ()
    files: Mapping[str, Path | None] = field(default_factory=dict)

    def text(self, style: Style) -> str:
        result, paint, width = self.result, style.paint, style.width
        lines = describe_choices(result.model, result.bounds, model_behind(self.columns), width)
        if result.refused is not None:
            lines.append(
                paint(f"{result.verdict:<10}", Tone.BAD) + f"  {TYPE_OK}: a step leaves the domain of its field"
            )
        size = max(len(found.name) for found in result.properties)
        for found in result.properties:
            tone = Tone.GOOD if found.verdict == "holds" else Tone.BAD
            lines.append(f"{paint(f'{found.verdict:<10}', tone)}  {found.name:<{size}}  {_what(found)}".rstrip())
        lines += warning_lines(result.warnings, paint, width)
        end = "" if result.stopped_by is None else f", stopped by {STOPPED_BY[result.stopped_by]}"
        lines += ["", f"{plural(result.distinct_states, 'state')}, {plural(result.transitions, 'step')}{end}"]
        lines.append(", ".join(f"{name} {seconds(time)}" for name, time in result.seconds.items()))
        if result.refused is not None:
            lines += ["", render_grid(result.refused, self.columns, width=width, paint=paint)]
            if (file := self.files[TYPE_OK]) is not None:
                lines.append(replay_hint(result.refused, file))
        for found in self.shown:
            assert found.trace is not None
            lines += ["", render_grid(found.trace, self.columns, width=width, paint=paint)]
            if not found.trace.witness:
                lines += textwrap.wrap(_fairness(found), width)
            if (file := self.files[found.name]) is not None:
                lines.append(replay_hint(found.trace, file))
        return "\n".join(lines)

    def data(self) -> LivenessObject:
        result = self.result
        properties: list[RunPropertyEntry] = [
            {
                "name": found.name,
                "kind": found.kind,
                "verdict": found.verdict,
                "fairness": {"weak": list(found.fairness.weak), "strong": list(found.fairness.strong)},
                "trace_length": None if found.trace is None else found.trace.length,
                "loop": None if found.trace is None else found.trace.loop,
                "undecided": found.undecided,
                "unreached": list(found.unreached),
                "reason": None if found.trace is None else found.trace.reason,
                "trace": str(self.files[found.name]) if self.files.get(found.name) is not None else None,
            }
            for found in result.properties
        ]
        return {
            "model": result.model,
            "bounds": dict(result.bounds),
            "within": list(result.within),
            "verdict": result.verdict,
            "stopped_by": result.stopped_by,
            "distinct_states": result.distinct_states,
            "transitions": result.transitions,
            "depth": result.depth,
            "properties": properties,
            "refused": None if result.refused is None else _refused_entry(result.refused, self.files),
            "warnings": list(result.warnings),
            "seconds": {name: round(time, 6) for name, time in result.seconds.items()},
        }


def _fairness(found: RunResult) -> str:
    """Return the fairness of a counterexample, and how to demand that something happens where there is none."""
    fixed = found.kind is RunKind.REFINES or not found.kind.needs_fairness
    if found.fairness.weak or found.fairness.strong or fixed:
        return f"Fairness: {found.fairness}."
    return "Fairness: none, so no action ever has to happen. Demand one by weak=(...) in the decorator, or by --weak."


def _what(found: RunResult) -> str:
    bindings = f", for each of {found.instances} bindings" if found.instances > 1 else ""
    if found.undecided is not None:
        return f"{found.kind}: {found.undecided}"
    if found.kind != "sometimes":
        return f"{found.kind}{bindings}"
    if found.trace is not None:
        last = "the last of them is " if bindings else ""
        return f"sometimes{bindings}: {last}reached after {plural(found.trace.length - 1, 'step')}"
    first, *more = found.unreached or ("",)
    others = f" and {len(more)} more" if more else ""
    return f"sometimes{bindings}: not reached{f' for {first}{others}' if first else ''}"


def _refused_entry(refused: Trace, files: Mapping[str, Path | None]) -> RefusedEntry:
    """Return the entry of the trace to a refused step."""
    file = files.get(TYPE_OK)
    return {"trace_length": refused.length, "reason": refused.reason, "trace": None if file is None else str(file)}


def seen(result: LivenessResult) -> str:
    """Return how much was searched, for the report of a test."""
    return f"{plural(result.distinct_states, 'state')}, depth {result.depth}"


def html(result: LivenessResult | RunResult) -> list[str]:
    """Return the parts of the HTML."""
    from insync.explorer.documents.html import badge, drawing_of, heading, paragraph, table, warned

    if isinstance(result, RunResult):
        head = f"<p>{badge(result.verdict)} {paragraph(result.name)}</p>"
        return [head, paragraph(result.sentence), *([] if result.trace is None else [drawing_of(result.trace)])]
    rows = [
        (run.name, run.verdict.value, run.kind.value, str(run.fairness), run.undecided) for run in result.properties
    ]
    size = f"{plural(result.distinct_states, 'state')}, {plural(result.transitions, 'step')}"
    stopped = "" if result.stopped_by is None else f"; stopped by {result.stopped_by}"
    return [
        heading(result.verdict, result.model, result.bounds),
        table(("property", "verdict", "kind", "fairness", ""), rows),
        paragraph(size + stopped, dim=True),
        *warned(result.warnings),
        *([] if result.refused is None else [drawing_of(result.refused)]),
        *(drawing_of(run.trace) for run in result.properties if run.trace is not None),
    ]

"""`insync simulate` as text, as JSON and as HTML: the walks, and the trace of the one that fails."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.explorer.documents.document import Document, Style
from insync.explorer.documents.text import (
    STOPPED_BY,
    confined_lines,
    count,
    describe_choices,
    describe_trace,
    plural,
    step_lines,
    times_line,
    warning_lines,
)
from insync.explorer.documents.traces import violation_entry
from insync.explorer.traces.grid import Paint, Tone
from insync.explorer.traces.state_diff import model_behind
from insync.properties.invariants import TYPE_OK

if TYPE_CHECKING:
    from pathlib import Path

    from insync.explorer.documents.json_types.searches import AbstractStatesEntry, SimulationObject
    from insync.explorer.search.walks import AbstractStates
    from insync.explorer.simulate import SimulationResult
    from insync.explorer.traces.grid import Columns

__all__ = ["SimulationDocument", "html", "seen"]


@dataclass(frozen=True, slots=True)
class SimulationDocument(Document):
    """Random walks, with the columns of grids and the file of the trace."""

    result: SimulationResult
    columns: Columns
    file: Path | None = None

    def text(self, style: Style) -> str:
        result, paint, width = self.result, style.paint, style.width
        lines = [
            *describe_choices(result.model, result.bounds, model_behind(self.columns), width),
            *_simulation_verdict(result, paint),
            *confined_lines(result.within),
            *warning_lines(result.warnings, paint, width),
            "",
            *step_lines(result.actions, result.steps),
            *([f"not taken in these walks: {', '.join(result.not_taken)}"] if result.not_taken else []),
            _lengths(result),
            *_abstract_states(result, width),
            "",
            times_line(result.seconds, result.steps, "steps", result.peak_memory_bytes),
        ]
        if result.violation is not None:
            lines += ["", describe_trace(result.violation.trace, self.columns, self.file, paint, width)]
        return "\n".join(lines)

    def data(self) -> SimulationObject:
        result = self.result
        lengths = result.lengths
        return {
            "model": result.model,
            "bounds": dict(result.bounds),
            "verdict": result.verdict,
            "stopped_by": result.stopped_by,
            "seed": result.seed,
            "strategy": result.strategy,
            "depth": result.depth,
            "walks": result.walks,
            "steps": result.steps,
            "walk_lengths": {
                "shortest": lengths.shortest,
                "longest": lengths.longest,
                "mean": round(lengths.mean, 6),
                "stuck": lengths.stuck,
            },
            "failed_walk": result.failed_walk,
            "failed_walk_length": result.failed_walk_length,
            "properties": [{"name": one.name, "verdict": one.verdict} for one in result.properties],
            "violations": [] if result.violation is None else [violation_entry(result.violation.trace, self.file)],
            "actions": dict(result.actions),
            "not_taken": list(result.not_taken),
            "abstract_states": _abstract_states_entry(result.abstract_states),
            "within": list(result.within),
            "warnings": list(result.warnings),
            "seconds": {name: round(time, 6) for name, time in result.seconds.items()},
            "peak_memory_bytes": result.peak_memory_bytes,
        }


def _lengths(result: SimulationResult) -> str:
    lengths = result.lengths
    return (
        f"walks of {lengths.shortest} to {plural(lengths.longest, 'step')}, {lengths.mean:.1f} on average; "
        f"{count(lengths.stuck)} ended in a state without a step"
    )


def _abstract_states(result: SimulationResult, width: int) -> list[str]:
    found = result.abstract_states
    if found is None:
        return []
    head = f"{plural(found.distinct, 'abstract state')}, told apart by {', '.join(found.names) or 'nothing'}"
    if found.last_new is None:
        return textwrap.wrap(head, width, subsequent_indent="  ")
    walks, states = (", ".join(map(count, numbers)) for numbers in zip(*found.growth, strict=True))
    grown = f"after {walks} walks: {states}; the last new one in walk {count(found.last_new)}"
    return [*textwrap.wrap(head, width, subsequent_indent="  "), *_indented(grown, width)]


def _indented(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  ")


def _simulation_verdict(result: SimulationResult, paint: Paint) -> list[str]:
    walked = f"{plural(result.walks, 'walk')} of up to {plural(result.depth, 'step')}, seed {result.seed}"
    violation = result.violation
    if violation is not None:
        long, short = (plural(n, "state") for n in (result.failed_walk_length or 0, violation.trace_length))
        return [
            paint(f"violated: {violation.property}", Tone.BAD)
            + f" in walk {count(result.failed_walk or 0)} ({walked})",
            f"  {long}, shortened to a trace of {short}",
            *_stopped_line(result),
        ]
    if result.failed_walk is not None:
        long = plural(result.failed_walk_length or 0, "state")
        head = paint(f"incomplete: walk {count(result.failed_walk)} fails", Tone.OPEN)
        lines = [f"{head} after {long} ({walked}), and there was no time to confirm it"]
    else:
        names = ", ".join(entry.name for entry in result.properties) or TYPE_OK
        lines = [paint("incomplete: no violation", Tone.OPEN) + f" of {names} in {walked}; walks prove nothing"]
    return [*lines, *_stopped_line(result)]


def _stopped_line(result: SimulationResult) -> list[str]:
    if result.stopped_by is None:
        return []
    found = result.abstract_states
    if result.stopped_by == "saturation" and found is not None and found.last_new is not None:
        idle = plural(result.walks - 1 - found.last_new, "walk")
        return [f"  stopped by {STOPPED_BY['saturation']}: the last {idle} saw no new abstract state"]
    if result.stopped_by == "memory":
        return ["  stopped because the abstract states have filled the memory"]
    return [f"  stopped by {STOPPED_BY[result.stopped_by]}"]


def _abstract_states_entry(found: AbstractStates | None) -> AbstractStatesEntry | None:
    if found is None:
        return None
    return {
        "names": list(found.names),
        "distinct": found.distinct,
        "last_new_walk": found.last_new,
        "growth": [list(pair) for pair in found.growth],
    }


def seen(result: SimulationResult) -> str:
    """Return how much was searched, for the report of a test."""
    return f"{plural(result.steps, 'step')} of random walks, depth {result.depth}"


def html(result: SimulationResult) -> list[str]:
    """Return the parts of the HTML."""
    from insync.explorer.documents.html import (
        actions_table,
        drawing_of,
        folded,
        heading,
        paragraph,
        properties_table,
        warned,
    )

    found = result.violation
    lengths = {} if found is None else {found.property: found.trace_length}
    walked = f"{plural(result.walks, 'walk')} of up to {plural(result.depth, 'step')}, seed {result.seed}"
    shorter = "" if found is None else f"; walk {result.failed_walk:,} fails, and is shown shortened"
    return [
        heading(result.verdict, result.model, result.bounds),
        properties_table(result.properties, lengths),
        paragraph(f"{walked}{shorter}. Walks prove nothing.", dim=True),
        *([] if result.abstract_states is None else [paragraph(f"{result.abstract_states.summary()}.", dim=True)]),
        *warned(result.warnings),
        folded("Actions", actions_table(result.actions, ())),
        *([] if found is None else [drawing_of(found.trace)]),
    ]

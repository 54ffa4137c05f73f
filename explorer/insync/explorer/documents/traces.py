"""Traces, and graphs of states: the JSON that several verbs share, and what a notebook shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from insync.explorer.documents.document import Document, Style
from insync.explorer.documents.text import describe_trace

if TYPE_CHECKING:
    from insync.explorer.documents.json_types.traces import DemandEntry, StepEntry, TraceObject, ViolationEntry
    from insync.explorer.results import Violation
    from insync.explorer.runs.state_graph import StateGraph
    from insync.explorer.traces.grid import Columns
    from insync.explorer.traces.trace import Trace

__all__ = ["TraceDocument", "demands_json", "html", "steps_json", "violation_entry"]


@dataclass(frozen=True, slots=True)
class TraceDocument(Document):
    """A replayed trace, with the columns of its grid."""

    trace: Trace
    columns: Columns

    def text(self, style: Style) -> str:
        return describe_trace(self.trace, self.columns, None, style.paint, style.width)

    def data(self) -> TraceObject:
        trace = self.trace
        return {
            "model": trace.model,
            "bounds": dict(trace.bounds),
            "property": trace.property,
            "trace_length": trace.length,
            "loop": trace.loop,
            "reason": trace.reason,
            "demands": demands_json(trace),
            "steps": steps_json(trace),
        }


def steps_json(trace: Trace) -> list[StepEntry]:
    """Return the steps of a trace, each with the state that it leads to."""
    return [
        {"action": step.action, "label": step.label, "parameters": dict(step.parameters), "state": step.state}
        for step in trace.steps
    ]


def demands_json(trace: Trace) -> list[DemandEntry]:
    """Return the events that the steps of a trace require."""
    return [{"step": demand.step, "hardness": demand.hardness.value, "text": demand.text} for demand in trace.demands]


def violation_entry(trace: Trace, file: Path | None) -> ViolationEntry:
    """Return the entry of a violation; `file` has its trace."""
    return {
        "property": trace.property,
        "trace_length": trace.length,
        "reason": trace.reason,
        "demands": demands_json(trace),
        "trace": None if file is None else str(file),
    }


def html(result: Trace | Violation | StateGraph) -> list[str]:
    """Return the parts of the HTML: a picture, or for a graph its levels."""
    from insync.explorer.documents.html import drawing_of, level_bars, paragraph
    from insync.explorer.results import Violation
    from insync.explorer.runs.state_graph import StateGraph

    if isinstance(result, StateGraph):
        sizes = [after - before for before, after in zip(result.starts, result.starts[1:], strict=False)]
        return [paragraph(result.summary()), level_bars(sizes)]
    return [drawing_of(result.trace if isinstance(result, Violation) else result)]

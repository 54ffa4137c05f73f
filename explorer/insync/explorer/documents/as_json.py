"""The JSON objects of searches, graphs and traces. Scripts rely on their keys, so no key changes its name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from insync.explorer.results import CheckResult, PropertyResult
    from insync.explorer.search.walks import AbstractStates
    from insync.explorer.simulate import SimulationResult
    from insync.explorer.traces.trace import Trace

__all__ = [
    "check_json",
    "demands_json",
    "simulation_json",
    "steps_json",
    "tables_json",
    "trace_json",
    "violation_entry",
]


def check_json(
    result: CheckResult, files: Sequence[Path | None], statistics: Mapping[str, object] | None = None
) -> str:
    """Return the object for an exhaustive search.

    Args:
        result: the result.
        files: the files with the traces of its violations.
        statistics: the entry of `--statistics`, if given.
    """
    return json.dumps(
        {
            "model": result.model,
            "bounds": dict(result.bounds),
            "engine": result.engine,
            "storage": result.storage,
            "kept": result.kept,
            "verdict": result.verdict,
            "stopped_by": result.stopped_by,
            "distinct_states": result.distinct_states,
            "representatives": result.representatives,
            "transitions": result.transitions,
            "depth": result.depth,
            "levels": list(result.levels),
            "frontier": result.frontier,
            "properties": _properties(result.properties),
            "violations": [
                violation_entry(found.trace, file) for found, file in zip(result.violations, files, strict=True)
            ],
            "actions": dict(result.actions),
            "never_enabled": list(result.never_enabled),
            "not_enabled_yet": list(result.not_enabled_yet),
            "impossible": list(result.impossible),
            "deadlocks": result.deadlocks,
            "within": list(result.within),
            "outside": result.outside,
            "warnings": list(result.warnings),
            "seconds": _seconds(result.seconds),
            "peak_memory_bytes": result.peak_memory_bytes,
            **({} if statistics is None else {"statistics": statistics}),
        },
        ensure_ascii=False,
    )


def simulation_json(result: SimulationResult, file: Path | None) -> str:
    """Return the object for random walks; `file` has the trace of the violation."""
    lengths = result.lengths
    return json.dumps(
        {
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
            "properties": _properties(result.properties),
            "violations": [] if result.violation is None else [violation_entry(result.violation.trace, file)],
            "actions": dict(result.actions),
            "not_taken": list(result.not_taken),
            "abstract_states": _abstract_states(result.abstract_states),
            "within": list(result.within),
            "warnings": list(result.warnings),
            "seconds": _seconds(result.seconds),
            "peak_memory_bytes": result.peak_memory_bytes,
        },
        ensure_ascii=False,
    )


def _abstract_states(found: AbstractStates | None) -> dict[str, object] | None:
    if found is None:
        return None
    return {
        "names": list(found.names),
        "distinct": found.distinct,
        "last_new_walk": found.last_new,
        "growth": [list(pair) for pair in found.growth],
    }


def tables_json(model: str, bounds: Mapping[str, int | str], out: str, states: int, transitions: int) -> str:
    """Return the object for the tables of a run below `out`, with `states` and `transitions` rows."""
    return json.dumps(
        {
            "model": model,
            "bounds": dict(bounds),
            "states": {"table": f"{out}/states", "rows": states},
            "transitions": {"table": f"{out}/transitions", "rows": transitions},
        },
        ensure_ascii=False,
    )


def trace_json(trace: Trace) -> str:
    """Return the object for a replayed trace, with the steps as in its file."""
    return json.dumps(
        {
            "model": trace.model,
            "bounds": dict(trace.bounds),
            "property": trace.property,
            "trace_length": trace.length,
            "loop": trace.loop,
            "reason": trace.reason,
            "demands": demands_json(trace),
            "steps": steps_json(trace),
        },
        ensure_ascii=False,
    )


def steps_json(trace: Trace) -> list[dict[str, object]]:
    """Return the steps of a trace, each with the state that it leads to."""
    return [
        {"action": step.action, "label": step.label, "parameters": dict(step.parameters), "state": step.state}
        for step in trace.steps
    ]


def demands_json(trace: Trace) -> list[dict[str, object]]:
    """Return the events that the steps of a trace require."""
    return [{"step": demand.step, "hardness": demand.hardness.value, "text": demand.text} for demand in trace.demands]


def violation_entry(trace: Trace, file: Path | None) -> dict[str, object]:
    """Return the entry of a violation; `file` has its trace."""
    return {
        "property": trace.property,
        "trace_length": trace.length,
        "reason": trace.reason,
        "demands": demands_json(trace),
        "trace": None if file is None else str(file),
    }


def _properties(results: Sequence[PropertyResult]) -> list[dict[str, str]]:
    return [{"name": entry.name, "verdict": entry.verdict} for entry in results]


def _seconds(spent: Mapping[str, float]) -> dict[str, float]:
    return {name: round(time, 6) for name, time in spent.items()}

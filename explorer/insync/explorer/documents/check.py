"""`insync check` as text, as JSON and as HTML: the verdict, figures, and the grid of each violation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.explorer.documents.document import Document, Style
from insync.explorer.documents.text import (
    NO_HUGE_PAGES,
    STOPPED_BY,
    confined_lines,
    count,
    describe_choices,
    describe_traces,
    plural,
    step_lines,
    times_line,
    warning_lines,
)
from insync.explorer.documents.traces import violation_entry
from insync.explorer.traces.grid import Paint, Tone
from insync.explorer.traces.state_diff import model_behind
from insync.model.catalogue import BUILT_IN
from insync.properties.invariants import TYPE_OK

if TYPE_CHECKING:
    from pathlib import Path

    from insync.explorer.documents.json_types.searches import CheckObject
    from insync.explorer.results import CheckResult
    from insync.explorer.traces.grid import Columns
    from insync.model import Model

__all__ = ["CheckDocument", "html", "seen"]


_MANY_MISSED = 32
"""The least number of missed huge pages (64 MiB) for a warning; smaller searches end soon in any case."""


@dataclass(frozen=True, slots=True)
class CheckDocument(Document):
    """The result of an exhaustive search.

    Attributes:
        result: the result.
        columns: the columns of grids.
        files: the file of the trace of each violation.
        statistics: the model, if `--statistics` is given.
        after: a text below the report.
    """

    result: CheckResult
    columns: Columns
    files: Sequence[Path | None] = ()
    statistics: Model | None = None
    after: str = ""

    def text(self, style: Style) -> str:
        result, paint, width = self.result, style.paint, style.width
        lines = [
            *describe_choices(result.model, result.bounds, model_behind(self.columns), width),
            _check_verdict(result, paint),
            *_representatives(result),
            *confined_lines(result.within, result.outside),
            *warning_lines(result.warnings, paint, width),
            "",
            *step_lines(result.actions, result.transitions),
            *_not_enabled(result),
            *_deadlocks(result),
            "",
            times_line(result.seconds, *_visited(result), result.peak_memory_bytes) + _kept(result),
            *warning_lines(without_huge_pages(result), paint, width),
        ]
        traces = [violation.trace for violation in result.violations]
        lines += describe_traces(traces, self.columns, self.files, paint, width)
        more = ""
        if self.statistics is not None:
            from insync.explorer.documents.statistics import describe_statistics

            more = describe_statistics(result, self.statistics, style)
        return "\n".join(lines) + more + self.after

    def data(self) -> CheckObject:
        result = self.result
        found: CheckObject = {
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
            "properties": [{"name": one.name, "verdict": one.verdict} for one in result.properties],
            "violations": [
                violation_entry(found.trace, file) for found, file in zip(result.violations, self.files, strict=True)
            ],
            "actions": dict(result.actions),
            "never_enabled": list(result.never_enabled),
            "not_enabled_yet": list(result.not_enabled_yet),
            "impossible": list(result.impossible),
            "deadlocks": result.deadlocks,
            "within": list(result.within),
            "outside": result.outside,
            "warnings": list(result.warnings),
            "seconds": {name: round(time, 6) for name, time in result.seconds.items()},
            "peak_memory_bytes": result.peak_memory_bytes,
        }
        if self.statistics is not None:
            from insync.explorer.documents.statistics import statistics_entry

            found["statistics"] = statistics_entry(result, self.statistics)
        return found


def _check_verdict(result: CheckResult, paint: Paint) -> str:
    names = {
        word: [p.name for p in result.properties if p.verdict == word] for word in ("holds", "violated", "incomplete")
    }
    begun = result.levels[0] if result.levels else 0
    states = plural(result.distinct_states, "state") + (f" ({count(begun)} initial)" if begun > 1 else "")
    by = STOPPED_BY.get(result.stopped_by or "", str(result.stopped_by))
    if result.verdict == "holds":
        checked = ", ".join(names["holds"]) or f"{TYPE_OK}, which is always checked,"
        within = f" within {', '.join(result.within)}" if result.within else ""
        return paint(f"holds: {checked}", Tone.GOOD) + f"{within} in all {states}, depth {result.depth}"
    if result.verdict == "violated":
        traces = {v.property: f"trace of {plural(v.trace_length, 'state')}" for v in result.violations}
        lengths = ", ".join(f"{name} ({traces.get(name, 'no trace')})" for name in traces or names["violated"])
        rest = f"; no violation of {', '.join(names['incomplete'])} up to there" if names["incomplete"] else ""
        rest += f"; {', '.join(names['holds'])} held in every state" if names["holds"] else ""
        line = paint(f"violated: {lengths}", Tone.BAD) + f"{rest}; {states} seen, depth {result.depth}"
        return line if result.stopped_by is None else f"{line}\n  stopped by {by}; the rest was not searched"
    if not result.levels:
        return paint(f"incomplete: stopped by {by}", Tone.OPEN) + " before the first state was searched"
    return "\n".join(
        [
            paint(f"incomplete: stopped by {by}", Tone.OPEN) + f" after {states}; nothing is proved",
            f"  complete up to depth {result.complete_depth}; {plural(result.frontier, 'state')} left to expand",
            f"  no violation so far of {', '.join(names['incomplete']) or TYPE_OK}",
        ]
    )


def _representatives(result: CheckResult) -> list[str]:
    if result.representatives is None or not result.levels:
        return []
    return [
        f"  visited {plural(result.representatives, 'representative')} of {plural(result.distinct_states, 'state')}"
    ]


def _visited(result: CheckResult) -> tuple[int, str]:
    """Return the number of visited states, and the word for them."""
    if result.representatives is None:
        return result.distinct_states, "states"
    return result.representatives, "representatives"


def _not_enabled(result: CheckResult) -> list[str]:
    """Return the lines about actions without a step; only a complete search shows that they are never enabled."""
    if result.not_enabled_yet and not result.transitions:
        return []
    what = "never enabled" if result.never_enabled else "not enabled so far"
    without = [*result.never_enabled, *result.not_enabled_yet]
    groups = {
        what: [name for name in without if name not in result.impossible],
        "impossible at these bounds": [name for name in without if name in result.impossible],
    }
    return [f"{words}: {', '.join(names)}" for words, names in groups.items() if names]


def _deadlocks(result: CheckResult) -> list[str]:
    """Return the line about states without a step, for a user's own model; for built-in ones they are documented."""
    if result.model in BUILT_IN or not result.levels:
        return []
    if not result.deadlocks:
        return [] if result.frontier else ["every state has a step"]
    so_far = " so far" if result.frontier else ""
    have = "has" if result.deadlocks == 1 else "have"
    found = plural(result.deadlocks, "state")
    return [f"{found}{so_far} {have} no step; --property deadlock_free shows the shortest way to one"]


def _kept(result: CheckResult) -> str:
    """Return how the states were stored, unless it was whole and in memory."""
    kept = {"codes": "as codes", "files": "in sorted files"}.get(result.kept)
    return "" if kept is None else f", {_visited(result)[1]} kept {kept}"


def without_huge_pages(result: CheckResult) -> list[str]:
    """Return a warning if most of the memory of a large search was in small pages."""
    pages = result.huge_pages
    if pages is None or pages.missed < max(_MANY_MISSED, pages.had):
        return []
    if not pages.had:
        return [f"The states had no huge pages: {NO_HUGE_PAGES}"]
    numbers = f"{pages.had:,} huge pages were granted and {pages.missed:,} were not"
    return [f"Of the memory of the states {numbers}: memory is scattered or scarce, and large searches take longer."]


def seen(result: CheckResult) -> str:
    """Return how much was searched, for the report of a test."""
    return f"{plural(result.distinct_states, 'state')}, depth {result.depth}"


def html(result: CheckResult) -> list[str]:
    """Return the parts of the HTML."""
    from insync.explorer.documents.html import (
        actions_table,
        different,
        folded,
        heading,
        level_bars,
        paragraph,
        properties_table,
        warned,
    )

    lengths = {violation.property: violation.trace_length for violation in result.violations}
    return [
        heading(result.verdict, result.model, result.bounds),
        properties_table(result.properties, lengths),
        paragraph(_searched(result), dim=True),
        *warned(result.warnings),
        folded("Levels", level_bars(result.levels)) if result.levels else "",
        folded("Actions", actions_table(result.actions, result.impossible)),
        *different(violation.trace for violation in result.violations),
    ]


def _searched(result: CheckResult) -> str:
    states = plural(result.distinct_states, "state")
    if result.representatives is not None:
        states += f" (by {plural(result.representatives, 'representative')})"
    what = f"{states}, {plural(result.transitions, 'step')}, depth {result.depth}"
    if result.stopped_by is not None:
        return f"{what}; stopped by {result.stopped_by}, nothing is known of the rest"
    return what if not result.frontier else f"{what}; the search ended with the level in which a property fails"

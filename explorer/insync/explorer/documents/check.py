"""`insync check` and `insync simulate` as text: the verdict, figures, and the grid of each violation."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from insync.explorer.documents.figures import count, memory, plural, rate, seconds
from insync.explorer.documents.warned import warning_lines, without_huge_pages
from insync.explorer.traces.grid import Paint, Tone, describe_chosen, render_grid, render_reason
from insync.explorer.traces.state_diff import model_behind
from insync.explorer.traces.trace_file import replay_hint
from insync.model.catalogue import BUILT_IN
from insync.properties.invariants import TYPE_OK

if TYPE_CHECKING:
    from pathlib import Path

    from insync.explorer.results import CheckResult
    from insync.explorer.simulate import SimulationResult
    from insync.explorer.traces.grid import Columns
    from insync.explorer.traces.trace import Trace
    from insync.model import Model

__all__ = [
    "STOPPED_BY",
    "confined_lines",
    "describe_check",
    "describe_choices",
    "describe_simulation",
    "describe_trace",
    "describe_traces",
]

STOPPED_BY = {
    "depth": "the limit on the depth (--max-depth)",
    "states": "the limit on the states (--max-states)",
    "time": "the limit on the time (--max-seconds)",
    "memory": "the limit on the memory (--memory)",
    "interrupt": "Ctrl-C",
    "saturation": "saturation (--until-saturated)",
}
"""The reasons that stop a search, in words."""

_SHORTEST_SECONDS = 0.1
"""The least time for which a rate is shown: in shorter searches start and end dominate."""


def describe_check(
    result: CheckResult, columns: Columns, files: Sequence[Path | None], paint: Paint, width: int
) -> str:
    """Return the report of an exhaustive search; `files` are the files of the traces of its violations."""
    lines = [
        *describe_choices(result.model, result.bounds, model_behind(columns), width),
        _check_verdict(result, paint),
        *_representatives(result),
        *confined_lines(result.within, result.outside),
        *warning_lines(result.warnings, paint, width),
        "",
        *_steps(result.actions, result.transitions),
        *_not_enabled(result),
        *_deadlocks(result),
        "",
        _times(result.seconds, *_visited(result), result.peak_memory_bytes) + _kept(result),
        *warning_lines(without_huge_pages(result), paint, width),
    ]
    traces = [violation.trace for violation in result.violations]
    return "\n".join([*lines, *describe_traces(traces, columns, files, paint, width)])


def describe_simulation(result: SimulationResult, columns: Columns, file: Path | None, paint: Paint, width: int) -> str:
    """Return the report of a simulation; `file` has the trace of its violation."""
    lines = [
        *describe_choices(result.model, result.bounds, model_behind(columns), width),
        *_simulation_verdict(result, paint),
        *confined_lines(result.within),
        *warning_lines(result.warnings, paint, width),
        "",
        *_steps(result.actions, result.steps),
        *([f"not taken in these walks: {', '.join(result.not_taken)}"] if result.not_taken else []),
        _lengths(result),
        *_abstract_states(result, width),
        "",
        _times(result.seconds, result.steps, "steps", result.peak_memory_bytes),
    ]
    if result.violation is not None:
        lines += ["", describe_trace(result.violation.trace, columns, file, paint, width)]
    return "\n".join(lines)


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
        return ["  stopped by the end of the memory, which the abstract states have taken"]
    return [f"  stopped by {STOPPED_BY[result.stopped_by]}"]


def describe_traces(
    traces: Sequence[Trace], columns: Columns, files: Sequence[Path | None], paint: Paint, width: int
) -> list[str]:
    """Return the lines of traces, each after an empty line. Steps that an earlier trace shares are not repeated.

    Args:
        traces: the traces.
        columns: returns the columns of a state.
        files: the file of each trace.
        paint: colours texts.
        width: the greatest length of a line.
    """
    lines: list[str] = []
    for number, (trace, file) in enumerate(zip(traces, files, strict=True)):
        alike = [earlier for earlier in traces[:number] if _is_shown_by(trace, earlier)]
        if alike:
            lines += ["", _same_steps(trace, alike[0], file, paint, width)]
            continue
        common = [(_common_steps(trace, earlier), earlier.property) for earlier in traces[:number]]
        steps, name = max(common, key=lambda pair: pair[0], default=(0, ""))
        begun = (steps, name) if steps >= _WORTH_SHARING else (0, "")
        lines += ["", describe_trace(trace, columns, file, paint, width, begun)]
    return lines


_WORTH_SHARING = 2
"""The length of a common prefix of two traces, in steps, from which on the second does not repeat it."""


def _common_steps(trace: Trace, earlier: Trace) -> int:
    """Return the length of the common prefix of two traces, in steps, without the last step of the first."""
    if trace.loop is not None or (trace.model, trace.bounds) != (earlier.model, earlier.bounds):
        return 0
    pairs = zip(trace.steps[:-1], earlier.steps, strict=False)
    states = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return max(0, states - 1)


def _is_shown_by(trace: Trace, earlier: Trace) -> bool:
    """Return whether a trace has the same steps as an earlier one and ends in the same way."""
    ends = [(one.steps, one.loop, one.witness, one.refused) for one in (trace, earlier)]
    return trace.refused is None and ends[0] == ends[1]


def _same_steps(trace: Trace, earlier: Trace, file: Path | None, paint: Paint, width: int) -> str:
    """Return the text of a trace with the same steps as one above."""
    what, tone = ("is reached", Tone.GOOD) if trace.witness else ("fails", Tone.BAD)
    head = paint(f"{trace.property} {what} after the same steps as {earlier.property}", tone)
    text = "\n".join([head, "", *render_reason(trace, width, paint)])
    return text if file is None else f"{text}\n{replay_hint(trace, file)}"


def describe_choices(model: str, bounds: Mapping[str, int | str], of: Model | None, width: int) -> list[str]:
    """Return the lines with the model and its bounds and settings.

    Args:
        model: the name of the model.
        bounds: all bounds and settings.
        of: the model, whose defaults are left out; None leaves nothing out.
        width: the greatest length of a line.
    """
    said = describe_chosen(bounds, of)
    return textwrap.wrap(
        f"{model}   {said}".rstrip(), width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def confined_lines(within: Sequence[str], outside: int | None = None) -> list[str]:
    """Return the line about `within`, if it is not empty, with the number of states outside."""
    if not within:
        return []
    names = " and ".join(within)
    if outside is None:
        return [f"  within {names}: no step is taken from states outside"]
    was, them = ("was", "it") if outside == 1 else ("were", "them")
    return [f"  within {names}: {plural(outside, 'state')} outside {was} checked, and no step was taken from {them}"]


def describe_trace(
    trace: Trace,
    columns: Columns,
    file: Path | None,
    paint: Paint,
    width: int,
    begun: tuple[int, str] = (0, ""),
) -> str:
    """Return the grid of a trace, with the line about its file if there is one.

    Args:
        trace: the trace.
        columns: returns the columns of a state.
        file: its file.
        paint: colours texts.
        width: the greatest length of a line.
        begun: the number of first steps that another trace shows, and the property of that trace.
    """
    shown, by = begun
    grid = render_grid(trace, columns, width=width, paint=paint, shown=shown, by=by)
    return grid if file is None else f"{grid}\n{replay_hint(trace, file)}"


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


def _steps(actions: Mapping[str, int], total: int) -> list[str]:
    """Return the lines about steps by action, the most frequent first."""
    lines = [f"{plural(total, 'step')} taken"]
    ranked = sorted(((name, number) for name, number in actions.items() if number), key=lambda pair: -pair[1])
    width = max((len(name) for name, _ in ranked), default=0)
    digits = max((len(count(number)) for _, number in ranked), default=0)
    lines += [f"  {name:<{width}}  {count(number):>{digits}}" for name, number in ranked]
    return lines


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


def _times(spent: Mapping[str, float], number: int, noun: str, peak_memory: int) -> str:
    parts = [f"{name} {seconds(time)}" for name, time in spent.items()]
    if spent.get("search", 0) >= _SHORTEST_SECONDS:
        parts.append(rate(number / spent["search"], noun))
    return ", ".join([*parts, f"memory {memory(peak_memory)}"])


def _kept(result: CheckResult) -> str:
    """Return how the states were stored, unless it was whole and in memory."""
    kept = {"codes": "as codes", "files": "in sorted files"}.get(result.kept)
    return "" if kept is None else f", {_visited(result)[1]} kept {kept}"

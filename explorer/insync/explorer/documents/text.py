"""What texts share: numbers for people, the chosen model, warnings, steps and times, and traces as grids."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from insync.explorer.traces.grid import Paint, Tone, describe_chosen, render_grid, render_reason
from insync.explorer.traces.trace_file import replay_hint
from insync.runtime.text import plural

if TYPE_CHECKING:
    from pathlib import Path

    from insync.explorer.traces.grid import Columns
    from insync.explorer.traces.trace import Trace
    from insync.model import Model

__all__ = [
    "NO_HUGE_PAGES",
    "STOPPED_BY",
    "brief",
    "confined_lines",
    "count",
    "describe_choices",
    "describe_trace",
    "describe_traces",
    "memory",
    "plural",
    "rate",
    "seconds",
    "step_lines",
    "times_line",
    "warning_lines",
    "wrapped",
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

NO_HUGE_PAGES = (
    "this machine gives none, and large searches take several times as long; allow them with `echo madvise > "
    "/sys/kernel/mm/transparent_hugepage/enabled`"
)
"""Advice for a machine without huge pages."""

_SHORTEST_SECONDS = 0.1
"""The least time for which a rate is shown: in shorter searches start and end dominate."""


def wrapped(text: str, width: int, first: str = "", rest: str = "  ") -> list[str]:
    """Return the lines of a text; the first is indented by `first`, the others by `rest`.

    No word is broken, as it can be a path, a command or the name of a topic. One longer than `width` makes a long line.
    """
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def describe_choices(model: str, bounds: Mapping[str, int | str], of: Model | None, width: int) -> list[str]:
    """Return the lines with the model and its bounds and settings.

    Args:
        model: the name of the model.
        bounds: all bounds and settings.
        of: the model, whose defaults are left out; None leaves nothing out.
        width: the greatest length of a line.
    """
    said = describe_chosen(bounds, of)
    return wrapped(f"{model}   {said}".rstrip(), width, rest="    ")


def confined_lines(within: Sequence[str], outside: int | None = None) -> list[str]:
    """Return the line about `within`, if it is not empty, with the number of states outside."""
    if not within:
        return []
    names = " and ".join(within)
    if outside is None:
        return [f"  within {names}: no step is taken from states outside"]
    was, them = ("was", "it") if outside == 1 else ("were", "them")
    return [f"  within {names}: {plural(outside, 'state')} outside {was} checked, and no step was taken from {them}"]


def warning_lines(warnings: Sequence[str], paint: Paint, width: int) -> list[str]:
    """Return the lines of a report for the warnings of a result, wrapped to a width."""
    lines = []
    for text in warnings:
        first, *rest = wrapped(f"warning: {text}", width)
        lines += [paint("warning:", Tone.OPEN) + first.removeprefix("warning:"), *rest]
    return lines


def step_lines(actions: Mapping[str, int], total: int) -> list[str]:
    """Return the lines about steps by action, the most frequent first."""
    lines = [f"{plural(total, 'step')} taken"]
    ranked = sorted(((name, number) for name, number in actions.items() if number), key=lambda pair: -pair[1])
    width = max((len(name) for name, _ in ranked), default=0)
    digits = max((len(count(number)) for _, number in ranked), default=0)
    lines += [f"  {name:<{width}}  {count(number):>{digits}}" for name, number in ranked]
    return lines


def times_line(spent: Mapping[str, float], number: int, noun: str, peak_memory: int) -> str:
    """Return the line of times, with the rate of the search and the memory of the process."""
    parts = [f"{name} {seconds(time)}" for name, time in spent.items()]
    if spent.get("search", 0) >= _SHORTEST_SECONDS:
        parts.append(rate(number / spent["search"], noun))
    return ", ".join([*parts, f"memory {memory(peak_memory)}"])


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


# Numbers for people: with thousands separators, units of memory and time, and nouns.


def count(number: int) -> str:
    """Return a whole number with thousands separators: 737,794."""
    return f"{number:,}"


def brief(number: float) -> str:
    """Return a number in about three digits: 950, 64.2 k, 1.9 M, 25.0 G."""
    for factor, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= factor * 0.9995:
            return f"{number / factor:.{0 if number >= 100 * factor else 1}f}{letter}"
    return f"{number:.0f}"


def memory(size: int) -> str:
    """Return a number of bytes in MiB or GiB."""
    return f"{size / (1 << 20):.0f} MiB" if size < 1 << 30 else f"{size / (1 << 30):.2f} GiB"


def seconds(time: float) -> str:
    """Return a time with the digits that matter: 0.21 s, 12.3 s, 5 min 20 s, 2 h 05 min."""
    if time < 10:
        return f"{time:.2f} s"
    if time < 120:
        return f"{time:.1f} s"
    whole = round(time)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def rate(number: float, noun: str) -> str:
    """Return a number per second: 18.2 million states/s, 950,000 states/s."""
    return f"{number / 1e6:.1f} million {noun}/s" if number >= 1e6 else f"{number:,.0f} {noun}/s"

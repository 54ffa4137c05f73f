"""A trace as a text grid: a row for each step, a column for each part of the state, and only cells that changed.

The text of the cells comes from `state_diff`; this module lays the columns out and makes lines.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum

from insync.explorer.traces.state_diff import Columns, legend_of, model_behind, trace_cells
from insync.explorer.traces.trace import DIFFERENCE, EXPLORED, Trace
from insync.model import Model
from insync.runtime.text import in_one_line, visible

__all__ = [
    "Columns",
    "Paint",
    "Tone",
    "chosen_bounds",
    "describe_bounds",
    "describe_chosen",
    "plain",
    "render_grid",
    "render_reason",
]


class Tone(Enum):
    """The role of a piece of text, which determines its colour."""

    GOOD = "good"
    BAD = "bad"
    OPEN = "open"
    HEADING = "heading"
    NUMBER = "number"
    LABEL = "label"
    REFUSED = "refused"
    REASON = "reason"


Paint = Callable[[str, Tone], str]
"""Colours a text that is already padded; its visible width must stay the same."""


def plain(text: str, tone: Tone) -> str:
    """Return the text without colour, for a pipe or a file."""
    return text


def describe_bounds(bounds: Mapping[str, int | str]) -> str:
    """Return bounds in words: "replicas 3, log_size 2"."""
    return ", ".join(f"{name} {value}" for name, value in bounds.items())


def describe_chosen(bounds: Mapping[str, int | str], model: Model | None) -> str:
    """Return the bounds and settings of `chosen_bounds` in words; "at its defaults" if there are none."""
    return describe_bounds(chosen_bounds(bounds, model)) or ("at its defaults" if bounds else "")


def chosen_bounds(bounds: Mapping[str, int | str], model: Model | None) -> Mapping[str, int | str]:
    """Return the release and the bounds and settings that are not the default; without a model, all of them."""
    if model is None:
        return bounds
    usual = type(model)().identity
    return {name: value for name, value in bounds.items() if name == "release" or value != usual.get(name)}


def render_grid(
    trace: Trace,
    columns: Columns,
    *,
    width: int = 120,
    paint: Paint = plain,
    header: bool = True,
    shown: int = 0,
    by: str = "",
) -> str:
    """Return the grid of `trace`: a header, the rows, and the reason, in lines of at most `width` characters.

    Long cells continue in the next line of their column, and columns that do not fit are placed below. A step that
    changes no column has a row without cells. The grid of a model has a legend for the marks in its cells.

    Args:
        trace: the trace.
        columns: returns the cells of a state.
        width: the most characters of a line.
        paint: colours the text.
        header: false to omit the header, if the states are named elsewhere.
        shown: the number of first steps that are shown elsewhere; the grid begins with the state after them.
        by: the property whose trace shows these steps.
    """
    model = model_behind(columns)
    cells = trace_cells(replace(trace, steps=trace.steps[shown:]), columns)
    texts = [["#", "step", *[cell.column for cell in cells[0]]]]
    for number, (step, row) in enumerate(zip(trace.steps[shown:], cells, strict=True), start=shown):
        texts.append([str(number), step.label, *[f"{cell.shown} {cell.mark}".strip() for cell in row]])
    if trace.refused is not None:
        texts.append(["!", f"{trace.refused.label} (refused)", *[""] * len(cells[0])])
    rows = [[in_one_line(text) for text in row] for row in texts]  # before widths are computed
    lines = [*_header(trace, model, width, paint), ""] if header else []
    if shown:
        steps = f"Steps 1 to {shown} are those of {by}, above; this is the state after them, and how it goes on."
        lines += [*_wrapped(steps, width), ""]
    lines += _grids(trace, rows, width, paint)
    legend = "; ".join(f"{mark} {meaning}" for mark, meaning in legend_of(model, [c for row in cells for c in row]))
    if legend:
        indent = " " * (len(rows[-1][0]) + 1 + len(GAP))
        lines += [indent + paint(line, Tone.NUMBER) for line in _wrapped(f"({legend})", width - len(indent))]
    return "\n".join([*lines, "", *render_reason(trace, width, paint), *_demands(trace, width, paint, after=shown)])


def _grids(trace: Trace, rows: Sequence[Sequence[str]], width: int, paint: Paint) -> list[str]:
    """Return the lines of the grid, and below them the columns that do not fit, in rows where they change."""
    lines: list[str] = []
    for number, group in enumerate(groups_of_columns(rows, width)):
        taken = [0, 1, *group] if number == 0 else [0, *group]
        shown = [[row[column] for column in taken] for row in rows]
        if number:
            shown = [row for row in shown if any(row[1:])]
            lines.append("")
        widths = widths_of(list(zip(*shown, strict=True)), width, labels=number == 0)
        for at, row in enumerate(shown):
            tone = Tone.HEADING if at == 0 else Tone.REFUSED if row[0] == "!" else Tone.LABEL
            lines += _row_lines(row, widths, tone, paint, labels=number == 0)
        if number == 0 and trace.loop is not None:
            lines.append(f"{' ' * widths[0]} {GAP}{paint(_back(trace, trace.loop), Tone.LABEL)}")
    return lines


def render_reason(trace: Trace, width: int, paint: Paint = plain) -> list[str]:
    """Return the lines of the reason why the last state violates the property."""
    wrapped = [line for paragraph in trace.reason.splitlines() for line in _wrapped(paragraph, width)]
    return [paint(line, Tone.REASON) for line in wrapped]


def _wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text, broken only between words."""
    return textwrap.wrap(visible(text), max(1, width), break_long_words=False, break_on_hyphens=False)


def _demands(trace: Trace, width: int, paint: Paint, after: int) -> list[str]:
    """Return the lines of the model's demands on a real system for the steps after `after`."""
    lines: list[str] = []
    for demand in (demand for demand in trace.demands if demand.step > after or not after):
        text = visible(f"{demand.step}: {demand.text} ({demand.hardness.value})")
        lines += textwrap.wrap(text, width, initial_indent="  step ", subsequent_indent="    ", break_long_words=False)
    return ["", paint("What it takes besides:" if after else "What it takes:", Tone.NUMBER), *lines] if lines else []


def _header(trace: Trace, model: Model | None, width: int, paint: Paint) -> list[str]:
    """Return the verdict, the model and the bounds, in one line if they fit."""
    verdict = in_one_line(trace.outcome)
    neutral = trace.property in (DIFFERENCE, EXPLORED)
    tone = Tone.HEADING if neutral else Tone.GOOD if trace.witness else Tone.BAD
    about = in_one_line(f"{trace.model}   {describe_chosen(trace.bounds, model)}".rstrip())
    if len(verdict) + 4 + len(about) <= width:
        return [f"{paint(verdict, tone)}    {about}"]
    return [paint(verdict, tone), *_wrapped(about, width)]


def _back(trace: Trace, loop: int) -> str:
    """The text after the last step of a run that never ends."""
    if loop == trace.length - 1:
        return "(stays like this for ever)"
    return f"(back to the state after step {loop}, and so on for ever)" if loop else "(back to the start, and so on)"


def _row_lines(row: Sequence[str], widths: Sequence[int], tone: Tone, paint: Paint, *, labels: bool) -> list[str]:
    cells = [wrap_items(cell, size) for cell, size in zip(row, widths, strict=True)]
    lines = []
    for number in range(max(len(cell) for cell in cells)):
        parts = [cell[number] if number < len(cell) else "" for cell in cells]
        padded = [
            parts[0].rjust(widths[0]),
            *(part.ljust(size) for part, size in zip(parts[1:], widths[1:], strict=True)),
        ]
        last = max(index for index, part in enumerate(parts) if part or index == 0)
        padded = [*padded[:last], padded[last].rstrip() if last else padded[last]]
        if tone is Tone.HEADING:
            painted = [paint(part, tone) for part in padded]
        elif labels:
            painted = [paint(padded[0], Tone.NUMBER), *(paint(part, tone) for part in padded[1:2]), *padded[2:]]
        else:
            painted = [paint(padded[0], Tone.NUMBER), *padded[1:]]
        lines.append(" " + GAP.join(painted))
    return lines


# ---------------------------------------------------------------------------------------------- the layout of columns
#
# No word, no log and no bar of a high watermark is broken. If a line is too long, the column of the steps gets narrower
# first, then the widest other column, down to the longest item in it. Columns that still do not fit are placed below,
# in a grid of their own.


GAP = "  "
LABEL_NARROWEST = 20
"""The least width of the column of the steps."""

_FIRST = 2
"""The number of columns before those of the state: the number and the step."""


def groups_of_columns(rows: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """Return the groups of state columns, numbered from 2, that fit beside one another.

    Args:
        rows: all cells as text, the heading first.
        width: the most characters of a line.
    """
    columns = list(zip(*rows, strict=True))
    floors = [_floor(column, width) for column in columns]
    taken = 1 + floors[0] + len(GAP) + min(_longest(columns[1]), LABEL_NARROWEST)
    groups: list[list[int]] = [[]]
    room = width - taken
    for number in range(_FIRST, len(columns)):
        needed = len(GAP) + floors[number]
        if needed > room and groups[-1]:
            groups.append([])
            room = width - 1 - floors[0]
        groups[-1].append(number)
        room -= needed
    return groups


def widths_of(columns: Sequence[Sequence[str]], width: int, *, labels: bool) -> list[int]:
    """Return the width of each column of a grid.

    Args:
        columns: the cells of each column, that of the numbers first.
        width: the most characters of a line.
        labels: whether the second column has the steps, and is made narrower before all others.
    """
    widths = [_longest(column) for column in columns]
    floors = [_floor(column, width) for column in columns]
    over = sum(widths) + len(GAP) * (len(widths) - 1) + 1 - width
    if labels:
        floors[1] = min(widths[1], LABEL_NARROWEST)
        given = max(0, min(over, widths[1] - floors[1]))
        widths[1] -= given
        over -= given
    while over > 0:
        candidates = [number for number, size in enumerate(widths) if size > floors[number]]
        if not candidates:
            break
        widths[max(candidates, key=lambda number: widths[number])] -= 1
        over -= 1
    return widths


def wrap_items(cell: str, size: int) -> list[str]:
    """Return the lines of a cell, broken between items; an item is broken only if it does not fit a line."""
    lines = [""]
    for item in _items(cell, size):
        if lines[-1] and len(lines[-1]) + 1 + len(item) > size:
            lines.append(item)
        else:
            lines[-1] = f"{lines[-1]} {item}".strip()
    return lines if len(cell) > size else [cell]


def _items(cell: str, size: int) -> list[str]:
    """Return the unbreakable items of a cell: words, and text in brackets if it fits."""
    items: list[str] = []
    depth = 0
    for word in cell.split():
        inside = depth > 0 and len(items[-1]) + 1 + len(word) <= size
        if inside or (items and word.startswith("|")):  # the bar of the watermark stays beside a record
            items[-1] += f" {word}"
        else:
            items.append(word)
        depth += word.count("[") - word.count("]")
    return items


def _floor(cells: Sequence[str], width: int) -> int:
    """Return the length of the longest item; an item that takes most of a line may be broken."""
    most = max(1, width - LABEL_NARROWEST - 2 * len(GAP) - 4)
    return max((len(item) for cell in cells for item in _items(cell, most)), default=0)


def _longest(cells: Sequence[str]) -> int:
    return max(len(cell) for cell in cells)

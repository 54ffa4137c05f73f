"""A trace as a text grid: one row a step, one column a part of the state, a cell filled only when it changed.

What the columns are and what stands in them is said by the model (`model.grid`, `model.step_marks`); this module lays
them out.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from insync.explorer.traces.trace import EXPLORED, Trace
from insync.model import Model, ReadableState
from insync.model.columns import MARKS, GridCell, cell_text

__all__ = ["Columns", "Paint", "Tone", "describe_bounds", "plain", "render_grid", "render_reason"]

GAP = "  "
NARROWEST = 8
LABEL_NARROWEST = 20
_SHORT = 24  # a set that is written in so many characters is shown as a whole


class Tone(Enum):
    """What a piece of text is, for whoever colours it."""

    GOOD = "good"
    BAD = "bad"
    OPEN = "open"
    HEADING = "heading"
    NUMBER = "number"
    LABEL = "label"
    REFUSED = "refused"
    REASON = "reason"


Paint = Callable[[str, Tone], str]
"""Colours a text, which is already padded; it must not change what is seen of its width."""

Columns = Callable[[ReadableState], Mapping[str, GridCell]]
"""The cells of a readable state by column, as `model.grid` gives them."""


def plain(text: str, tone: Tone) -> str:
    """Colour nothing: for a pipe or a file."""
    return text


def describe_bounds(bounds: Mapping[str, int | str]) -> str:
    """Return the bounds in words: "replicas 3, log_size 2"."""
    return ", ".join(f"{name} {value}" for name, value in bounds.items())


def render_grid(trace: Trace, columns: Columns, *, width: int = 120, paint: Paint = plain, header: bool = True) -> str:
    """Return the grid of `trace`: a header, the rows, and the reason, in lines of at most `width` characters.

    Cells that are too long for that go on in the next line of their column. A step without a change that the columns
    show has a row without cells. The grid of a model has a legend for the marks in its cells. `header` is false where
    something else says what the states are.
    """
    rows = _rows(trace, columns)
    widths = _fit([_longest(column) for column in zip(*rows, strict=True)], width)
    lines = [_header(trace, paint), ""] if header else []
    for number, row in enumerate(rows):
        tone = Tone.HEADING if number == 0 else Tone.REFUSED if row[0] == "!" else Tone.LABEL
        lines += _row_lines(row, widths, tone, paint)
    if trace.loop is not None:
        lines.append(f"{' ' * widths[0]} {GAP}{paint(_back(trace, trace.loop), Tone.LABEL)}")
    legend = _legend(columns, rows[1:])
    if legend:
        lines.append(f"{' ' * widths[0]} {GAP}{paint(legend, Tone.NUMBER)}")
    return "\n".join([*lines, "", *render_reason(trace, width, paint), *_demands(trace, width, paint)])


def _legend(columns: Columns, rows: Sequence[Sequence[str]]) -> str:
    """Return what the marks in the cells mean, if there are any; `columns` of a model knows what it means by them."""
    model = _model_of(columns)
    if model is None:
        return ""
    cells = [cell for row in rows for cell in row[2:]]
    words = {word for cell in cells for word in re.findall(r"\[\]|{}|[^][{}\s=,]+", cell)}
    own = MARKS if type(model).grid is Model.grid else {}
    known = [f"{mark} {meaning}" for mark, meaning in own.items() if mark in words]
    known += [f"{mark} {meaning}" for mark, meaning in model.legend.items() if any(mark in cell for cell in cells)]
    return f"({'; '.join(known)})" if known else ""


def _model_of(columns: Columns) -> Model | None:
    """Return the model whose `grid` says what the columns are."""
    model = getattr(columns, "__self__", None)
    return model if isinstance(model, Model) else None


def render_reason(trace: Trace, width: int, paint: Paint = plain) -> list[str]:
    """Return the lines that say why the last state violates the property."""
    wrapped = [line for paragraph in trace.reason.splitlines() for line in textwrap.wrap(paragraph, width)]
    return [paint(line, Tone.REASON) for line in wrapped]


def _demands(trace: Trace, width: int, paint: Paint) -> list[str]:
    """Return the lines that say what must happen for the steps to come about, if the model says it."""
    lines: list[str] = []
    for demand in trace.demands:
        text = f"{demand.step}: {demand.text} ({demand.hardness.value})"
        lines += textwrap.wrap(text, width, initial_indent="  step ", subsequent_indent="    ")
    return ["", paint("What it takes:", Tone.NUMBER), *lines] if lines else []


def _header(trace: Trace, paint: Paint) -> str:
    steps = trace.length - 1
    count = "in the initial state" if steps == 0 else f"after {steps} step{'s' if steps > 1 else ''}"
    if trace.property == EXPLORED:
        verdict = paint(f"{trace.property}, {count}", Tone.HEADING)
    elif trace.witness:
        verdict = paint(f"{trace.property} is reached {count}", Tone.GOOD)
    elif trace.loop is not None:
        verdict = paint(f"{trace.property} fails in a run that never ends", Tone.BAD)
    else:
        verdict = paint(f"{trace.property} fails {count}", Tone.BAD)
    return f"{verdict}    {trace.model}   {describe_bounds(trace.bounds)}".rstrip()


def _back(trace: Trace, loop: int) -> str:
    """What follows the last step of a run that never ends."""
    if loop == trace.length - 1:
        return "(stays like this for ever)"
    return f"(back to the state after step {loop}, and so on for ever)" if loop else "(back to the start, and so on)"


def _rows(trace: Trace, columns: Columns) -> list[list[str]]:
    """All cells as text, the heading first; every row has the same length. A text that became empty is shown as "-"."""
    states = [columns(step.state) for step in trace.steps]
    names = list(dict.fromkeys(name for state in states for name in state))
    model = _model_of(columns)
    rows = [["#", "step", *names]]
    before: Mapping[str, GridCell] = {}
    for number, (step, state) in enumerate(zip(trace.steps, states, strict=True)):
        changed = [_changed(before.get(name, ""), state.get(name, "")) for name in names]
        marks = _marks(trace, number, model)
        marked = [f"{cell} {marks.get(name, '')}".strip() for name, cell in zip(names, changed, strict=True)]
        rows.append([str(number), step.label, *marked])
        before = state
    if trace.refused is not None:
        rows.append(["!", f"{trace.refused.label} (refused)", *[""] * len(names)])
    return rows


def _marks(trace: Trace, number: int, model: Model | None) -> Mapping[str, str]:
    """Return what the model writes beside the cells of a step."""
    if model is None or number == 0:
        return {}
    return model.step_marks(trace.steps[number - 1].state, trace.steps[number].state)


def _changed(before: GridCell, now: GridCell) -> str:
    """Return the text of a cell where it is another one than before; of a cell with parts, those that are others."""
    if isinstance(before, tuple) and isinstance(now, tuple):
        return _exchanged(before, now)
    if not isinstance(before, Mapping) or not isinstance(now, Mapping):
        return "" if now == before else cell_text(now) or "-"
    gone = dict.fromkeys((name for name in before if name not in now), "-")
    return cell_text({name: text for name, text in {**now, **gone}.items() if text != before.get(name)})


def _exchanged(before: tuple[str, ...], now: tuple[str, ...]) -> str:
    """Return which elements came and went; all of them where that is short."""
    whole, new, gone = cell_text(now), Counter(now) - Counter(before), Counter(before) - Counter(now)
    if not new and not gone:
        return ""
    came = f"+ {cell_text(tuple(new.elements()))}" if new else ""
    went = f"without {cell_text(tuple(gone.elements()))}" if gone else ""
    change = f"{came} {went}".strip()
    return whole if len(whole) <= _SHORT or len(change) > len(whole) else change


def _longest(cells: Sequence[str]) -> int:
    return max(len(cell) for cell in cells)


def _fit(widths: list[int], width: int) -> list[int]:
    """Shrink the widest column, one character at a time, until a row fits or no column can shrink."""
    floors = [widths[0], LABEL_NARROWEST, *[NARROWEST] * (len(widths) - 2)]
    room = width - len(GAP) * (len(widths) - 1) - 1
    while sum(widths) > room:
        candidates = [number for number, size in enumerate(widths) if size > floors[number]]
        if not candidates:
            break
        widths[max(candidates, key=lambda number: widths[number])] -= 1
    return widths


def _row_lines(row: Sequence[str], widths: Sequence[int], tone: Tone, paint: Paint) -> list[str]:
    cells = [_wrap(cell, size) for cell, size in zip(row, widths, strict=True)]
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
        else:
            painted = [paint(padded[0], Tone.NUMBER), *(paint(part, tone) for part in padded[1:2]), *padded[2:]]
        lines.append(" " + GAP.join(painted))
    return lines


def _wrap(cell: str, size: int) -> list[str]:
    if len(cell) <= size:
        return [cell]
    return textwrap.wrap(cell, size, break_on_hyphens=False) or [""]

"""The cells of a state as all pictures show them, and what a step has changed in each.

The model determines the columns and their cells (`model.grid`, `model.step_marks`). A log is a row of boxes with the
high watermark between two of them; any other cell is one or several pieces of text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from insync.explorer.traces.trace import Trace
from insync.model import GridCell, LogCell, LogRecord, Model, ReadableState
from insync.model.language.presentation import MARKS, cell_text, checked_grid, checked_marks
from insync.properties.registry import refinement_behind

__all__ = [
    "Box",
    "CellChange",
    "Columns",
    "LogDrawing",
    "Piece",
    "ShownCell",
    "legend_of",
    "model_behind",
    "other_level",
    "state_cells",
    "trace_cells",
]

_SHORT = 24  # characters: a set whose text is not longer is shown as a whole

Columns = Callable[[ReadableState], Mapping[str, GridCell]]
"""Returns the cells of a readable state by column, as `model.grid` does."""


class CellChange(Enum):
    """The change of a part of a cell by a step."""

    SAME = "same"
    NEW = "new"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a cell: its name, which may be empty, its text, and whether that is new or gone."""

    name: str
    text: str
    change: CellChange = CellChange.SAME


@dataclass(frozen=True, slots=True)
class Box:
    """An offset of a log: record and epoch, whether it is below the high watermark of this log, and its change."""

    record: str
    epoch: str
    committed: bool
    change: CellChange = CellChange.SAME


@dataclass(frozen=True, slots=True)
class LogDrawing:
    """A log as boxes.

    Attributes:
        boxes: from offset 0 on; boxes that the step has truncated are at the end, as gone.
        watermark: the high watermark, which is the number of boxes before it.
        moved: whether the step has moved the high watermark.
        before: the owner of the log and its role.
        after: the text after the log.
    """

    boxes: tuple[Box, ...]
    watermark: int
    moved: bool
    before: Piece
    after: Piece


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell of a column after a step.

    Attributes:
        column: the name of the column.
        text: the whole text.
        shown: the part that the step has changed, which the text grid shows; empty if nothing has changed.
        pieces: the parts or elements of the text; empty for a log.
        log: the boxes, if the cell is a log.
        mark: the text that the model puts beside the cell for this step.
    """

    column: str
    text: str
    shown: str
    pieces: tuple[Piece, ...] = ()
    log: LogDrawing | None = None
    mark: str = ""

    @property
    def changed(self) -> bool:
        """Whether the step has changed the cell."""
        return bool(self.shown)


def state_cells(
    names: Iterable[str], before: Mapping[str, GridCell] | None, now: Mapping[str, GridCell], marks: Mapping[str, str]
) -> tuple[ShownCell, ...]:
    """Return the cells of a state in the order of the columns.

    Args:
        names: the columns.
        before: the cells before the step; None for a state that no step led to.
        now: the cells after the step.
        marks: the text that the model puts beside cells for this step, by column.
    """
    earlier = before or {}
    return tuple(
        _cell(name, earlier.get(name, ""), now.get(name, ""), marks.get(name, ""), first=before is None)
        for name in names
    )


def model_behind(columns: Columns) -> Model | None:
    """Return the model whose method `grid` is `columns`; None if it is another function."""
    model = getattr(columns, "__self__", None)
    return model if isinstance(model, Model) else None


def _cell(name: str, before: GridCell, now: GridCell, mark: str, *, first: bool) -> ShownCell:
    text, shown = cell_text(now), _changed(before, now)
    if isinstance(now, LogCell):
        earlier = now if first else before if isinstance(before, LogCell) else None
        return ShownCell(name, text, shown, log=_log(earlier, now), mark=mark)
    return ShownCell(name, text, shown, pieces=tuple(_pieces(now if first else before, now)), mark=mark)


def _changed(before: GridCell, now: GridCell) -> str:
    """Return the text of a cell that has changed, or of its changed parts; empty if nothing has changed."""
    if isinstance(before, tuple) and isinstance(now, tuple):
        return _exchanged(before, now)
    if not isinstance(before, Mapping) or not isinstance(now, Mapping):
        return "" if now == before else cell_text(now) or "-"
    gone = dict.fromkeys((name for name in before if name not in now), "-")
    return cell_text({name: text for name, text in {**now, **gone}.items() if text != before.get(name)})


def _exchanged(before: tuple[str, ...], now: tuple[str, ...]) -> str:
    """Return the elements that came and went; all elements if that is short."""
    whole, new, gone = cell_text(now), Counter(now) - Counter(before), Counter(before) - Counter(now)
    if not new and not gone:
        return ""
    came = f"+ {cell_text(tuple(new.elements()))}" if new else ""
    went = f"without {cell_text(tuple(gone.elements()))}" if gone else ""
    change = f"{came} {went}".strip()
    return whole if len(whole) <= _SHORT or len(change) > len(whole) else change


def _pieces(before: GridCell, now: GridCell) -> Iterable[Piece]:
    """Yield the parts of a cell that is no log, with their changes."""
    if isinstance(now, tuple):
        old = Counter(before) if isinstance(before, tuple) else Counter[str]()
        for element in now:
            yield Piece("", element, _change(old[element] <= 0))
            old[element] -= 1
        yield from (Piece("", element, CellChange.GONE) for element in old.elements())
    elif isinstance(now, Mapping):
        parts = before if isinstance(before, Mapping) else {}
        yield from (Piece(name, text, _change(parts.get(name) != text)) for name, text in now.items())
        yield from (Piece(name, text, CellChange.GONE) for name, text in parts.items() if name not in now)
    else:
        yield Piece("", cell_text(now) or "-", _change(now != before))


def _log(before: LogCell | None, now: LogCell) -> LogDrawing:
    earlier: Sequence[LogRecord] = before.records if before is not None else ()
    boxes = [
        Box(record.text, record.epoch, at < now.watermark, _change(at >= len(earlier) or earlier[at] != record))
        for at, record in enumerate(now.records)
    ]
    boxes += [Box(record.text, record.epoch, False, CellChange.GONE) for record in earlier[len(now.records) :]]
    old = before or LogCell((), 0)
    return LogDrawing(
        tuple(boxes),
        now.watermark,
        old.watermark != now.watermark,
        Piece("", now.before.strip(), _change(old.before != now.before)),
        Piece("", now.after, _change(old.after != now.after)),
    )


def _change(is_new: bool) -> CellChange:
    return CellChange.NEW if is_new else CellChange.SAME


# ----------------------------------------------------------------------------------------------------------- the legend


def legend_of(model: Model | None, cells: Iterable[ShownCell]) -> tuple[tuple[str, str], ...]:
    """Return the marks that occur in cells, with their meanings: marks of logs, of the default grid, and of the model.

    A `#` in a mark of `Model.legend` stands for a number.
    """
    shown = [cell for cell in cells if cell.shown or cell.mark]
    texts = [f"{cell.shown} {cell.mark}" for cell in shown]
    words = {word for text in texts for word in re.findall(r"\[\]|{}|[^][{}\s=,]+", text)}
    known: list[tuple[str, str]] = []
    logs = [cell.log for cell in shown if cell.log is not None]
    if any(box.epoch for log in logs for box in log.boxes):
        known.append(("r@e", "record r, epoch e"))
    if any(log.boxes for log in logs):
        known.append(("|", "high watermark"))
    if model is None:
        return tuple(known)
    if type(model).grid is Model.grid:
        known += [(mark, meaning) for mark, meaning in MARKS.items() if mark in words]
    known += [(mark, meaning) for mark, meaning in model.legend.items() if _occurs(mark, texts, words)]
    return tuple(known)


def _occurs(mark: str, texts: Sequence[str], words: Iterable[str]) -> bool:
    if "#" in mark:
        pattern = re.compile(re.escape(mark).replace(r"\#", r"\d+"))
        return any(pattern.fullmatch(word) for word in words)
    if mark.isalnum():
        return mark in words
    return any(mark in text for text in texts)


def trace_cells(trace: Trace, columns: Columns) -> list[tuple[ShownCell, ...]]:
    """Return the cells of each state of a trace; all states have the same columns.

    Behind those of the model stand those of the other model that it does not refine, if that is the property.
    """
    model = model_behind(columns)
    states = [columns(step.state) if model is None else checked_grid(model, step.state) for step in trace.steps]
    others = [{} for _ in states] if model is None else other_level(trace, model)
    states = [{**state, **other} for state, other in zip(states, others, strict=True)]
    names = list(dict.fromkeys(name for state in states for name in state))
    steps = {next(iter(other)) for other in others if other}  # shown in each row, whether or not it is another one
    rows = []
    for number, state in enumerate(states):
        marks: Mapping[str, str] = {}
        if model is not None and number:
            marks = checked_marks(model, trace.steps[number - 1].state, trace.steps[number].state)
        before = {name: cell for name, cell in states[number - 1].items() if name not in steps} if number else None
        rows.append(state_cells(names, before, state, marks))
    return rows


# ------------------------------------------------------------------------------------------------------- refined models


def other_level(trace: Trace, model: Model) -> list[Mapping[str, GridCell]]:
    """Return for each step of a trace the cells of the other model by column, the step of the other model first.

    They are empty for a trace of another property.
    """
    found = refinement_behind(model, trace.property)
    if found is None:
        return [{} for _ in trace.steps]
    other = found.mapped(model).other
    rows: list[Mapping[str, GridCell]] = []
    for number, move in enumerate(found.moves(model, [model.encode(dict(step.state)) for step in trace.steps])):
        label = "no step" if move.label is None else move.label or "nothing"
        grid = {"state": "none"} if move.state is None else checked_grid(other, move.state)
        cells = {f"{other.name}: {column}": cell for column, cell in grid.items()}
        rows.append({f"{other.name} step": label if number else "", **cells})
    return rows

"""What a model's own methods of drawing return, asked for in one place: a wrong answer is a sentence with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from insync.model.domains.composite import ReadableState
from insync.model.errors import ModelError
from insync.model.language.declarations import place_of_function
from insync.model.language.drawing import Arrow, Drawn, Mark, MarkKind
from insync.model.language.hardness import Taken
from insync.model.language.presentation import GridCell, LogCell, LogRecord

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = ["checked_drawing", "checked_grid", "checked_lifelines", "checked_marks"]

_CELLS = (
    "a dict with the text of each column, or with a dict of the texts of its parts, a tuple of those of its elements, "
    "or a LogCell"
)
_LOG = "in a LogCell the records must be LogRecord(text, epoch) and the watermark a whole number from 0 on"


def checked_grid(model: Model, state: ReadableState) -> Mapping[str, GridCell]:
    """Return the cells of a readable state, by column; raises ModelError if `grid` returns anything else."""
    given: Any = model.grid(state)
    if not isinstance(given, Mapping) or not all(isinstance(column, str) for column in given):
        _refuse(model.grid, given, _CELLS)
    for cell in given.values():
        if isinstance(cell, LogCell):
            if not _is_log(cell):
                _refuse(model.grid, given, f"{_CELLS}; {_LOG}")
            continue
        texts = [*cell, *cell.values()] if isinstance(cell, Mapping) else cell if isinstance(cell, tuple) else [cell]
        if not all(isinstance(text, str) for text in texts):
            _refuse(model.grid, given, _CELLS)
    return given


def checked_marks(model: Model, before: ReadableState, after: ReadableState) -> Mapping[str, str]:
    """Return the marks of a step, by column; raises ModelError if `step_marks` returns anything else."""
    given: Any = model.step_marks(before, after)
    if not isinstance(given, Mapping) or not all(isinstance(text, str) for text in [*given, *given.values()]):
        _refuse(model.step_marks, given, "a dict with a text for each column that has a mark")
    return given


def checked_lifelines(model: Model) -> tuple[str, ...]:
    """Return between whom messages are drawn, maybe nobody; raises ModelError if `lifelines` returns anything else."""
    given: Any = model.lifelines()
    listed = isinstance(given, (list, tuple)) and all(isinstance(name, str) and name for name in given)
    if not listed or len(set(given)) < len(given):
        _refuse(model.lifelines, given, "a list of names, each a text and each once")
    return tuple(given)


def checked_drawing(model: Model, steps: Sequence[Taken], label: str) -> tuple[Drawn, ...]:
    """Return how the last of some steps is drawn; what is between nobody is a note on all lifelines.

    Raises:
        ModelError: `step_drawing` returns no arrows and marks, or some with a lifeline that `lifelines` does not name.
    """
    given: Any = model.step_drawing(steps, label)
    what = f"{given!r} for {label!r}"
    must = "a list of Arrow(sender, receiver, text) and Mark(lifeline, text)"
    if not isinstance(given, (list, tuple)) or not all(isinstance(one, (Arrow, Mark)) for one in given):
        _refuse(model.step_drawing, given, must, what)
    if not all(_has_texts(one) for one in given):
        _refuse(model.step_drawing, given, f"{must} whose lifelines and texts are texts", what)
    lifelines = checked_lifelines(model)
    strangers = [end for one in given for end in _ends(one) if end and end not in lifelines]
    if strangers and lifelines:
        known = f"{must} between the lifelines that there are, {', '.join(lifelines)}: {strangers[0]!r} is none of them"
        _refuse(model.step_drawing, given, known, what)
    return tuple(one if all(end in lifelines for end in _ends(one)) else Mark("", one.text) for one in given)


def _is_log(cell: LogCell) -> bool:
    records: Any = cell.records
    watermark: Any = cell.watermark
    if not isinstance(records, (list, tuple)) or not all(isinstance(record, LogRecord) for record in records):
        return False
    texts = [cell.before, cell.after, *(text for record in records for text in (record.text, record.epoch))]
    whole = isinstance(watermark, int) and not isinstance(watermark, bool) and watermark >= 0
    return whole and all(isinstance(text, str) for text in texts)


def _ends(one: Drawn) -> tuple[str, ...]:
    return (one.sender, one.receiver) if isinstance(one, Arrow) else (one.lifeline,)


def _has_texts(one: Drawn) -> bool:
    known = not isinstance(one, Mark) or isinstance(one.kind, MarkKind)
    return known and all(isinstance(text, str) for text in (*_ends(one), one.text))


def _refuse(method: Callable[..., Any], given: object, must: str, what: str = "") -> NoReturn:
    message = f"{place_of_function(method)}: {method.__name__} returns {what or repr(given)}; it must return {must}."
    raise ModelError(message)

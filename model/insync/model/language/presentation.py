"""Presentation: what a model says about its pictures, that is, grid columns, lifelines, drawings of steps, and demands.

A model defines them in methods such as `grid` and `step_drawing`; the defaults here are for models that do not. The
functions named `checked_...` call those methods and refuse results of a wrong form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeGuard

from insync.model.domains.composite import Array, Bag, BitSet, Domain, ListedSet, Readable, ReadableState, Record, State
from insync.model.domains.containers import Seq
from insync.model.domains.sorts import Index, Subset
from insync.model.language.declarations import ActionSpec, place_of_function
from insync.runtime.errors import ModelError
from insync.runtime.text import in_one_line

if TYPE_CHECKING:
    from insync.model.define import Model
    from insync.model.domains.bounds import BoundValues

__all__ = [
    "MARKS",
    "Arrow",
    "Demand",
    "Drawn",
    "GridCell",
    "Hardness",
    "LogCell",
    "LogRecord",
    "Mark",
    "MarkKind",
    "Taken",
    "cell_text",
    "checked_drawing",
    "checked_grid",
    "checked_lifelines",
    "checked_marks",
    "own_columns",
    "own_drawing",
    "own_lifelines",
    "show",
]


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A record of a log: its text, and the epoch that it was written in, empty if there is none."""

    text: str
    epoch: str = ""

    def __str__(self) -> str:
        return f"{self.text}@{self.epoch}" if self.epoch else self.text


@dataclass(frozen=True, slots=True)
class LogCell:
    """A log in the grid: records from offset 0 on, the high watermark, and texts before and after them.

    Attributes:
        records: the record at each offset.
        watermark: the number of committed records; it may lie beyond the end.
        before: the owner of the log and its role.
        after: any other text.
    """

    records: tuple[LogRecord, ...]
    watermark: int
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        texts = [str(record) for record in self.records]
        drawn = f"[{' '.join([*texts[: self.watermark], '|', *texts[self.watermark :]])}]"
        return " ".join(part for part in (self.before, drawn, self.after) if part)


GridCell = str | tuple[str, ...] | Mapping[str, str] | LogCell
"""A cell of the grid: a text, the text of each element of a set or bag, the text of each part by name, or a log."""

MARKS = {"-": "none", "{}": "empty", "[]": "empty", "+": "is new"}
"""The meaning of the marks in cells that `own_columns` makes."""

_MOST_COLUMNS = 8
"""The most members of a sort that have a column each; more would make lines too long."""


def show(value: Readable) -> str:
    """Return a readable value as short text: `-` for none, sets in braces, records as name=value.

    Records in a set are in parentheses.
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "{" + ", ".join(map(_element, value)) + "}"
    if isinstance(value, dict):
        return " ".join(f"{name}={show(part)}" for name, part in value.items())
    return in_one_line(str(value))


def _element(value: Readable) -> str:
    return f"({show(value)})" if isinstance(value, dict) else show(value)


def cell_text(cell: GridCell) -> str:
    """Return a cell as one text."""
    if isinstance(cell, tuple):
        return "{" + ", ".join(cell) + "}"
    if isinstance(cell, LogCell):
        return str(cell)
    return cell if isinstance(cell, str) else " ".join(f"{name}={text}" for name, text in cell.items())


def own_columns(state: State, values: ReadableState) -> dict[str, GridCell]:
    """Return the default grid of a readable state: its cells by column.

    Each member of a sort has a column: `doing[w1]` where one array is over the sort, and `w1` where several are, with
    the arrays as parts. Members of ranges and enumerations have columns such as `left[2]`. Records, and arrays over
    many members, are cells with parts.
    """
    shared = Counter(domain.over for domain in state.present.values() if _has_columns(domain) and _of_sort(domain))
    cells: dict[str, GridCell] = {}
    for name, domain in state.present.items():
        if not _has_columns(domain):
            cells[name] = _cell(domain, values[name])
            continue
        for label, value in values[name].items():
            if shared[domain.over] < 2:
                cells[f"{name}[{label}]"] = _cell(domain.of, value)
            else:
                column = f"[{label}]" if label in state.present else label
                before = cells.get(column, {})
                assert isinstance(before, Mapping)
                cells[column] = {**before, **_parts(name, domain.of, value)}
    return cells


def _has_columns(domain: Domain) -> TypeGuard[Array]:
    return isinstance(domain, Array) and not isinstance(domain.over, int) and len(domain.labels) <= _MOST_COLUMNS


def _of_sort(array: Array) -> bool:
    return isinstance(array.over, type) and issubclass(array.over, Index)


def _cell(domain: Domain, value: Readable) -> GridCell:
    if isinstance(domain, Record) or (isinstance(domain, Array) and isinstance(value, dict)):
        return {name: _text(_inner(domain, name), part) for name, part in value.items()}
    if isinstance(domain, (Bag, BitSet, ListedSet)):
        return tuple(map(_element, value))
    return _text(domain, value)


def _text(domain: Domain, value: Readable) -> str:
    if isinstance(domain, (Array, Seq)) and isinstance(value, list):
        return f"[{', '.join(f'({show(one)})' if isinstance(one, dict) else _text(domain.of, one) for one in value)}]"
    return show(value)


def _inner(domain: Record | Array, name: str) -> Domain:
    return domain.present[name] if isinstance(domain, Record) else domain.of


def _parts(name: str, domain: Domain, value: Readable) -> dict[str, str]:
    if isinstance(domain, Record):
        return {f"{name}.{part}": _text(domain.present[part], text) for part, text in value.items()}
    return {name: _text(domain, value)}


# ---------------------------------------------------------------------------------------------- steps between lifelines
#
# A step is drawn as in a sequence diagram: arrows between lifelines and marks on one. A model says how in
# `Model.lifelines` and `Model.step_drawing`. The default comes from the parameters of the action: one member of a sort
# gives a mark on its lifeline, two give an arrow from the first to the second.


_MOST_LIFELINES = 8
"""The most lifelines of a default drawing; more would be too wide to read."""


class MarkKind(Enum):
    """The kind of a mark on a lifeline; it decides how the mark is drawn."""

    NOTE = "note"
    DOWN = "down"
    UP = "up"
    LEADS = "leads"
    FENCED = "fenced"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Arrow:
    """A message.

    Attributes:
        sender: the lifeline that it comes from.
        receiver: the lifeline that it goes to.
        text: its content, in a word or two.
        reply: whether it answers another message.
        lost: whether it never arrives.
    """

    sender: str
    receiver: str
    text: str
    reply: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """An event on a lifeline, in a word or two; an empty lifeline stands for all of them."""

    lifeline: str
    text: str
    kind: MarkKind = MarkKind.NOTE


Drawn = Arrow | Mark


def own_lifelines(actions: Mapping[str, ActionSpec], state: State, bounds: BoundValues) -> tuple[str, ...]:
    """Return the default lifelines: the members of the sorts that are parameters of actions.

    Where the state has arrays over some of these sorts, only their members have lifelines: members of other sorts, such
    as epochs, are what messages are about. Sets of members never have lifelines.
    """
    sorts = {
        sort: None
        for spec in actions.values()
        for sort in spec.parameters.values()
        if issubclass(sort, Index) and not issubclass(sort, Subset)
    }
    over = [domain.over for domain in state.present.values() if isinstance(domain, Array)]
    acting = [sort for sort in sorts if sort in over] or list(sorts)
    names: list[str] = []
    for sort in acting:
        members = [sort.show(int(member)) for member in sort.members(bounds)]
        if len(names) + len(members) <= _MOST_LIFELINES:
            names += members
    return tuple(dict.fromkeys(names))


def own_drawing(lifelines: Sequence[str], step: Taken, label: str) -> tuple[Drawn, ...]:
    """Return the default drawing of a step, made from its parameters.

    Args:
        lifelines: the lifelines of the model.
        step: the step.
        label: the step in words; the parameter that it names first is the sender.
    """
    named = [value for value in dict.fromkeys(step.parameters.values()) if value in lifelines]
    named.sort(key=lambda name: label.find(name) if name in label else len(label))
    if not named:
        return (Mark("", label),)
    said = label.removeprefix(named[0]).lstrip(": ") or label
    if len(named) == 2:
        return (Arrow(named[0], named[1], said.removesuffix(named[1]).rstrip() or said),)
    return (Mark(named[0], said),)


# -------------------------------------------------------------------------------- results of a model's methods, checked


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
    """Return the model's lifelines, maybe none; raises ModelError if `lifelines` returns anything but names."""
    given: Any = model.lifelines()
    listed = isinstance(given, (list, tuple)) and all(isinstance(name, str) and name for name in given)
    if not listed or len(set(given)) < len(given):
        _refuse(model.lifelines, given, "a list of names, each a text and each once")
    return tuple(given)


def checked_drawing(model: Model, steps: Sequence[Taken], label: str) -> tuple[Drawn, ...]:
    """Return the drawing of the last of some steps; without lifelines, arrows and marks become notes.

    Raises:
        ModelError: `step_drawing` returns anything but arrows and marks, or one with an unknown lifeline.
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


# ------------------------------------------------------------------ demands: what must happen for a trace to come about


class Hardness(Enum):
    """How hard an event is to bring about, from daily operation to a rare race."""

    OPERATION = "operation"
    FAILURE = "failure"
    DELAY = "delay"
    RACE = "race"


@dataclass(frozen=True, slots=True)
class Demand:
    """An event that must happen for a trace to come about.

    Attributes:
        step: the number of the step by which it has happened.
        hardness: how hard it is to bring about.
        text: the event in words, as a clause without a full stop.
    """

    step: int
    hardness: Hardness
    text: str


class Taken(Protocol):
    """A step of a trace: its action by name (None for the start), its parameters by name, and the state after it."""

    @property
    def action(self) -> str | None:
        """The name of the action."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """The labels of the parameters, by name."""

    @property
    def state(self) -> ReadableState:
        """The readable state after the step."""

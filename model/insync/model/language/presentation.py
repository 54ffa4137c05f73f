"""What the trace grid shows of a state of one's own model: a column a field, and one for each member of a sort.

A cell is a text, or a text for each of its parts or elements: of those the grid shows what a step has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from insync.model.domains.composite import Array, Bag, BitSet, Domain, ListedSet, Readable, ReadableState, Record, State
from insync.model.domains.containers import Seq
from insync.model.domains.sorts import Index
from insync.model.visible_text import in_one_line

__all__ = ["MARKS", "GridCell", "LogCell", "LogRecord", "cell_text", "own_columns", "show"]


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A place in a log: what is there, and the epoch that it was written in, empty where there is none."""

    text: str
    epoch: str = ""

    def __str__(self) -> str:
        return f"{self.text}@{self.epoch}" if self.epoch else self.text


@dataclass(frozen=True, slots=True)
class LogCell:
    """A log in the grid: records from offset 0 on, the high watermark, and what is said before and after them.

    Attributes:
        records: what is at each offset.
        watermark: how many of them are committed; it may lie beyond the end.
        before: who has the log, and in which role.
        after: what else is to be said, a word or more.
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
"""What stands in a column: a text, the text of each element of a set or bag, the text of each part, or a log."""

MARKS = {"-": "none", "{}": "empty", "[]": "empty", "+": "is new"}
"""What the marks in cells of one's own model mean."""

_MOST_COLUMNS = 8
"""A sort with more members has no columns for them: a line would be too long."""


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
    """Return all of a cell as one text."""
    if isinstance(cell, tuple):
        return "{" + ", ".join(cell) + "}"
    if isinstance(cell, LogCell):
        return str(cell)
    return cell if isinstance(cell, str) else " ".join(f"{name}={text}" for name, text in cell.items())


def own_columns(state: State, values: ReadableState) -> dict[str, GridCell]:
    """Return the cells of a readable state, by column.

    The members of a sort have a column each: `doing[w1]` where one array is over the sort, and `w1` where several are,
    with the arrays as parts. So have those of ranges and enumerations, `left[2]`. Records, and arrays over what has
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

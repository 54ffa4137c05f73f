"""The statistics of a search: levels as a bar, steps of a state, and the largest fields."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from insync.explorer.documents.document import Style
from insync.explorer.documents.text import NO_HUGE_PAGES, plural

if TYPE_CHECKING:
    from insync.explorer.documents.json_types.searches import StatisticsEntry
    from insync.explorer.results import CheckResult
    from insync.model import Model

__all__ = ["describe_statistics", "level_bar", "statistics_entry"]

_HEIGHTS = "▁▂▃▄▅▆▇█"


_PLAIN_HEIGHTS = ".:-=+*#@"  # for outputs that cannot encode these characters


_LONGEST_BAR = 60


_FIELDS = 6


_KEPT = {
    "codes": "as codes: exact, a number for each part of a state",
    "files": "in sorted files: exact, a file for each level and partition",
}


_INDEX = re.compile(r"\[[^\]]*\]")


def describe_statistics(result: CheckResult, model: Model, style: Style) -> str:
    """Return the lines below the report of a search, after a blank one; empty if it found no state."""
    if not result.levels:
        return ""
    largest = max(result.levels)
    bar, number = level_bar(result.levels, _heights(style.encoding)), plural(len(result.levels), "level")
    at = f"level {result.levels.index(largest) + 1} with {plural(largest, 'state')}"
    lines = [f"levels  {bar}  {number}, the largest is {at}"]
    if mean := _steps_a_state(result):
        stuck = f"; {plural(result.deadlocks, 'state')} without a step" if result.deadlocks else ""
        bound = plural(len(model.program.actions), "bound action")
        lines.append(f"steps   {mean:.2f} a state on average, of {bound}{stuck}")
    if result.kept in _KEPT:
        lines.append(f"kept    {_KEPT[result.kept]}")
    schema, fields = model.program.schema, _fields(model)
    shown = ", ".join(f"{name} {bits}" for name, bits in fields[:_FIELDS])
    rest = sum(bits for _, bits in fields[_FIELDS:])
    others = f", {plural(len(fields) - _FIELDS, 'other')} {rest}" if rest else ""
    text = f"fields  {plural(schema.bits, 'bit')} a state, in {plural(schema.words, 'word')}: {shown}{others}"
    for line in [text, *_huge_pages(result)]:
        lines += textwrap.wrap(line, style.width, subsequent_indent=" " * 8, break_on_hyphens=False)
    return "\n".join(["", "", *lines])


def _huge_pages(result: CheckResult) -> list[str]:
    """Return a line about the huge pages of the states, with advice if there are none."""
    pages = result.huge_pages
    if pages is None:
        return []
    line = f"memory  {plural(pages.had, 'huge page')} had, {pages.missed:,} missed"
    if pages.missed and not pages.had:
        line += f": {NO_HUGE_PAGES}"
    return [line]


def statistics_entry(result: CheckResult, model: Model) -> StatisticsEntry:
    """Return the statistics as JSON values; empty if the search found no state."""
    if not result.levels:  # the model may not have been traced
        return {}
    pages = result.huge_pages
    return {
        "steps_per_state": round(_steps_a_state(result), 6),
        "bound_actions": len(model.program.actions),
        "bits": model.program.schema.bits,
        "words": model.program.schema.words,
        "fields": [{"field": name, "bits": bits} for name, bits in _fields(model)],
        "huge_pages": None if pages is None else {"had": pages.had, "missed": pages.missed},
    }


def level_bar(levels: Sequence[int], heights: str = _HEIGHTS) -> str:
    """Return a bar chart of levels, a character for each level or, of many, for the largest of several neighbours."""
    each = -(-len(levels) // _LONGEST_BAR)
    sizes = [max(levels[at : at + each]) for at in range(0, len(levels), each)]
    top = max(sizes)
    return "".join(heights[max(0, -(-size * len(heights) // top) - 1)] for size in sizes)


def _heights(encoding: str | None) -> str:
    try:
        _HEIGHTS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return _PLAIN_HEIGHTS
    return _HEIGHTS


def _steps_a_state(result: CheckResult) -> float:
    """Return the mean number of steps of an expanded state; 0 if none was expanded."""
    expanded = sum(result.levels) - result.frontier
    return result.transitions / expanded if expanded else 0.0


def _fields(model: Model) -> list[tuple[str, int]]:
    """Return the number of bits of each field with all its elements, the largest first."""
    bits: Counter[str] = Counter()
    for cell in model.program.schema.cells:
        bits[_INDEX.sub("", cell.path)] += cell.bits
    return [(name, size) for name, size in bits.most_common() if size]

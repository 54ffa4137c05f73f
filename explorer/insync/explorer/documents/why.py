"""`insync why` as text, as JSON and as HTML: what was taken, what was not exercised, and near misses of properties."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from insync.explorer.documents.document import Document, Style
from insync.explorer.documents.text import STOPPED_BY, confined_lines, count, plural, seconds, warning_lines
from insync.explorer.traces.grid import Paint, Tone, describe_chosen

if TYPE_CHECKING:
    from insync.explorer import ActionCoverage, PropertyCoverage, WhyResult
    from insync.explorer.documents.json_types.searches import ActionEntry, PropertyCoverageEntry, SpotEntry, WhyObject
    from insync.model import Model
    from insync.model.expressions.source import Spot

__all__ = ["WhyDocument", "html"]


_MOST_SETTLED = 3


@dataclass(frozen=True, slots=True)
class WhyDocument(Document):
    """The coverage of a model by its search.

    Attributes:
        result: the counts.
        model: the model.
        detailed: whether to show every guard, branch and assignment, and not only what was not exercised.
        page: the file of the source with its counts.
    """

    result: WhyResult
    model: Model
    detailed: bool = False
    page: Path | None = None

    def text(self, style: Style) -> str:
        result, paint, width = self.result, style.paint, style.width
        lines = [
            f"{result.model}   {describe_chosen(result.bounds, self.model)}".rstrip(),
            _extent(result, paint),
            *confined_lines(result.within),
            *warning_lines(result.warnings, paint, width),
        ]
        if not result.states:
            return "\n".join(lines)
        lines += ["", *_table(result.actions)]
        if self.detailed:
            for action in result.actions:
                lines += ["", *_details(action, paint, width)]
        for title, rows in _not_exercised(result):
            if rows:
                lines += ["", paint(title, Tone.HEADING), *_aligned(_joined(rows), width)]
        lines += ["", *_properties(result, paint)] if result.properties else []
        return "\n".join([*lines, "", f"in {seconds(result.seconds)}"])

    def data(self) -> WhyObject:
        result = self.result
        return {
            "model": result.model,
            "bounds": dict(result.bounds),
            "distinct_states": result.states,
            "depth": result.depth,
            "stopped_by": result.stopped_by,
            "within": list(result.within),
            "actions": [_action_entry(one) for one in result.actions],
            "unchanged_fields": list(result.unchanged),
            "properties": [_property_entry(one) for one in result.properties],
            "html": None if self.page is None else str(self.page),
            "warnings": list(result.warnings),
            "seconds": round(result.seconds, 6),
        }


def _extent(result: WhyResult, paint: Paint) -> str:
    counted = f"{plural(result.states, 'state')}, depth {result.depth}"
    if result.stopped_by is None:
        return f"counted in all {counted}"
    by = STOPPED_BY.get(result.stopped_by, str(result.stopped_by))
    head = paint(f"incomplete: stopped by {by}", Tone.OPEN)
    if not result.states:
        return f"{head} before the first state was counted"
    return f"{head}; counted in {counted}\n  what was not exercised there may be further on"


def _table(actions: Sequence[ActionCoverage]) -> list[str]:
    rows = [("action", "states with it enabled", "steps")]
    rows += [(one.name, count(one.states), count(one.steps)) for one in actions if one.steps or one.states]
    wide = [max(len(row[column]) for row in rows) for column in range(3)]
    return [f"  {name:<{wide[0]}}  {states:>{wide[1]}}  {steps:>{wide[2]}}" for name, states, steps in rows]


def _details(action: ActionCoverage, paint: Paint, width: int) -> list[str]:
    head = f"{action.name}   {_place(action.file, action.line)}   {plural(action.steps, 'step')}"
    chances = f"{plural(action.bindings, 'binding')} of its parameters in each state: {count(action.chances)} chances"
    refused = f"; {plural(action.refused, 'step')} refused by type_ok" if action.refused else ""
    if not action.bindings:
        chances = "ruled out by the bounds and settings alone"
    rows = [row for _, row in sorted(_parts(action), key=lambda part: part[0])]
    changed = ", ".join(f"{field} in {count(steps)}" for field, steps in action.changed.items())
    lines = [paint(head, Tone.HEADING), f"  {chances}{refused}", *_aligned(rows, width)]
    if not changed or not action.steps:
        return lines
    return [*lines, *textwrap.wrap(f"changes {changed}", width, initial_indent="  ", subsequent_indent="    ")]


def _parts(action: ActionCoverage) -> Iterator[tuple[tuple[int, int, int], tuple[str, str, str]]]:
    """Yield the row of each part of an action, with its place; files are numbered in the order of first use."""
    files: dict[str, int] = {}

    def place(spot: Spot) -> tuple[int, int, int]:
        return files.setdefault(spot.file, len(files)), spot.line, spot.column

    for guard in action.guards:
        text = "" if guard.decided else f"false in {count(guard.false)}, alone in {count(guard.alone)}"
        rules = f"rules out {plural(guard.ruled_out, 'binding')}" if guard.ruled_out else ""
        said = "; ".join(filter(None, (text, rules))) or "the settings decide it"
        yield place(guard.spot), (_spot(guard.spot), f"require {guard.text}", said)
    for branch in action.branches:
        sides = f"true in {plural(branch.true, 'step')}, false in {count(branch.false)}"
        sides += "; the settings decide it" if branch.decided else ""
        yield place(branch.spot), (_spot(branch.spot), f"{branch.word} {branch.text}", sides)
    for one in action.assignments:
        made = f"{_line(one.spot.source)} = ..."
        yield place(one.spot), (_spot(one.spot), made, f"in {plural(one.steps, 'step')}")


def _not_exercised(result: WhyResult) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Yield the title of each kind of unexercised code, with its rows: action, text, place."""
    acting = [one for one in result.actions if one.bindings]
    never = [(one.name, _why_never(one), _place(one.file, one.line)) for one in acting if not one.states]
    yield "never enabled", never
    names = [one.name for one in result.actions if not one.bindings]
    yield "impossible at these bounds and settings", [(", ".join(names), "", "")] if names else []
    taken = [one for one in acting if one.states]
    yield (
        "guards that were never false: no reachable state needs them",
        [(one.name, guard.text, _spot(guard.spot)) for one in taken for guard in one.never_false],
    )
    yield (
        "guards that were never alone in being false: each time another was false as well",
        [(one.name, guard.text, _spot(guard.spot)) for one in taken for guard in one.never_alone],
    )
    yield (
        "branches that were never taken",
        [
            (one.name, f"{branch.word} {branch.text}: {_side(branch.true, branch.false)}", _spot(branch.spot))
            for one in taken
            for branch in one.one_way
        ],
    )
    yield "fields that no step changes", [(", ".join(result.unchanged), "", "")] if result.unchanged else []


def _why_never(action: ActionCoverage) -> str:
    guards = [guard.text for guard in action.never_true]
    return f"{' and '.join(guards)} never held" if guards else "its guards never held together"


def _side(true: int, false: int) -> str:
    if not true and not false:
        return "never reached"
    return "never false" if true else "never true"


def _properties(result: WhyResult, paint: Paint) -> list[str]:
    lines = [paint("properties: how near they came to failing", Tone.HEADING)]
    for one in result.properties:
        lines.append(f"  {one.name}   {_near(one, result.states)}")
        for premise in one.never_true:
            what = f"premise {premise.text} was never true" if premise.word == "Implies" else "it never had a member"
            lines.append(
                f"    {_spot(premise.spot)}   {what if premise.word == 'Implies' else premise.text + ': ' + what}"
            )
        if one.settled:
            shown = ", ".join(one.settled[:_MOST_SETTLED]) + (", ..." if len(one.settled) > _MOST_SETTLED else "")
            lines.append(f"    {len(one.settled)} of {plural(one.comparisons, 'comparison')} never changed: {shown}")
    return lines


def _near(one: PropertyCoverage, states: int) -> str:
    fails = f"fails in {plural(one.fails, 'state')}; " if one.fails else ""
    if one.near is None:
        return f"{fails}a property of steps, of which no more is counted"
    if not one.near:
        return f"{fails}in no state does it hold by one comparison"
    where = (
        f"all {plural(states, 'state')}" if one.near == states else f"{count(one.near)} of {plural(states, 'state')}"
    )
    return f"{fails}holds by one comparison in {where}"


def _joined(rows: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return rows, with the names of actions joined whose rows are the same otherwise."""
    names: dict[tuple[str, str], list[str]] = {}
    for name, text, place in rows:
        names.setdefault((text, place), []).append(name)
    return [(", ".join(found), *said) for said, found in names.items()]


def _aligned(rows: Sequence[tuple[str, str, str]], width: int) -> list[str]:
    """Return rows as lines with aligned columns; the middle column is cut to the width."""
    first, last = (max((len(row[at]) for row in rows if row[1]), default=0) for at in (0, 2))
    room = max(20, width - first - last - 6)
    middle = min(room, max((len(row[1]) for row in rows), default=0))
    lines = []
    for name, text, place in rows:
        if not text:
            lines += textwrap.wrap(name, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
            continue
        cut = text if len(text) <= room else f"{text[: room - 3]}..."
        lines.append(f"  {name:<{first}}  {cut:<{middle}}  {place}".rstrip())
    return lines


def _spot(spot: Spot) -> str:
    return _place(spot.file, spot.line)


def _place(file: str, line: int) -> str:
    return f"{os.path.basename(file)}:{line}"


def _line(source: str) -> str:
    return " ".join(source.split())


def _action_entry(one: ActionCoverage) -> ActionEntry:
    return {
        "name": one.name,
        "file": one.file,
        "line": one.line,
        "bindings": one.bindings,
        "states": one.states,
        "chances": one.chances,
        "steps": one.steps,
        "refused": one.refused,
        "guards": [
            {
                **_spot_entry(g.spot),
                "text": g.text,
                "false": g.false,
                "alone": g.alone,
                "ruled_out": g.ruled_out,
                "decided": g.decided,
            }
            for g in one.guards
        ],
        "branches": [
            {
                **_spot_entry(b.spot),
                "word": b.word,
                "text": b.text,
                "true": b.true,
                "false": b.false,
                "decided": b.decided,
            }
            for b in one.branches
        ],
        "assignments": [
            {**_spot_entry(a.spot), "text": " ".join(a.spot.source.split()), "steps": a.steps} for a in one.assignments
        ],
        "changed": dict(one.changed),
    }


def _property_entry(one: PropertyCoverage) -> PropertyCoverageEntry:
    return {
        "name": one.name,
        "fails": one.fails,
        "near": one.near,
        "premises": [{**_spot_entry(p.spot), "word": p.word, "text": p.text, "true": p.true} for p in one.premises],
        "comparisons": one.comparisons,
        "settled": list(one.settled),
    }


def _spot_entry(spot: Spot) -> SpotEntry:
    return {"file": spot.file, "line": spot.line}


def html(result: WhyResult) -> list[str]:
    """Return the parts of the HTML."""
    from insync.explorer.documents.html import folded, paragraph, table, warned

    lists = {
        "Guards that were never false": [(one.name, g.text) for one in result.actions for g in one.never_false],
        "Guards that were never alone in being false": [
            (one.name, guard.text) for one in result.actions for guard in one.never_alone
        ],
        "Branches of which one side was never taken": [
            (one.name, f"{branch.word} {branch.text}") for one in result.actions for branch in one.one_way
        ],
    }
    near = [(one.name, one.near, one.fails) for one in result.properties]
    taken = [(one.name, one.states, one.steps) for one in result.actions if one.bindings]
    return [
        paragraph(result.summary()),
        *warned(result.warnings),
        table(("action", "states with it enabled", "steps"), taken),
        *(folded(f"{title}: {len(rows)}", table(("action", ""), rows)) for title, rows in lists.items() if rows),
        *([paragraph(f"No step changes {', '.join(result.unchanged)}.")] if result.unchanged else []),
        table(("property", "states near to failing", "states in which it fails"), near),
    ]

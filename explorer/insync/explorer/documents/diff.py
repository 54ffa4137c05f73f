"""`insync diff` as text, as JSON and as HTML: what differs, and the shortest trace that only one model allows."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from insync.explorer.documents.document import Document, Style
from insync.explorer.documents.text import STOPPED_BY, count, plural, seconds
from insync.explorer.documents.traces import steps_json
from insync.explorer.traces.grid import Paint, Tone, chosen_bounds, describe_bounds, render_grid
from insync.explorer.traces.trace_file import replay_hint
from insync.model.domains.composite import Array, Bag, Domain, ListedSet, Option, Record
from insync.model.domains.containers import Seq, SetOf
from insync.model.domains.domain import plain

if TYPE_CHECKING:
    from insync.explorer import CheckResult, DiffResult, OnlyOne, TraceDifference, Verdict
    from insync.explorer.documents.json_types.comparisons import (
        DiffObject,
        OnlyOneEntry,
        SideEntry,
        TraceDifferenceObject,
    )
    from insync.model import Model

__all__ = ["DiffDocument", "TraceDifferenceDocument", "html"]


_MOST_FIELDS = 12

_PART = re.compile(r"[^.\[\]]+")


@dataclass(frozen=True, slots=True)
class DiffDocument(Document):
    """The difference of two models, with the files of the traces that only one allows."""

    result: DiffResult
    models: Sequence[Model]
    files: Sequence[Path | None]

    def text(self, style: Style) -> str:
        result, models, paint, width = self.result, self.models, style.paint, style.width
        titles = _titles(result, models)
        lines = [f"A: {titles[0]}", f"B: {titles[1]}", *_alike(result, models[0], width), "", _verdict(result, paint)]
        if result.properties:
            lines += ["", paint("properties", Tone.HEADING), *_properties(result)]
        if result.first.levels and result.second.levels:
            lines += ["", *_figures(result)]
        for side, (one, file) in enumerate(zip(result.only, self.files, strict=True)):
            if one is not None:
                lines += ["", *_only(result, side, one, models[side], file, paint, width)]
        return "\n".join([*lines, "", f"in {seconds(result.seconds)}"])

    def data(self) -> DiffObject:
        result = self.result
        states = result.states
        return {
            "same": result.same,
            "stopped_by": result.stopped_by,
            "first": _side_entry(result.first),
            "second": _side_entry(result.second),
            "settings": {name: list(pair) for name, pair in result.settings.items()},
            "properties": [
                {
                    "name": one.name,
                    "first": one.first,
                    "second": one.second,
                    "trace_lengths": list(one.lengths),
                    "changed": one.changed,
                }
                for one in result.properties
            ],
            "own_fields": [list(paths) for paths in result.own_fields],
            "states": None
            if states is None
            else {
                "both": states.both,
                "only_first": list(states.only_first),
                "only_second": list(states.only_second),
            },
            "only": [_only_entry(one, file) for one, file in zip(result.only, self.files, strict=True)],
            "seconds": round(result.seconds, 6),
        }


@dataclass(frozen=True, slots=True)
class TraceDifferenceDocument(Document):
    """The difference of the traces in two files, each with its model."""

    found: TraceDifference
    models: Sequence[Model]
    files: Sequence[Path]

    def text(self, style: Style) -> str:
        found, models, files, paint = self.found, self.models, self.files, style.paint
        lines = [
            f"A: {files[0]}   {plural(found.lengths[0], 'state')}",
            f"B: {files[1]}   {plural(found.lengths[1], 'state')}",
        ]
        lines += [f"  {name}: A {_said(pair[0])}, B {_said(pair[1])}" for name, pair in found.about.items()]
        lines.append("")
        if found.step is None:
            return "\n".join([*lines, paint("the same", Tone.GOOD) + ": the same steps through the same states"])
        where = "the initial state" if found.step == 0 else f"step {found.step}"
        lines.append(paint(f"they differ first in {where}", Tone.BAD))
        if found.labels[0] != found.labels[1]:
            lines += [f"  {letter} {_step(label)}" for letter, label in zip("AB", found.labels, strict=True)]
        else:
            lines.append(f"  both: {found.labels[0]}")
        shown = list(found.fields.items())[:_MOST_FIELDS]
        wide = max((len(path) for path, _ in shown), default=0)
        for path, pair in shown:
            a, b = (_said(value, _domain_at(model, path)) for value, model in zip(pair, models, strict=True))
            lines.append(f"    {path:<{wide}}  A {a}   B {b}")
        if len(found.fields) > _MOST_FIELDS:
            lines.append(f"    and {len(found.fields) - _MOST_FIELDS} more parts of the state")
        return "\n".join(lines)

    def data(self) -> TraceDifferenceObject:
        found = self.found
        return {
            "same": found.same,
            "files": [str(file) for file in self.files],
            "step": found.step,
            "labels": list(found.labels),
            "fields": {path: list(pair) for path, pair in found.fields.items()},
            "about": {name: list(pair) for name, pair in found.about.items()},
            "trace_lengths": list(found.lengths),
        }


def _titles(result: DiffResult, models: Sequence[Model]) -> list[str]:
    """Return the title of each model: its name, and the bounds and settings in which it differs from the other."""
    alike = type(models[0]) is not type(models[1]) and models[0].name == models[1].name
    found = []
    for side, model in enumerate(models):
        own = [f"{name} {pair[side]}" for name, pair in result.settings.items() if pair[side] is not None]
        name = (result.first, result.second)[side].model if alike else model.name
        found.append(f"{name}   {', '.join(own)}".rstrip())
    return found


def _alike(result: DiffResult, model: Model, width: int) -> list[str]:
    """Return the lines about shared bounds and settings, and about fields that only one model has."""
    chosen = chosen_bounds(result.first.bounds, model)
    same = {name: value for name, value in chosen.items() if name not in result.settings}
    lines = textwrap.wrap(f"both: {describe_bounds(same)}", width) if same else []
    for letter, paths in zip("AB", result.own_fields, strict=True):
        if paths:
            shown = ", ".join(paths[:_MOST_FIELDS]) + (", ..." if len(paths) > _MOST_FIELDS else "")
            text = f"only {letter} has {shown}, which is not compared"
            lines += textwrap.wrap(text, width, subsequent_indent="  ")
    return lines


def _verdict(result: DiffResult, paint: Paint) -> str:
    if result.same:
        within = ", as far as they have the same fields" if any(result.own_fields) else ""
        return paint("the same", Tone.GOOD) + f": they take the same steps{within}, and have the same verdicts"
    by = STOPPED_BY.get(result.stopped_by or "", str(result.stopped_by))
    if result.same is None:
        return paint(f"incomplete: stopped by {by}", Tone.OPEN) + "; no difference was found up to there"
    changed = [one.name for one in result.properties if one.changed]
    said = f"{', '.join(changed)} {'changes' if len(changed) == 1 else 'change'}" if changed else "no property changes"
    steps = "other steps" if any(result.only) else "no step was found that only one of them takes"
    line = paint("different", Tone.BAD) + f": {steps}; {said}"
    return line if result.stopped_by is None else f"{line}\n  stopped by {by}; the rest was not compared"


def _properties(result: DiffResult) -> Iterator[str]:
    wide = max(len(one.name) for one in result.properties)
    for one in result.properties:
        words = [_word(*pair) for pair in zip((one.first, one.second), one.lengths, strict=True)]
        mark = "*" if one.changed else " "
        same = words[0] == words[1]
        yield f"{mark} {one.name:<{wide}}  " + (f"both: {words[0]}" if same else f"A: {words[0]}   B: {words[1]}")


def _word(verdict: Verdict | None, length: int | None) -> str:
    if verdict is None:
        return "has none of that name"
    return f"{verdict} (trace of {plural(length, 'state')})" if length else str(verdict)


def _figures(result: DiffResult) -> list[str]:
    """Return the table of states and steps of both models, with the levels and actions that differ."""
    first, second, states = result.first, result.second, result.states
    rows: list[Sequence[str]] = [("", "A", "B", "B - A", *(("only A", "only B") if states else ()))]
    only = (sum(states.only_first), sum(states.only_second)) if states else None
    rows.append(_row("states", first.distinct_states, second.distinct_states, only))
    for level in range(max(len(first.levels), len(second.levels))):
        pair = _at(first.levels, level), _at(second.levels, level)
        own = (_at(states.only_first, level), _at(states.only_second, level)) if states else None
        if pair[0] != pair[1] or (own and any(own)):
            rows.append(_row(f"  level {level + 1}", *pair, own))
    rows.append(_row("steps", first.transitions, second.transitions, None))
    for name in dict.fromkeys([*first.actions, *second.actions]):
        if first.actions.get(name, 0) != second.actions.get(name, 0):
            rows.append(_row(f"  {name}", first.actions.get(name, 0), second.actions.get(name, 0), None))
    wide = [max(len(row[column]) for row in rows if len(row) > column) for column in range(max(map(len, rows)))]
    lines = []
    for row in rows:
        cells = [
            f"{cell:<{size}}" if at == 0 else f"{cell:>{size}}"
            for at, (cell, size) in enumerate(zip(row, wide, strict=False))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _row(name: str, first: int, second: int, only: tuple[int, int] | None) -> Sequence[str]:
    more = f"{second - first:+,}" if second != first else "0"
    return (name, count(first), count(second), more, *(map(count, only) if only else ()))


def _at(levels: Sequence[int], level: int) -> int:
    return levels[level] if level < len(levels) else 0


def _only(
    result: DiffResult, side: int, one: OnlyOne, model: Model, file: Path | None, paint: Paint, width: int
) -> list[str]:
    """Return the trace that only one model allows; the second trace is one line if its steps are those of the first."""
    letter = "AB"[side]
    head = paint(f"the shortest trace that {letter} allows and {'BA'[side]} does not", Tone.HEADING)
    first = result.only[0]
    if side == 1 and first is not None and _labels(one) == _labels(first):
        return [f"{head}: the same steps"] if file is None else [f"{head}: the same steps; {file}"]
    lines = [head, "", render_grid(one.trace, model.grid, width=width, paint=paint, header=False)]
    return lines if file is None else [*lines, replay_hint(one.trace, file)]


def _labels(one: OnlyOne) -> list[str]:
    return [step.label for step in one.trace.steps]


def _step(label: str | None) -> str:
    return "has ended" if label is None else label


def _said(value: object, domain: Domain | None = None) -> str:
    """Return a value in words; a list is in brackets if its domain is an array or a sequence, else in braces."""
    if isinstance(value, Mapping):
        parts = (f"{name} {_said(part, _inner(domain, str(name)))}" for name, part in value.items())
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list):
        texts = ", ".join(_said(part, _inner(domain, "")) for part in value)
        return f"[{texts}]" if isinstance(domain, (Array, Seq)) else f"{{{texts}}}"
    return plain(value)


def _domain_at(model: Model, path: str) -> Domain | None:
    """Return the domain of a part of the state, such as `broker.b1.log[0]`; None if the model has no such part."""
    domain: Domain | None = model.state
    for name in _PART.findall(path):
        domain = _inner(domain, name)
    return domain


def _inner(domain: Domain | None, name: str) -> Domain | None:
    """Return the domain of a field, or of the elements of an array, a sequence, a bag or a set."""
    if isinstance(domain, Option):
        domain = domain.of
    if isinstance(domain, Record):
        return domain.present.get(name)
    return domain.of if isinstance(domain, (Array, Seq, SetOf, Bag, ListedSet)) else None


def _side_entry(result: CheckResult) -> SideEntry:
    return {
        "model": result.model,
        "bounds": dict(result.bounds),
        "distinct_states": result.distinct_states,
        "transitions": result.transitions,
        "levels": list(result.levels),
        "actions": dict(result.actions),
        "stopped_by": result.stopped_by,
    }


def _only_entry(one: OnlyOne | None, file: Path | None) -> OnlyOneEntry | None:
    if one is None:
        return None
    return {
        "trace_length": one.trace.length,
        "reason": one.reason,
        "steps": steps_json(one.trace),
        "trace": None if file is None else str(file),
    }


def html(result: DiffResult) -> list[str]:
    """Return the parts of the HTML."""
    from insync.explorer.documents.html import drawing_of, paragraph, table

    properties = [
        (one.name, one.first and one.first.value, one.second and one.second.value) for one in result.properties
    ]
    sizes = [("states", result.first.distinct_states, result.second.distinct_states)]
    sizes.append(("steps", result.first.transitions, result.second.transitions))
    heads = ("", result.first.model, result.second.model)
    only = [piece for one in result.only if one for piece in (paragraph("Only one allows:"), drawing_of(one.trace))]
    return [paragraph(result.summary()), table(heads, properties), table(heads, sizes), *only]

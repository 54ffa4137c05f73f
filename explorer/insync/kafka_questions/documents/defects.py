"""`insync defects` as text and as JSON: the catalogue, a defect with its trace, and results of its verification."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from insync.explorer.documents.text import describe_traces, plural
from insync.explorer.documents.traces import demands_json, steps_json
from insync.explorer.traces.grid import Paint
from insync.kafka.defects import LEFT_OUT, Defect, LeftOut, all_defects
from insync.kafka.defects.named import catalogue
from insync.kafka.quorum.rules import QuorumRules
from insync.kafka.releases import Rules
from insync.kafka.releases.rule_parts import RuleParts
from insync.kafka_questions.defects import DefectFound, breaks_as_listed
from insync.kafka_questions.documents.findings import finding_json, finding_lines, finding_standing
from insync.kafka_questions.question import with_shown_bounds
from insync.kafka_questions.symptoms import Match

if TYPE_CHECKING:
    from insync.kafka_questions.documents.json_types import (
        CatalogueObject,
        DefectEntry,
        DefectTrace,
        LeftOutEntry,
        MatchEntry,
        MatchesObject,
        SearchedDefect,
    )

__all__ = [
    "OnKafka",
    "Searched",
    "broken_words",
    "catalogue_json",
    "defect_json",
    "describe_catalogue",
    "describe_defect",
    "describe_left_out",
    "describe_matches",
    "fixed_words",
    "left_out_json",
    "matches_json",
]


OnKafka = Sequence[Mapping[str, object]]
"""The runs of an entry on Kafka itself, as JSON values."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The searches for a defect.

    Attributes:
        broken: the result with the defect.
        fixed: the result with its fix.
    """

    broken: DefectFound
    fixed: DefectFound


def describe_catalogue(seen: Callable[[str], str]) -> str:
    """Return the list of the catalogue: findings about released Kafka, other defects, and those that are not modelled.

    Args:
        seen: returns a line about the runs of an entry on Kafka itself; empty if there were none.
    """
    found = [name for name in catalogue() if finding_standing(name)]
    findings = {name: catalogue()[name] for name in sorted(found, key=lambda name: name[0] not in "NQ")}
    sections: dict[str, list[Defect | LeftOut]] = {
        "Findings about released Kafka, made or executed with insync:": list(findings.values()),
        "Other defects, settings and mutants:": [d for name, d in all_defects().items() if name not in findings],
        "Not modelled, for reasons that insync defects NAME gives:": [d for d in LEFT_OUT if d.name not in findings],
    }
    lines = []
    for title, entries in sections.items():
        lines.append(title)
        for entry in entries:
            length = "" if isinstance(entry, LeftOut) else f" ({_steps(entry)})"
            lines.append(f"  {entry.name:<5} {entry.title}{length}; {entry.ticket}")
            said = "; ".join(told for told in (seen(entry.name), finding_standing(entry.name)) if told)
            lines += [f"        {said}"] if said else []
        lines.append("")
    lines.append("One of them with its trace: insync defects NAME. All of them searched for: insync defects --verify.")
    return "\n".join(line for text in lines for line in (textwrap.wrap(text, 120, subsequent_indent=" " * 8) or [""]))


def _steps(defect: Defect) -> str:
    return "no harm" if defect.harmless else plural(defect.length - 1, "step")


def catalogue_json(seen: Callable[[str], OnKafka]) -> str:
    """Return the object for the catalogue.

    Args:
        seen: returns the runs of an entry on Kafka itself.
    """
    told: CatalogueObject = {
        "defects": [_as_json(defect, seen(defect.name)) for defect in all_defects().values()],
        "left_out": [left_out_json(entry) for entry in LEFT_OUT],
    }
    return json.dumps(told, ensure_ascii=False)


def left_out_json(entry: LeftOut) -> LeftOutEntry:
    """Return the object for an entry that is not modelled."""
    return {
        "name": entry.name,
        "title": entry.title,
        "ticket": entry.ticket,
        "reason": entry.reason,
        "finding": finding_json(entry.name),
    }


def _as_json(defect: Defect, seen: OnKafka) -> DefectEntry:
    return {
        "name": defect.name,
        "title": defect.title,
        "ticket": defect.ticket,
        "model": defect.model,
        "affected": defect.affected,
        "story": defect.story,
        "fix": defect.fix,
        "property": defect.breaks,
        "trace_length": defect.length,
        "bounds": dict(defect.bounds),
        "rules": sorted(defect.rules),
        "finding": finding_json(defect.name),
        "on_kafka": seen,
    }


_LONGEST = 80
"""The most characters of words without a match that are printed."""


def describe_matches(words: Sequence[str], matches: Sequence[Match], width: int) -> str:
    """Return the entries that fit the words of a symptom: name, title, ticket, who has it and what helps."""
    if not matches:
        given = " ".join(words)
        given = given if len(given) <= _LONGEST else f"{given[:_LONGEST]}..."
        said = (
            f"Nothing in the catalogue fits {given!r}. Other words may, such as `insync defects lost "
            "records` or `insync defects no leader`; `insync defects` lists all."
        )
        return "\n".join(textwrap.wrap(said, width))
    lines = ["What fits, the best first:", ""]
    for match in matches:
        entry = match.entry
        ticket = "" if entry.ticket.startswith("no ticket") else f" ({entry.ticket})"
        said = f"{entry.name:<6}{entry.title}{ticket}"
        if isinstance(entry, LeftOut):
            said += f". Not modelled: {entry.reason}"
        else:
            said += f". Affected: {entry.affected}. Fix: {entry.fix}"
        lines += textwrap.wrap(f"{said}.", width, initial_indent="  ", subsequent_indent=" " * 8)
    first = next((match.entry.name for match in matches if isinstance(match.entry, Defect)), None)
    return "\n".join([*lines, *([] if first is None else ["", f"Step by step: insync defects {first}"])])


def matches_json(matches: Sequence[Match]) -> str:
    """Return the object for the entries that fit a symptom."""
    found: list[MatchEntry] = [
        {
            "name": match.entry.name,
            "title": match.entry.title,
            "ticket": match.entry.ticket,
            "modelled": isinstance(match.entry, Defect),
        }
        for match in matches
    ]
    told: MatchesObject = {"fits": found}
    return json.dumps(told, ensure_ascii=False)


def describe_defect(
    defect: Defect, searched: Searched, seen: Sequence[str], files: Sequence[Path | None], paint: Paint, width: int
) -> str:
    """Return the report on a defect.

    Args:
        defect: the defect.
        searched: the searches for it.
        seen: lines about its runs on Kafka itself.
        files: the files of its traces.
        paint: how to color.
        width: the greatest width of a line of a trace.
    """
    broken, model = searched.broken, searched.broken.model
    lines = [f"{defect.name}   {defect.title}", f"{defect.ticket}; affected: {defect.affected}", ""]
    lines += textwrap.wrap(defect.story, 100)
    lines.append("")
    rules = (_rule_line(defect, name) for name in defect.rules)
    for said in (f"fix: {defect.fix}", *finding_lines(defect.name), *seen, *rules):
        lines += textwrap.wrap(said, 100, subsequent_indent="  ")
    traces = [with_shown_bounds(trace, model) for trace in broken.traces]
    lines += describe_traces(traces, model.grid, files, paint, width)
    if broken.verdict == "holds":
        states = plural(broken.distinct_states, "state")
        lines += ["", f"No harm: {defect.breaks} holds in all {states} at these bounds, without the fix as well."]
    elif broken.verdict == "incomplete":
        lines += ["", f"Without the fix: undecided, {_stopped(broken)}."]
    return "\n".join([*lines, "", _fix_line(defect, searched.fixed)])


def describe_left_out(entry: LeftOut, seen: Sequence[str]) -> str:
    """Return the report on an entry that no search shows.

    Args:
        entry: the entry.
        seen: lines about what Kafka itself did, and how to bring it about.
    """
    lines = [f"{entry.name}   {entry.title}", entry.ticket, ""]
    for said in (f"not searched for: {entry.reason}", *finding_lines(entry.name), *seen):
        lines += textwrap.wrap(said, 100, subsequent_indent="  ")
    return "\n".join(lines)


def _rule_line(defect: Defect, name: str) -> str:
    """Return the line about a rule of the defect: left out or added, or the variant in place of the fixed one."""
    value = defect.rules[name]
    rules: RuleParts = QuorumRules() if defect.model == "kraft" else Rules()
    fixed = defect.base.get(name, rules.value(name))
    if isinstance(value, Enum) and isinstance(fixed, Enum):
        return f"the rule {name}: {value.value}; fixed: {fixed.value}"
    return f"{'with' if value else 'without'} the rule {name}: {rules.documentation(name)}"


def defect_json(defect: Defect, searched: Searched, seen: OnKafka, files: Sequence[Path | None]) -> SearchedDefect:
    """Return the object for a defect and its searches; `seen` are its runs on Kafka itself."""
    broken, fixed = searched.broken, searched.fixed
    traces: list[DefectTrace] = [
        {
            "reason": trace.reason,
            "demands": demands_json(trace),
            "steps": steps_json(trace),
            "loop": trace.loop,
            "trace": None if file is None else str(file),
        }
        for trace, file in zip(broken.traces, files, strict=True)
    ]
    return {
        **_as_json(defect, seen),
        "bounds": searched.broken.model.identity,
        "verdict": str(broken.verdict),
        "violations": traces,
        "verdict_with_fix": str(fixed.verdict),
    }


def _fix_line(defect: Defect, result: DefectFound) -> str:
    changed = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in defect.fixed.items())
    how = f" ({changed})" if changed else ""
    states = plural(result.distinct_states, "state")
    if result.verdict == "holds":
        return f"With the fix{how} {defect.breaks} holds in all {states} at these bounds."
    if result.verdict == "incomplete":
        return f"With the fix{how}: undecided, {_stopped(result)}."
    return f"With the fix{how}: {result.verdict} after {states}."


def _stopped(result: DefectFound) -> str:
    by = "Ctrl-C" if result.stopped_by == "interrupt" else f"the limit on the {result.stopped_by}"
    return f"stopped by {by} after {plural(result.distinct_states, 'state')}"


def broken_words(defect: Defect, result: DefectFound) -> str:
    """Return the result of the search with the defect in words, and the entry of the catalogue if it differs."""
    if result.verdict == "incomplete":
        return _stopped(result)
    found = "not broken" if result.trace is None else f"broken in {plural(result.trace.length - 1, 'step')}"
    return found if breaks_as_listed(defect, result) else f"{found} (catalogue: {_steps(defect)})"


def fixed_words(result: DefectFound) -> str:
    """Return the result of the search with the fix in words."""
    if result.verdict == "incomplete":
        return _stopped(result)
    return f"{result.verdict}, {plural(result.distinct_states, 'state')}"

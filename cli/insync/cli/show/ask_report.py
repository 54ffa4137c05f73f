"""`insync ask` as text: the promises, traces that break them, changes of settings, and the table of settings."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from insync.cli.show.figures import plural
from insync.cli.show.finding_words import finding_standing
from insync.cli.show.report import STOPPED_BY, describe_traces
from insync.cli.show.seen_on_kafka import seen_in_short
from insync.cli.show.warned import warning_lines
from insync.explorer import Violation
from insync.explorer.traces.grid import Paint
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.kafka_questions.ask import (
    FEWEST_RECORDS,
    LOSS,
    PROMISES,
    Asked,
    Cell,
    Given,
    is_promised,
    shown_bounds,
    with_shown_bounds,
)
from insync.kafka_questions.disturbances import Disturbed, Remedy

__all__ = [
    "by_promise",
    "describe_answer",
    "describe_asked",
    "describe_default",
    "describe_disturbed",
    "describe_notes",
    "describe_question",
    "describe_remedy",
    "describe_row",
    "describe_settings",
    "describe_table",
    "describe_without_races",
    "when_disturbed",
]


def by_promise(asked: Asked) -> list[Violation]:
    """Return the violations in the order of the promises."""
    return sorted(asked.result.violations, key=lambda violation: list(PROMISES).index(violation.property))


def describe_answer(asked: Asked, files: Mapping[str, Path | None], paint: Paint, width: int) -> str:
    """Return the answer, with at most two traces; `files` are the trace files of the broken promises."""
    lines = [describe_question(asked.model), _extent(asked)]
    lines += [*warning_lines(asked.result.warnings, paint, width), "", *_outcomes(asked)]
    return "\n".join([*lines, *_traces(asked, files, paint, width, most=2)])


def describe_default(model: Cluster, width: int) -> str:
    """Return the sentences about the default release, and about the rules in which newer ones differ from it."""
    taken: Release = model.b.settings.release
    newer = [release for release in Release if taken.is_before(release) and release.same_since is not taken]
    rules = sorted({name for release in newer for name in release.changed})
    said = f"No --release was given: this is {taken.value}."
    if newer:
        names = ", ".join(release.value for release in newer)
        said = f"{said} Of the newer ones {names} differ, and in {', '.join(rules)} alone."
    return "\n".join(textwrap.wrap(said, width))


def describe_disturbed(
    found: Disturbed, files: Mapping[str, Path | None], paint: Paint, width: int, *, losing: bool = False
) -> str:
    """Return the promises that a disturbance breaks, with one trace, and its entry of the catalogue.

    With `losing`, records are lost without it as well; then only promises that the fix of the entry keeps get a trace.
    """
    asked = found.asked
    lines = ["", f"With {found.disturbance.words}, in less: {describe_question(asked.model)}"]
    lines += [_extent(asked), "", *_outcomes(asked)]
    for said in _put_down(found):
        lines += ["", *textwrap.wrap(said, width)]
    shown = found.kept if losing else tuple(PROMISES)
    return "\n".join([*lines, *_traces(asked, files, paint, width, most=1, names=shown)])


def _standing(entry: str) -> str:
    said = finding_standing(entry)
    return f" {_capital(said)}." if said else ""


def _put_down(found: Disturbed) -> Iterator[str]:
    """Yield sentences on whether the entry of a disturbance is the cause of the broken promises."""
    entry, broken = found.disturbance.defect, len(found.asked.result.violations)
    if found.kept:
        kept = "; ".join(PROMISES[name] for name in found.kept)
        holds = "that holds" if len(found.kept) == broken else f"this holds: {kept}"
        said = f"{entry.name}: {entry.title}. With its fix {holds}."
        yield f"{said} {_capital(seen_in_short(entry.name))}. See `insync defects {entry.name}`.{_standing(entry.name)}"
    if found.undecided:
        some = "; ".join(PROMISES[name] for name in found.undecided)
        which = "that" if len(found.undecided) == broken else f"this ({some})"
        yield f"Whether {entry.name} is behind {which} is unknown: {_fix_stopped(found)}."
    elif broken and not found.kept:
        yield f"That is not shown to be {entry.name}, as it does not hold with the fix of {entry.name}."


def _fix_stopped(found: Disturbed) -> str:
    assert found.fixed is not None
    return f"the search with its fix was stopped by {_by(found.fixed.stopped_by)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def describe_without_races(asked: Asked, files: Mapping[str, Path | None], paint: Paint, width: int) -> str:
    """Return the result of the search without races, with one trace."""
    said = f"The shortest way takes a race inside one method of Kafka. Without races: {describe_question(asked.model)}"
    lines = ["", *textwrap.wrap(said, width), _extent(asked), "", *_outcomes(asked)]
    return "\n".join([*lines, *_traces(asked, files, paint, width, most=1)])


def _extent(asked: Asked) -> str:
    """Return the line about the extent of a search."""
    result = asked.result
    states = f"{plural(result.distinct_states, 'state')} searched"
    if result.stopped_by is not None:
        return f"{states}, not all of them: stopped by {_by(result.stopped_by)}"
    return f"{states}, until all was broken" if result.frontier else f"{states}, all of them"


def _outcomes(asked: Asked) -> list[str]:
    """Return a line for each promise."""
    lengths = {violation.property: violation.trace_length for violation in asked.result.violations}
    racing = {violation.property for violation in asked.result.violations if violation.trace.takes_race}
    words, lines = {"holds": "holds", "incomplete": "unknown"}, []
    for found in asked.result.properties:
        if found.name in PROMISES:
            length = lengths.get(found.name)
            outcome = words.get(str(found.verdict), "") if length is None else f"broken in {plural(length - 1, 'step')}"
            outcome += ", with a race" if found.name in racing else ""
            if outcome == "holds" and asked.model.b.records < (fewest := FEWEST_RECORDS.get(found.name, 1)):
                outcome = f"holds, as it takes {fewest} records to break"
            outcome = outcome if is_promised(found.name, asked.model) else "nothing is promised"
            lines.append(f"  {PROMISES[found.name]:<62}  {outcome}")
    return lines


def _traces(
    asked: Asked,
    files: Mapping[str, Path | None],
    paint: Paint,
    width: int,
    most: int,
    names: Sequence[str] = tuple(PROMISES),
) -> list[str]:
    """Return the first `most` different traces with their files, and those with the same steps as one of them."""
    different: list[object] = []
    shown = []
    for violation in by_promise(asked):
        if violation.property not in names:
            continue
        trace = violation.trace
        if trace.steps not in different and len(different) < most:
            different.append(trace.steps)
        if trace.steps in different:
            shown.append(with_shown_bounds(trace, asked.model))
    written = [files.get(trace.property) for trace in shown]
    return describe_traces(shown, asked.model.grid, written, paint, width)


def describe_question(model: Cluster) -> str:
    """Return the release, and every bound that is not the default."""
    shown = shown_bounds(model)
    others = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in shown.items() if name != "release")
    return f"Kafka {shown['release']}" + (f", {others}" if others else "")


def _by(stopped_by: str | None) -> str:
    return STOPPED_BY[str(stopped_by)]


def describe_settings(settings: Given) -> str:
    """Return settings by their names in Kafka."""
    names = {"acks": "acks", "min_insync": "min.insync.replicas", "unclean": "unclean.leader.election.enable"}
    words = {
        "replicas": "replication factor",
        "elr": "eligible leader replicas",
        "release": "Kafka",
        "flushing": "records flushed",
        "partition_zero": "replication factor (partition 0)",
    }
    values = {"off": "false", "on": "true"}
    return ", ".join(
        f"{names[name]}={values.get(str(value), value)}" if name in names else f"{words.get(name, name)} {value}"
        for name, value in settings.items()
    )


def describe_remedy(remedy: Remedy, first: bool, told: set[str], width: int) -> str:
    """Return the result of a change of a setting, below a heading if it is the first.

    For a change that keeps the record, the results with disturbances follow; for `told` see `when_disturbed`.
    """
    cell = remedy.cell
    if cell.verdict == "holds":
        outcome = "no record is lost"
    elif cell.verdict == "incomplete":
        outcome = f"unknown: stopped by {_by(cell.stopped_by)}"
    else:
        outcome = f"a record is lost all the same, in {plural((cell.length or 1) - 1, 'step')}"
    head = "\nWhat would have kept the record:\n" if first else ""
    lines = [f"{head}  {describe_settings(cell.settings):<48}  {outcome}"]
    for found in remedy.disturbed:
        lines += textwrap.wrap(
            when_disturbed(found, told), width, initial_indent="      ", subsequent_indent="        "
        )
    return "\n".join(lines)


def when_disturbed(found: Disturbed, told: set[str]) -> str:
    """Return the result with a disturbance in a few words, with its entry of the catalogue.

    Args:
        found: the result.
        told: the names of the entries whose title and record were printed before; this one is added.
    """
    result, words = found.asked.result, f"with {found.disturbance.words}"
    if result.violations:
        first = by_promise(found.asked)[0]
        entry = found.disturbance.defect
        lost = "a record is lost" if first.property == LOSS else f"broken: {PROMISES[first.property]},"
        said = f"{words} at risk: {lost} in {plural(first.trace_length - 1, 'step')}"
        if first.property in found.undecided:
            return f"{said}; whether {entry.name} is behind it is unknown: {_fix_stopped(found)}"
        if first.property not in found.kept:
            return f"{said}, with the fix of {entry.name} too"
        if entry.name in told:
            return f"{said} ({entry.name})"
        told.add(entry.name)
        seen = seen_in_short(entry.name)
        return f"{said} ({entry.name}: {entry.title}{f'; {seen}' if seen else ''})"
    if result.stopped_by is not None:
        return f"{words} unknown: stopped by {_by(result.stopped_by)}"
    return f"{words} safe too, in {plural(result.distinct_states, 'state')}, all of them"


def describe_notes(cells: Sequence[Cell], warnings: Sequence[str], paint: Paint, width: int, left_out: str) -> str:
    """Return the notes below a table: what it leaves out, the limits that stopped a search, and the warnings."""
    stopped = dict.fromkeys(_by(cell.stopped_by) for cell in cells if cell.stopped_by is not None)
    notes = textwrap.wrap(left_out, width)
    notes += [f"unknown: stopped by {by}" for by in stopped]
    notes += warning_lines(warnings, paint, width)
    return "\n".join(["", *notes])


def describe_asked(model: Cluster, promises: Sequence[str]) -> str:
    """Return the question about several combinations of settings, and the bounds that they share."""
    asked = "Can an acknowledged record be lost?"
    if tuple(promises) != (LOSS,):
        asked = f"Can this be broken: {'; or '.join(PROMISES[name] for name in promises)}?"
    return f"{asked}   {describe_question(model)}"


def describe_table(model: Cluster, promises: Sequence[str]) -> str:
    """Return the head of a table: the question, and the names of the columns."""
    return (
        f"{describe_asked(model, promises)}\n\n"
        "  acks  min.insync.replicas   unclean election off      unclean election on"
    )


def describe_row(row: Sequence[Cell], promises: Sequence[str] = (LOSS,)) -> str:
    """Return a row of the table: without and with unclean election."""
    broken = "lost" if tuple(promises) == (LOSS,) else "broken"
    first, second = (_outcome(cell, broken) for cell in row)
    settings = row[0].settings
    return f"  {settings['acks']:<4}  {settings['min_insync']:<20}  {first:<24}  {second}".rstrip()


def _outcome(cell: Cell, broken: str) -> str:
    if cell.verdict == "violated":
        return f"{broken} in {plural((cell.length or 1) - 1, 'step')}"
    return {"holds": "safe", "incomplete": "unknown"}.get(cell.verdict, "nothing is promised")

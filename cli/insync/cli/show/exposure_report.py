"""`insync ask --config` as text and as JSON: the topics of each combination of settings, its risks, and remedies."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from insync.cli.show.ask_json import Files, disturbed_json, promises_json, remedy_json
from insync.cli.show.ask_report import describe_settings, when_disturbed
from insync.cli.show.attempts_report import what_helps
from insync.cli.show.availability_report import availability_json, stops_in_words
from insync.cli.show.figures import plural
from insync.cli.show.report import STOPPED_BY
from insync.cli.show.warned import warning_lines
from insync.explorer.results import Verdict
from insync.explorer.traces.grid import Paint
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.kafka_questions.ask import LOSS, PROMISES
from insync.kafka_questions.disturbances import Disturbed
from insync.kafka_questions.exposure import Exposure

__all__ = ["Shown", "describe_exposure", "describe_unasked", "exposures_json", "zookeeper_warnings"]

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Shown:
    """A combination of settings with its topics and files.

    Attributes:
        exposure: the result.
        topics: the topics with these settings.
        files: the files of the traces of broken promises.
        disturbed: the files of the same for each disturbance.
    """

    exposure: Exposure
    topics: Sequence[str]
    files: Files = field(default_factory=dict)
    disturbed: Sequence[Files] = ()


def describe_exposure(shown: Shown, told: set[str], paint: Paint, width: int) -> str:
    """Return the report on a combination of settings and its topics; for `told` see `when_disturbed`."""
    found, topics = shown.exposure, shown.topics
    more = f" and {len(topics) - _SHOWN} more" if len(topics) > _SHOWN else ""
    lines = [f"{describe_settings(found.settings)}", f"  topics: {', '.join(topics[:_SHOWN])}{more}"]
    lines += [f"  {said}" for said in _outcomes(found)]
    if found.causes:
        lines.append(f"  by: {'; '.join(found.causes)}")
    for one in found.disturbed:
        if not found.broken or _adds(one):
            lines.append(f"  {when_disturbed(one, told)}")
        if one.attempts:
            lines.append(f"    what helps: {what_helps(one)}")
    if found.broken:
        remedy = found.remedy
        untried = any(one.cell.verdict == "incomplete" for one in found.remedies)
        helps = "unknown, as not every change was searched" if untried else "no single change"
        lines.append(f"  what helps: {helps if remedy is None else describe_settings(remedy.cell.settings)}")
        others = () if remedy is None else remedy.disturbed
        lines += [f"    {'but ' if one.asked.result.violations else ''}{when_disturbed(one, told)}" for one in others]
    if found.stops:
        lines += [f"  {said}" for said in stops_in_words(found.stops)]
    written = [file for files in (shown.files, *shown.disturbed) for file in files.values() if file is not None]
    lines += [f"  trace: {file}" for file in written]
    wrapped = [part for line in lines for part in textwrap.wrap(line, width, subsequent_indent="    ")]
    warnings = () if found.asked is None else found.asked.result.warnings
    return "\n".join(["", *wrapped, *warning_lines(warnings, paint, width)])


def _adds(found: Disturbed) -> bool:
    """Return whether a disturbance breaks, or may break, more than is broken without it."""
    return bool(found.kept or found.undecided) or found.asked.result.verdict == Verdict.INCOMPLETE


def _outcomes(found: Exposure) -> list[str]:
    """Return a line for each broken promise, or one for all if none is broken."""
    if found.asked is None:
        return [f"unknown: {found.beyond}"]
    result = found.asked.result
    lines = []
    for violation in found.broken:
        steps = plural(violation.trace_length - 1, "step")
        if violation.property == LOSS:
            lines.append(f"at risk: an acknowledged record is lost in {steps}")
        else:
            lines.append(f"at risk: broken in {steps}: {PROMISES[violation.property]}")
    if found.promises_nothing:
        return ["nothing is promised: no record is acknowledged"]
    if result.stopped_by is not None and len(lines) < len(_asked_about(found)):
        return [*lines, f"unknown: stopped by {STOPPED_BY[str(result.stopped_by)]}"]
    if lines:
        return lines
    held = "no acknowledged record is lost"
    if _asked_about(found) != [LOSS]:
        held = "all that was asked about holds"
    return [f"safe: {held} in {plural(result.distinct_states, 'state')}, all of them"]


def _asked_about(found: Exposure) -> list[str]:
    assert found.asked is not None
    return [each.name for each in found.asked.result.properties if each.name in PROMISES]


def describe_unasked(named: Mapping[str, str], ignored: Sequence[str], remarks: Sequence[str], width: int) -> str:
    """Return the lines about keys that were not used, and what the files leave open."""
    lines = [f"not asked about: {key} ({about})" for key, about in named.items()]
    if ignored:
        lines.append(f"ignored: {', '.join(ignored)}")
    lines += remarks
    if not lines:
        return ""
    wrapped = [part for line in lines for part in textwrap.wrap(line, width, subsequent_indent="  ")]
    return "\n".join(["", *wrapped])


def zookeeper_warnings(model: Cluster) -> list[str]:
    """Return the warning about a cluster with ZooKeeper whose model has KRaft's controller; empty if it has not."""
    if model.rules.controller_in_zookeeper:
        return []
    release: Release = model.b.settings.release
    said = "zookeeper.connect is set and process.roles is not, so the controller is ZooKeeper's;"
    if release.is_before(Release.V4_0):
        said += (
            f" the answer for Kafka {release.value} is for KRaft's. With ZooKeeper's, for one, "
            "unclean.leader.election.enable counts, which KRaft ignores until 3.9. 3.2 is the last --release with it."
        )
    else:
        said += f" Kafka {release.value} has no ZooKeeper, so the answer is for KRaft's. Give --release."
    return [said]


def exposures_json(
    found: Sequence[Shown],
    named: Mapping[str, str],
    ignored: Sequence[str],
    remarks: Sequence[str],
    warnings: Sequence[str],
    verdict: str,
) -> str:
    """Return the object for all combinations."""
    return json.dumps(
        {
            "verdict": verdict,
            "warnings": list(warnings),
            "combinations": [_one(shown) for shown in found],
            "not_asked_about": dict(named),
            "ignored": list(ignored),
            "remarks": list(remarks),
        },
        ensure_ascii=False,
    )


def _one(shown: Shown) -> Mapping[str, object]:
    found = shown.exposure
    files = [*shown.disturbed, *({} for _ in found.disturbed[len(shown.disturbed) :])]
    remedy = found.remedy
    return {
        "settings": dict(found.settings),
        "bounds": None if found.asked is None else found.asked.model.identity,
        "verdict": found.verdict,
        "unknown_because": found.beyond or (found.asked.result.stopped_by if found.asked else None),
        "warnings": list(found.asked.result.warnings) if found.asked else [],
        "causes": found.causes,
        "promises": [] if found.asked is None else promises_json(found.asked, shown.files),
        "remedy": None if remedy is None else dict(remedy.cell.settings),
        "remedies": [remedy_json(each) for each in found.remedies],
        "disturbances": [disturbed_json(one, written) for one, written in zip(found.disturbed, files, strict=True)],
        "writes_stop": availability_json(found.stops),
        "topics": list(shown.topics),
    }

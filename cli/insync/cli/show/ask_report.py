"""`insync ask` as text: a first screen with the verdict, its assumptions, the causes and what to change."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from insync.cli.show.availability_report import stops_in_words
from insync.cli.show.finding_words import finding_line
from insync.cli.show.report import describe_traces
from insync.cli.show.seen_on_kafka import seen_at_length
from insync.cli.show.warned import warning_lines
from insync.explorer.pictures.page import Caption
from insync.explorer.traces.grid import Paint, Tone
from insync.kafka.cluster.configuration import Flushing, keeps_elr
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.kafka_questions.ask import Answer
from insync.kafka_questions.causes import Cause, CauseKind, harm_of
from insync.kafka_questions.configs.reading import Configured
from insync.kafka_questions.controllers import in_both
from insync.kafka_questions.disturbances import Row
from insync.kafka_questions.liveness import Ended
from insync.kafka_questions.question import LOSS, PROMISES, Given, with_shown_bounds

__all__ = [
    "Asked",
    "caption_of",
    "describe_cause",
    "describe_details",
    "describe_ends",
    "describe_first_screen",
    "describe_head",
    "describe_open",
    "describe_settings",
    "describe_unasked",
    "more_lines",
    "verdict_sentence",
]

_MOST_CAUSES = 3
_MOST_TOPICS = 8
_MOST_CUT = 6


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked about: settings, where each comes from, and the topics that have them.

    Attributes:
        settings: the settings, under the names of the model.
        version: the release as it was given, such as 3.9.2; empty for that of the settings.
        origins: where each setting comes from; one that is missing is assumed.
        topics: the topics; none without files.
        assumes_kraft: whether nothing says whose the controller is, so that KRaft's is assumed where there are both.
        remarks: what the files leave open.
    """

    settings: Given
    version: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)
    topics: Sequence[str] = ()
    assumes_kraft: bool = False
    remarks: Sequence[str] = ()


_SETTINGS = {
    "release": "Kafka",
    "replicas": "replication factor",
    "min_insync": "min.insync.replicas",
    "acks": "acks",
    "unclean": "unclean.leader.election.enable",
    "elr": "eligible.leader.replicas.version",
    "flushing": "flush.messages",
}
_VALUES = {
    "unclean": {"on": "true", "off": "false"},
    "elr": {"on": "1", "off": "0"},
    "flushing": {"always": "1", "never": "default", "sometimes": "some"},
}


def describe_settings(settings: Given) -> str:
    """Return settings by their names in Kafka."""
    said = []
    for name, value in settings.items():
        shown = _VALUES.get(name, {}).get(str(value), value)
        equals = " " if name in ("release", "replicas") else "="
        said.append(f"{_SETTINGS.get(name, name)}{equals}{shown}")
    return ", ".join(said)


def describe_head(asked: Asked, model: Cluster, paint: Paint, width: int) -> str:
    """Return the settings that are asked about, where each comes from, and what is wrong with them."""
    lines = _wrapped(_in_short(asked, model), width)
    release = model.b.settings.release.value
    if asked.topics:
        more = len(asked.topics) - _MOST_TOPICS
        shown = ", ".join(asked.topics[:_MOST_TOPICS]) + (f" and {more} more" if more > 0 else "")
        lines += _wrapped(f"topics: {shown}", width)
    lines += _wrapped(_origins(asked, model), width)
    about_rules = f"Kafka {release} has the rules of "
    remarks = [remark for remark in model.remarks() if not remark.startswith(about_rules)]
    return "\n".join([*lines, *warning_lines([*remarks, *asked.remarks], paint, width)])


def _in_short(asked: Asked, model: Cluster) -> str:
    """Return the settings that decide, in a line."""
    replicas, release = model.b.replicas - model.b.spares, model.b.settings.release.value
    version = asked.version or release
    rules = f" (rules of {release})" if version != release else ""
    elr = "on" if keeps_elr(model.b) else "off"
    said = f"Kafka {version}{rules}, RF {replicas}, min.insync.replicas={model.b.min_insync}, acks={model.acks.value}"
    said += f", unclean election {'on' if model.unclean else 'off'}"
    flushed = "" if model.flushing is Flushing.NEVER else f", flushed {model.flushing.value}"
    return f"{said}, ELR {elr}{flushed}"


def caption_of(cause: Cause, asked: Asked, model: Cluster) -> Caption:
    """Return what a page says above the trace of a cause: the verdict, the settings, the topics, the step of harm."""
    ticket = "" if cause.entry is None else f" ({cause.entry.ticket})"
    what = "An acknowledged record can be lost" if cause.loses else "A promise can be broken"
    title = f"{what}: {cause.story}. {cause.name}{ticket}"
    topics = f" Topics: {', '.join(asked.topics[:_MOST_TOPICS])}." if asked.topics else ""
    number = harm_of(cause.violation.trace)
    harm = None if number is None else (number, "here the harm is done")
    return Caption(title, f"{_in_short(asked, model)}.{topics} {_harm(cause)}".strip(), harm)


def _harm(cause: Cause) -> str:
    """Return the sentence that names the step of harm; empty if there is none."""
    trace = cause.violation.trace
    number = harm_of(trace)
    return "" if number is None else f"The harm is done in step {number}: {trace.steps[number].label}."


_SHORT = {"release": "release", "replicas": "RF", "unclean": "unclean election", "elr": "ELR"}


def _origins(asked: Asked, model: Cluster) -> str:
    """Return where the settings come from, those with the same source together."""
    by_place: dict[str, list[str]] = {}
    release: Release = model.b.settings.release
    left_out = {"elr"} if release.is_before(Release.V4_0) else set()
    left_out |= {"flushing"} if model.flushing is Flushing.NEVER else set()
    for name in ("release", "replicas", "min_insync", "acks", "unclean", "elr", "flushing"):
        if name not in left_out:
            by_place.setdefault(asked.origins.get(name, "assumed"), []).append(_SHORT.get(name, _SETTINGS[name]))
    assumed = by_place.pop("assumed", [])
    assumed += ["KRaft"] if asked.assumes_kraft and in_both(model) else []
    said = [f"{place}: {', '.join(names)}" for place, names in by_place.items()]
    if assumed:
        new = "ELR as in a new cluster"
        said.append(f"assumed: {', '.join(new if one == 'ELR' else one for one in assumed)}")
    return "; ".join(said)


def verdict_sentence(answer: Answer, accepted: Sequence[str] = ()) -> str:
    """Return the verdict in one sentence."""
    lost = [cause for cause in answer.causes if cause.name not in accepted]
    of_settings = [cause for cause in lost if cause.kind is CauseKind.SETTINGS]
    release = answer.model.b.settings.release.value
    if any(stop.by == "down" and stop.failures == 0 for stop in answer.stops):
        return "NO WRITES: writes with acks=all are refused though no broker has failed."
    if all(row.outcome(LOSS) in ("not promised", "cannot happen") for row in answer.rows):
        return "NOTHING IS PROMISED: with acks=0 no record is acknowledged, so any may be lost."
    if of_settings:
        return f"AT RISK: {_can_be(of_settings[0])}; a setting would prevent it."
    not_found = [cause for cause in lost if cause.kind is CauseKind.UNKNOWN]
    if not_found:
        return f"AT RISK: {_can_be(not_found[0])}; its cause was not looked for yet."
    unknown = [row for row in answer.rows if row.searched is not None and not row.searched.complete]
    if unknown:
        return f"UNKNOWN: {', '.join(row.words for row in unknown)} could not be searched whole."
    of_release = [cause for cause in lost if cause.kind is CauseKind.RELEASE]
    if of_release:
        return f"AS GOOD AS Kafka {release} CAN BE: no setting keeps more, but {_can_be(of_release[0])}."
    if any(cause.kind is CauseKind.DESIGN for cause in lost):
        return "SAFE as far as Kafka goes: an acknowledged record is lost only when the whole cluster loses power."
    if answer.causes or answer.open:
        return "SAFE against all that was searched, but for what is accepted or open in every release."
    return "SAFE against all that was searched: no acknowledged record is lost."


def _can_be(cause: Cause) -> str:
    what = "an acknowledged record can be lost" if cause.loses else "a promise can be broken"
    return f"{what} when {cause.rows[0].words}"


def describe_first_screen(answer: Answer, accepted: Sequence[str], paint: Paint, width: int) -> str:
    """Return the verdict, the causes, what is safe, what to change, and when writes stop."""
    verdict = verdict_sentence(answer, accepted)
    tone = verdict.split(" ")[0]
    painted = paint(verdict, _tone(tone))
    lines = textwrap.wrap(verdict, width) if len(verdict) > width else [painted]
    shown = [cause for cause in answer.causes if cause.name or cause.kind is CauseKind.UNKNOWN]
    shown = shown or list(answer.causes)
    by_settings = any(cause.kind is CauseKind.SETTINGS for cause in shown)
    by_design = [cause for cause in shown if by_settings and cause.kind is CauseKind.DESIGN]
    others = [cause for cause in shown if cause not in by_design]
    for cause in others[:_MOST_CAUSES]:
        lines += _wrapped(_cause_line(cause, cause.name in accepted), width, "  ", "       ")
    if left := [*others[_MOST_CAUSES:], *by_design]:
        names = ", ".join(cause.name or "one without a name" for cause in left)
        lines.append(f"  More causes: {names} (--details)")
    safe = [row for row in answer.rows if row.searched is not None and row.outcome(LOSS) == "safe"]
    if safe:
        lines += _wrapped(f"Safe against, each alone: {', '.join(row.label for row in safe)}.", width, "", "  ")
    cut = [row.label for row in answer.rows if row.searched is not None and row.outcome(LOSS) == "not searched"]
    if cut and not verdict.startswith("UNKNOWN"):
        more = f" and {len(cut) - _MOST_CUT} more" if len(cut) > _MOST_CUT else ""
        lines += _wrapped(f"Not searched to the end: {', '.join(cut[:_MOST_CUT])}{more}.", width, "", "  ")
    if change := _to_change(answer, accepted):
        lines += _wrapped(f"What to change: {change}.", width, "", "  ")
    if answer.otherwise is not None:
        also = ", also with what is to be changed" if by_settings else ""
        said = (
            "If the cluster was upgraded, eligible.leader.replicas.version is 0 (give --elr off): then an acknowledged "
            f"record can be lost when {answer.otherwise.words}{also} (R-25, KIP-966)."
        )
        lines += _wrapped(said, width, "", "  ")
    stops = " ".join(f"{said[:1].upper()}{said[1:]}." for said in stops_in_words(answer.stops))
    lines += _wrapped(stops, width, "", "  ")
    return "\n".join(lines)


def _tone(word: str) -> Tone:
    return Tone.GOOD if word in ("SAFE", "AS") else Tone.BAD if word in ("AT", "NO") else Tone.OPEN


def _cause_line(cause: Cause, accepted: bool) -> str:
    """Return a cause in one or two lines: its name, what happens, by which disturbance, and what removes it."""
    entry = cause.entry
    ticket = "" if entry is None or not entry.ticket.startswith(("K", "PR")) else f" {entry.ticket}"
    name = f"{cause.name}{ticket}: " if cause.name else ""
    row = cause.rows[0]
    steps = cause.violation.trace_length - 1
    what = "" if cause.loses else f" (broken: {PROMISES[cause.violation.property]})"
    removed = {
        CauseKind.SETTINGS: f"Change {describe_settings(cause.change)}",
        CauseKind.RELEASE: f"First fixed in {cause.fixed_in}"
        + (" with eligible.leader.replicas.version=1" if cause.change.get("elr") == "on" else ""),
        CauseKind.DESIGN: "By design; only flush.messages=1 prevents it",
        CauseKind.UNKNOWN: "More time (--max-seconds) finds the cause",
        CauseKind.OPEN: "No release has a fix",
    }[cause.kind]
    likely = "rare, a race in one method" if cause.violation.trace.takes_race else row.disturbances[0].likelihood
    told = " (accepted)" if accepted else ""
    return f"{name}{cause.story}{what}. By: {row.label} ({likely}; {steps} steps). {removed}.{told}"


def _to_change(answer: Answer, accepted: Sequence[str]) -> str:
    """Return the settings to change, or the release to go to; empty if nothing helps."""
    wanted = [cause for cause in answer.causes if cause.name not in accepted]
    settings = [describe_settings(cause.change) for cause in wanted if cause.kind is CauseKind.SETTINGS]
    if settings:
        return ", ".join(dict.fromkeys(", ".join(settings).split(", ")))
    releases = [cause.change for cause in wanted if cause.kind is CauseKind.RELEASE and cause.change]
    if not releases:
        return ""
    newest = max(releases, key=lambda change: Release(change["release"]).age)
    return f"no setting; an upgrade to {describe_settings(newest)}"


def describe_open(found: Sequence[Cause], accepted: Sequence[str], rebalances: bool, width: int) -> str:
    """Return the defects that no release has fixed, each with what avoids it and its page; empty if there are none."""
    named = [cause for cause in found if cause.name and cause.name not in accepted]
    if not named:
        return ""
    lines = ["Open in every release you could choose (pages in docs/findings; only --fail-on any counts them):"]
    for cause in named:
        avoided = cause.avoided_by
        if cause.name == "N-01" and not rebalances:
            avoided += ", which you have"
        lines += _wrapped(f"{cause.name}: {cause.story}; rarer with {avoided}", width, "  ", "       ")
    return "\n".join(lines)


def describe_details(answer: Answer, width: int) -> str:
    """Return the table of promises and disturbances, and the figures of the searches."""
    names = [name for name in PROMISES if any(_found(row, name) for row in answer.rows)]
    lines = ["", "Promises against disturbances:", ""]
    columns = [f"P{number}" for number in range(1, len(names) + 1)]
    lines += [f"  {column}  {PROMISES[name]}" for column, name in zip(columns, names, strict=True)]
    head = "".join(f"{column:<20}" for column in columns)
    lines += ["", f"  {'against':<14}{head}states".rstrip()]
    for row in answer.rows:
        cells = "".join(f"{row.outcome(name):<20}" for name in names)
        states = "" if row.searched is None else f"{row.searched.result.distinct_states:,}"
        lines.append(f"  {row.name:<14}{cells}{states}".rstrip())
    lines.append("")
    for cause in (*answer.causes, *answer.open):
        rows = ", ".join(row.name for row in cause.rows)
        lines += _wrapped(f"{cause.name or 'unnamed'}: {cause.story}; seen against: {rows}.", width, "  ", "       ")
    return "\n".join(lines)


def _found(row: Row, name: str) -> bool:
    return row.outcome(name) not in ("cannot happen", "not searched")


def describe_unasked(configured: Configured, width: int) -> str:
    """Return the lines about keys of files that were not asked about; empty if there are none."""
    lines = [f"not asked about: {key} ({about})" for key, about in configured.named.items()]
    if configured.ignored:
        lines.append(f"ignored: {', '.join(configured.ignored)}")
    return "\n".join(part for line in lines for part in _wrapped(line, width))


def describe_cause(cause: Cause, file: Path | None, paint: Paint, width: int) -> str:
    """Return the story of a cause, its shortest trace step by step, and what removes it."""
    entry = cause.entry
    lines = [""]
    if entry is not None:
        lines += [f"{entry.name}   {entry.title}", f"{entry.ticket}; affected: {entry.affected}", ""]
        lines += _wrapped(entry.story, width)
        lines += ["", *_wrapped(f"fix: {entry.fix}", width)]
        lines += _wrapped(finding_line(entry.name), width)
        lines += [line for said in seen_at_length(entry.name) for line in _wrapped(said, width, "", "  ")]
    else:
        lines += _wrapped(cause.story, width)
    trace = with_shown_bounds(cause.violation.trace, cause.model)
    lines += describe_traces([trace], cause.model.grid, [file], paint, width)
    lines += ["", *_wrapped(_harm(cause), width), *_wrapped(_cause_line(cause, accepted=False), width)]
    return "\n".join(lines)


def describe_ends(found: Sequence[Ended], width: int) -> str:
    """Return a sentence for each question of liveness."""
    lines = []
    for one in found:
        said = {"holds": one.ending.words, "violated": one.ending.never}.get(
            str(one.verdict), f"Not decided: {one.ending.words[:1].lower()}{one.ending.words[1:]}"
        )
        lines += _wrapped(said, width, "", "  ")
    return "\n".join(lines)


def _wrapped(text: str, width: int, first: str = "", rest: str = "  ") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest)


def more_lines(answers: Sequence[Answer], width: int) -> Iterator[str]:
    """Yield the line that names what there is besides the first screen."""
    names = [cause.name for answer in answers for cause in (*answer.causes, *answer.open) if cause.name]
    shown = f"--explain {names[0]} (its shortest trace), " if names else ""
    yield from _wrapped(f"More: {shown}--details (the table), --pairs (two at a time), --finishes, --html FILE.", width)

"""A cause of a loss: in two lines, as the caption of a page, and with its trace step by step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from insync.explorer.documents.text import describe_traces, wrapped
from insync.explorer.pictures.page import Caption
from insync.explorer.traces.grid import Paint
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.causes.cause import HARM, Cause, CauseKind, harm_of
from insync.kafka_questions.cluster_settings import Asked
from insync.kafka_questions.configs.precedence import EVERY_OTHER
from insync.kafka_questions.documents.findings import finding_lines
from insync.kafka_questions.documents.settings import describe_settings, settings_in_a_line, topics_in_short
from insync.kafka_questions.documents.verdict import without_release
from insync.kafka_questions.question import PROMISES, in_a_line, with_shown_bounds

__all__ = ["caption_of", "cause_line", "describe_cause"]


def caption_of(cause: Cause, asked: Asked, model: Cluster) -> Caption:
    """Return the caption of a cause on a page: the verdict, the settings, the topics, the step of harm."""
    ticket = "" if cause.entry is None else f" ({cause.entry.ticket})"
    what = "An acknowledged record can be lost" if cause.loses else "A promise can be broken"
    title = f"{what}: {cause.story}. {cause.name}{ticket}"
    topics = f" Topics: {topics_in_short(asked)}." if tuple(asked.topics) not in ((), (EVERY_OTHER,)) else ""
    number = harm_of(cause.violation.trace)
    harm = None if number is None else (number, HARM)
    changed = f" {_changed_first(cause, model)}".rstrip()
    return Caption(title, f"{settings_in_a_line(asked, cause.model)}.{changed}{topics} {_harm(cause)}".strip(), harm)


def _harm(cause: Cause) -> str:
    """Return the sentence that names the step of harm; empty if there is none."""
    trace = cause.violation.trace
    number = harm_of(trace)
    return "" if number is None else f"The harm is done in step {number}: {trace.steps[number].label}."


def _changed_first(cause: Cause, model: Cluster) -> str:
    """Return how the cluster of a cause's trace differs from that of the answer; empty if it does not."""
    shown, asked = (_with_release(one).split(", ") for one in (cause.model, model))
    changed = [(one, other) for one, other in zip(shown, asked, strict=False) if one != other]
    of_trace, of_answer = (", ".join(each) for each in zip(*changed, strict=True)) if changed else ("", "")
    return f"The trace is that of a cluster with {of_trace}, where yours has {of_answer}." if changed else ""


def _with_release(model: Cluster) -> str:
    return f"Kafka {model.b.settings.release.value}, {in_a_line(model)}"


def cause_line(cause: Cause, accepted: bool) -> str:
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
        + (f" with {describe_settings(beside)}" if (beside := without_release(cause.change)) else ""),
        CauseKind.DESIGN: cause.avoided_by or "By design; of what was tried only flush.messages=1 prevents it",
        CauseKind.UNKNOWN: "Its cause is not known",
        CauseKind.OPEN: "No release has a fix",
    }[cause.kind]
    likely = "rare, a race in one method" if cause.violation.trace.takes_race else row.disturbances[0].likelihood
    told = " (accepted)" if accepted else ""
    return f"{name}{cause.story}{what}. By: {row.label} ({likely}; {steps} steps). {removed}.{told}"


def describe_cause(
    cause: Cause, seen: Sequence[str], file: Path | None, model: Cluster, paint: Paint, width: int
) -> str:
    """Return the story of a cause, its shortest trace step by step, and what removes it.

    Args:
        cause: the cause.
        seen: lines about its runs on Kafka itself.
        file: the file of its trace.
        model: the cluster of the answer.
        paint: how to color.
        width: the greatest width of a line.
    """
    entry = cause.entry
    lines = [*wrapped(_changed_first(cause, model), width), ""]
    if entry is not None:
        lines += [f"{entry.name}   {entry.title}", f"{entry.ticket}; affected: {entry.affected}", ""]
        lines += wrapped(entry.story, width)
        lines += ["", *wrapped(f"fix: {entry.fix}", width)]
        lines += [line for said in finding_lines(entry.name) for line in wrapped(said, width)]
        lines += [line for said in seen for line in wrapped(said, width, "", "  ")]
    else:
        lines += wrapped(cause.story, width)
    trace = with_shown_bounds(cause.violation.trace, cause.model)
    lines += describe_traces([trace], cause.model.grid, [file], paint, width)
    lines += ["", *wrapped(_harm(cause), width), *wrapped(cause_line(cause, accepted=False), width)]
    return "\n".join(lines)

"""`insync ask` as text: a first screen with the verdict, its assumptions, the causes and what to change."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from insync.explorer.documents.text import wrapped
from insync.explorer.traces.grid import Paint
from insync.kafka.cluster.configuration import Acks
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.ask import Answer
from insync.kafka_questions.causes.cause import Cause, CauseKind
from insync.kafka_questions.cluster_settings import Asked
from insync.kafka_questions.configs.reading import Configured
from insync.kafka_questions.disturbances import Row
from insync.kafka_questions.documents.availability import stops_in_words
from insync.kafka_questions.documents.cause import cause_line
from insync.kafka_questions.documents.settings import deciding, places_of, settings_shared, topics_in_short
from insync.kafka_questions.documents.verdict import Gate, causes_left, verdict_sentence, verdict_tone, verdict_word
from insync.kafka_questions.documents.what_to_change import prices, what_to_change, with_one_more
from insync.kafka_questions.liveness import Ended
from insync.kafka_questions.question import LOSS, PROMISES, in_a_line, replication_factor

__all__ = [
    "describe_details",
    "describe_each_in_short",
    "describe_ends",
    "describe_ends_of_many",
    "describe_first_screen",
    "describe_unasked",
    "more_lines",
    "written_lines",
]


_MOST_CAUSES = 3
_MOST_CUT = 6


@dataclass(slots=True)  # not frozen: `lines` are replaced by `short` if the screen is too small
class _Part:
    """Some lines of the first screen.

    Attributes:
        lines: the lines.
        short: the lines that replace them on a screen that is too small; None if there is no shorter form.
    """

    lines: list[str]
    short: list[str] | None = None


def describe_first_screen(answer: Answer, gate: Gate, paint: Paint, width: int, room: int | None = None) -> str:
    """Return the verdict, the causes, what is safe, what to change, when writes stop, and what is open.

    Args:
        answer: the answer.
        gate: which causes count.
        paint: how to color.
        width: the greatest width of a line.
        room: the number of lines that there are; None for as many as it takes. If they are too few, the least
            important parts are shortened.
    """
    by_settings = any(cause.kind is CauseKind.SETTINGS for cause in answer.causes)
    verdict = _Part(_verdict_lines(answer, gate.accepted, paint, width))
    causes = _causes_part(answer, gate.accepted, width, by_settings=by_settings, whole=room is None)
    safe, cut = _safe_part(answer, width), _cut_part(answer, width)
    to_change, otherwise = _change_part(answer, gate, width), _otherwise_part(answer, width, by_settings=by_settings)
    stops = _Part(wrapped(_stops(answer), width))
    unfixed = describe_open([answer], gate, width)
    parts = [verdict, causes, safe, cut, to_change, otherwise, stops, unfixed]
    for part in (unfixed, safe, causes, otherwise, to_change):
        if room is not None and sum(len(one.lines) for one in parts) > room and part.short is not None:
            part.lines = part.short
    return "\n".join(line for part in parts for line in part.lines)


def _stops(answer: Answer) -> str:
    """Return when writes stop, in sentences."""
    replicas, fewest = replication_factor(answer.model), answer.model.b.min_insync_replicas
    writes, *others = stops_in_words(answer.stops, replicas)
    if answer.model.acks is not Acks.ALL:
        writes = writes.replace(" are refused", " would be refused")
    elif replicas == fewest > 1:
        writes += with_one_more(fewest)
    return " ".join(f"{said[:1].upper()}{said[1:]}." for said in (writes, *others))


def _verdict_lines(answer: Answer, accepted: Sequence[str], paint: Paint, width: int) -> list[str]:
    verdict = verdict_sentence(answer, accepted)
    painted = paint(verdict, verdict_tone(verdict.split(" ")[0]))
    return textwrap.wrap(verdict, width) if len(verdict) > width else [painted]


def _causes_part(answer: Answer, accepted: Sequence[str], width: int, *, by_settings: bool, whole: bool) -> _Part:
    in_short = by_settings and not whole
    by_design = [cause for cause in answer.causes if in_short and cause.kind is CauseKind.DESIGN]
    larger = [one for one in answer.causes if _has_one_replica(answer.model) and not _has_one_replica(one.model)]
    by_design = [cause for cause in by_design if cause not in larger]
    others = [cause for cause in answer.causes if cause not in (*by_design, *larger)]

    def lines(most: int) -> list[str]:
        found = [
            line
            for cause in others[:most]
            for line in wrapped(cause_line(cause, cause.name in accepted), width, "  ", "       ")
        ]
        if left := [*others[most:], *by_design]:
            names = ", ".join(cause.name or f"one without a name by {cause.rows[0].label}" for cause in left)
            found.append(f"  More causes: {names} (--details)")
        if larger:  # found in the cluster with the changes
            found.append(f"  With more replicas: {', '.join(cause.name for cause in larger if cause.name)} (--details)")
        return found

    return _Part(lines(len(others) if whole else _MOST_CAUSES), lines(1) if len(others) > 1 else None)


def _has_one_replica(model: Cluster) -> bool:
    return replication_factor(model) == 1


def _safe_part(answer: Answer, width: int) -> _Part:
    labels = [
        row.label
        for row in answer.rows
        if row.searched is not None and not row.searched.broken and row.outcome(LOSS) == "safe"
    ]
    together = [label for label in labels if " + " in label]
    alone = [label for label in labels if label not in together]
    said = [f"each alone: {', '.join(alone)}"] if alone else []
    said += [f"together: {', '.join(together)}"] if together else []
    if not said:
        return _Part([])
    first, more = (alone or together)[0], len(labels) - 1
    others = f", and {more} other disturbance{'s' if more > 1 else ''} (--details)" if more else ""
    short = f"Safe against: {first}{others}."
    return _Part(wrapped(f"Safe against, {'; and '.join(said)}.", width), [short])


def _cut_part(answer: Answer, width: int) -> _Part:
    rows = [row for row in answer.rows if row.searched is not None and row.outcome(LOSS) == "not searched"]
    if not rows:
        return _Part([])
    more = f" and {len(rows) - _MOST_CUT} more" if len(rows) > _MOST_CUT else ""
    steps = min(row.steps for row in rows)
    whole = f" (nothing is lost within {steps} steps)" if steps else ""
    named = ", ".join(row.label for row in rows[:_MOST_CUT])
    why = " and ".join(dict.fromkeys(_WHY_CUT.get(row.stopped_by, row.stopped_by) for row in rows))
    return _Part(wrapped(f"Not searched to the end, as {why}{whole}: {named}{more}.", width))


_WHY_CUT = {
    "states": "there are too many orders of events for an answer in seconds",
    "time": "the time was up",
    "memory": "the memory was full",
    "interrupt": "it was interrupted",
}


def _change_part(answer: Answer, gate: Gate, width: int) -> _Part:
    forms = []
    for whole in (True, False):
        lines = list[str]()
        if change := what_to_change(answer, gate, commands=whole):
            lines += wrapped(f"What to change: {change}.{prices(answer, gate, whole=whole)}", width)
        if counted := gate.counted(answer):
            lines += wrapped(f"Exit code 1, as --fail-on any counts {', '.join(counted)}.", width)
        forms.append(lines)
    return _Part(forms[0], forms[1])


def _otherwise_part(answer: Answer, width: int, *, by_settings: bool) -> _Part:
    if answer.otherwise is None:
        return _Part([])
    if answer.otherwise.outcome(LOSS) == "not searched":
        said = "If the cluster was upgraded (--elr off), what it loses then was not searched to the end."
        return _Part(wrapped(said, width))
    also = ", also with what is to be changed" if by_settings else ""
    said = (
        "If the cluster was upgraded, eligible.leader.replicas.version is 0 (give --elr off): then an acknowledged "
        f"record can be lost when {answer.otherwise.words}{also} (R-25, KIP-966)."
    )
    short = "If the cluster was upgraded (--elr off), an acknowledged record can be lost by R-25, KIP-966."
    return _Part(wrapped(said, width), [short])


def describe_each_in_short(
    asked: Sequence[Asked], answers: Sequence[Answer], gate: Gate, paint: Paint, width: int, room: int
) -> str:
    """Return a few lines for each of the worst combinations of settings.

    Args:
        asked: the settings of each combination.
        answers: the answers.
        gate: which causes count.
        paint: how to color.
        width: the greatest width of a line.
        room: the number of lines that there are. If they are too few, fewer combinations are shown, and more briefly.
    """
    below = list[str]()
    if any(one.otherwise is not None and one.otherwise.outcome(LOSS) != "not searched" for one in answers):
        below.append("If the cluster was upgraded (--elr off), an acknowledged record can be lost by R-25, KIP-966.")
    if counted := dict.fromkeys(name for answer in answers for name in gate.counted(answer)):
        below += wrapped(f"Exit code 1, as --fail-on any counts {', '.join(counted)}.", width)
    below += describe_open(answers, gate, width).short or []
    shared = settings_shared(asked, [answer.model for answer in answers])
    forms = [(_MOST_COMBINATIONS, True), *((most, False) for most in range(_MOST_COMBINATIONS, 0, -1))]
    for most, whole in forms:
        lines = list[str]()
        for one, answer in list(zip(asked, answers, strict=True))[:most]:
            lines += _in_some_lines(one, answer, shared, gate, paint, width, whole=whole)
        if left := answers[most:]:
            counts = Counter(verdict_word(answer, gate) for answer in left)
            said = ", ".join(f"{n} {word}" for word, n in counts.items())
            lines.append(f"And {len(left)} more: {said} (--details).")
        if len(lines) + len(below) <= room:
            break
    return "\n".join([*lines, *below])


def _in_some_lines(
    asked: Asked, answer: Answer, shared: Sequence[str], gate: Gate, paint: Paint, width: int, *, whole: bool
) -> list[str]:
    """Return the settings and their places, the verdict, causes and changes, and if `whole` when writes stop."""
    lines = [_fitting(f"{topics_in_short(asked, 3)}: {in_a_line(answer.model)}".split(" "), " ", width)]
    if own := places_of(asked, [name for name in deciding(answer.model) if name not in shared]):
        lines.append(f"  {_fitting(own, '; ', width - 2)}")
    verdict, change = verdict_sentence(answer, gate.accepted), what_to_change(answer, gate, commands=False)
    causes = ", ".join(cause.name for cause in causes_left(answer, gate.accepted) if cause.name)
    said = verdict + (f" Causes: {causes}." if causes else "")
    said += f" What to change: {change}.{prices(answer, gate, whole=False)}" if change else ""
    first, *others = wrapped(said, width, "  ", "  ")
    word = verdict.split(" ")[0]
    lines += [first.replace(word, paint(word, verdict_tone(word)), 1), *others]
    if whole and not answer.refuses_writes:
        lines += wrapped(_stops(answer).split(". ")[0].rstrip(".") + ".", width, "  ", "  ")
    return lines


def _fitting(parts: Sequence[str], separator: str, width: int) -> str:
    """Return a line of the first parts, as many as fit, and ` ...` for the others. The first part is never cut."""
    lines = [
        separator.join(parts[:number]) + (" ..." if number < len(parts) else "") for number in range(1, len(parts) + 1)
    ]
    return next((line for line in reversed(lines) if len(line) <= width), lines[0])


_MOST_COMBINATIONS = 3


def describe_open(answers: Sequence[Answer], gate: Gate, width: int) -> _Part:
    """Return the findings that no release has fixed: those that were found here, and those that were not searched."""
    found = (cause for one in answers for cause in one.open)
    named = {cause.name: cause for cause in found if cause.name and cause.name not in gate.accepted}
    below = _not_searched(answers, gate, width)
    if not named:
        return _Part(below, below)
    lines = ["Defects of this release that no release has fixed (only --fail-on any counts them):"]
    for cause in named.values():
        avoided = cause.avoided_by
        if cause.name == "N-01" and not gate.rebalances:
            avoided += ", which you have"
        lines += wrapped(f"{cause.name}: {cause.story}; {avoided}", width, "  ", "       ")
    defects = "a defect" if len(named) == 1 else "defects"
    names = f"{', '.join(named)} (--explain {next(iter(named))})"
    short = f"This cluster also has {defects} that no release has fixed: {names}."
    return _Part([*lines, *below], [short, *below])


def _not_searched(answers: Sequence[Answer], gate: Gate, width: int) -> list[str]:
    """Return the lines on findings that lose records and that no search here could show; none if there are none."""
    here, later = (
        [name for name in dict.fromkeys(every) if name not in gate.accepted]
        for every in (
            (name for one in answers for name in one.not_searched),
            (name for one in answers for name in one.open_after_upgrade),
        )
    )
    later = [name for name in later if name not in here]
    lose = "which lose records and which no release has fixed"
    return [
        line
        for what, names in (("Not searched here", here), ("The upgrade brings", later))
        if names
        for line in wrapped(f"{what}: {', '.join(names)}, {lose} (insync defects {names[0]}).", width)
    ]


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
        rows = ", ".join(row.name for row in cause.rows if row.name != cause.name)
        race = ", by a race, which the table leaves out" if cause.violation.trace.takes_race else ""
        seen = f"seen against: {rows}{race}" if rows else "seen in a search of its own"
        lines += wrapped(f"{cause.name or 'unnamed'}: {cause.story}; {seen}.", width, "  ", "       ")
    return "\n".join(lines)


def _found(row: Row, name: str) -> bool:
    return row.outcome(name) not in ("cannot happen", "not searched")


def describe_unasked(configured: Configured, width: int) -> str:
    """Return the lines about keys of files that the answer does not cover; empty if there are none."""
    lines = [f"not a setting of the model: {key} ({about})" for key, about in configured.named.items()]
    if configured.ignored:
        lines.append(f"ignored: {', '.join(configured.ignored)}")
    return "\n".join(part for line in lines for part in wrapped(line, width))


def describe_ends(found: Sequence[Ended], width: int) -> str:
    """Return a sentence for each question of liveness."""
    return "\n".join(line for one in found for line in wrapped(_end_in_words(one, one.ending.sentence()), width))


def describe_ends_of_many(asked: Sequence[Asked], found: Sequence[Sequence[Ended]], width: int) -> list[str]:
    """Return lines on the questions of liveness for several combinations, those with the same answers together."""
    topics = dict[str, list[str]]()
    for one, ended in zip(asked, found, strict=True):
        said = " ".join(_end_in_words(each, f"{each.ending.words}.") for each in ended)
        topics.setdefault(said, []).extend(one.topics)
    return [
        line
        for said, of in topics.items()
        for line in wrapped(said if len(topics) == 1 else f"{', '.join(of)}: {said}", width)
        if said
    ]


def _end_in_words(one: Ended, always: str) -> str:
    """Return the answer to a question of liveness in sentences; `always` is the sentence for yes."""
    said = {"holds": always, "violated": one.ending.never}.get(
        str(one.verdict), f"Not decided: {always[:1].lower()}{always[1:]}"
    )
    if one.ending.each and one.model.b.min_insync_replicas >= one.model.b.replicas > 1:
        said += (
            " But tools that wait for a spare in-sync replica, such as Strimzi's roller and Cruise Control, stop "
            "no broker while min.insync.replicas is the replication factor."
        )
    return said


def more_lines(answers: Sequence[Answer], width: int) -> Iterator[str]:
    """Yield the line that names the options for more than the first screen."""
    named = ((answer, cause) for answer in answers for cause in (*answer.causes, *answer.open) if cause.name)
    shown = next((f"{_explaining(answer, cause)} (its shortest trace), " for answer, cause in named), "")
    yield from wrapped(f"More: {shown}--details (the table), --pairs (two at a time), --finishes, --html FILE.", width)


def _explaining(answer: Answer, cause: Cause) -> str:
    """Return the options that explain a cause, with its disturbance alone if nothing else was known when it was found.

    That is so for a cause of the first row that breaks a promise; other causes may depend on those of earlier rows.
    """
    first = next((row for row in answer.rows if row.searched is not None and row.searched.broken), None)
    alone = len(answer.rows) > 1 and cause in answer.causes and first is not None and cause.rows[0].name == first.name
    return f"--against {first.name} --explain {cause.name}" if alone and first else f"--explain {cause.name}"


def written_lines(files: Sequence[Path], width: int) -> list[str]:
    """Return the lines that name the trace files, and the command that reads one."""
    named = ", ".join(str(file) for file in files)
    return wrapped(f"Traces written: {named}. Step by step: insync replay {files[0]}", width)

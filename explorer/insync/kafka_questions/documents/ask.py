"""`insync ask` as text: a first screen with the verdict, its assumptions, the causes and what to change."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from insync.explorer.documents.text import describe_traces, warning_lines
from insync.explorer.pictures.page import Caption
from insync.explorer.results import Verdict
from insync.explorer.traces.grid import Paint, Tone
from insync.kafka.cluster.configuration import Acks, Flushing
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.kafka_questions.ask import Answer
from insync.kafka_questions.causes import HARM, Cause, CauseKind, changes_of, harm_of
from insync.kafka_questions.configs.reading import EVERY_OTHER, Configured
from insync.kafka_questions.controllers import in_both
from insync.kafka_questions.disturbances import Row
from insync.kafka_questions.documents.availability import stops_in_words
from insync.kafka_questions.documents.findings import finding_line
from insync.kafka_questions.liveness import Ended
from insync.kafka_questions.question import (
    LOSS,
    PROMISES,
    Given,
    in_a_line,
    replication_factor,
    unclean_sleeps,
    with_shown_bounds,
)

__all__ = [
    "Asked",
    "Gate",
    "badness",
    "caption_of",
    "cause_line",
    "describe_cause",
    "describe_details",
    "describe_each_in_short",
    "describe_ends",
    "describe_ends_of_many",
    "describe_first_screen",
    "describe_head",
    "describe_head_of_many",
    "describe_settings",
    "describe_unasked",
    "more_lines",
    "verdict_sentence",
    "written_lines",
]

_MOST_CAUSES = 3
_MOST_TOPICS = 8
_MOST_CUT = 6
_MOST_WARNED = 6


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


@dataclass(frozen=True, slots=True)
class Gate:
    """Which causes count.

    Attributes:
        fail_on: `settings` or `any`.
        accepted: the names of causes that are set aside.
        rebalances: whether preferred leaders are elected by themselves.
        metadata_first: whether an upgrade must be finished before eligible leader replicas can be turned on.
        from_zookeeper: whether the controller is, or may be, ZooKeeper's.
    """

    fail_on: str = "settings"
    accepted: Sequence[str] = ()
    rebalances: bool = True
    metadata_first: bool = False
    from_zookeeper: bool = False

    def counted(self, answer: Answer) -> list[str]:
        """Return the names of the causes that count with `any` alone, if the verdict rests on them."""
        if self.fail_on != "any" or answer.verdict_for("settings", self.accepted) is Verdict.VIOLATED:
            return []
        named = (cause.name or "one without a name" for cause in (*answer.causes, *answer.open))
        return list(dict.fromkeys(name for name in named if name not in self.accepted))


_SETTINGS = {
    "release": "Kafka",
    "replicas": "replication factor",
    "min_insync_replicas": "min.insync.replicas",
    "acks": "acks",
    "unclean_leader_election": "unclean.leader.election.enable",
    "elr": "eligible.leader.replicas.version",
    "flush": "flush.messages",
}
_VALUES = {
    "unclean_leader_election": {"on": "true", "off": "false"},
    "elr": {"on": "1", "off": "0"},
    "flush": {"always": "1", "never": "default", "sometimes": "some"},
}


def describe_settings(settings: Given) -> str:
    """Return settings by their names in Kafka."""
    said = []
    for name, value in settings.items():
        shown = _VALUES.get(name, {}).get(str(value), value)
        equals = " " if name in ("release", "replicas") else "="
        said.append(f"{_SETTINGS.get(name, name)}{equals}{shown}")
    return ", ".join(said)


def describe_head(asked: Asked, model: Cluster, paint: Paint, width: int, *, whole: bool = True) -> str:
    """Return the settings that are asked about, where each comes from, and what is wrong with them.

    Args:
        asked: what is asked about.
        model: the cluster.
        paint: how to color.
        width: the greatest width of a line.
        whole: whether warnings may fill more than their share of a first screen.
    """
    lines = _wrapped(_in_short(asked, model), width)
    if asked.topics and tuple(asked.topics) != (EVERY_OTHER,):
        lines += _wrapped(f"topics: {_topics(asked)}", width)
    lines += _wrapped(_origins(asked, model), width)
    return "\n".join([*lines, *_warned([*asked.remarks, *_about(model)], paint, width, whole=whole)])


def describe_head_of_many(asked: Sequence[Asked], models: Sequence[Cluster], paint: Paint, width: int) -> str:
    """Return the head of an answer for several combinations of settings: how many there are, and what they share."""
    release = ", ".join(dict.fromkeys(_release(one, model) for one, model in zip(asked, models, strict=True)))
    lines = [f"Kafka {release}: {len(asked)} combinations of settings, the worst first"]
    every = [_assumed(one, model) for one, model in zip(asked, models, strict=True)]
    said = _places(asked[0], _shared(asked, models))
    if assumed := list(dict.fromkeys(name for one in every for name in one)):
        said.append(f"assumed: {', '.join(assumed)}")
    lines += _wrapped("; ".join(said), width)
    of_files = [remark for one in asked for remark in one.remarks]
    remarks = list(dict.fromkeys([*of_files, *(remark for model in models for remark in _about(model))]))
    return "\n".join([*lines, *_warned(remarks, paint, width, whole=False)])


def _shared(asked: Sequence[Asked], models: Sequence[Cluster]) -> list[str]:
    """Return the names of the settings that come from the same place in all combinations."""
    names = dict.fromkeys(name for model in models for name in _decisive(model))
    return [name for name in names if name in asked[0].origins and len({one.origins.get(name) for one in asked}) == 1]


def _about(model: Cluster) -> list[str]:
    """Return what is wrong with settings; that a release has the rules of another one is said with the release."""
    release = model.b.settings.release.value
    return [one for one in model.remarks() if not one.startswith(f"Kafka {release} has the rules of ")]


def _warned(remarks: Sequence[str], paint: Paint, width: int, *, whole: bool) -> list[str]:
    """Return the lines of warnings; unless `whole` those that fit into their share of a first screen."""
    lines = list[str]()
    for number, remark in enumerate(remarks):
        new = warning_lines([remark], paint, width)
        if not whole and number and len(lines) + len(new) > _MOST_WARNED:
            return [*lines, *warning_lines([f"{len(remarks) - number} more (--details)"], paint, width)]
        lines += new
    return lines


def _topics(asked: Asked, most: int = _MOST_TOPICS) -> str:
    more = len(asked.topics) - most
    return ", ".join(asked.topics[:most]) + (f" and {more} more" if more > 0 else "")


def _release(asked: Asked, model: Cluster) -> str:
    release = model.b.settings.release.value
    version = asked.version or release
    return f"{version} (rules of {release})" if version != release else version


def _in_short(asked: Asked, model: Cluster) -> str:
    """Return the settings that decide, in a line."""
    return f"Kafka {_release(asked, model)}, {in_a_line(model)}"


def caption_of(cause: Cause, asked: Asked, model: Cluster) -> Caption:
    """Return what a page says above the trace of a cause: the verdict, the settings, the topics, the step of harm."""
    ticket = "" if cause.entry is None else f" ({cause.entry.ticket})"
    what = "An acknowledged record can be lost" if cause.loses else "A promise can be broken"
    title = f"{what}: {cause.story}. {cause.name}{ticket}"
    topics = f" Topics: {_topics(asked)}." if tuple(asked.topics) not in ((), (EVERY_OTHER,)) else ""
    number = harm_of(cause.violation.trace)
    harm = None if number is None else (number, HARM)
    changed = f" {_changed_first(cause, model)}".rstrip()
    return Caption(title, f"{_in_short(asked, cause.model)}.{changed}{topics} {_harm(cause)}".strip(), harm)


def _harm(cause: Cause) -> str:
    """Return the sentence that names the step of harm; empty if there is none."""
    trace = cause.violation.trace
    number = harm_of(trace)
    return "" if number is None else f"The harm is done in step {number}: {trace.steps[number].label}."


_SHORT = {"release": "release", "replicas": "RF", "unclean_leader_election": "unclean election", "elr": "ELR"}


def _origins(asked: Asked, model: Cluster) -> str:
    """Return where the settings come from, those with the same source together."""
    said = _places(asked, _decisive(model))
    if assumed := _assumed(asked, model):
        said.append(f"assumed: {', '.join(assumed)}")
    return "; ".join(said)


def _places(asked: Asked, names: Sequence[str]) -> list[str]:
    """Return each place that settings come from, with their names; settings without a place are left out."""
    by_place: dict[str, list[str]] = {}
    for name in names:
        if name in asked.origins:
            by_place.setdefault(asked.origins[name], []).append(_SHORT.get(name, _SETTINGS[name]))
    return [f"{place}: {', '.join(names)}" for place, names in by_place.items()]


def _assumed(asked: Asked, model: Cluster) -> list[str]:
    """Return the names of what nothing says."""
    default = "Kafka's default" if model.b.min_insync_replicas == 1 else "Kafka's default is 1"
    fewest = f"min.insync.replicas={model.b.min_insync_replicas} ({default})"
    of_producers = "acks=all (1 by default in producers before 3.0, KIP-679)"
    acks = of_producers if model.b.settings.release.is_before(Release.V3_0) else "acks"
    named = {**_SETTINGS, **_SHORT, "elr": "ELR as in a new cluster", "min_insync_replicas": fewest, "acks": acks}
    assumed = [named[name] for name in _decisive(model) if name not in asked.origins]
    return assumed + (["KRaft"] if asked.assumes_kraft and in_both(model) else [])


def _decisive(model: Cluster) -> list[str]:
    """Return the names of the settings that a cluster has, and that decide its answer."""
    release: Release = model.b.settings.release
    left_out = {"elr"} if release.is_before(Release.V4_0) else set()
    left_out |= {"flush"} if model.flushing is Flushing.NEVER else set()
    return [name for name in _SETTINGS if name not in left_out]


def _changed_first(cause: Cause, model: Cluster) -> str:
    """Return what is changed in the cluster of a cause's trace, as a sentence; empty if nothing is."""
    shown, asked = (_with_release(one).split(", ") for one in (cause.model, model))
    changed = [one for one, other in zip(shown, asked, strict=False) if one != other]
    return f"The trace is that of a cluster with {', '.join(changed)}." if changed else ""


def _with_release(model: Cluster) -> str:
    return f"Kafka {model.b.settings.release.value}, {in_a_line(model)}"


def _left(answer: Answer, accepted: Sequence[str]) -> list[Cause]:
    """Return the causes that are not set aside."""
    return [cause for cause in answer.causes if cause.name not in accepted]


def verdict_sentence(answer: Answer, accepted: Sequence[str] = ()) -> str:
    """Return the verdict in one sentence."""
    lost = _left(answer, accepted)
    of_settings = [cause for cause in lost if cause.kind is CauseKind.SETTINGS]
    release = answer.model.b.settings.release.value
    aside = dict.fromkeys(one.name for one in (*answer.causes, *answer.open) if one.name in accepted)
    but_accepted = f", but for what is accepted ({', '.join(aside)})" if aside else ""
    if answer.refuses_writes:
        return "NO WRITES: writes with acks=all are refused though no broker has failed."
    if answer.promises_nothing:
        return "NOTHING IS PROMISED: with acks=0 no record is acknowledged, so any may be lost."
    if of_settings:
        first = of_settings[0]
        left = [cause for cause in lost if cause.kind is not CauseKind.SETTINGS and cause.loses]
        stays = first.loses and any(row.name == first.rows[0].name for cause in left for row in cause.rows)
        return f"AT RISK: {_can_be(first)}; a setting would prevent {'the simplest way to that' if stays else 'it'}."
    not_found = [cause for cause in lost if cause.kind is CauseKind.UNKNOWN]
    if not_found:
        return f"AT RISK: {_can_be(not_found[0])}; {not_found[0].story}."
    unknown = [row for row in answer.rows if not row.decided]
    if unknown:
        return f"UNKNOWN: {_unknown(unknown, answer.rows)}."
    of_release = [cause for cause in lost if cause.kind is CauseKind.RELEASE]
    if of_release:
        first, alone = of_release[0], " alone" if _settings_beside(of_release[0]) else ""
        preview = f"{_PREVIEW}," if not alone and _is_preview(answer, first) else ""
        kept = f"no{' other' if aside else ''} setting{preview}{alone} keeps more"
        return f"AS GOOD AS Kafka {release} CAN BE{but_accepted}: {kept}, but {_can_be(first)}."
    by_design = [cause for cause in lost if cause.kind is CauseKind.DESIGN]
    for cause in by_design:
        if other := next((row for row in cause.rows if not row.stops_every_broker), None):
            lost_when = _can_be(replace(cause, rows=(other,)))
            kept = "no setting keeps more" if cause.avoided_by else "of what was tried only flush.messages=1 keeps more"
            return f"AS GOOD AS Kafka {release} CAN BE{but_accepted}: {kept}, but {lost_when}."
    but = ["a loss of power of the whole cluster, by design"] if by_design else []
    but += [f"what is accepted ({', '.join(aside)})"] if aside else []
    unfixed = dict.fromkeys(cause.name for cause in answer.open if cause.name not in accepted)
    but += [f"what is open in every release ({', '.join(unfixed)})"] if unfixed else []
    possible = [row for row in answer.rows if row.searched is not None]
    alone = ", each alone" if len(possible) > 1 and all(len(row.disturbances) == 1 for row in possible) else ""
    if but:
        return f"SAFE against all that was searched{alone}, but for {', and for '.join(but)}."
    return f"SAFE against all that was searched{alone}: no acknowledged record is lost."


# Source: the announcement of Kafka 4.0.0, 18 March 2025, "KIP-966: Eligible Leader Replicas (Preview)".
_PREVIEW = f" but {_SETTINGS['elr']}=1, which is a preview in 4.0"


def _is_preview(answer: Answer, cause: Cause) -> bool:
    """Return whether the release has eligible leader replicas, not yet for production, and they remove a cause."""
    return answer.model.b.settings.release is Release.V4_0 and "elr" in cause.change


def _unknown(rows: Sequence[Row], every: Sequence[Row]) -> str:
    """Return that some of the rows were not searched to the end, as a clause; one is named, more are counted."""
    if len(rows) == 1:
        return f"not all that can happen when {rows[0].words} was searched"
    possible = sum(row.searched is not None for row in every)
    return f"{len(rows)} of the {possible} disturbances were not searched to the end"


def _can_be(cause: Cause) -> str:
    what = "an acknowledged record can be lost" if cause.loses else "a promise can be broken"
    return f"{what} when {cause.rows[0].words}"


@dataclass(slots=True)  # not frozen: lines are put in a shorter form while a screen is fitted
class _Part:
    """Some lines of the first screen.

    Attributes:
        lines: the lines.
        short: what takes their place where they are too many.
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
        room: the number of lines that there are; None for as many as it takes. Where there are too few, the least
            important parts are short.
    """
    by_settings = any(cause.kind is CauseKind.SETTINGS for cause in answer.causes)
    verdict = _Part(_verdict_lines(answer, gate.accepted, paint, width))
    causes = _causes_part(answer, gate.accepted, width, by_settings=by_settings)
    safe, cut = _safe_part(answer, width), _cut_part(answer, width)
    to_change, otherwise = _change_part(answer, gate, width), _otherwise_part(answer, width, by_settings=by_settings)
    stops = _Part(_wrapped(_stops(answer), width))
    unfixed = describe_open(answer.open, gate, width)
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
        writes += _with_one_more(fewest)
    return " ".join(f"{said[:1].upper()}{said[1:]}." for said in (writes, *others))


def _with_one_more(fewest: int) -> str:
    """Return that more replicas than the fewest keep writes going, in brackets after a space."""
    return f" (with a replication factor of {fewest + 1} one may be)"


def _verdict_lines(answer: Answer, accepted: Sequence[str], paint: Paint, width: int) -> list[str]:
    verdict = verdict_sentence(answer, accepted)
    painted = paint(verdict, _tone(verdict.split(" ")[0]))
    return textwrap.wrap(verdict, width) if len(verdict) > width else [painted]


def _causes_part(answer: Answer, accepted: Sequence[str], width: int, *, by_settings: bool) -> _Part:
    by_design = [cause for cause in answer.causes if by_settings and cause.kind is CauseKind.DESIGN]
    larger = [one for one in answer.causes if _has_one_replica(answer.model) and not _has_one_replica(one.model)]
    by_design = [cause for cause in by_design if cause not in larger]
    others = [cause for cause in answer.causes if cause not in (*by_design, *larger)]

    def lines(most: int) -> list[str]:
        found = [
            line
            for cause in others[:most]
            for line in _wrapped(cause_line(cause, cause.name in accepted), width, "  ", "       ")
        ]
        if left := [*others[most:], *by_design]:
            names = ", ".join(cause.name or f"one without a name by {cause.rows[0].label}" for cause in left)
            found.append(f"  More causes: {names} (--details)")
        if larger:  # found in the cluster with the changes
            found.append(f"  With more replicas: {', '.join(cause.name for cause in larger if cause.name)} (--details)")
        return found

    return _Part(lines(_MOST_CAUSES), lines(1) if len(others) > 1 else None)


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
    short = f"Safe against {first} and {more} more (--details)." if more else f"Safe against {first}."
    return _Part(_wrapped(f"Safe against, {'; and '.join(said)}.", width), [short])


def _cut_part(answer: Answer, width: int) -> _Part:
    rows = [row for row in answer.rows if row.searched is not None and row.outcome(LOSS) == "not searched"]
    if not rows:
        return _Part([])
    more = f" and {len(rows) - _MOST_CUT} more" if len(rows) > _MOST_CUT else ""
    steps = min(row.steps for row in rows)
    whole = f" (nothing is lost within {steps} steps)" if steps else ""
    named = ", ".join(row.label for row in rows[:_MOST_CUT])
    why = " and ".join(dict.fromkeys(_WHY_CUT.get(row.stopped_by, row.stopped_by) for row in rows))
    return _Part(_wrapped(f"Not searched to the end, as {why}{whole}: {named}{more}.", width))


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
        if change := _to_change(answer, gate, commands=whole):
            lines += _wrapped(f"What to change: {change}.{_prices(answer, gate, whole=whole)}", width)
        if counted := gate.counted(answer):
            lines += _wrapped(f"Exit code 1, as --fail-on any counts {', '.join(counted)}.", width)
        forms.append(lines)
    return _Part(forms[0], forms[1])


def _otherwise_part(answer: Answer, width: int, *, by_settings: bool) -> _Part:
    if answer.otherwise is None:
        return _Part([])
    if answer.otherwise.outcome(LOSS) == "not searched":
        said = "If the cluster was upgraded (--elr off), what it loses then was not searched to the end."
        return _Part(_wrapped(said, width))
    also = ", also with what is to be changed" if by_settings else ""
    said = (
        "If the cluster was upgraded, eligible.leader.replicas.version is 0 (give --elr off): then an acknowledged "
        f"record can be lost when {answer.otherwise.words}{also} (R-25, KIP-966)."
    )
    short = "If the cluster was upgraded (--elr off), an acknowledged record can be lost by R-25, KIP-966."
    return _Part(_wrapped(said, width), [short])


def describe_each_in_short(
    asked: Sequence[Asked], answers: Sequence[Answer], gate: Gate, paint: Paint, width: int, room: int
) -> str:
    """Return some lines for each of the first of several combinations of settings, which are given the worst first.

    Args:
        asked: what is asked about.
        answers: the answers.
        gate: which causes count.
        paint: how to color.
        width: the greatest width of a line.
        room: the number of lines that there are; where there are too few, less is said, and of fewer combinations.
    """
    below = list[str]()
    if any(one.otherwise is not None and one.otherwise.outcome(LOSS) != "not searched" for one in answers):
        below.append("If the cluster was upgraded (--elr off), an acknowledged record can be lost by R-25, KIP-966.")
    if counted := dict.fromkeys(name for answer in answers for name in gate.counted(answer)):
        below += _wrapped(f"Exit code 1, as --fail-on any counts {', '.join(counted)}.", width)
    below += describe_open([cause for answer in answers for cause in answer.open], gate, width).short or []
    shared = _shared(asked, [answer.model for answer in answers])
    forms = [(_MOST_COMBINATIONS, True), *((most, False) for most in range(_MOST_COMBINATIONS, 0, -1))]
    for most, whole in forms:
        lines = list[str]()
        for one, answer in list(zip(asked, answers, strict=True))[:most]:
            lines += _in_some_lines(one, answer, shared, gate, paint, width, whole=whole)
        if left := answers[most:]:
            counts = Counter(_word(answer, gate) for answer in left)
            said = ", ".join(f"{n} {word}" for word, n in counts.items())
            lines.append(f"And {len(left)} more: {said} (--details).")
        if len(lines) + len(below) <= room:
            break
    return "\n".join([*lines, *below])


def _in_some_lines(
    asked: Asked, answer: Answer, shared: Sequence[str], gate: Gate, paint: Paint, width: int, *, whole: bool
) -> list[str]:
    """Return settings and their places, the verdict, causes and what to change, and if `whole` when writes stop."""
    lines = [textwrap.shorten(f"{_topics(asked, 3)}: {in_a_line(answer.model)}", width, placeholder=" ...")]
    if own := _places(asked, [name for name in _decisive(answer.model) if name not in shared]):
        lines.append("  " + textwrap.shorten("; ".join(own), width - 2, placeholder=" ..."))
    verdict, change = verdict_sentence(answer, gate.accepted), _to_change(answer, gate, commands=False)
    causes = ", ".join(cause.name for cause in _left(answer, gate.accepted) if cause.name)
    said = verdict + (f" Causes: {causes}." if causes else "")
    said += f" What to change: {change}.{_prices(answer, gate, whole=False)}" if change else ""
    wrapped = _wrapped(said, width, "  ", "  ")
    word = verdict.split(" ")[0]
    lines += [wrapped[0].replace(word, paint(word, _tone(word)), 1), *wrapped[1:]]
    if whole and not answer.refuses_writes:
        lines += _wrapped(_stops(answer).split(". ")[0].rstrip(".") + ".", width, "  ", "  ")
    return lines


_MOST_COMBINATIONS = 3
_VERDICTS = ("NO WRITES", "AT RISK", "NOTHING IS PROMISED", "UNKNOWN", "AS GOOD AS", "SAFE")
"""How verdicts begin, the worst first."""


def badness(answer: Answer, gate: Gate) -> int:
    """Return a number for a verdict, which is the less the worse it is."""
    return _VERDICTS.index(_word(answer, gate))


def _word(answer: Answer, gate: Gate) -> str:
    """Return how the verdict begins."""
    verdict = verdict_sentence(answer, gate.accepted)
    return next(word for word in _VERDICTS if verdict.startswith(word))


def _tone(word: str) -> Tone:
    return Tone.GOOD if word in ("SAFE", "AS") else Tone.BAD if word in ("AT", "NO") else Tone.OPEN


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
        + (f" with {describe_settings(beside)}" if (beside := _without_release(cause.change)) else ""),
        CauseKind.DESIGN: cause.avoided_by or "By design; of what was tried only flush.messages=1 prevents it",
        CauseKind.UNKNOWN: "Its cause is not known",
        CauseKind.OPEN: "No release has a fix",
    }[cause.kind]
    likely = "rare, a race in one method" if cause.violation.trace.takes_race else row.disturbances[0].likelihood
    told = " (accepted)" if accepted else ""
    return f"{name}{cause.story}{what}. By: {row.label} ({likely}; {steps} steps). {removed}.{told}"


_UPGRADE = "kafka-features.sh --bootstrap-server HOST:PORT upgrade"
_SET_FEWEST = (
    "kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type brokers --entity-default --add-config "
    "min.insync.replicas="
)


def _turning_on_elr(release: str, fewest: int, *, metadata_first: bool) -> str:
    """Return the commands that turn on eligible leader replicas and keep min.insync.replicas.

    The controller then sets min.insync.replicas for the cluster by its own file, unless it is set there already.
    """
    first = list[str]()
    if metadata_first:
        first.append(f"{_UPGRADE} --release-version {release}, when all nodes have Kafka {release}")
    if fewest > 1:
        unless = "unless each topic or the cluster has it, as a broker's file does not count then"
        first.append(f"{_SET_FEWEST}{fewest} {unless}")
    turn_on = f"{_UPGRADE} --feature {_SETTINGS['elr']}=1"
    return f"first {'; '.join(first)}; then {turn_on}" if first else turn_on


def _to_change(answer: Answer, gate: Gate, *, commands: bool) -> str:
    """Return the settings to change, or the release to go to; empty if nothing helps.

    Args:
        answer: the answer.
        gate: which causes count.
        commands: whether the commands that turn on eligible leader replicas are said as well.
    """
    wanted = _left(answer, gate.accepted)
    if answer.refuses_writes:
        replicas, fewest = replication_factor(answer.model), answer.model.b.min_insync_replicas
        return f"min.insync.replicas={replicas} or less, or a replication factor of {fewest} or more"
    if answer.promises_nothing:
        return "acks=all"
    settings = [describe_settings(cause.change) for cause in wanted if cause.kind is CauseKind.SETTINGS]
    if settings:
        said = ", ".join(dict.fromkeys(", ".join(settings).split(", ")))
        fewest = int(changes_of(wanted).get("min_insync_replicas", answer.model.b.min_insync_replicas))
        if f"{_SETTINGS['elr']}=1" not in said:
            where = f"with ELR for the topic, or for the cluster: {_SET_FEWEST}{fewest}; a broker's file does not count"
            return said + (f" ({where})" if commands and "min.insync" in said and answer.model.features.elr else "")
        if not commands:
            return f"{said} (--details has the commands, in their order)"
        release = answer.model.b.settings.release.value
        return f"{said} ({_turning_on_elr(release, fewest, metadata_first=gate.metadata_first)})"
    releases = [cause.change for cause in wanted if cause.kind is CauseKind.RELEASE and cause.change]
    if not releases:
        return ""
    newest = max(releases, key=lambda change: Release(change["release"]).age)
    beside = {name: value for cause in wanted for name, value in _settings_beside(cause).items()}
    upgrade = f"an upgrade to {describe_settings({**newest, **beside})}"
    of_zookeeper = gate.from_zookeeper or answer.model.rules.controller_in_zookeeper
    if of_zookeeper and not Release(newest["release"]).is_before(Release.V4_0):
        upgrade += " (from ZooKeeper by way of 3.9 and its migration to KRaft)"
    if unclean_sleeps(answer.model):
        return f"first unclean.leader.election.enable=false, which Kafka heeds from 3.9 on; then {upgrade}"
    preview = _PREVIEW if any(_is_preview(answer, cause) for cause in wanted) else ""
    return upgrade if beside else f"no setting{preview}; {upgrade}"


def _prices(answer: Answer, gate: Gate, *, whole: bool) -> str:
    """Return the sentence on what the changes of settings cost, after a space; empty if they cost nothing.

    Args:
        answer: the answer.
        gate: which causes count.
        whole: whether also what costs time or space is said, and not only what stops writes.
    """
    wanted = _left(answer, gate.accepted)
    if answer.refuses_writes or answer.promises_nothing:
        return ""
    changed = changes_of(wanted) or {name: value for cause in wanted for name, value in _settings_beside(cause).items()}
    model = answer.model
    fewest = int(changed.get("min_insync_replicas", model.b.min_insync_replicas))
    replicas = int(changed.get("replicas", replication_factor(model)))
    said = list[str]()
    if "min_insync_replicas" in changed:
        stop = replicas - fewest + 1
        down = f"{stop} of {replicas} replicas {'is' if stop == 1 else 'are'} down or slow"
        said.append(f"writes with acks=all stop when {down}{_with_one_more(fewest) if stop == 1 else ''}")
    if "unclean_leader_election" in changed:
        said.append("a partition has no leader while all its in-sync replicas are down")
    if whole and "acks" in changed:
        said.append("a write waits for every in-sync replica")
    if whole and "replicas" in changed:
        said.append(f"{replicas} copies on disk and on the network")
    return f" It costs: {'; '.join(said)}." if said else ""


def _without_release(change: Given) -> Given:
    return {name: value for name, value in change.items() if name != "release"}


def _settings_beside(cause: Cause) -> Given:
    """Return the settings that are to be changed with an upgrade, but for those that come with the release."""
    if cause.kind is not CauseKind.RELEASE:
        return {}
    return {name: value for name, value in _without_release(cause.change).items() if name != "elr"}


def describe_open(found: Sequence[Cause], gate: Gate, width: int) -> _Part:
    """Return the defects that no release has fixed, each with what avoids it and its page."""
    named = {cause.name: cause for cause in found if cause.name and cause.name not in gate.accepted}
    if not named:
        return _Part([])
    lines = ["Open in every release you could choose (pages in docs/findings; only --fail-on any counts them):"]
    for cause in named.values():
        avoided = cause.avoided_by
        if cause.name == "N-01" and not gate.rebalances:
            avoided += ", which you have"
        lines += _wrapped(f"{cause.name}: {cause.story}; {avoided}", width, "  ", "       ")
    short = f"Open in every release you could choose: {', '.join(named)} (--explain {next(iter(named))})."
    return _Part(lines, [short])


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
    lines = [f"not covered: {key} ({about})" for key, about in configured.named.items()]
    if configured.ignored:
        lines.append(f"ignored: {', '.join(configured.ignored)}")
    return "\n".join(part for line in lines for part in _wrapped(line, width))


def describe_cause(
    cause: Cause, seen: Sequence[str], file: Path | None, model: Cluster, paint: Paint, width: int
) -> str:
    """Return the story of a cause, its shortest trace step by step, and what removes it.

    Args:
        cause: the cause.
        seen: lines about its runs on Kafka itself.
        file: the file of its trace.
        model: the cluster that was asked about.
        paint: how to color.
        width: the greatest width of a line.
    """
    entry = cause.entry
    lines = [*_wrapped(_changed_first(cause, model), width), ""]
    if entry is not None:
        lines += [f"{entry.name}   {entry.title}", f"{entry.ticket}; affected: {entry.affected}", ""]
        lines += _wrapped(entry.story, width)
        lines += ["", *_wrapped(f"fix: {entry.fix}", width)]
        lines += _wrapped(finding_line(entry.name), width)
        lines += [line for said in seen for line in _wrapped(said, width, "", "  ")]
    else:
        lines += _wrapped(cause.story, width)
    trace = with_shown_bounds(cause.violation.trace, cause.model)
    lines += describe_traces([trace], cause.model.grid, [file], paint, width)
    lines += ["", *_wrapped(_harm(cause), width), *_wrapped(cause_line(cause, accepted=False), width)]
    return "\n".join(lines)


def describe_ends(found: Sequence[Ended], width: int) -> str:
    """Return a sentence for each question of liveness."""
    return "\n".join(line for one in found for line in _wrapped(_end_in_words(one, one.ending.sentence()), width))


def describe_ends_of_many(asked: Sequence[Asked], found: Sequence[Sequence[Ended]], width: int) -> list[str]:
    """Return lines on the questions of liveness for several combinations, those with the same answers together."""
    topics = dict[str, list[str]]()
    for one, ended in zip(asked, found, strict=True):
        said = " ".join(_end_in_words(each, f"{each.ending.words}.") for each in ended)
        topics.setdefault(said, []).extend(one.topics)
    return [
        line
        for said, of in topics.items()
        for line in _wrapped(said if len(topics) == 1 else f"{', '.join(of)}: {said}", width)
        if said
    ]


def _end_in_words(one: Ended, always: str) -> str:
    """Return whether something comes in the end, in sentences; `always` is the one that says that it does."""
    said = {"holds": always, "violated": one.ending.never}.get(
        str(one.verdict), f"Not decided: {always[:1].lower()}{always[1:]}"
    )
    if one.ending.each and one.model.b.min_insync_replicas >= one.model.b.replicas > 1:
        said += (
            " But tools that wait for a spare in-sync replica, such as Strimzi's roller and Cruise Control, stop "
            "no broker while min.insync.replicas is the replication factor."
        )
    return said


def _wrapped(text: str, width: int, first: str = "", rest: str = "  ") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest)


def more_lines(answers: Sequence[Answer], width: int) -> Iterator[str]:
    """Yield the line that names what there is besides the first screen."""
    names = [cause.name for answer in answers for cause in (*answer.causes, *answer.open) if cause.name]
    shown = f"--explain {names[0]} (its shortest trace), " if names else ""
    yield from _wrapped(f"More: {shown}--details (the table), --pairs (two at a time), --finishes, --html FILE.", width)


def written_lines(files: Sequence[Path], width: int) -> list[str]:
    """Return which files of traces were written, and what reads them."""
    named = ", ".join(str(file) for file in files)
    return _wrapped(f"Traces written: {named}. Step by step: insync replay {files[0]}", width)

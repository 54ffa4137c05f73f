"""The verdict of `insync ask` in one sentence, and which causes count for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from insync.explorer.results import Verdict
from insync.explorer.traces.grid import Tone
from insync.kafka.cluster.configuration import Flushing
from insync.kafka.releases import Release
from insync.kafka_questions.ask import Answer
from insync.kafka_questions.causes.cause import Cause, CauseKind
from insync.kafka_questions.disturbances import Row
from insync.kafka_questions.documents.settings import SETTING_NAMES
from insync.kafka_questions.question import Given

__all__ = [
    "PREVIEW",
    "Gate",
    "badness",
    "causes_left",
    "is_preview",
    "settings_beside",
    "verdict_sentence",
    "verdict_tone",
    "verdict_word",
    "without_release",
]


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
        """Return the names of the causes that decide the exit code only because of `any`."""
        if self.fail_on != "any" or answer.verdict_for("settings", self.accepted) is Verdict.VIOLATED:
            return []
        named = (cause.name or "one without a name" for cause in (*answer.causes, *answer.open))
        return list(dict.fromkeys(name for name in named if name not in self.accepted))


def causes_left(answer: Answer, accepted: Sequence[str]) -> list[Cause]:
    """Return the causes that are not set aside."""
    return [cause for cause in answer.causes if cause.name not in accepted]


def verdict_sentence(answer: Answer, accepted: Sequence[str] = ()) -> str:
    """Return the verdict in one sentence."""
    lost = causes_left(answer, accepted)
    of_settings = [cause for cause in lost if cause.kind is CauseKind.SETTINGS]
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
        prevented = "the simplest way to that, and others remain" if stays else "it"
        return f"AT RISK: {can_be(first)}; a setting would prevent {prevented}."
    not_found = [cause for cause in lost if cause.kind is CauseKind.UNKNOWN]
    if not_found:
        return f"AT RISK: {can_be(not_found[0])}; {not_found[0].story}."
    unknown = [row for row in answer.rows if not row.decided]
    if unknown:
        return f"UNKNOWN: {_unknown(unknown, answer.rows)}."
    of_release = [cause for cause in lost if cause.kind is CauseKind.RELEASE]
    if of_release:
        first, alone = of_release[0], " alone" if settings_beside(of_release[0]) else ""
        preview = f"{PREVIEW}," if not alone and is_preview(answer, first) else ""
        flushed = answer.model.flushing is Flushing.ALWAYS
        short = "" if preview or flushed else " short of a flush of every record"
        kept = f"no{' other' if aside else ''} setting{preview}{alone}{short} keeps more"
        return f"AS GOOD AS THIS RELEASE CAN BE{but_accepted}: {kept}, but {can_be(first)}."
    by_design = [cause for cause in lost if cause.kind is CauseKind.DESIGN]
    for cause in by_design:
        if other := next((row for row in cause.rows if not row.stops_every_broker), None):
            lost_when = can_be(replace(cause, rows=(other,)))
            kept = "no setting keeps more" if cause.avoided_by else "of what was tried only flush.messages=1 keeps more"
            return f"AS GOOD AS THIS RELEASE CAN BE{but_accepted}: {kept}, but {lost_when}."
    but = ["a loss of power of the whole cluster, by design"] if by_design else []
    but += [f"what is accepted ({', '.join(aside)})"] if aside else []
    unfixed = dict.fromkeys(cause.name for cause in answer.open if cause.name not in accepted)
    but += [f"what no release has fixed ({', '.join(unfixed)})"] if unfixed else []
    possible = [row for row in answer.rows if row.searched is not None]
    alone = ", each alone" if len(possible) > 1 and all(len(row.disturbances) == 1 for row in possible) else ""
    if but:
        return f"SAFE against all that was searched{alone}, but for {', and for '.join(but)}."
    return f"SAFE against all that was searched{alone}: no acknowledged record is lost."


# Source: the announcement of Kafka 4.0.0, 18 March 2025, "KIP-966: Eligible Leader Replicas (Preview)".
PREVIEW = f" but {SETTING_NAMES['elr']}=1, which is a preview in 4.0"


def is_preview(answer: Answer, cause: Cause) -> bool:
    """Return whether eligible leader replicas remove a cause, but are a preview in the release."""
    return answer.model.b.settings.release is Release.V4_0 and "elr" in cause.change


def _unknown(rows: Sequence[Row], every: Sequence[Row]) -> str:
    """Return the clause about rows that were not searched to the end: the name of one, or the number of several."""
    if len(rows) == 1:
        return f"not all that can happen when {rows[0].words} was searched"
    possible = sum(row.searched is not None for row in every)
    return f"{len(rows)} of the {possible} disturbances were not searched to the end"


def can_be(cause: Cause) -> str:
    what = "an acknowledged record can be lost" if cause.loses else "a promise can be broken"
    return f"{what} when {cause.rows[0].words}"


_VERDICTS = ("NO WRITES", "AT RISK", "NOTHING IS PROMISED", "UNKNOWN", "AS GOOD AS", "SAFE")
"""The first words of each verdict, the worst first."""


def badness(answer: Answer, gate: Gate) -> int:
    """Return the place of a verdict in the order of badness; 0 is the worst."""
    return _VERDICTS.index(verdict_word(answer, gate))


def verdict_word(answer: Answer, gate: Gate) -> str:
    """Return the first words of the verdict."""
    verdict = verdict_sentence(answer, gate.accepted)
    return next(word for word in _VERDICTS if verdict.startswith(word))


def verdict_tone(word: str) -> Tone:
    """Return the color of a verdict that begins with a word."""
    return Tone.GOOD if word in ("SAFE", "AS") else Tone.BAD if word in ("AT", "NO") else Tone.OPEN


def without_release(change: Given) -> Given:
    """Return the settings of a change, without its release."""
    return {name: value for name, value in change.items() if name != "release"}


def settings_beside(cause: Cause) -> Given:
    """Return the settings to change with an upgrade; eligible leader replicas come with the release."""
    if cause.kind is not CauseKind.RELEASE:
        return {}
    return {name: value for name, value in without_release(cause.change).items() if name != "elr"}

"""For each of several combinations of settings: the broken promises, a change that helps, and when writes stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from insync.explorer.results import Verdict, Violation, together
from insync.kafka.cluster.configuration import BOUNDS
from insync.kafka_questions.ask import LOSS, PROMISES, Asked, Given, Question, is_promised
from insync.kafka_questions.disturbances import (
    Disturbed,
    FewestFailures,
    Remedy,
    attempts,
    availability,
    disturbed,
    remedies,
)

__all__ = ["Exposure", "exposures"]

_FAILURES = frozenset({"crash", "fence", "fence_two", "stop", "shrink_isr", "elect", "reassign"})


@dataclass(frozen=True, slots=True)
class Exposure:
    """The answers for one combination of settings.

    Attributes:
        settings: the combination.
        asked: the answer; None if the model is too small for the settings, see `beyond`.
        remedies: the single changes that were tried, up to the first that helps.
        disturbed: the answers with disturbances.
        stops: the failures that stop writes.
        beyond: why there was no search, in words.
    """

    settings: Given
    asked: Asked | None
    remedies: tuple[Remedy, ...] = ()
    disturbed: tuple[Disturbed, ...] = ()
    stops: tuple[FewestFailures, ...] = ()
    beyond: str = ""

    @property
    def verdict(self) -> str:
        """Holds, violated or incomplete."""
        if self.asked is None:
            return str(Verdict.INCOMPLETE)
        return str(together([one.result.verdict for one in (self.asked, *(found.asked for found in self.disturbed))]))

    @property
    def broken(self) -> list[Violation]:
        """The promises that are broken without a disturbance, in the order of `PROMISES`."""
        if self.asked is None:
            return []
        return sorted(self.asked.result.violations, key=lambda violation: list(PROMISES).index(violation.property))

    @property
    def promises_nothing(self) -> bool:
        """Whether none of the promises applies to these settings."""
        if self.asked is None:
            return False
        names = [found.name for found in self.asked.result.properties if found.name in PROMISES]
        return not any(is_promised(name, self.asked.model) for name in names)

    @property
    def causes(self) -> list[str]:
        """The failures in the trace of the first broken promise, in words."""
        steps = self.broken[0].trace.steps if self.broken else ()
        return [step.label for step in steps if step.action in _FAILURES]

    @property
    def remedy(self) -> Remedy | None:
        """The first single change that keeps the first broken promise."""
        return next((remedy for remedy in self.remedies if remedy.cell.verdict == Verdict.HOLDS), None)


def exposures(
    question: Question, combinations: Sequence[Given], promises: Sequence[str] = (LOSS,)
) -> Iterator[Exposure]:
    """Yield the answers for each combination of settings, under the limits and the budgets of a question.

    Args:
        question: the question, whose settings each combination changes.
        combinations: the settings of each.
        promises: the names of the promises.
    """
    for number, settings in enumerate(combinations, start=1):
        if beyond := _beyond(settings):
            yield Exposure(settings, None, beyond=beyond)
            continue
        if question.began is not None:
            question.began(number, len(combinations), settings)
        one = replace(question.changed(_searched(settings)), promises=promises, began=None)
        stops = tuple(availability(one))
        found = Exposure(settings, one.answer(), stops=stops)
        tried = _until_one_helps(one, found.broken[0].property) if found.broken else ()
        others = list(disturbed(one, losing=bool(found.broken)))
        if not found.broken:
            others = [replace(other, attempts=tuple(attempts(one, other))) for other in others]
        yield replace(found, remedies=tuple(tried), disturbed=tuple(others))


def _until_one_helps(question: Question, broken: str) -> Iterator[Remedy]:
    for remedy in remedies(question, broken):
        if len(remedy.cell.settings) == 1:
            yield remedy
        if remedy.cell.verdict == Verdict.HOLDS:
            return


def _searched(settings: Given) -> Given:
    """Return settings within the model's bounds: more replicas of partition 0 are like the most that it has."""
    zero = settings.get("partition_zero")
    return (
        settings if zero is None else {**settings, "partition_zero": min(int(zero), BOUNDS["partition_zero"].highest)}
    )


def _beyond(settings: Given) -> str:
    """Return which number exceeds the bounds of the model, in words."""
    for name, words in (("replicas", "replicas"), ("min_insync", "min.insync.replicas")):
        most = BOUNDS[name].highest
        if int(settings.get(name, 1)) > most:
            return f"the model has at most {most} {words}, not {settings[name]}"
    return ""

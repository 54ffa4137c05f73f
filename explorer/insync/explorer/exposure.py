"""Which of several combinations of settings lose an acknowledged record, by what, and which one change helps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from insync.explorer.ask import LOSS, Asked, Cell, Given, Question
from insync.explorer.disturbances import Disturbed, disturbed
from insync.explorer.verdict import Verdict, together
from insync.kafka.cluster.configuration import BOUNDS

__all__ = ["Exposure", "exposures"]

_FAILURES = frozenset({"crash", "fence", "fence_two", "stop", "shrink_isr", "elect", "reassign"})


@dataclass(frozen=True, slots=True)
class Exposure:
    """What one combination of settings comes to.

    Attributes:
        settings: the combination.
        asked: what the search found; None where the model is too small for the settings, which `beyond` says.
        remedies: the single changes that were tried, up to the first that helps.
        disturbed: what it answers when it is disturbed, where no record is lost without that.
        beyond: why there was no search, in words.
    """

    settings: Given
    asked: Asked | None
    remedies: tuple[Cell, ...] = ()
    disturbed: tuple[Disturbed, ...] = ()
    beyond: str = ""

    @property
    def verdict(self) -> str:
        """Holds, violated or incomplete."""
        if self.asked is None:
            return str(Verdict.INCOMPLETE)
        return str(together([one.result.verdict for one in (self.asked, *(found.asked for found in self.disturbed))]))

    @property
    def is_lossy(self) -> bool:
        """Whether a record is lost without a disturbance."""
        return self.asked is not None and bool(self.asked.result.violations)

    @property
    def causes(self) -> list[str]:
        """What goes wrong on the shortest way to a loss, in words."""
        if self.asked is None or not self.asked.result.violations:
            return []
        steps = self.asked.result.violations[0].trace.steps
        return [step.label for step in steps if step.action in _FAILURES]

    @property
    def remedy(self) -> Cell | None:
        """The first single change that keeps the record."""
        return next((cell for cell in self.remedies if cell.verdict == "holds"), None)


def exposures(question: Question, combinations: Sequence[Given]) -> Iterator[Exposure]:
    """Yield what each combination of settings comes to, under the limits and the budgets of a question."""
    for number, settings in enumerate(combinations, start=1):
        if beyond := _beyond(settings):
            yield Exposure(settings, None, beyond=beyond)
            continue
        if question.began is not None:
            question.began(number, len(combinations), settings)
        one = replace(question, bounds={**question.bounds, **settings}, promises=(LOSS,), began=None)
        asked = one.answer()
        if asked.result.violations:
            yield Exposure(settings, asked, tuple(_until_one_helps(one)))
        else:
            yield Exposure(settings, asked, disturbed=tuple(disturbed(one)))


def _until_one_helps(question: Question) -> Iterator[Cell]:
    for cell in question.remedies():
        if len(cell.settings) == 1:
            yield cell
        if cell.verdict == "holds":
            return


def _beyond(settings: Given) -> str:
    """Return which number is more than the model has, in words."""
    for name, words in (("replicas", "replicas"), ("min_insync", "min.insync.replicas")):
        most = BOUNDS[name].highest
        if int(settings.get(name, 1)) > most:
            return f"the model has at most {most} {words}, not {settings[name]}"
    return ""

"""`ask`: what a cluster can lose under its settings, against which disturbances, why, and what to change."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.explorer.results import Verdict
from insync.kafka.cluster.configuration import Acks, Elr
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.availability import FewestFailures, availability
from insync.kafka_questions.causes.cause import Cause, CauseKind, changes_of
from insync.kafka_questions.causes.diagnosis import causes_of
from insync.kafka_questions.causes.open_defects import not_searched, open_after_upgrade, open_defects
from insync.kafka_questions.causes.releases import race_of
from insync.kafka_questions.controllers import heeding_unclean
from insync.kafka_questions.disturbances import Disturbance, Row, chosen, narrowed, searched
from insync.kafka_questions.question import LOSS, Given, Question

if TYPE_CHECKING:
    from insync.explorer.progress import Reporter
    from insync.runtime.watch import Limits

__all__ = ["Answer", "answer", "ask"]


_DECISIVE = (CauseKind.SETTINGS, CauseKind.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found for one combination of settings.

    Attributes:
        model: the cluster with its settings.
        rows: the disturbances that were searched, in their order.
        causes: why promises are broken, the simplest first; defects without a fix are apart.
        open: defects of every release that these settings do not keep out.
        stops: the fewest failures that stop writes.
        otherwise: with eligible leader replicas assumed, what becomes of everyday disturbances in the other case.
        not_searched: the findings without a fix by which records may be lost, and that no search here could show.
        open_after_upgrade: those that the advised release adds.
    """

    model: Cluster
    rows: tuple[Row, ...]
    causes: tuple[Cause, ...]
    open: tuple[Cause, ...]
    stops: tuple[FewestFailures, ...]
    otherwise: Row | None = None
    not_searched: tuple[str, ...] = ()
    open_after_upgrade: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Violated if a promise is broken in a row, incomplete if a row was not searched whole, else holds."""
        return self.verdict_for("any", ())

    @property
    def refuses_writes(self) -> bool:
        """Whether writes are refused though no broker has failed."""
        at_once = any(stop.by == "down" and stop.failures == 0 for stop in self.stops)
        return at_once and self.model.acks is Acks.ALL

    @property
    def promises_nothing(self) -> bool:
        """Whether no record is acknowledged, so that any may be lost."""
        return self.model.acks is Acks.NONE

    def verdict_for(self, fail_on: str, accepted: Collection[str]) -> Verdict:
        """Return the verdict for a gate, which is violated too where writes are refused, or where nothing is promised.

        Args:
            fail_on: `settings` is violated only by what a setting of this release would keep, or by a cause that was
                not found yet; `any` by every cause.
            accepted: names of causes that are set aside.
        """
        causes = [*self.causes, *(self.open if fail_on == "any" else ())]
        decisive = [one for one in causes if fail_on == "any" or one.kind in _DECISIVE]
        if self.refuses_writes or self.promises_nothing or any(one.name not in accepted for one in decisive):
            return Verdict.VIOLATED
        unknown = not all(row.decided for row in self.rows)
        return Verdict.INCOMPLETE if unknown else Verdict.HOLDS

    def named(self, name: str) -> Cause | None:
        """Return a cause by its name."""
        return next((one for one in (*self.causes, *self.open) if one.name == name), None)


def answer(question: Question, wanted: Sequence[Sequence[Disturbance]] | None = None) -> Answer:
    """Search a cluster with each disturbance, and find the causes of what is broken.

    Args:
        question: the cluster and the limits.
        wanted: the disturbances; None is each one alone, with the defects that no release has fixed.
    """
    model = question.model
    stops = tuple(availability(question))
    wished = [tuple(one) for one in (chosen([]) if wanted is None else wanted)]
    found_rows, causes = list[Row](), list[Cause]()
    for several in (False, True):  # the causes of what happens alone are looked for before pairs are searched
        new = [narrowed(question, searched(question, one, far=True)) for one in wished if (len(one) > 1) is several]
        found_rows += new
        causes = causes_of(question, new, causes)
    found = tuple(sorted(found_rows, key=lambda row: wished.index(row.disturbances)))
    everyday = next((row for row in found if row.name == "everyday"), None)
    race = None if everyday is None else race_of(question.changed(changes_of(causes)), everyday.disturbances)
    if race is not None and race.name not in {cause.name for cause in causes}:
        causes.append(race)
    best = question.changed(changes_of(causes))
    unfixed, harmless = open_defects(best) if wanted is None else ([], [])
    otherwise = None if wanted is not None or everyday is None else _otherwise(question, best, everyday)
    closed = tuple(cause for cause in causes if cause.kind is not CauseKind.OPEN)
    still_open = tuple(cause for cause in causes if cause.kind is CauseKind.OPEN)
    unshown = not_searched(question, best, [*harmless, *(cause.name for cause in (*causes, *unfixed))])
    added = open_after_upgrade(best, causes)
    return Answer(model, found, closed, (*still_open, *unfixed), stops, otherwise, unshown, added)


def _otherwise(question: Question, best: Question, everyday: Row) -> Row | None:
    """Return the everyday row with eligible leader replicas off, if they were assumed and that may lose what they keep.

    In `best` the settings that are causes are changed: what these lose, eligible leader replicas do not keep.
    """
    if question.settings.get("elr", Elr.RELEASE.value) != Elr.RELEASE.value or not question.model.features.elr:
        return None
    if searched(best, everyday.disturbances).outcome(LOSS) != "safe":
        return None
    upgraded = best.changed({"elr": Elr.OFF.value})
    row = narrowed(upgraded, searched(upgraded, everyday.disturbances))
    return None if row.outcome(LOSS) == "safe" else row


def ask(
    settings: Given | None = None,
    *,
    against: Sequence[str] = (),
    pairs: bool = False,
    limits: Limits | None = None,
    threads: int | None = None,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> Answer:
    """Search a cluster for what breaks the promises of Kafka, and for the causes.

    Args:
        settings: the release and the settings of `cluster` that are not the default. With unclean elections the
            controller is one that heeds them, as ZooKeeper's does; that of KRaft before 3.9 is
            `unclean_leader_election="off"`.
        against: names of disturbances, or pairs such as `rack+slow`; none is each one alone.
        pairs: whether all pairs of them are searched as well.
        limits: of all searches together, for their seconds, and of each one for the rest.
        threads: the number of threads; None is one per core.
        reporter: called about once a second with the progress of a search.
        stop: ends the search when it is set; the answer has what was found.

    Raises:
        UserError: an unknown setting, release or disturbance.
    """
    given = heeding_unclean(settings or {})
    question = Question(settings=given, limits=limits, threads=threads, reporter=reporter, stop=stop)
    return answer(question, chosen(against, pairs=pairs) if against or pairs else None)

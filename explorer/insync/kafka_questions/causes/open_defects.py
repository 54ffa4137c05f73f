"""Findings that lose records and that no release has fixed.

Some have a search at bounds of its own, as each takes several disturbances in turn. The others are named.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from insync.kafka.cluster.configuration import Acks
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.kafka.defects.findings import FINDINGS, page_of
from insync.kafka.releases import Release, has_defect, release_of
from insync.kafka_questions.causes.cause import STORIES, Cause, CauseKind
from insync.kafka_questions.causes.changed_searches import promises_kept
from insync.kafka_questions.causes.releases import elects_uncleanly_by_a_fix
from insync.kafka_questions.disturbances import DISTURBANCES, Row
from insync.kafka_questions.question import CALM, LOSS, Question, replication_factor

__all__ = ["LOSING", "OPEN", "not_searched", "open_after_upgrade", "open_defects"]


def _elr_keeps_several(model: Cluster) -> bool:
    """Whether replicas can be eligible beside the ISR."""
    return model.features.elr and replication_factor(model) > 1 and model.b.min_insync_replicas > 1


LOSING: Mapping[str, Callable[[Cluster], bool]] = {
    "N-02": _elr_keeps_several,
    "N-05": lambda model: _elr_keeps_several(model) and model.b.partition_zero_replicas > 0,
    "N-01": lambda model: replication_factor(model) > 1,
    "N-04": _elr_keeps_several,
    "N-12": lambda model: True,
    "N-06": lambda model: replication_factor(model) > model.b.min_insync_replicas,
    "N-03": _elr_keeps_several,
}
"""The defects by which every release that has them loses records, with the settings that they need; worst first."""


def _has(model: Cluster, name: str) -> bool:
    """Whether a cluster may lose records by a defect: its page names the first release, `LOSING` the settings."""
    release: Release = model.b.settings.release
    first, *_ = FINDINGS[page_of(name)].affects.split(" to ")
    in_release = has_defect(DEFECTS[name], release) and not release.is_before(release_of(first))
    return bool(in_release) and LOSING[name](model)


@dataclass(frozen=True, slots=True)
class _Open:
    """A defect of every release, with the smallest cluster that shows it.

    Attributes:
        name: its entry of the catalogue.
        budgets: the budgets that it takes.
        takes: the events that it takes, as a clause.
        avoided_by: how operators avoid it, as a clause, from its page.
        replicas: how many replicas are enough to show it; fewer than min.insync.replicas never are.
    """

    name: str
    budgets: Mapping[str, int]
    takes: str
    avoided_by: str
    replicas: int = 2

    def bounds(self, question: Question) -> dict[str, int | str]:
        """Return the bounds of its search."""
        own = question.model.b.replicas
        fewest = max(self.replicas, question.model.b.min_insync_replicas)
        sizes = {"replicas": 2, "spares": 1} if own == 1 else {"replicas": min(own, fewest)}
        return {**CALM, **question.settings, **sizes, **self.budgets}


OPEN = (
    _Open(
        "N-01",
        {"preferred_elections": 1, "power_failures": 1, "fencings": 1},
        "the preferred leader is elected, a broker loses power and the session of another one expires",
        "rarer with auto.leader.rebalance.enable=false",
        replicas=3,
    ),
    _Open(
        "N-02",
        {"reassignments": 2, "fencings": 2},
        "a partition is reassigned to fewer replicas and back while two sessions expire",
        "to avoid it, lower min.insync.replicas before a reassignment to fewer replicas",
    ),
    _Open(
        "N-05",
        {"reassignments": 2, "crashes": 1},
        "a partition with fewer replicas than partition 0 is reassigned twice and a broker dies",
        "to avoid it, give all partitions of a topic the same number of replicas",
    ),
)


def open_defects(best: Question) -> tuple[list[Cause], list[str]]:
    """Return the defects without a fix that lose records, and the names of those that were searched and lose none.

    Args:
        best: the question, with all settings changed that are causes.
    """
    if best.model.acks is not Acks.ALL or elects_uncleanly_by_a_fix(best.model):
        return [], []
    losing, harmless = list[Cause](), list[str]()
    for one in OPEN:
        if not LOSING[one.name](best.model):
            continue
        entry, bounds = DEFECTS[one.name], one.bounds(best)
        found = best.search(bounds, one.takes)
        if not found.broken:
            harmless += [one.name] if found.complete else []
            continue
        fixed = best.search({**bounds, "defect": entry.name, "fixed": "alone"}, f"the fix of {entry.name}")
        kept = promises_kept(found, fixed, strictly=True)
        if kept and kept[0].property == LOSS:
            takes = replace(DISTURBANCES["everyday"], name=entry.name, label=one.takes, words=one.takes)
            row = Row((replace(takes, likelihood="rare"),), found)
            story, avoided = STORIES[one.name], one.avoided_by
            losing.append(Cause(one.name, CauseKind.OPEN, (row,), kept, found.model, story=story, avoided_by=avoided))
    return losing, harmless


def not_searched(question: Question, best: Question, decided: Collection[str]) -> tuple[str, ...]:
    """Return the findings by which a cluster may lose records though no search of the answer has shown it, worst first.

    Args:
        question: the question.
        best: the question, with all settings changed that are causes.
        decided: the defects that were searched to the end.
    """
    if best.model.acks is Acks.NONE:
        return ()
    left = [name for name in LOSING if name not in decided and any(_has(one.model, name) for one in (question, best))]
    return tuple(name for name in dict.fromkeys(map(page_of, left)) if name not in decided)


def open_after_upgrade(best: Question, causes: Sequence[Cause]) -> tuple[str, ...]:
    """Return the findings that lose records in the newest release that a cause advises, and not in the present one.

    Args:
        best: the question, with all settings changed that are causes.
        causes: the causes that were found.
    """
    upgrades = [cause.change for cause in causes if cause.kind is CauseKind.RELEASE and "release" in cause.change]
    if not upgrades or best.model.acks is Acks.NONE:
        return ()
    after = best.changed(max(upgrades, key=lambda change: Release(change["release"]).age)).model
    new = (page_of(name) for name in LOSING if _has(after, name) and not _has(best.model, name))
    return tuple(dict.fromkeys(new))

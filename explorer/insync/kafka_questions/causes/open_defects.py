"""Defects that no release has fixed. Each takes several disturbances in turn, and is searched at bounds of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from insync.kafka.cluster.configuration import Acks
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.kafka.defects.findings import finding_of
from insync.kafka_questions.causes.cause import STORIES, Cause, CauseKind, changes_of
from insync.kafka_questions.causes.changed_searches import promises_kept
from insync.kafka_questions.causes.releases import elects_uncleanly_by_a_fix
from insync.kafka_questions.disturbances import DISTURBANCES, Row
from insync.kafka_questions.question import CALM, LOSS, Question

__all__ = ["OPEN", "open_defects"]


@dataclass(frozen=True, slots=True)
class _Open:
    """A defect of every release, with the smallest cluster that shows it.

    Attributes:
        name: its entry of the catalogue.
        budgets: the budgets that it takes.
        takes: the events that it takes, as a clause.
        avoided_by: how operators avoid it, as a clause, from its page.
        needs_elr: whether it needs eligible leader replicas.
        needs_partition_zero: whether it needs a partition with another number of replicas than partition 0.
        replicas: how many replicas are enough to show it; fewer than min.insync.replicas never are.
    """

    name: str
    budgets: Mapping[str, int]
    takes: str
    avoided_by: str
    needs_elr: bool = False
    needs_partition_zero: bool = False
    replicas: int = 2

    def concerns(self, model: Cluster) -> bool:
        """Whether it can happen in a cluster."""
        if self.needs_elr and not model.features.elr:
            return False
        return model.b.partition_zero_replicas > 0 if self.needs_partition_zero else model.b.replicas > 1

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
        "the preferred leader is elected and two brokers fail within seconds",
        "rarer with auto.leader.rebalance.enable=false",
        replicas=3,
    ),
    _Open(
        "N-02",
        {"reassignments": 2, "fencings": 2},
        "a partition is reassigned to fewer replicas and back while two sessions expire",
        "to avoid it, lower min.insync.replicas before a reassignment to fewer replicas",
        needs_elr=True,
    ),
    _Open(
        "N-05",
        {"reassignments": 2, "crashes": 1},
        "a partition with fewer replicas than partition 0 is reassigned twice and a broker dies",
        "to avoid it, give all partitions of a topic the same number of replicas",
        needs_elr=True,
        needs_partition_zero=True,
    ),
)


def open_defects(question: Question, causes: Sequence[Cause]) -> Iterator[Cause]:
    """Yield the defects without a fix that lose records even when all settings that are causes are changed.

    Args:
        question: the question.
        causes: the causes that were found.
    """
    best = question.changed(changes_of(causes))
    if best.model.acks is not Acks.ALL or elects_uncleanly_by_a_fix(best.model):
        return
    for one in OPEN:
        if not one.concerns(best.model):
            continue
        entry, bounds = DEFECTS[one.name], one.bounds(best)
        found = best.search(bounds, one.takes)
        if not found.broken:
            continue
        fixed = best.search({**bounds, "defect": entry.name, "fixed": "alone"}, f"the fix of {entry.name}")
        kept = promises_kept(found, fixed, strictly=True)
        if kept and kept[0].property == LOSS:
            takes = replace(DISTURBANCES["everyday"], name=entry.name, label=one.takes, words=one.takes)
            row = Row((replace(takes, likelihood="rare"),), found)
            finding = finding_of(entry.name)
            fixed_in = "" if finding is None else finding.fixed_in
            story = STORIES[one.name]
            yield Cause(
                one.name, CauseKind.OPEN, (row,), kept, found.model, {}, fixed_in, story, avoided_by=one.avoided_by
            )

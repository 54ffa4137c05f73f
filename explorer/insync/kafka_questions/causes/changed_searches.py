"""Searches of a changed cluster: which broken promises it keeps, or breaks only after more steps."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import cast

from insync.explorer.results import Verdict, Violation
from insync.kafka.defects import Defect
from insync.kafka_questions.causes.cause import loses_every_copy
from insync.kafka_questions.disturbances import Row, bounds_of
from insync.kafka_questions.question import ELECTABLE, LOSS, Given, Question, Searched

__all__ = [
    "FAULTS",
    "Events",
    "fewest_changes",
    "is_kept",
    "keeps_all",
    "losses_delayed",
    "needing_a_cause",
    "promises_kept",
    "where_kept",
]


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a search: all that the disturbances of a row allow, or only as many as a trace takes.

    Attributes:
        row: the row.
        spent: budgets that replace those of its disturbances.
    """

    row: Row
    spent: Given = field(default_factory=dict)

    def bounds(self, question: Question) -> dict[str, int | str]:
        """Return the bounds of the search in a cluster."""
        return {**bounds_of(self.row.disturbances, question.settings), **self.row.narrowed, **self.spent}

    def search(self, question: Question) -> Searched | None:
        """Search a cluster; None if the disturbances cannot happen in it."""
        if not all(one.concerns(question.model) for one in self.row.disturbances):
            return None
        return question.search(self.bounds(question), self.row.words)

    def search_unless_broken(self, question: Question, broken: Collection[Violation]) -> Searched | None:
        """Search a cluster; None if an earlier search broke all these promises, or the disturbances cannot happen."""
        return None if question.breaks_all(self.bounds(question), broken) else self.search(question)

    def with_fix(self, question: Question, entry: Defect, broken: Collection[Violation]) -> Searched | None:
        """Search a cluster with a defect fixed; None as for `search_unless_broken`."""
        fixed = replace(self, spent={**self.spent, **entry.fixed, "defect": entry.name, "fixed": "alone"})
        return fixed.search_unless_broken(question, broken)

    def of(self, violation: Violation) -> Events | None:
        """Return the events that a trace takes; None if it takes all of these.

        A crash that lost nothing counts as one whose log survives.
        """
        assert self.row.searched is not None
        model = self.row.searched.model
        spent = cast(dict[str, int], violation.trace.steps[-1].state["spent"])
        lossy = spent.get("power_failures", 0)
        found = {name: spent[name] for name in FAULTS if name in spent}
        if "crashes" in spent:
            found = {**found, "power_failures": lossy, "crashes": spent["crashes"] - lossy}
        fewer = {name: number for name, number in found.items() if number != model.b[name]}
        return replace(self, spent={**self.spent, **fewer}) if fewer else None


def fewest_changes(change: Given, keeps: Callable[[Given], bool]) -> Given:
    """Return the smallest part of a change for which `keeps` is true; the whole change if no part is enough."""
    for size in range(len(change)):
        for names in combinations(change, size):
            if keeps(part := {name: change[name] for name in names}):
                return part
    return change


def keeps_all(events: Events, question: Question, broken: Collection[Violation]) -> bool:
    """Return whether a cluster keeps promises that another one breaks."""
    after = events.search_unless_broken(question, broken)
    return after is not None and all(is_kept(after, one.property) for one in broken)


def is_kept(found: Searched, promise: str) -> bool:
    """Return whether a search shows that a promise holds; a promise that does not apply holds."""
    return all(one.verdict is Verdict.HOLDS for one in found.result.properties if one.name == promise)


def where_kept(events: Events, question: Question, violation: Violation) -> Events | None:
    """Return the events under which a cluster keeps a promise: all of them, or those of a trace; None if neither.

    If it keeps the promise only under the events of the trace, other ways to break it take more events.
    """
    for one in (events, events.of(violation)):
        if one is not None and keeps_all(one, question, [violation]):
            return one
    return None


def losses_delayed(before: Searched, after: Searched) -> tuple[Violation, ...]:
    """Return the lost records that take more steps to lose with eligible leader replicas (KIP-966).

    A copy of the lost record must be left elsewhere. Without one, eligible leader replicas decide nothing, and a
    difference in steps is chance.
    """
    return tuple(
        one for one in promises_kept(before, after) if one.property == LOSS and not loses_every_copy(one.trace)
    )


def promises_kept(before: Searched, after: Searched, *, strictly: bool = False) -> tuple[Violation, ...]:
    """Return the broken promises that a change keeps, or unless `strictly` breaks only after more steps.

    A search that ended at its limit counts as well, if it has searched more steps without breaking the promise.
    """
    decided = {each.name: each.verdict for each in after.result.properties}

    def takes_more(name: str, steps: int) -> bool:
        return (after.broken[name].trace_length if name in after.broken else after.result.complete_depth + 1) > steps

    return tuple(
        violation
        for name, violation in needing_a_cause(before).items()
        if decided.get(name, Verdict.HOLDS) is Verdict.HOLDS
        or (not strictly and takes_more(name, violation.trace_length))
    )


def needing_a_cause(found: Searched) -> dict[str, Violation]:
    """Return the broken promises that need a cause. Where a record is lost, its loss explains `ELECTABLE` too."""
    follows = (ELECTABLE,) if LOSS in found.broken else ()
    return {name: violation for name, violation in found.broken.items() if name not in follows}


FAULTS = (
    *(
        "power_failures",
        "crashes",
        "controlled_shutdowns",
        "fencings",
        "isr_shrinks",
        "preferred_elections",
        "fetch_failures",
        "throttles",
        "log_dir_moves",
    ),
    *(
        "log_dir_failures",
        "delete_records",
        "reassignments",
        "replica_order_changes",
        "snapshots",
        "controller_failovers",
    ),
    *("lost_fetch_responses", "lost_alter_partition_responses", "config_changes", "retries", "producer_restarts"),
)

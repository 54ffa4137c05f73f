"""What `insync ask` looks for beside the failures of its default budgets, at smaller bounds: elections, reassignments.

One election without a failure makes the default space ten times as large, two reassignments make it larger still. Each
gets a search of its own in which little else may go wrong, and a broken promise is put down to an entry of the
catalogue where the fix of that entry keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from insync.explorer.ask import ELECTABLE, LOSS, Asked, Question
from insync.explorer.verdict import Verdict
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, Defect

__all__ = ["DISTURBANCES", "Disturbance", "Disturbed", "disturbed"]


@dataclass(frozen=True, slots=True)
class Disturbance:
    """Something that happens to a cluster in which nothing has failed.

    Attributes:
        words: what happens.
        budget: its budget, which the default question has at 0.
        budgets: the most of every budget that is not 0.
        promises: what is searched for.
        defect: the entry of the catalogue that it takes.
        needs_elr: whether it is about eligible leader replicas.
        fewest_replicas: whether as many replicas as min.insync.replicas are enough; else all are there.
    """

    words: str
    budget: str
    budgets: Mapping[str, int]
    promises: tuple[str, ...]
    defect: Defect
    needs_elr: bool = False
    fewest_replicas: bool = False

    def concerns(self, question: Question) -> bool:
        """Whether it can happen in a cluster, and the user has not said how often."""
        model = Cluster(**question.bounds)
        possible: bool = model.b.replicas > 1 and (not self.needs_elr or bool(model.elr))
        return possible and self.budget not in question.bounds and bool(self.asked_about(question))

    def asked_about(self, question: Question) -> list[str]:
        """Return those of its promises that a question is about."""
        return [name for name in self.promises if name in question.promises]

    def bounds(self, question: Question) -> dict[str, int | str]:
        """Return the settings of a question with no more than these budgets, and no more than the user allows."""
        given, model = question.bounds, Cluster(**question.bounds)
        kept = {name: value for name, value in given.items() if isinstance(value, str)}
        sizes = {name: given[name] for name in ("replicas", "min_insync", "metadata_lag") if name in given}
        if self.fewest_replicas:
            sizes["replicas"] = max(2, min(model.b.replicas, model.b.min_insync))
        least = {"records": 1, "lossy_crashes": 0, "fencings": 0, "shrinks": 0, **self.budgets}
        return {**kept, **sizes, **{name: min(most, int(given.get(name, most))) for name, most in least.items()}}


DISTURBANCES = (
    Disturbance(
        words="one election",
        budget="elections",
        budgets={"elections": 1, "lossy_crashes": 1, "fencings": 1},
        promises=(LOSS, ELECTABLE),
        defect=DEFECTS["N-01"],
    ),
    Disturbance(
        words="two reassignments",
        budget="reassignments",
        budgets={"reassignments": 2, "fencings": 2},
        promises=(LOSS,),
        defect=DEFECTS["N-02"],
        needs_elr=True,
        fewest_replicas=True,
    ),
)
"""All that `insync ask` looks for beside the default budgets."""


@dataclass(frozen=True, slots=True)
class Disturbed:
    """What a cluster answers when it is disturbed.

    Attributes:
        disturbance: what happens to it.
        asked: the answer.
        defect: the entry of the catalogue whose fix keeps what is broken; None where nothing is, or where it does not.
    """

    disturbance: Disturbance
    asked: Asked
    defect: Defect | None


def disturbed(question: Question) -> Iterator[Disturbed]:
    """Yield the answer for each disturbance that can happen, with the least that is needed beside it."""
    wanted = [disturbance for disturbance in DISTURBANCES if disturbance.concerns(question)]
    for number, disturbance in enumerate(wanted, start=1):
        bounds, budget = disturbance.bounds(question), disturbance.budget
        if question.began is not None:
            question.began(number, len(wanted), {budget: bounds[budget]})
        asked = question.search(bounds, disturbance.asked_about(question), keep_going=True)
        yield Disturbed(disturbance, asked, _cause(question, disturbance, bounds) if asked.result.violations else None)


def _cause(question: Question, disturbance: Disturbance, bounds: Mapping[str, int | str]) -> Defect | None:
    """Return the entry that a disturbance takes if its fix keeps all that was broken."""
    fixed = {**bounds, "defect": disturbance.defect.name, "fixed": "alone"}
    kept = question.search(fixed, disturbance.asked_about(question), keep_going=False)
    return disturbance.defect if kept.result.verdict is Verdict.HOLDS else None

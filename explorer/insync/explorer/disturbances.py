"""What `insync ask` looks for beside the failures of its default budgets, at smaller bounds: elections, reassignments.

One election without a failure makes the default space ten times as large, two reassignments make it larger still. Each
gets a search of its own in which little else may go wrong, and a broken promise is put down to an entry of the
catalogue where the fix of that entry keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from insync.explorer.ask import ELECTABLE, LOSS, Asked, Cell, Given, Question, changes_of
from insync.explorer.results import CheckResult, Verdict
from insync.kafka.cluster.configuration import Elr
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, Defect

__all__ = ["DISTURBANCES", "Attempt", "Disturbance", "Disturbed", "Remedy", "attempts", "disturbed", "remedies"]


@dataclass(frozen=True, slots=True)
class Disturbance:
    """Something that happens to a cluster in which nothing has failed.

    Attributes:
        words: what happens.
        budget: its budget, which the default question has at 0.
        budgets: the most of every budget that is not 0.
        promises: what is searched for.
        defect: the entry of the catalogue that it takes.
        avoided_by: what avoids that, or most of it, by docs/findings, though it is no setting that holds for good.
        needs_elr: whether it is about eligible leader replicas.
        needs_partition_zero: whether it is about a partition with another number of replicas than partition 0.
        fewest_replicas: whether as many replicas as min.insync.replicas are enough; else all are there.
    """

    words: str
    budget: str
    budgets: Mapping[str, int]
    promises: tuple[str, ...]
    defect: Defect
    avoided_by: str
    needs_elr: bool = False
    needs_partition_zero: bool = False
    fewest_replicas: bool = False

    def concerns(self, question: Question) -> bool:
        """Whether it can happen in a cluster, and the user has not said how often."""
        model = Cluster(**question.bounds)
        possible = not self.needs_elr or bool(model.elr)
        if self.needs_partition_zero:
            possible = possible and model.b.partition_zero > 0
        else:
            possible = possible and model.b.replicas > 1
        return possible and self.budget not in question.bounds and bool(self.asked_about(question))

    def changes(self, question: Question) -> list[dict[str, int | str]]:
        """Return the changes of the settings that might keep what it breaks, each by itself."""
        model = Cluster(**{**question.bounds, self.budget: self.budgets[self.budget]})
        without: list[dict[str, int | str]] = [{"elr": Elr.OFF.value}] if model.elr else []
        fewer: list[dict[str, int | str]] = [{"min_insync": least} for least in range(model.b.min_insync - 1, 0, -1)]
        return [*changes_of(model), *without, *(fewer if self.needs_elr else ())]

    def asked_about(self, question: Question) -> list[str]:
        """Return those of its promises that a question is about."""
        return [name for name in self.promises if name in question.promises]

    def bounds(self, question: Question, *, losing: bool = False) -> dict[str, int | str]:
        """Return the settings of a question with no more than these budgets, and no more than the user allows.

        Args:
            question: what is asked.
            losing: whether something breaks without the disturbance; brokers then crash without losing what they have
                not flushed, which is how that mostly comes about.
        """
        given, model = question.bounds, Cluster(**question.bounds)
        kept = {name: value for name, value in given.items() if isinstance(value, str)}
        sizes = {name: given[name] for name in _SIZES if name in given}
        own = model.b.replicas - model.b.spares
        if self.fewest_replicas and own == 1:
            sizes |= {"replicas": 2, "spares": 1}  # a single replica can only be given to another broker
        elif self.fewest_replicas:
            sizes["replicas"] = max(2, min(own, model.b.min_insync)) + model.b.spares
        least = {"records": 1, "lossy_crashes": 0, "crashes": 0, "fencings": 0, "shrinks": 0, **self.budgets}
        if losing:
            least |= {"lossy_crashes": 0, "crashes": least["crashes"] + least["lossy_crashes"]}
        allowed = {**given, "crashes": model.b.crashes + model.b.lossy_crashes}
        return {**kept, **sizes, **{name: min(most, int(allowed.get(name, most))) for name, most in least.items()}}


_SIZES = ("replicas", "spares", "min_insync", "metadata_lag", "partition_zero")

DISTURBANCES = (
    Disturbance(
        words="one election",
        budget="elections",
        budgets={"elections": 1, "lossy_crashes": 1, "fencings": 1},
        promises=(LOSS, ELECTABLE),
        defect=DEFECTS["N-01"],
        avoided_by="auto.leader.rebalance.enable=false, and leaders moved by hand in quiet times, leave little",
    ),
    Disturbance(
        words="two reassignments",
        budget="reassignments",
        budgets={"reassignments": 2, "fencings": 2},
        promises=(LOSS,),
        defect=DEFECTS["N-02"],
        avoided_by="lower min.insync.replicas of the topic before each reassignment, to no more than the replicas that "
        "it leaves, while the partition has a leader",
        needs_elr=True,
        fewest_replicas=True,
    ),
    Disturbance(
        words="two reassignments and a crash",
        budget="reassignments",
        budgets={"reassignments": 2, "crashes": 1},
        promises=(LOSS,),
        defect=DEFECTS["N-05"],
        avoided_by="as many replicas for each partition of a topic, or min.insync.replicas no larger than the fewest",
        needs_elr=True,
        needs_partition_zero=True,
        fewest_replicas=True,
    ),
)
"""All that `insync ask` looks for beside the default budgets."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A change of the settings against what a disturbance breaks.

    Attributes:
        cell: the change, and its outcome with the disturbance.
        undisturbed: its outcome without one; None where it does not help with it.
    """

    cell: Cell
    undisturbed: Cell | None = None

    @property
    def verdict(self) -> str:
        """Holds where it helps: it keeps what the disturbance breaks, and all that was kept without one."""
        return self.cell.verdict if self.undisturbed is None else self.undisturbed.verdict


@dataclass(frozen=True, slots=True)
class Disturbed:
    """What a cluster answers when it is disturbed.

    Attributes:
        disturbance: what happens to it.
        asked: the answer.
        fixed: the answer with the fix of the disturbance's entry of the catalogue; None where nothing is broken.
        attempts: what changes of the settings come to; none where something is broken without the disturbance.
    """

    disturbance: Disturbance
    asked: Asked
    fixed: CheckResult | None = None
    attempts: tuple[Attempt, ...] = ()

    @property
    def kept(self) -> tuple[str, ...]:
        """The promises that are broken, and that the fix keeps."""
        return self._with_fix(Verdict.HOLDS)

    @property
    def undecided(self) -> tuple[str, ...]:
        """The promises that are broken, and of which it is not known whether the fix keeps them."""
        return self._with_fix(Verdict.INCOMPLETE)

    def _with_fix(self, verdict: Verdict) -> tuple[str, ...]:
        broken = {violation.property for violation in self.asked.result.violations}
        found = () if self.fixed is None else self.fixed.properties
        return tuple(each.name for each in found if each.name in broken and each.verdict is verdict)

    @property
    def defect(self) -> Defect | None:
        """The entry of the catalogue that something which is broken is put down to; None where nothing is."""
        return self.disturbance.defect if self.kept else None


def disturbed(question: Question, *, losing: bool = False) -> Iterator[Disturbed]:
    """Yield the answer for each disturbance that can happen, with the least that is needed beside it.

    Args:
        question: what is asked.
        losing: whether something breaks without a disturbance, see `Disturbance.bounds`.
    """
    wanted = [disturbance for disturbance in DISTURBANCES if disturbance.concerns(question)]
    for number, disturbance in enumerate(wanted, start=1):
        bounds, budget = disturbance.bounds(question, losing=losing), disturbance.budget
        if question.began is not None:
            question.began(number, len(wanted), {budget: bounds[budget]})
        asked = question.search(bounds, disturbance.asked_about(question), keep_going=True)
        fixed = _with_fix(question, disturbance, bounds) if asked.result.violations else None
        yield Disturbed(disturbance, asked, fixed)


def _with_fix(question: Question, disturbance: Disturbance, bounds: Given) -> CheckResult:
    """Return the answer with the fix of the entry that a disturbance takes."""
    entry = disturbance.defect
    fixed = {**bounds, **entry.fixed}
    if entry.rules:  # else it is a setting, and no rule
        fixed |= {"defect": entry.name, "fixed": "alone"}
    return question.search(fixed, disturbance.asked_about(question), keep_going=True).result


def attempts(question: Question, found: Disturbed) -> Iterator[Attempt]:
    """Yield what each change of the settings comes to that might keep what a disturbance breaks, and nothing else does.

    Args:
        question: what is asked, of which nothing is broken without the disturbance.
        found: what it answers when it is disturbed.
    """
    disturbance, broken = found.disturbance, [violation.property for violation in found.asked.result.violations]
    for change in disturbance.changes(question) if broken else ():
        changed = question.changed(change)
        (cell,) = replace(changed, bounds=disturbance.bounds(changed)).tried([change], broken)
        held = cell.verdict == Verdict.HOLDS
        yield Attempt(cell, next(question.tried([change], question.promises)) if held else None)


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change of the settings, and what is broken by a disturbance where it keeps what was broken without one.

    Attributes:
        cell: the change and its outcome.
        disturbed: the answers with the change for each disturbance that can happen; none where it does not help.
    """

    cell: Cell
    disturbed: tuple[Disturbed, ...] = ()


def remedies(question: Question, broken: str = LOSS) -> Iterator[Remedy]:
    """Yield every change of the settings that could have kept a promise, those that do with what disturbances break.

    Args:
        question: what is asked.
        broken: the promise.
    """
    for cell in question.remedies(broken):
        changed = question.changed(cell.settings)
        yield Remedy(cell, tuple(disturbed(changed)) if cell.verdict == Verdict.HOLDS else ())

"""What `insync ask` looks for beside the failures of its default budgets, at smaller bounds: elections, reassignments.

One election without a failure makes the default space ten times as large, two reassignments make it larger still. Each
gets a search of its own in which little else may go wrong, and a broken promise is put down to an entry of the
catalogue where the fix of that entry keeps it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from insync.explorer.ask import ELECTABLE, LOSS, Asked, Cell, Given, Question, changes_of
from insync.explorer.limits import Watch
from insync.explorer.results import CheckResult, Verdict
from insync.explorer.stepping.stepper import Claim, Refused, Stepper, claims_of
from insync.kafka.cluster.configuration import Elr
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, Defect
from insync.machine.interruptible import GivenUp
from insync.model.evaluator import Codes
from insync.model.tracing.tracer import traced
from insync.properties.kafka import cluster_availability as properties

__all__ = [
    "DISTURBANCES",
    "FAILURES",
    "STOPS",
    "Attempt",
    "Disturbance",
    "Disturbed",
    "Failure",
    "Remedy",
    "Stopped",
    "attempts",
    "availability",
    "availability_matrix",
    "disturbed",
    "remedies",
]


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


# How many brokers may fail before writes stop: the fewest failures until none is taken, or nobody leads.


STOPS: dict[str, str] = {
    properties.writes_are_taken.__name__: "writes with acks=all are refused",
    properties.a_leader_is_there.__name__: "the partition has no leader",
}
"""What is counted by, and what is said of it when it fails."""


_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Failure:
    """A way in which brokers fail, of which the fewest are looked for.

    Attributes:
        name: what it is called in results.
        counted: the action that is one failure more.
        others: the other actions that are taken: what follows from failures, and failures that are not counted.
        budgets: the budgets that are not 0: of these failures there are as many as anybody can have.
    """

    name: str
    counted: str
    others: frozenset[str]
    budgets: tuple[str, ...]


FAILURES = (
    Failure("down", "crash", frozenset({"fence"}), ("crashes",)),
    Failure("fenced", "fence", frozenset(), ("fencings",)),
    Failure("slow", "shrink_isr", frozenset({"accept_isr"}), ("shrinks",)),
    Failure("down_beside_slow", "crash", frozenset({"fence", "shrink_isr", "accept_isr"}), ("crashes", "shrinks")),
)
"""Brokers that are down; those that run, and have no session; followers out of the ISR; the first beside the last."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """What happens when brokers fail.

    Attributes:
        name: the property that fails then.
        by: the name of the failure.
        failures: the least number of such failures; None where none suffices, or where that is not known.
        more_than: where it is None, a number of failures that is known not to be enough; -1 where nothing is known.
        steps: the steps that lead there, in words.
    """

    name: str
    by: str
    failures: int | None
    more_than: int
    steps: tuple[str, ...]


def availability(question: Question) -> list[Stopped]:
    """Return how many failures of each kind it takes for each of `STOPS`, under the settings of a question.

    At first all replicas are in the ISR. Brokers fail one after the other and do not come back, those that are down
    keep their logs, the controller hears of each, and nothing is written. Of all ways to fail that there are then the
    one with the fewest failures is found by stepping through the model, however many steps it has. It is looked for
    before all else, as it is cheap, and in a quarter of the seconds that are left, as with many replicas it is not.
    """
    own = question.share(_SHARE)
    return [stopped for failure in FAILURES for stopped in _by(failure, own)]


def availability_matrix(question: Question) -> Iterator[tuple[Given, list[Stopped]]]:
    """Yield the same for each min.insync.replicas and unclean.leader.election.enable; acks does not matter here."""
    replicas: int = Cluster(**question.bounds).b.replicas
    own = question.share(_SHARE)
    for minimum in range(1, replicas + 1):
        for unclean in ("off", "on"):
            settings: dict[str, int | str] = {"min_insync": minimum, "unclean": unclean}
            yield settings, availability(own.changed(settings))


def _by(failure: Failure, question: Question) -> Iterator[Stopped]:
    model, watch = _model(failure, question.bounds), question.watch()
    try:
        traced(model, watch.go_on)
        found, whole = _fewest(failure, model, watch)
    except GivenUp:
        found, whole = {}, False
    for name in STOPS:
        if name in found:
            failures, steps = found[name]
            yield Stopped(name, failure.name, failures, failures - 1, steps)
        else:
            yield Stopped(name, failure.name, None, model.b.replicas if whole else -1, ())


def _model(failure: Failure, given: Mapping[str, int | str]) -> Cluster:
    """The cluster with the settings of a question, in which only these failures happen."""
    settings = {name: value for name, value in given.items() if isinstance(value, str)}
    sizes = {name: given[name] for name in ("replicas", "spares", "min_insync", "partition_zero") if name in given}
    calm = {"records": 1, "lossy_crashes": 0, "fencings": 0, "shrinks": 0, "metadata_lag": 0}
    budgets = dict.fromkeys(failure.budgets, Cluster(**given).b.replicas)
    return Cluster(**{**settings, **sizes, **calm, **budgets})


_Ways = dict[str, tuple[int, tuple[str, ...]]]


def _fewest(failure: Failure, model: Cluster, watch: Watch) -> tuple[_Ways, bool]:
    """Search states in the order of their failures, for the fewest to each of `STOPS` and the steps that lead there.

    Returns:
        What was found, and whether all was searched.
    """
    stepper, claims, start = Stepper(model), claims_of(model, list(STOPS)), model.program.initials[0]
    queue: list[tuple[int, int, Codes]] = [(0, 0, start)]
    before: dict[Codes, tuple[Codes, int] | None] = {start: None}
    fewest, expanded, found, number = {start: 0}, set[Codes](), _Ways(), 0
    while queue and len(found) < len(claims):
        if watch.interrupted() is not None:
            return found, False
        failures, _, codes = heapq.heappop(queue)
        if codes in expanded:
            continue
        expanded.add(codes)
        for claim in _broken(claims, stepper, codes):
            found.setdefault(claim, (failures, _way(stepper, before, codes)))
        for action, after in _steps(failure, stepper, codes):
            count = failures + (stepper.actions[action].name == failure.counted)
            if count < fewest.get(after, count + 1):
                number += 1
                fewest[after], before[after] = count, (codes, action)
                heapq.heappush(queue, (count, number, after))
    return found, True


def _broken(claims: Sequence[Claim], stepper: Stepper, codes: Codes) -> Iterator[str]:
    return (claim.name for claim in claims if not stepper.holds(claim, codes))


def _steps(failure: Failure, stepper: Stepper, codes: Codes) -> Iterator[tuple[int, Codes]]:
    for name, numbers in stepper.enabled(codes).items():
        if name == failure.counted or name in failure.others:
            for action in numbers:
                after = stepper.attempt(codes, action)
                if after is not None and not isinstance(after, Refused):
                    yield action, after


def _way(stepper: Stepper, before: Mapping[Codes, tuple[Codes, int] | None], codes: Codes) -> tuple[str, ...]:
    labels: list[str] = []
    while (step := before[codes]) is not None:
        codes, action = step
        labels.append(stepper.actions[action].label)
    return tuple(reversed(labels))

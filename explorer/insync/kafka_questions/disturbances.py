"""What `insync ask` searches for beside failures: elections and reassignments, and how many failures stop writes.

One election without a failure makes the default space ten times as large, and two reassignments make it larger still.
So each has a search of its own at smaller bounds. A broken promise is attributed to an entry of the catalogue if the
fix of that entry keeps the promise.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from insync.explorer.results import CheckResult, Verdict
from insync.explorer.stepping.stepper import Claim, Refused, Stepper, claims_of
from insync.kafka.cluster.configuration import Elr
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, Defect
from insync.kafka_questions.ask import ELECTABLE, LOSS, Asked, Cell, Given, Question, changes_of
from insync.model.evaluator import Codes
from insync.model.tracing.tracer import traced
from insync.properties.kafka import cluster_availability as properties
from insync.runtime.watch import Stopped, Watch

__all__ = [
    "DISTURBANCES",
    "FAILURES",
    "STOPS",
    "Attempt",
    "Disturbance",
    "Disturbed",
    "Failure",
    "FewestFailures",
    "Remedy",
    "attempts",
    "availability",
    "availability_matrix",
    "disturbed",
    "remedies",
]


@dataclass(frozen=True, slots=True)
class Disturbance:
    """An event other than a failure, and the bounds at which it is searched.

    Attributes:
        words: the event in words.
        budget: its budget, which is 0 in the default question.
        budgets: the maximum of every budget that is not 0.
        promises: the promises that it may break.
        defect: the entry of the catalogue that causes this.
        avoided_by: a measure, no lasting setting, that avoids all or most of it; from docs/findings.
        needs_elr: whether it needs eligible leader replicas.
        needs_partition_zero: whether it needs a partition with another number of replicas than partition 0.
        fewest_replicas: whether min.insync.replicas replicas are enough; else the cluster has all of its replicas.
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
        """Whether the event can happen in a cluster, and the question does not give its budget."""
        model = Cluster(**question.bounds)
        possible = not self.needs_elr or bool(model.elr)
        if self.needs_partition_zero:
            possible = possible and model.b.partition_zero > 0
        else:
            possible = possible and model.b.replicas > 1
        return possible and self.budget not in question.bounds and bool(self.asked_about(question))

    def changes(self, question: Question) -> list[dict[str, int | str]]:
        """Return the single changes of the settings that might keep the promises that it breaks."""
        model = Cluster(**{**question.bounds, self.budget: self.budgets[self.budget]})
        without: list[dict[str, int | str]] = [{"elr": Elr.OFF.value}] if model.elr else []
        fewer: list[dict[str, int | str]] = [{"min_insync": least} for least in range(model.b.min_insync - 1, 0, -1)]
        return [*changes_of(model), *without, *(fewer if self.needs_elr else ())]

    def asked_about(self, question: Question) -> list[str]:
        """Return the promises that both the disturbance and the question have."""
        return [name for name in self.promises if name in question.promises]

    def bounds(self, question: Question, *, losing: bool = False) -> dict[str, int | str]:
        """Return the settings of a question with budgets that exceed neither `budgets` nor the question's own.

        Args:
            question: the question.
            losing: whether a promise is broken without the disturbance. Brokers then keep unflushed records when they
                crash, as losing these is the usual cause.
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
"""The events that `insync ask` searches for beside the default budgets."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A change of the settings that might keep the promises that a disturbance breaks.

    Attributes:
        cell: the change, and its outcome with the disturbance.
        undisturbed: its outcome without the disturbance; None if it does not help with it.
    """

    cell: Cell
    undisturbed: Cell | None = None

    @property
    def verdict(self) -> str:
        """Holds if the change keeps the broken promises, and all others too without the disturbance."""
        return self.cell.verdict if self.undisturbed is None else self.undisturbed.verdict


@dataclass(frozen=True, slots=True)
class Disturbed:
    """The answer for a cluster with a disturbance.

    Attributes:
        disturbance: the event.
        asked: the answer.
        fixed: the answer with the fix of the disturbance's entry of the catalogue; None if nothing is broken.
        attempts: the outcomes of changes of the settings; none if a promise is broken without the disturbance.
    """

    disturbance: Disturbance
    asked: Asked
    fixed: CheckResult | None = None
    attempts: tuple[Attempt, ...] = ()

    @property
    def kept(self) -> tuple[str, ...]:
        """The broken promises that the fix keeps."""
        return self._with_fix(Verdict.HOLDS)

    @property
    def undecided(self) -> tuple[str, ...]:
        """The broken promises of which it is unknown whether the fix keeps them."""
        return self._with_fix(Verdict.INCOMPLETE)

    def _with_fix(self, verdict: Verdict) -> tuple[str, ...]:
        broken = {violation.property for violation in self.asked.result.violations}
        found = () if self.fixed is None else self.fixed.properties
        return tuple(each.name for each in found if each.name in broken and each.verdict is verdict)

    @property
    def defect(self) -> Defect | None:
        """The entry of the catalogue that a broken promise is attributed to; None if there is none."""
        return self.disturbance.defect if self.kept else None


def disturbed(question: Question, *, losing: bool = False) -> Iterator[Disturbed]:
    """Yield the answer for each disturbance that can happen, at the bounds of the disturbance.

    Args:
        question: the question.
        losing: whether a promise is broken without a disturbance; see `Disturbance.bounds`.
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
    """Return the answer with the fix of the disturbance's entry of the catalogue."""
    entry = disturbance.defect
    fixed = {**bounds, **entry.fixed}
    if entry.rules:  # else the fix is a setting, and no rule
        fixed |= {"defect": entry.name, "fixed": "alone"}
    return question.search(fixed, disturbance.asked_about(question), keep_going=True).result


def attempts(question: Question, found: Disturbed) -> Iterator[Attempt]:
    """Yield the outcome of each change of the settings that might keep the promises that a disturbance breaks.

    Args:
        question: a question whose promises hold without the disturbance.
        found: its answer with the disturbance.
    """
    disturbance, broken = found.disturbance, [violation.property for violation in found.asked.result.violations]
    for change in disturbance.changes(question) if broken else ():
        changed = question.changed(change)
        (cell,) = replace(changed, bounds=disturbance.bounds(changed)).tried([change], broken)
        held = cell.verdict == Verdict.HOLDS
        yield Attempt(cell, next(question.tried([change], question.promises)) if held else None)


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change of the settings, and the disturbances of the changed cluster if the change helps.

    Attributes:
        cell: the change and its outcome.
        disturbed: the answers with the change for each disturbance that can happen; none if the change does not help.
    """

    cell: Cell
    disturbed: tuple[Disturbed, ...] = ()


def remedies(question: Question, broken: str = LOSS) -> Iterator[Remedy]:
    """Yield every change of the settings that might keep a promise; those that do come with their disturbances.

    Args:
        question: the question.
        broken: the promise.
    """
    for cell in question.remedies(broken):
        changed = question.changed(cell.settings)
        yield Remedy(cell, tuple(disturbed(changed)) if cell.verdict == Verdict.HOLDS else ())


# ------------------------------------------------------------------------------------------------------- availability
#
# The fewest broker failures until no write is taken, or the partition has no leader.


STOPS: dict[str, str] = {
    properties.writes_are_taken.__name__: "writes with acks=all are refused",
    properties.a_leader_is_there.__name__: "the partition has no leader",
}
"""The properties whose failures are searched for, each with what its failure is in words."""


_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Failure:
    """A kind of broker failure, whose least number is searched for.

    Attributes:
        name: of the kind, in results.
        counted: the action that counts as one failure.
        others: the other actions that may happen: consequences of failures, and failures that are not counted.
        budgets: the budgets that are not 0; these are as large as the number of replicas.
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
"""Brokers that are down; brokers that run without a session; followers out of the ISR; the first beside the last."""


@dataclass(frozen=True, slots=True)
class FewestFailures:
    """The fewest failures of a kind that break a property.

    Attributes:
        name: the property.
        by: the name of the kind of failure.
        failures: the least number of such failures; None if no number suffices, or that is unknown.
        more_than: if `failures` is None, a number of failures that is known not to suffice; -1 if none is known.
        steps: the steps that lead there, in words.
    """

    name: str
    by: str
    failures: int | None
    more_than: int
    steps: tuple[str, ...]


def availability(question: Question) -> list[FewestFailures]:
    """Return the fewest failures of each kind that break each of `STOPS`, under the settings of a question.

    At first all replicas are in the ISR. Brokers fail one after the other and do not come back; those that are down
    keep their logs; the controller learns of each failure; nothing is written. The search counts failures, not steps.
    It is cheap unless there are many replicas, so it takes at most a quarter of the seconds that are left.
    """
    own = question.share(_SHARE)
    return [stopped for failure in FAILURES for stopped in _by(failure, own)]


def availability_matrix(question: Question) -> Iterator[tuple[Given, list[FewestFailures]]]:
    """Yield `availability` for each min.insync.replicas and unclean.leader.election.enable; acks has no influence."""
    replicas: int = Cluster(**question.bounds).b.replicas
    own = question.share(_SHARE)
    for minimum in range(1, replicas + 1):
        for unclean in ("off", "on"):
            settings: dict[str, int | str] = {"min_insync": minimum, "unclean": unclean}
            yield settings, availability(own.changed(settings))


def _by(failure: Failure, question: Question) -> Iterator[FewestFailures]:
    model, watch = _model(failure, question.bounds), question.watch()
    try:
        traced(model, watch.check)
        found, whole = _fewest(failure, model, watch)
    except Stopped:
        found, whole = {}, False
    for name in STOPS:
        if name in found:
            failures, steps = found[name]
            yield FewestFailures(name, failure.name, failures, failures - 1, steps)
        else:
            yield FewestFailures(name, failure.name, None, model.b.replicas if whole else -1, ())


def _model(failure: Failure, given: Mapping[str, int | str]) -> Cluster:
    """The cluster with the given settings, in which only these failures happen."""
    settings = {name: value for name, value in given.items() if isinstance(value, str)}
    sizes = {name: given[name] for name in ("replicas", "spares", "min_insync", "partition_zero") if name in given}
    calm = {"records": 1, "lossy_crashes": 0, "fencings": 0, "shrinks": 0, "metadata_lag": 0}
    budgets = dict.fromkeys(failure.budgets, Cluster(**given).b.replicas)
    return Cluster(**{**settings, **sizes, **calm, **budgets})


_Ways = dict[str, tuple[int, tuple[str, ...]]]


def _fewest(failure: Failure, model: Cluster, watch: Watch) -> tuple[_Ways, bool]:
    """Find the fewest failures that break each of `STOPS`, and the steps to them (shortest paths: Dijkstra 1959).

    Returns:
        The failures and steps by property, and whether the search was complete.
    """
    stepper, claims, start = Stepper(model), claims_of(model, list(STOPS)), model.program.initials[0]
    queue: list[tuple[int, int, Codes]] = [(0, 0, start)]
    before: dict[Codes, tuple[Codes, int] | None] = {start: None}
    fewest, expanded, found, number = {start: 0}, set[Codes](), _Ways(), 0
    while queue and len(found) < len(claims):
        if watch.reason() is not None:
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

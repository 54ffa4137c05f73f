"""How many brokers may fail before writes stop: the fewest failures until none is taken, or nobody leads."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from insync.explorer.ask import Given, Question
from insync.explorer.limits import Watch
from insync.explorer.stepping.stepper import Claim, Refused, Stepper, claims_of
from insync.kafka.cluster.model import Cluster
from insync.machine.interruptible import GivenUp
from insync.model.evaluator import Codes
from insync.model.tracing.tracer import traced
from insync.properties.kafka import cluster_availability as properties

__all__ = ["FAILURES", "STOPS", "Failure", "Stopped", "availability", "availability_matrix"]

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

"""When writes stop: the fewest broker failures until writes are refused, or until the partition has no leader."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from insync.explorer.stepping.stepper import Claim, Refused, Stepper, claims_of
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.question import Question
from insync.model.evaluator import Codes
from insync.model.tracing.tracer import traced
from insync.properties.kafka import cluster_availability as properties
from insync.runtime.watch import Stopped, Watch

__all__ = ["FAILURES", "STOPS", "Failure", "FewestFailures", "availability"]


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
    Failure("slow", "shrink_isr", frozenset({"accept_isr"}), ("isr_shrinks",)),
    Failure("down_beside_slow", "crash", frozenset({"fence", "shrink_isr", "accept_isr"}), ("crashes", "isr_shrinks")),
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


def _by(failure: Failure, question: Question) -> Iterator[FewestFailures]:
    model, watch = _model(failure, question.settings), question.watch()
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
    sizes = {
        name: given[name]
        for name in ("replicas", "spares", "min_insync_replicas", "partition_zero_replicas")
        if name in given
    }
    calm = {"records": 1, "power_failures": 0, "fencings": 0, "isr_shrinks": 0, "metadata_lag": 0}
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

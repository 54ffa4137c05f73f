"""Tours of the spaces in which a few budgets are spent at once, each space by itself.

The space of all budgets together is too large to be seen whole: 2 replicas, 1 record and nine of the budgets have more
than 31 million states. What few of them can do together has some thousand states, and there are few such choices.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations

from insync.conformance.classes.subject import Subject
from insync.conformance.comparing.conform import Conformance, Conforming, conform_tour
from insync.conformance.comparing.coverage import Coverage
from insync.conformance.comparing.touring import Space
from insync.conformance.steps.pair import Pair
from insync.explorer.progress import WalkReporter
from insync.explorer.runs.transition_tour import ActionShare
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.cluster.model import Cluster
from insync.runtime.errors import UserError
from insync.runtime.watch import Limits, StopReason, Watch

__all__ = ["BUDGETS", "EACH_ONCE", "conform_budgets", "within"]

BUDGETS = (
    "power_failures",
    "crashes",
    "controlled_shutdowns",
    "fencings",
    "isr_shrinks",
    "preferred_elections",
    "delete_records",
    "reassignments",
    "config_changes",
    "replica_order_changes",
    "log_dir_moves",
    "log_dir_failures",
    "lost_fetch_responses",
    "retries",
    "producer_restarts",
    "lost_alter_partition_responses",
    "fetch_failures",
    "snapshots",
)
"""The budgets of what the harness can bring about."""

NEEDED: Mapping[str, Mapping[str, int | str]] = {
    "log_dir_failures": {"crashes": 1},
    "lost_fetch_responses": {"fetch_sessions": "on"},
    "retries": {"records": 2, "preferred_elections": 1},
    "producer_restarts": {"records": 2, "preferred_elections": 1, "retries": 1},
    "lost_alter_partition_responses": {"isr_shrinks": 1},
}
"""What the spaces of a budget have at least, as it cannot be spent without."""

EACH_ONCE: Mapping[str, int | str] = {"replicas": 2, "records": 1, **dict.fromkeys(BUDGETS, 1)}
"""The bounds of these tours: all of them once."""

_FOR_ALL = (StopReason.TIME, StopReason.INTERRUPT)
"""What ends all tours; another limit ends the one that comes to it."""


def conform_budgets(
    model: Cluster,
    subject: Subject,
    *,
    at_once: int,
    limits: Limits | None = None,
    reporter: WalkReporter | None = None,
    stop: threading.Event | None = None,
    new_pair: Callable[[Stepper, Subject], Pair] = Pair,
) -> Conformance:
    """Tour each space in which `at_once` budgets of a model may be spent, and no others, up to the first difference.

    Args:
        model: the model with all budgets.
        subject: who takes the commands.
        at_once: how many of its budgets a space has.
        limits: a limit on the seconds of all tours, and one on the states of each space.
        reporter: is told about once a second how far the present tour is.
        stop: ends the work when it is set; the result is that of the steps taken by then.
        new_pair: makes what walks: the model and Kafka, side by side.

    Raises:
        UserError: the model has fewer budgets, or the extra `graph` is not installed.
    """
    watch, given = Watch(limits or Limits(), stop), limits or Limits()
    results: dict[str, Conformance] = {}
    for names in _choices(model, at_once):
        left = given if given.seconds is None else replace(given, seconds=max(0.0, given.seconds - watch.seconds))
        found = conform_tour(
            within(model, names), subject, limits=left, reporter=reporter, stop=stop, new_pair=new_pair
        )
        results[" + ".join(names)] = found
        if found.verdict is Conforming.DIVERGES or found.stopped_by in _FOR_ALL:
            break
    return _together(model, results, watch.seconds)


def _choices(model: Cluster, at_once: int) -> list[tuple[str, ...]]:
    there = [name for name in BUDGETS if getattr(model.b, name)]
    if at_once > len(there):
        message = f"--at-once {at_once} is too many: {len(there)} budgets are above 0. Give at most that number."
        raise UserError(message)
    return list(combinations(there, at_once))


def within(model: Cluster, names: Sequence[str]) -> Cluster:
    """Return the model in which these of its budgets may be spent, with what they need, and no others."""
    spent = {name: getattr(model.b, name) if name in names else 0 for name in BUDGETS}
    bounds = {**model.identity, **spent}
    for name, value in chain.from_iterable(NEEDED.get(name, {}).items() for name in names):
        bounds[name] = value if isinstance(value, str) else max(value, int(bounds[name]))
    return Cluster(**bounds)


def _together(model: Cluster, results: Mapping[str, Conformance], seconds: float) -> Conformance:
    """Return the result of all tours: that of the last one, with what all of them have compared."""
    last = list(results.values())[-1]
    coverage, gaps = Coverage(last.coverage.actions), Counter[tuple[str, str]]()
    space, actions = Space(0, 0, 0, 0, 0, whole=True), dict[str, ActionShare]()
    for name, one in results.items():
        assert one.space is not None
        coverage.add(one.coverage, name)
        gaps.update(one.gaps)
        space += one.space
        for label, taken in one.bound_actions.items():
            actions[label] = actions.get(label, ActionShare()) + taken
    stopped = next((one.stopped_by for one in results.values() if one.stopped_by is not None), None)
    agrees = Conforming.AGREES if stopped is None else Conforming.INCOMPLETE
    differs = last.verdict is Conforming.DIVERGES
    return replace(
        last,
        verdict=Conforming.DIVERGES if differs else agrees,
        model=last.model if differs else model,
        coverage=coverage,
        walks=sum(one.walks for one in results.values()),
        space=space,
        spaces={name: one.space for name, one in results.items() if one.space is not None},
        bound_actions=dict(sorted(actions.items())),
        stopped_by=stopped,
        seconds=seconds,
    ).with_gaps(dict(sorted(gaps.items())))

"""How many brokers may fail before writes stop: the shortest way to a partition that takes none, or has no leader."""

from __future__ import annotations

from dataclasses import dataclass, replace

from insync.explorer.ask import Question
from insync.explorer.limits import Limits, StopReason
from insync.explorer.traces.trace import Trace
from insync.kafka.cluster.configuration import BOUNDS
from insync.kafka.cluster.model import Cluster
from insync.properties.kafka import cluster_availability as properties

__all__ = ["STOPS", "Stopped", "availability"]

STOPS: dict[str, str] = {
    properties.writes_are_taken.__name__: "writes with acks=all are refused",
    properties.a_leader_is_there.__name__: "the partition has no leader",
}
"""What is counted by, and what is said of it when it fails."""

_MOST = BOUNDS["crashes"].highest


@dataclass(frozen=True, slots=True)
class Stopped:
    """What happens when brokers fail.

    Attributes:
        name: the property that fails then.
        failures: the least number of brokers that must be down; None where nothing was found.
        more_than: where it is None, a number of failures that is known not to be enough; -1 where nothing is known.
        steps: the steps of the shortest trace, in words.
    """

    name: str
    failures: int | None
    more_than: int
    steps: tuple[str, ...]


def availability(question: Question) -> list[Stopped]:
    """Return how many brokers must fail for each of `STOPS`, under the settings of a question.

    Brokers die one after the other, keep their logs, and the controller hears of each; nothing else goes wrong, so two
    steps a broker are the shortest way, and the search ends behind them.
    """
    given, model = question.bounds, Cluster(**question.bounds)
    settings = {name: value for name, value in given.items() if isinstance(value, str)}
    sizes = {name: given[name] for name in ("replicas", "min_insync") if name in given}
    crashes = min(model.b.replicas, _MOST)
    calm = {"records": 1, "lossy_crashes": 0, "fencings": 0, "shrinks": 0, "metadata_lag": 0, "crashes": crashes}
    depth = 2 * crashes + 1
    limits = replace(question.limits or Limits(), depth=depth, states=None)
    result = replace(question, limits=limits).search({**settings, **sizes, **calm}, list(STOPS), keep_going=True).result
    traces = {violation.property: violation.trace for violation in result.violations}
    whole = result.stopped_by in (None, StopReason.DEPTH)
    return [_stopped(name, traces.get(name), crashes if whole else -1) for name in STOPS]


def _stopped(name: str, trace: Trace | None, more_than: int) -> Stopped:
    if trace is None:
        return Stopped(name, None, more_than, ())
    failures = sum(step.action == "crash" for step in trace.steps)
    return Stopped(name, failures, failures - 1, tuple(step.label for step in trace.steps[1:]))

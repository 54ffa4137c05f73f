"""When writes stop: the fewest broker failures until writes are refused, or until the partition has no leader."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.question import Given, Question
from insync.machine.kernels import Part, compile_kernels
from insync.machine.packed import PackedRows, Words
from insync.model.evaluator import Evaluator, evaluate
from insync.model.tracing.tracer import traced
from insync.properties.kafka import cluster_availability as properties
from insync.properties.registry import judge
from insync.runtime.errors import InternalError
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
        budgets: the budgets that are not 0, which are as large as the number of replicas; kinds with the same budgets
            share a cluster.
    """

    name: str
    counted: str
    others: frozenset[str]
    budgets: tuple[str, ...]


FAILURES = (
    Failure("down", "crash", frozenset({"fence"}), ("crashes", "isr_shrinks")),
    Failure("fenced", "fence", frozenset(), ("fencings",)),
    Failure("slow", "shrink_isr", frozenset({"accept_alter_partition"}), ("crashes", "isr_shrinks")),
    Failure(
        "down_beside_slow",
        "crash",
        frozenset({"fence", "shrink_isr", "accept_alter_partition"}),
        ("crashes", "isr_shrinks"),
    ),
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
    watch, failing = own.watch(), dict[tuple[str, ...], _Failing]()
    try:
        return [stopped for failure in FAILURES for stopped in _by(failure, own, watch, failing)]
    finally:
        for one in failing.values():
            one.close()


def _by(
    failure: Failure, question: Question, watch: Watch, failing: dict[tuple[str, ...], _Failing]
) -> Iterator[FewestFailures]:
    """Yield the fewest failures of a kind for each of `STOPS`.

    Args:
        failure: the kind.
        question: the question.
        watch: over the search.
        failing: the clusters in which something fails, by their budgets; that of this kind is added.
    """
    try:
        if failure.budgets not in failing:
            failing[failure.budgets] = _Failing(_model(failure.budgets, question.settings), watch)
        found, whole = _fewest(failure, failing[failure.budgets], watch)
    except Stopped:
        found, whole = {}, False
    for name in STOPS:
        if name in found:
            failures, steps = found[name]
            yield FewestFailures(name, failure.name, failures, failures - 1, steps)
        else:
            replicas = Cluster(**question.settings).b.replicas
            yield FewestFailures(name, failure.name, None, replicas if whole else -1, ())


def _model(budgets: Sequence[str], given: Given) -> Cluster:
    """The cluster with the given settings, in which nothing else fails than these budgets allow."""
    settings = {name: value for name, value in given.items() if isinstance(value, str)}
    names = ("replicas", "spares", "min_insync_replicas", "partition_zero_replicas")
    sizes = {name: given[name] for name in names if name in given}
    calm = {"records": 1, "power_failures": 0, "fencings": 0, "isr_shrinks": 0, "metadata_lag": 0}
    return Cluster(**{**settings, **sizes, **calm, **dict.fromkeys(budgets, Cluster(**given).b.replicas)})


class _Failing:
    """The states of a cluster in which brokers fail and nothing else happens, with their steps from machine code.

    Args:
        model: the cluster.
        watch: the limits of tracing and compilation, which raise Stopped.

    Attributes:
        start: the initial state, packed.
    """

    def __init__(self, model: Cluster, watch: Watch) -> None:
        names = {name for failure in FAILURES for name in (failure.counted, *failure.others)}
        self._program = traced(model, watch.check).only(names)
        self._judged = judge(model, list(STOPS))
        parts = (Part.EDGES, Part.CHECK)
        self._kernels = compile_kernels(self._program, self._judged.nodes, parts, watch)
        self._edges, self._checker = self._kernels.edges(), self._kernels.checker()
        words = self._kernels.sizes.words
        self.start = PackedRows.of(self._program.initials.rows, words).first(words)
        self._steps, self._broken = dict[Words, Mapping[int, Words]](), dict[Words, list[str]]()

    def action(self, number: int) -> str:
        """Return the name of the action with this number."""
        return self._program.actions[number].name

    def steps(self, state: Words) -> Mapping[int, Words]:
        """Return the state after each enabled action, by the number of the action, in order."""
        if state not in self._steps:
            self._steps[state] = self._edges.of_one(state)
        return self._steps[state]

    def broken(self, state: Words) -> list[str]:
        """Return which of `STOPS` fail in a state."""
        if state not in self._broken:
            row = PackedRows([state])
            self._checker.check(row.address, row.count)
            found = zip(self._judged.invariants, self._checker.take(), strict=True)
            self._broken[state] = [one.name for one, failed in found if failed.count]
        return self._broken[state]

    def labels(self, numbers: Sequence[int], name: str) -> tuple[str, ...]:
        """Return the labels of steps from the initial state, after the evaluator has taken them.

        Args:
            numbers: the actions.
            name: the property that fails after them.

        Raises:
            InternalError: the property holds after them.
        """
        evaluator, codes = Evaluator(self._program), self._program.initials[0]
        for number in numbers:
            codes = evaluator.step(number, codes)
        nodes = {one.name: node for one, node in zip(self._judged.invariants, self._judged.nodes, strict=True)}
        if evaluate(nodes[name], codes):
            message = f"The machine code has a violation of {name} in {codes}, where the evaluator has none."
            raise InternalError(message)
        return tuple(self._program.actions[number].label for number in numbers)

    def close(self) -> None:
        """Release the memory of the machine code."""
        self._edges.close()
        self._checker.close()


_Ways = dict[str, tuple[int, tuple[str, ...]]]


def _fewest(failure: Failure, failing: _Failing, watch: Watch) -> tuple[_Ways, bool]:
    """Find the fewest failures that break each of `STOPS`, and the steps to them (shortest paths: Dijkstra 1959).

    Returns:
        The failures and steps by property, and whether the search was complete.
    """
    queue: list[tuple[int, int, Words]] = [(0, 0, failing.start)]
    before: dict[Words, tuple[Words, int] | None] = {failing.start: None}
    fewest, expanded, found, pushed = {failing.start: 0}, set[Words](), _Ways(), 0
    while queue and len(found) < len(STOPS):
        if watch.reason() is not None:
            return found, False
        failures, _, state = heapq.heappop(queue)
        if state in expanded:
            continue
        expanded.add(state)
        for name in failing.broken(state):
            if name not in found:
                found[name] = failures, failing.labels(_way(before, state), name)
        for number, after in failing.steps(state).items():
            name = failing.action(number)
            if name != failure.counted and name not in failure.others:
                continue
            count = failures + (name == failure.counted)
            if count < fewest.get(after, count + 1):
                pushed += 1
                fewest[after], before[after] = count, (state, number)
                heapq.heappush(queue, (count, pushed, after))
    return found, True


def _way(before: Mapping[Words, tuple[Words, int] | None], state: Words) -> list[int]:
    """Return the actions that lead to a state."""
    numbers: list[int] = []
    while (step := before[state]) is not None:
        state, number = step
        numbers.append(number)
    return numbers[::-1]

"""Results of proofs: a verdict for each query, and counterexamples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from insync.properties.invariants import Failure
from insync.runtime.watch import StopReason

__all__ = [
    "ALIKE",
    "Bounded",
    "BoundedVerdict",
    "CounterexampleToInduction",
    "Induction",
    "ProofVerdict",
    "Query",
    "QueryReporter",
    "StateSequence",
]

ALIKE = "members are alike"
"""The name of the query whether bound actions are equivariant; its cases are the bound actions that need no query."""


class ProofVerdict(Enum):
    """The verdict of one query or of an induction; UNKNOWN, after a time-out for example, is neither of the others."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class StateSequence:
    """Successive states.

    Attributes:
        codes: the codes of each state.
        actions: the number of the action between each two states.
    """

    codes: tuple[tuple[int, ...], ...]
    actions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CounterexampleToInduction:
    """States in which all conditions hold, and a step to one in which some fail. The states need not be reachable.

    Attributes:
        states: the states; the last one is missing where the step leaves a domain.
        refused: the number of the action that leaves a domain, else None.
        failing: the names of the conditions that fail in the last state.
        reason: why the first of them fails.
        failure: the failure of the first of them; None where the step leaves a domain.
    """

    states: StateSequence
    refused: int | None
    failing: tuple[str, ...]
    reason: str
    failure: Failure | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a proof and its answer.

    Attributes:
        name: `initiation`, an action's name, `depth N`, or `ALIKE`.
        verdict: the answer.
        seconds: the time that it took, translation included.
        cases: the number of bindings of the action's parameters that it covers.
        reason: why the answer is unknown; else empty.
        counterexample: the counterexample to preservation, if there is one.
    """

    name: str
    verdict: ProofVerdict
    seconds: float
    cases: int = 1
    reason: str = ""
    counterexample: CounterexampleToInduction | None = None


QueryReporter = Callable[[Query], None]
"""Receives each query when it is answered, in the thread of the caller."""


@dataclass(frozen=True, slots=True)
class Induction:
    """The result of an induction.

    Attributes:
        verdict: PROVED only if every query is.
        k: the number of successive states that are assumed to be good.
        conditions: the names of the properties and lemmas.
        queries: the answered queries: initiation, then one query for each action.
        unanswered: the names of the others, if the proof was stopped.
        stopped_by: what stopped it.
        violation: states from an initial one to one in which a condition fails, found by initiation.
    """

    verdict: ProofVerdict
    k: int
    conditions: tuple[str, ...]
    queries: tuple[Query, ...]
    unanswered: tuple[str, ...] = ()
    stopped_by: StopReason | None = None
    violation: Bounded | None = None

    @property
    def counterexample(self) -> CounterexampleToInduction | None:
        """The first counterexample to preservation."""
        return next((q.counterexample for q in self.queries if q.counterexample is not None), None)

    @property
    def proved(self) -> list[str]:
        """The names of the queries that are proved."""
        return [query.name for query in self.queries if query.verdict is ProofVerdict.PROVED]

    @property
    def open(self) -> list[str]:
        """The names of the queries without an answer: the unknown ones, and those that were not asked."""
        unknown = [query.name for query in self.queries if query.verdict is ProofVerdict.UNKNOWN]
        return [*unknown, *self.unanswered]

    @property
    def seconds(self) -> float:
        """The time of all queries."""
        return sum(query.seconds for query in self.queries)


class BoundedVerdict(Enum):
    """The verdict of a bounded check. NONE_WITHIN is not a proof: it does not cover longer traces."""

    VIOLATED = "violated"
    NONE_WITHIN = "no violation within the depth"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Bounded:
    """The result of a bounded check.

    Attributes:
        verdict: the verdict.
        depth: the depth up to which no property fails; the initial states have depth 1.
        violated: the names of the properties that fail at the next depth.
        sequences: for each of them states from an initial one to one in which it fails.
        queries: one for each depth that was answered.
        stopped_by: what stopped it before the requested depth.
    """

    verdict: BoundedVerdict
    depth: int
    violated: tuple[str, ...]
    sequences: tuple[StateSequence, ...]
    queries: tuple[Query, ...]
    stopped_by: StopReason | None = None

    @property
    def seconds(self) -> float:
        """The time of all queries."""
        return sum(query.seconds for query in self.queries)

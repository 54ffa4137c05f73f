"""What proofs answer: a verdict for each question, and the states that refute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from insync.proofs.watch import Stop

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
"""The name of the query whether it matters which member of a sort takes a step; its cases are those that it spares."""


class ProofVerdict(Enum):
    """The answer to one question, or to all of an induction; UNKNOWN (a time-out, say) is neither of the others."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class StateSequence:
    """States, each the successor of the one before it.

    Attributes:
        codes: the codes of each state.
        actions: the number of the action between each two.
    """

    codes: tuple[tuple[int, ...], ...]
    actions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CounterexampleToInduction:
    """States in which all conditions hold, and a step to one in which some do not. The states need not be reachable.

    Attributes:
        states: the last one is missing where the step leaves a domain.
        refused: the number of the action that leaves a domain, else None.
        failing: the names of the conditions that fail in the last state.
        reason: why the first of them fails.
    """

    states: StateSequence
    refused: int | None
    failing: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Query:
    """A question to z3 and its answer.

    Attributes:
        name: `initiation`, an action's name, or `depth N`.
        verdict: the answer.
        seconds: how long it took, translation included.
        cases: how many bindings of the action's parameters were asked about.
        reason: why the answer is unknown; empty where it is not.
        counterexample: what refutes preservation.
    """

    name: str
    verdict: ProofVerdict
    seconds: float
    cases: int = 1
    reason: str = ""
    counterexample: CounterexampleToInduction | None = None


QueryReporter = Callable[[Query], None]
"""Is told of each query when it is answered, in the thread that called."""


@dataclass(frozen=True, slots=True)
class Induction:
    """Whether conditions are inductive together.

    Attributes:
        verdict: PROVED only if every query is.
        k: how many successive states are assumed to be good.
        conditions: the names of the properties and lemmas.
        queries: those that were answered: initiation, then one query for each action.
        unanswered: the names of the others, if the proof was stopped.
        stopped_by: what stopped it.
        violation: states from the initial one to one in which a condition fails, found by initiation.
    """

    verdict: ProofVerdict
    k: int
    conditions: tuple[str, ...]
    queries: tuple[Query, ...]
    unanswered: tuple[str, ...] = ()
    stopped_by: Stop | None = None
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
        """The names of the queries that have no answer: those unknown, and those that were not asked."""
        unknown = [query.name for query in self.queries if query.verdict is ProofVerdict.UNKNOWN]
        return [*unknown, *self.unanswered]

    @property
    def seconds(self) -> float:
        """The time of all queries."""
        return sum(query.seconds for query in self.queries)


class BoundedVerdict(Enum):
    """What a bounded check says. NONE_WITHIN is not a proof: longer traces were not looked at."""

    VIOLATED = "violated"
    NONE_WITHIN = "no violation within the depth"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Bounded:
    """The answer of a bounded check.

    Attributes:
        verdict: what was found.
        depth: up to which depth every state was looked at; the initial state is depth 1.
        violated: the names of the properties that fail at the depth after that.
        sequences: for each of them states from the initial one to one in which it fails.
        queries: one for each depth that was answered.
        stopped_by: what stopped it before the depth that was asked for.
    """

    verdict: BoundedVerdict
    depth: int
    violated: tuple[str, ...]
    sequences: tuple[StateSequence, ...]
    queries: tuple[Query, ...]
    stopped_by: Stop | None = None

    @property
    def seconds(self) -> float:
        """The time of all queries."""
        return sum(query.seconds for query in self.queries)

"""The objects of `insync prove`: proofs by induction, and bounded checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from insync.explorer.documents.json_types.models import Bounds
from insync.explorer.documents.json_types.traces import State, ViolationEntry
from insync.explorer.results import Verdict

__all__ = ["BoundedObject", "ProofObject"]


class InductionStep(TypedDict):
    """A step of a counterexample to induction."""

    action: str | None
    parameters: Mapping[str, str]
    state: State


class InductionEntry(TypedDict):
    """Good states, which need not be reachable, and a step to a bad one.

    Attributes:
        failing: the conditions that fail in the last state.
    """

    failing: Sequence[str]
    reason: str
    steps: Sequence[InductionStep]


class QueryEntry(TypedDict):
    """A question to z3.

    Attributes:
        name: `initiation`, an action, or `depth` and a number.
        cases: the bindings of the action's parameters that it covers.
        reason: why the answer is unknown; else empty.
    """

    name: str
    verdict: str
    seconds: float
    cases: int
    reason: str
    counterexample: InductionEntry | None


class MinedEntry(TypedDict):
    """What came of mining lemmas.

    Attributes:
        candidates: those that hold in all states that they were tried on.
        fallen: those of them that steps refuted.
        states: the reachable states that they were tried on.
        all_states: whether these are all.
        bounds: of the small instance.
        open: a question that no remaining candidate answers.
    """

    candidates: int
    fallen: int
    states: int
    all_states: bool
    bounds: Bounds
    questions: int
    open: QueryEntry | None


class DroppedEntry(TypedDict):
    """A candidate that was dropped, the question that refuted it, and why."""

    name: str
    by: str
    reason: str


class ProveHead(TypedDict):
    """What was asked of z3."""

    model: str
    bounds: Bounds
    engine: str
    engine_version: str
    properties: Sequence[str]
    lemmas: Sequence[str]
    within: Sequence[str]
    warnings: Sequence[str]


class _ProvedObject(ProveHead):
    verdict: Verdict
    stopped_by: str | None
    queries: Sequence[QueryEntry]
    violations: Sequence[ViolationEntry]
    seconds: float


class BoundedObject(_ProvedObject):
    """What `insync prove --bmc` found.

    Attributes:
        verdict: `violated` or `incomplete`, as longer traces are not examined.
        stopped_by: a limit, `depth`, or `unknown` if z3 gave no answer.
        complete_depth: the depth up to which there is no violation.
    """

    method: Literal["bmc"]
    complete_depth: int


class ProofObject(_ProvedObject):
    """What `insync prove` found by induction.

    Attributes:
        bounds: the bounds and settings, without those that were left open.
        induction: what came of the induction.
        k: the successive good states that are assumed before a step.
        unanswered: the questions without an answer when the proof was stopped.
        ways: the ways that were tried.
        unbounded: the bounds that were left open.
        conditions: lemmas without a name, by the name that they were given, as texts.
        mined: with `--mine`; else null.
        not_proved: the properties that were given and dropped.
        dropped: the candidates that were dropped.
        proof: the file of the proof; null if none was written.
    """

    method: Literal["induction"]
    induction: str
    k: int
    unanswered: Sequence[str]
    ways: Sequence[str]
    unbounded: Sequence[str]
    conditions: Mapping[str, str]
    mined: MinedEntry | None
    not_proved: Sequence[str]
    dropped: Sequence[DroppedEntry]
    proof: str | None

"""The objects of `insync check`, `simulate`, `liveness` and `why`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from insync.explorer.documents.json_types.models import Bounds
from insync.explorer.documents.json_types.traces import FairnessEntry, ViolationEntry
from insync.explorer.results import Verdict
from insync.properties.temporal import RunKind
from insync.runtime.watch import StopReason

__all__ = ["CheckObject", "LivenessObject", "SimulationObject", "WhyObject"]


Seconds = Mapping[str, float]


class PropertyEntry(TypedDict):
    """A property and its verdict."""

    name: str
    verdict: Verdict


class FieldBits(TypedDict):
    """A field of the state, and its bits."""

    field: str
    bits: int


class HugePagesEntry(TypedDict):
    """How many huge pages the states had, and how many they missed."""

    had: int
    missed: int


class StatisticsEntry(TypedDict, total=False):
    """What `--statistics` adds; empty if the search found no state.

    Attributes:
        steps_per_state: the mean of the states that were expanded.
        bound_actions: the number of actions with values of their parameters.
        bits: of a state.
        words: of a state, of 64 bits each.
        fields: the bits of each field, the largest first.
        huge_pages: null where the system does not tell, or the states take less than 8 MiB.
    """

    steps_per_state: float
    bound_actions: int
    bits: int
    words: int
    fields: Sequence[FieldBits]
    huge_pages: HugePagesEntry | None


class CheckObject(TypedDict):
    """What `insync check` found.

    Attributes:
        model: the name by which the model is found again.
        bounds: the bounds and settings of the model, by name.
        engine: what searched: `local`, `evaluator` or `spark`.
        storage: `exact`: no two states can be taken for one.
        kept: the form of visited states: `states`, each whole; `codes`, as exact and smaller; or `files` on disk.
        verdict: `holds` is said of a complete search alone.
        stopped_by: the limit that ended the search; null if it ended by itself.
        distinct_states: the states of all levels.
        representatives: the states that were visited, one for all that differ only by symmetry; null without symmetry.
        transitions: the steps from all states that were expanded.
        depth: the number of levels; the initial states are level 1.
        levels: the states of each level.
        frontier: the states of the last level if it was not expanded as a whole; else 0.
        properties: what was checked.
        violations: what fails, with a shortest trace each.
        actions: the steps of each action.
        never_enabled: the actions that no state enables, which only a search of the whole space shows.
        not_enabled_yet: the actions without a step in a search that ended before.
        impossible: those of both lists that bounds and settings rule out in every state.
        deadlocks: the states without a step.
        within: the invariants to which the search was confined.
        outside: the states in which one of these fails, which no other number counts.
        warnings: what is suspicious in the model or its settings, a sentence each.
        seconds: to compile, to search, and to find the traces.
        peak_memory_bytes: the largest resident set of the process.
        statistics: with `--statistics`.
    """

    model: str
    bounds: Bounds
    engine: str
    storage: str
    kept: str
    verdict: Verdict
    stopped_by: StopReason | None
    distinct_states: int
    representatives: int | None
    transitions: int
    depth: int
    levels: Sequence[int]
    frontier: int
    properties: Sequence[PropertyEntry]
    violations: Sequence[ViolationEntry]
    actions: Mapping[str, int]
    never_enabled: Sequence[str]
    not_enabled_yet: Sequence[str]
    impossible: Sequence[str]
    deadlocks: int
    within: Sequence[str]
    outside: int
    warnings: Sequence[str]
    seconds: Seconds
    peak_memory_bytes: int
    statistics: NotRequired[StatisticsEntry]


class WalkLengthsEntry(TypedDict):
    """The numbers of steps of the walks.

    Attributes:
        stuck: the walks that ended in a state without a step.
    """

    shortest: int
    longest: int
    mean: float
    stuck: int


class AbstractStatesEntry(TypedDict):
    """The abstract states that the walks saw.

    Attributes:
        names: what tells them apart.
        distinct: how many there are.
        last_new_walk: the last walk that saw a new one.
        growth: pairs of a number of walks and the abstract states that they saw.
    """

    names: Sequence[str]
    distinct: int
    last_new_walk: int | None
    growth: Sequence[Sequence[int]]


class SimulationObject(TypedDict):
    """What `insync simulate` found.

    Attributes:
        verdict: `violated` or `incomplete`, as walks prove nothing.
        stopped_by: the limit that ended the walks; null if all were taken.
        depth: the most steps of a walk.
        walks: the walks that were taken.
        steps: their steps. One that leaves a field's domain is not taken, and counts nowhere.
        failed_walk: the number of the walk that failed; else null.
        failed_walk_length: its states before it was shortened; else null.
        not_taken: the actions that no walk took; they may be enabled all the same.
        abstract_states: with `--abstract-states` or `--until-saturated`; else null.
    """

    model: str
    bounds: Bounds
    verdict: Verdict
    stopped_by: StopReason | None
    seed: int
    strategy: str
    depth: int
    walks: int
    steps: int
    walk_lengths: WalkLengthsEntry
    failed_walk: int | None
    failed_walk_length: int | None
    properties: Sequence[PropertyEntry]
    violations: Sequence[ViolationEntry]
    actions: Mapping[str, int]
    not_taken: Sequence[str]
    abstract_states: AbstractStatesEntry | None
    within: Sequence[str]
    warnings: Sequence[str]
    seconds: Seconds
    peak_memory_bytes: int


class RunPropertyEntry(TypedDict):
    """A property of runs and its verdict.

    Attributes:
        fairness: what was assumed.
        trace_length: the states of its counterexample, or of the witness of a `sometimes`; null if there is none.
        loop: the number of the step to which the last state leads back.
        undecided: why the verdict is incomplete; null if it is not.
        unreached: the bindings for which a `sometimes` has no witness.
        trace: the file of the trace; null if none was written.
    """

    name: str
    kind: RunKind
    verdict: Verdict
    fairness: FairnessEntry
    trace_length: int | None
    loop: int | None
    undecided: str | None
    unreached: Sequence[str]
    reason: str | None
    trace: str | None


class RefusedEntry(TypedDict):
    """The shortest trace to a step that leaves a field's domain."""

    trace_length: int
    reason: str
    trace: str | None


class LivenessObject(TypedDict):
    """What `insync liveness` found.

    Attributes:
        refused: where some step leaves a field's domain; no property of runs is decided then.
    """

    model: str
    bounds: Bounds
    within: Sequence[str]
    verdict: Verdict
    stopped_by: StopReason | None
    distinct_states: int
    transitions: int
    depth: int
    properties: Sequence[RunPropertyEntry]
    refused: RefusedEntry | None
    warnings: Sequence[str]
    seconds: Seconds


class SpotEntry(TypedDict):
    """A place in a source file."""

    file: str
    line: int


class GuardEntry(SpotEntry):
    """A condition of a `require`, over all chances: pairs of a state and values of the parameters.

    Attributes:
        false: the chances in which it did not hold.
        alone: those of them in which all other conditions held.
        ruled_out: the values of the parameters for which bounds and settings make it false.
        decided: whether bounds and settings decide it in all chances.
    """

    text: str
    false: int
    alone: int
    ruled_out: int
    decided: bool


class BranchEntry(SpotEntry):
    """A condition of an `If` or a `when`, with the steps in which it held and did not."""

    word: str
    text: str
    true: int
    false: int
    decided: bool


class PremiseEntry(SpotEntry):
    """The premise of an implication in a property, with the states in which it was true."""

    word: str
    text: str
    true: int


class AssignmentEntry(SpotEntry):
    """An assignment, with the steps in which it happened."""

    text: str
    steps: int


class ActionEntry(SpotEntry):
    """An action over all states.

    Attributes:
        bindings: the values of its parameters that bounds and settings do not rule out.
        states: those in which it was enabled.
        chances: pairs of a state and values of the parameters.
        refused: the chances in which it would have left a field's domain.
        changed: for each field the steps in which it got another value.
    """

    name: str
    bindings: int
    states: int
    chances: int
    steps: int
    refused: int
    guards: Sequence[GuardEntry]
    branches: Sequence[BranchEntry]
    assignments: Sequence[AssignmentEntry]
    changed: Mapping[str, int]


class PropertyCoverageEntry(TypedDict):
    """How near the states came to failing a property.

    Attributes:
        fails: the states in which it fails.
        near: the states in which it holds and one comparison more would have failed; null for a property of steps.
        settled: the comparisons with the same result in every state.
    """

    name: str
    fails: int
    near: int | None
    premises: Sequence[PremiseEntry]
    comparisons: int
    settled: Sequence[str]


class WhyObject(TypedDict):
    """What `insync why` counted.

    Attributes:
        unchanged_fields: the fields that no step changes.
        html: the file of the page; null if none was written.
    """

    model: str
    bounds: Bounds
    distinct_states: int
    depth: int
    stopped_by: StopReason | None
    within: Sequence[str]
    actions: Sequence[ActionEntry]
    unchanged_fields: Sequence[str]
    properties: Sequence[PropertyCoverageEntry]
    html: str | None
    warnings: Sequence[str]
    seconds: float

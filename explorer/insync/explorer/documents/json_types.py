"""The types of the objects that `--json` prints for every model: the one source of their JSON Schemas.

Documents are checked against them by mypy, and docs/schemas is made from them, so no program imports this module.
Scripts rely on the keys: one may be added, none is removed or changes its meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from insync.explorer.mutate import Fate
from insync.explorer.results import Verdict
from insync.properties.temporal import RunKind
from insync.runtime.watch import StopReason

__all__ = [
    "AgreementObject",
    "BoundedObject",
    "CheckObject",
    "DemandEntry",
    "DiffObject",
    "ExportObject",
    "LivenessObject",
    "ModelEntry",
    "ModelsObject",
    "MutationObject",
    "ProofObject",
    "SimulationObject",
    "SparkTablesObject",
    "StepEntry",
    "TraceDifferenceObject",
    "TraceFile",
    "TraceObject",
    "WhyObject",
]

Bounds = Mapping[str, int | str]
Seconds = Mapping[str, float]
State = Mapping[str, Any]


class StepEntry(TypedDict):
    """A step of a trace and the state that it leads to.

    Attributes:
        action: the name of the action; null for the initial state.
        label: the step in words.
        parameters: the members that the parameters stand for, by name.
        state: the fields of the state, by name.
    """

    action: str | None
    label: str
    parameters: Mapping[str, str]
    state: State


class DemandEntry(TypedDict):
    """Something that must happen in a real system for a trace to come about.

    Attributes:
        step: the number of the step by which it has happened.
        hardness: how hard it is to bring about.
        text: what must happen, in words.
    """

    step: int
    hardness: str
    text: str


class PropertyEntry(TypedDict):
    """A property and its verdict."""

    name: str
    verdict: Verdict


class ViolationEntry(TypedDict):
    """A property that fails.

    Attributes:
        trace_length: the number of states of its trace.
        reason: why it fails in the last state.
        demands: what must happen in a real system for the trace to come about.
        trace: the file of the trace; null if none was written.
    """

    property: str
    trace_length: int
    reason: str
    demands: Sequence[DemandEntry]
    trace: str | None


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
        kept: as what visited states were kept: `states`, each whole; `codes`, as exact and smaller; or `files` on disk.
        verdict: `holds` is said of a complete search alone.
        stopped_by: the limit that ended the search; null if it ended by itself.
        distinct_states: the states of all levels.
        representatives: the states that were visited, where one stands for all that differ only in who is who; or null.
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


class FairnessEntry(TypedDict):
    """The actions that are fair, weakly and strongly."""

    weak: Sequence[str]
    strong: Sequence[str]


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


class OpinionEntry(TypedDict):
    """What one engine found.

    Attributes:
        verdict: null if it did not run.
        depth: the levels that were searched as a whole.
        steps: null if the search is not complete, or the engine does not count them.
        failing: the states of the trace of each property that fails.
        of_share: whether it was ended by its share of a default run.
        note: why it did not run, or what limits its result; else empty.
    """

    engine: str
    verdict: Verdict | None
    depth: int
    states: int | None
    steps: int | None
    levels: Sequence[int] | None
    actions: Mapping[str, int] | None
    failing: Mapping[str, int]
    stopped_by: StopReason | None
    of_share: bool
    note: str
    seconds: float


class DifferingState(TypedDict):
    """The first state that evaluator and machine code treat differently."""

    level: int
    state: State
    why: str


class AgreementObject(TypedDict):
    """What `insync agree` found.

    Attributes:
        agreed: whether at least two engines searched, and no two differ.
        differences: a sentence each.
    """

    model: str
    bounds: Bounds
    properties: Sequence[str]
    within: Sequence[str]
    agreed: bool
    stopped_by: StopReason | None
    engines: Sequence[OpinionEntry]
    differences: Sequence[str]
    warnings: Sequence[str]
    state: DifferingState | None


class MutantEntry(TypedDict):
    """A model that was broken in one place, and whether the properties notice.

    Attributes:
        killed_by: the properties that fail, with the states of their traces; 0 for a `sometimes` without a witness.
        distinct_states: of the mutant; null if its search is not complete.
    """

    name: str
    action: str
    change: str
    without: str
    fate: Fate
    killed_by: Mapping[str, int]
    distinct_states: int | None
    stopped_by: StopReason | None


class MutationObject(TypedDict):
    """What `insync mutate` found.

    Attributes:
        properties: what judged the mutants.
        left_out: the properties that already fail for the unchanged model.
        score: the part of the mutants that were noticed; null if none was killed and none survived.
    """

    model: str
    bounds: Bounds
    properties: Sequence[str]
    left_out: Sequence[str]
    within: Sequence[str]
    distinct_states: int
    stopped_by: StopReason | None
    score: float | None
    mutants: Sequence[MutantEntry]
    warnings: Sequence[str]
    seconds: float


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
    """How far the states put a property to the test.

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


class SideEntry(TypedDict):
    """What the search of one of two models found."""

    model: str
    bounds: Bounds
    distinct_states: int
    transitions: int
    levels: Sequence[int]
    actions: Mapping[str, int]
    stopped_by: StopReason | None


class PropertyChangeEntry(TypedDict):
    """A property of two models; null where one has none of that name.

    Attributes:
        trace_lengths: the states of the shortest trace to a failure in each.
        changed: whether it holds in one and fails in the other.
    """

    name: str
    first: Verdict | None
    second: Verdict | None
    trace_lengths: Sequence[int | None]
    changed: bool


class StatesComparedEntry(TypedDict):
    """How many states both models reach, and how many one alone, by level."""

    both: int
    only_first: Sequence[int]
    only_second: Sequence[int]


class OnlyOneEntry(TypedDict):
    """A shortest trace that only one of two models allows.

    Attributes:
        reason: what the other does instead of the last step.
        trace: the file of the trace; null if none was written.
    """

    trace_length: int
    reason: str
    steps: Sequence[StepEntry]
    trace: str | None


class DiffObject(TypedDict):
    """How two models differ, by `insync diff`.

    Attributes:
        same: null if a limit left it open.
        settings: the bounds and settings that differ, with both values; null where a model has none of that name.
        own_fields: the paths that only the first model has, and those that only the second has.
        states: null if the fields differ, or a search was stopped.
        only: the trace that only the first allows, and the one that only the second allows.
    """

    same: bool | None
    stopped_by: StopReason | None
    first: SideEntry
    second: SideEntry
    settings: Mapping[str, Sequence[int | str | None]]
    properties: Sequence[PropertyChangeEntry]
    own_fields: Sequence[Sequence[str]]
    states: StatesComparedEntry | None
    only: Sequence[OnlyOneEntry | None]
    seconds: float


class TraceDifferenceObject(TypedDict):
    """The first step in which two traces differ, by `insync diff`.

    Attributes:
        step: its number, 0 for the initial state; null if the traces are the same.
        labels: the step in words in each; null if a trace has ended.
        fields: what differs after the step, with both values.
        about: what differs of model, bounds and property.
    """

    same: bool
    files: Sequence[str]
    step: int | None
    labels: Sequence[str | None]
    fields: Mapping[str, Sequence[Any]]
    about: Mapping[str, Sequence[Any]]
    trace_lengths: Sequence[int]


class TraceObject(TypedDict):
    """A trace that `insync replay` has executed again.

    Attributes:
        loop: the number of the step to which the last state leads back; null if the trace ends.
        reason: why the property fails in the last state.
    """

    model: str
    bounds: Bounds
    property: str
    trace_length: int
    loop: int | None
    reason: str
    demands: Sequence[DemandEntry]
    steps: Sequence[StepEntry]


class Among(TypedDict, total=False):
    """Of what a choice is one."""

    values: Sequence[str]
    lowest: int
    highest: int


class ChoiceEntry(Among):
    """A bound or a setting.

    Attributes:
        values: the names that a setting may have.
        lowest: of a bound.
        highest: of a bound.
    """

    name: str
    default: int | str
    sentence: str


class ListedProperty(TypedDict):
    """A property of a model.

    Attributes:
        headline: whether it is checked when none is named.
    """

    name: str
    sentence: str
    headline: bool


class ListedAction(TypedDict):
    """An action of a model."""

    name: str
    sentence: str


class ListedRunProperty(TypedDict):
    """A property of runs of a model."""

    name: str
    kind: RunKind
    sentence: str


class ModelEntry(TypedDict):
    """A model, as `insync list MODEL` prints it."""

    name: str
    sentence: str
    bounds: Sequence[ChoiceEntry]
    properties: Sequence[ListedProperty]
    actions: Sequence[ListedAction]
    run_properties: Sequence[ListedRunProperty]


class ModelsObject(TypedDict):
    """The models that come with insync, and the engines."""

    models: Sequence[ModelEntry]
    engines: Sequence[str]


class ExportObject(TypedDict):
    """What `insync export` made: the texts of its files, by name."""

    model: str
    bounds: Bounds
    files: Mapping[str, str]


class ParquetTable(TypedDict):
    """A table in Parquet files, and its number of rows."""

    table: str
    rows: int


class FileStep(TypedDict):
    """A step in the file of a trace; of the initial state the action is null."""

    action: str | None
    parameters: Mapping[str, str]
    state: State


class RefusedStepEntry(TypedDict):
    """The step from the last state that leaves a field's domain."""

    action: str
    parameters: Mapping[str, str]
    label: str
    message: str


class TraceFile(TypedDict):
    """The file of a trace.

    Attributes:
        format: of the file.
        model: a name that `insync list` shows, or a path to a Python file and the name of a class.
        bounds: the bounds and settings of the model, by name.
        property: what fails in the last state, or of a witness holds there.
        reason: why it fails.
        steps: the first has the initial state.
        refused: of a trace of `type_ok`.
        loop: of a run that never ends, the number of the step to which the last state leads back.
        fairness: of such a run, the actions for which it is fair.
        witness: whether the trace shows that a state can be reached, and is no counterexample.
    """

    format: Literal["insync-trace/1"]
    model: str
    bounds: Bounds
    property: str
    reason: str
    steps: Sequence[FileStep]
    refused: NotRequired[RefusedStepEntry]
    loop: NotRequired[int]
    fairness: NotRequired[FairnessEntry]
    witness: NotRequired[Literal[True]]


class SparkTablesObject(TypedDict):
    """What `insync spark export` wrote."""

    model: str
    bounds: Bounds
    states: ParquetTable
    transitions: ParquetTable

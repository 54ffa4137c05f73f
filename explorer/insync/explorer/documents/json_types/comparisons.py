"""The objects of `insync agree`, `mutate` and `diff`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from insync.explorer.documents.json_types.models import Bounds
from insync.explorer.documents.json_types.traces import State, StepEntry
from insync.explorer.mutate import Fate
from insync.explorer.results import Verdict
from insync.runtime.watch import StopReason

__all__ = ["AgreementObject", "DiffObject", "MutationObject", "TraceDifferenceObject"]


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

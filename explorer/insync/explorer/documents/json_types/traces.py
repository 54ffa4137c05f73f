"""Traces and their steps: the objects of `insync replay`, and the file of a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from insync.explorer.documents.json_types.models import Bounds

__all__ = ["DemandEntry", "FairnessEntry", "State", "StepEntry", "TraceFile", "TraceObject", "ViolationEntry"]


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


class FairnessEntry(TypedDict):
    """The actions that are fair, weakly and strongly."""

    weak: Sequence[str]
    strong: Sequence[str]


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

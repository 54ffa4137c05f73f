"""Traces to draw: found once, or made by hand of steps that a model takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from insync.explorer.stepping.stepper import Move, Refused, Stepper
from insync.explorer.traces.trace import Trace, trace_of
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.model import Model, find_model
from insync.properties import offset_in, said
from insync.properties.explain import explain
from insync.properties.registry import invariants_of

__all__ = ["HOSTILE", "defect_trace", "hostile_trace", "kip101", "r13_trace", "taken"]

HOSTILE = "</script><img src=x onerror=\"document.title='caught'\"><b>&amp;\u2028 `$(x)` | # ; %% "
"""What a trace file may have in its strings."""

STEPS_OF_KIP101 = (
    "elect b1",
    "elect b2",
    "elect b1",
    "b1 becomes leader @2",
    "b1 drops b2 from the ISR",
    "b3 becomes follower of b1 @0",
    "b1 writes r0",
    "b3 fetches from b1",
    "b1 advances its HW",
    "b3 becomes follower of b2 @1",
)


def taken(model: Model, labels: Sequence[str], failing: str, reason: str) -> Trace:
    """Return the trace of the steps with these labels, of which each must be enabled."""
    stepper, codes = Stepper(model), model.program.initials[0]
    moves: list[Move] = [(None, codes)]
    for label in labels:
        outcomes = {model.program.actions[number].label: (number, made) for number, made in stepper.outcomes(codes)}
        assert label in outcomes, f"{label!r} is not enabled; {sorted(outcomes)} are."
        number, made = outcomes[label]
        assert not isinstance(made, Refused)
        codes = made
        moves.append((number, codes))
    found = invariants_of(model).get(failing)
    return replace(trace_of(model, failing, moves, reason), failure=explain(model, found, codes) if found else None)


@cache
def kip101() -> tuple[Model, Trace]:
    """Return kip101 and the trace that breaks weak_isr."""
    model = find_model("kip101")()
    lacks = "{leader} believes it leads and its high watermark is 1, but {member} has no record at {offset}."
    reason = said(lacks, leader="b1", member="b3", offset=offset_in(0, "b1", "b3"))
    return model, taken(model, STEPS_OF_KIP101, "weak_isr", reason)


@cache
def defect_trace(name: str, labels: Sequence[str], failing: str, reason: str) -> tuple[Model, Trace]:
    """Return the model that shows an entry of the catalogue, and a trace of it."""
    model = Cluster(**DEFECTS[name].witness)
    return model, taken(model, labels, failing, reason)


R13 = (
    "controller fences b2",
    "b1 drops b3 from the ISR",
    "b1 applies metadata",
    "controller unfences b2",
    "controller accepts the ISR",
    "b1 appends a record",
    "b3 fetches from b1",
    "b3 fetches from b1",
)


def r13_trace() -> tuple[Model, Trace]:
    """Return the model of R-13, and the trace in which an election takes a broker that lacks a record."""
    offset = offset_in(0, "b2", "b1", "b3")
    reason = said("{replica} lacks {record} at {offset}.", replica="b2", record="r0", offset=offset)
    return defect_trace("R-13", R13, "electable_replicas_are_complete", reason)


def hostile_trace() -> tuple[Model, Trace]:
    """Return a trace whose labels, reason and settings try to be markup."""
    model, trace = kip101()
    steps = tuple(replace(step, label=f"{step.label} {HOSTILE}") for step in trace.steps)
    bounds: Mapping[str, int | str] = {**trace.bounds, HOSTILE: HOSTILE}
    return model, replace(
        trace,
        steps=steps,
        reason=said("{hostile} {member}", hostile=HOSTILE, member="b3"),
        bounds=bounds,
        model=HOSTILE,
    )

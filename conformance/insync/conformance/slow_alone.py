"""A trace in which each follower that a leader drops is slow alone, as Kafka drops all that are slow at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from insync.explorer.replay import ReplayError, replay
from insync.explorer.stepping.stepper import Stepper, Walk
from insync.explorer.traces.trace import Trace, first_codes, trace_steps
from insync.kafka.cluster.metadata_image import believed_by
from insync.kafka.cluster.model import Cluster
from insync.runtime.errors import GuardError

__all__ = ["with_one_slow"]

_MOST = 4
"""Fetches of one follower that are added before one shrink."""


def with_one_slow(trace: Trace, model: Cluster) -> Trace:
    """Return a trace with fetches added before each shrink, by all followers that it does not drop.

    The leader then knows them to be at its log's end. Where the property is not broken at the end any more, or where
    the rest of the steps cannot be taken after that, the trace is returned as it is.

    Args:
        trace: a trace that its model confirms.
        model: its model.
    """
    if trace.loop is not None or trace.refused is not None or not any(_drops(step.action) for step in trace.steps):
        return trace
    walk = Walk(Stepper(model), first_codes(model, trace))
    try:
        for step in trace.steps[1:]:
            if _drops(step.action):
                _let_others_catch_up(walk, step.parameters, model)
            walk.step(walk.number_of(step.action or "", step.parameters))
        return replay(replace(trace, steps=trace_steps(model, walk.moves)), model=model)
    except (GuardError, ReplayError):
        return trace


def _drops(action: str | None) -> bool:
    return action in ("shrink_isr", "shrink_isr_by_several")


def _let_others_catch_up(walk: Walk, given: Mapping[str, str], model: Cluster) -> None:
    """Let those whom a shrink leaves in the ISR fetch until the leader knows that they have all it has.

    Raises:
        GuardError: one of them cannot fetch.
    """
    leader = given["leader"]
    dropped = given.get("follower") or given["followers"]
    for _ in range(_MOST):
        state: Any = model.decode(walk.codes)
        lead = state["broker"][leader]
        view = believed_by(state, leader)
        behind = [name for name in view["isr"] if name != leader and name not in dropped]
        behind = [name for name in behind if lead["remote_replicas"][name]["leo"] != lead["leo"]]
        if not behind:
            return
        walk.step(walk.number_of("fetch", {"follower": behind[0], "leader": leader}))
        if model.features.late_fetch_responses:
            walk.step(walk.number_of("receive", {"follower": behind[0]}))

"""A picture in words: what was asked, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from insync.explorer.traces.trace import AGREEMENT, DIFFERENCE, EXPLORED, Trace
from insync.model import Model
from insync.model.errors import UserError
from insync.properties.invariants import TYPE_OK, TYPE_OK_SENTENCE
from insync.properties.registry import invariants_of, lemmas_of, run_properties_of
from insync.properties.temporal import RunKind

__all__ = ["Outcome", "outcome", "question", "sentence_of_property", "verdict"]


class Outcome(Enum):
    """Whether a picture shows something good or bad, for whoever colours it."""

    GOOD = "good"
    BAD = "bad"


def outcome(trace: Trace) -> Outcome:
    """Return what a trace shows: a witness is good, and so are steps that were explored without a failure."""
    return Outcome.GOOD if trace.witness or trace.property == EXPLORED else Outcome.BAD


def question(trace: Trace, model: Model) -> str:
    """Return what was asked."""
    name = trace.property
    if name == AGREEMENT:
        return f"Do {model.name} and the system take the same steps?"
    if name == DIFFERENCE:
        return f"Which steps does {model.name} take that the other model does not?"
    if name == EXPLORED:
        return f"Where do these steps of {model.name} lead?"
    if name == TYPE_OK:
        return f"Does every step of {model.name} keep to the domains of the fields?"
    run = run_properties_of(model).get(name)
    if run is None:
        return f"Does {name} hold in every state of {model.name}?"
    if run.kind is RunKind.SOMETIMES:
        return f"Is there a state of {model.name} with {name}?"
    return f"Does every fair run of {model.name} fulfil {name}?"


def verdict(trace: Trace) -> str:
    """Return what came of it, in a sentence."""
    steps = trace.length - 1
    count = f"after {steps} step{'s' if steps > 1 else ''}" if steps else "in the initial state"
    if trace.witness:
        return f"Yes: it is reached {count}."
    if trace.property == EXPLORED:
        return f"They were explored by hand; this is the state {count}."
    if trace.property == DIFFERENCE:
        return f"Step {steps}; up to there both take the same." if steps else "They do not begin in the same state."
    if trace.property == AGREEMENT:
        return f"No: they part {count}."
    if trace.loop is not None:
        if trace.loop == trace.length - 1:
            return f"No: {count} a run stays as it is for ever."
        return f"No: a run goes round for ever, from step {trace.loop} to step {steps} and back."
    if trace.refused is not None:
        return f"No: a step from the state {count} does not." if steps else "No: the first step does not."
    return f"No: it fails {count}."


def sentence_of_property(trace: Trace, model: Model) -> str:
    """Return what the property of a trace says; empty where nobody wrote it down."""
    if trace.property == TYPE_OK:
        return TYPE_OK_SENTENCE
    try:
        known: Mapping[str, object] = {**invariants_of(model), **lemmas_of(model), **run_properties_of(model)}
    except UserError:
        return ""
    return str(getattr(known.get(trace.property), "sentence", ""))

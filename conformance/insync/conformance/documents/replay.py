"""What `insync kafka replay` says, as text and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from insync.conformance.correspondence.facts import Difference
from insync.conformance.replay import KafkaReplay, KafkaVerdict
from insync.explorer.documents.text import plural
from insync.explorer.documents.traces import steps_json
from insync.explorer.traces.grid import Paint, Tone, describe_bounds, render_grid
from insync.explorer.traces.trace import Trace, TraceStep
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import NO_DEFECT
from insync.kafka.releases import Release, release_of
from insync.kafka_questions.question import shown_bounds
from insync.model import Model

if TYPE_CHECKING:
    from insync.conformance.documents.json_types import DifferenceEntry, KafkaReplayObject

__all__ = ["describe_replay", "replay_entry", "replay_json", "verdict_line"]

_TONES = {
    KafkaVerdict.REPRODUCED: Tone.GOOD,
    KafkaVerdict.AGREES: Tone.GOOD,
    KafkaVerdict.DIVERGES: Tone.BAD,
    KafkaVerdict.NOT_SCHEDULABLE: Tone.OPEN,
}


def describe_replay(replayed: KafkaReplay, model: Model, paint: Paint, width: int) -> str:
    """Return the verdict and the grid, in which Kafka has a row of its own where it differs."""
    grid = render_grid(_with_kafka(replayed), model.grid, width=width, paint=paint, header=False)
    lines = [verdict_line(replayed, paint), f"{model.name}   {describe_bounds(shown_bounds(model))}", "", grid.rstrip()]
    if replayed.differences:
        lines += ["", *_table(replayed.differences, replayed.kafka)]
        lines += _of_another_release(model, replayed.kafka, width)
    return "\n".join(lines)


def _of_another_release(model: Model, kafka: str, width: int) -> list[str]:
    """What to make of a difference where the trace, which is none of a defect, has the rules of another release."""
    if not isinstance(model, Cluster):
        return []
    release = Release(model.identity["release"])
    own, asked = release.same_since, release_of(kafka).same_since
    if own is asked or model.identity["defect"] != NO_DEFECT:
        return []
    said = (
        f"The trace is of {release.value}, and Kafka {kafka} has the rules of {asked.value}, so the two may differ by "
        "what has changed between them: `insync kafka bisect TRACE` tries all releases."
    )
    return ["", *textwrap.wrap(said, width)]


def replay_json(replayed: KafkaReplay) -> str:
    """Return the object for a replay, as text."""
    return json.dumps(replay_entry(replayed), ensure_ascii=False)


def replay_entry(replayed: KafkaReplay) -> KafkaReplayObject:
    """Return the object for a replay."""
    entries = [_entry(replayed, difference) for difference in replayed.differences]
    trace, for_ever = replayed.trace, replayed.for_ever
    return {
        "verdict": replayed.verdict.value,
        "kafka": replayed.kafka,
        "model": trace.model,
        "bounds": dict(trace.bounds),
        "property": trace.property,
        "steps": replayed.steps,
        "difference": entries[0] if entries else None,
        "differences": entries,
        "not_schedulable": replayed.reason,
        "own_steps": list(replayed.own),
        "for_ever": None if for_ever is None else {"shown": for_ever.shown, "said": for_ever.said},
        "trace": steps_json(trace),
    }


def verdict_line(replayed: KafkaReplay, paint: Paint) -> str:
    """Return what came of a trace, in one line."""
    word = replayed.verdict.value.replace("_", " ")
    head = paint(f"{word} on Kafka {replayed.kafka}", _TONES[replayed.verdict])
    steps = plural(replayed.steps, "step")
    if replayed.for_ever is not None and not replayed.differences:
        fails = f"{replayed.trace.property} fails in a run that never ends, and " if replayed.for_ever.shown else ""
        return f"{head}: {fails}all was as in the model after each of {steps}; {replayed.for_ever.said}"
    if replayed.verdict is KafkaVerdict.REPRODUCED:
        return f"{head}: {replayed.trace.property} fails after {steps}, and all was as in the model after each"
    if replayed.verdict is KafkaVerdict.AGREES:
        return f"{head}: all was as in the model after each of {steps}"
    if replayed.verdict is KafkaVerdict.NOT_SCHEDULABLE:
        return f"{head}: after {plural(replayed.steps, 'step')} comes {replayed.step}, but {replayed.reason}"
    first = replayed.differences[0]
    where = f"at step {replayed.steps}, {replayed.trace.steps[-1].label}" if replayed.steps else "at the start"
    return f"{head} {where}: {first.field} is {_shown(first.model)} in the model, and {_shown(first.kafka)} in Kafka"


def _with_kafka(replayed: KafkaReplay) -> Trace:
    """The trace with a row for Kafka where it differs, and a mark where it took a step by itself."""
    trace = replayed.trace
    steps = [
        TraceStep(step.action, step.parameters, step.state, f"{step.label} (Kafka by itself)")
        if number in replayed.own
        else step
        for number, step in enumerate(trace.steps)
    ]
    if replayed.verdict is KafkaVerdict.DIVERGES:
        steps.append(TraceStep("", {}, replayed.state, f"in Kafka {replayed.kafka}"))
    reason = trace.reason if replayed.verdict is KafkaVerdict.REPRODUCED else ""
    return Trace(trace.model, trace.bounds, trace.property, tuple(steps), reason)


def _table(differences: Sequence[Difference], version: str) -> list[str]:
    rows = [("", "model", f"Kafka {version}")]
    rows += [(one.field, _shown(one.model), _shown(one.kafka)) for one in differences]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    return [f"{name:{first}}  {model:{second}}  {kafka}".rstrip() for name, model, kafka in rows]


def _entry(replayed: KafkaReplay, difference: Difference) -> DifferenceEntry:
    return {
        "step": replayed.steps,
        "label": replayed.trace.steps[-1].label,
        "field": difference.field,
        "model": difference.model,
        "kafka": difference.kafka,
    }


def _shown(value: object) -> str:
    if isinstance(value, list):
        return f"[{' '.join(map(str, value))}]"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)

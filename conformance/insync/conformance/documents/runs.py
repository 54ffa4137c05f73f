"""What `insync kafka record` and `validate` say of a run, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from insync.conformance.live.runs.run_events import BrokerRun
from insync.conformance.live.runs.run_model import written_in
from insync.conformance.live.runs.validation import Validation
from insync.explorer.documents.text import plural
from insync.explorer.traces.grid import Paint, Tone
from insync.kafka.cluster.configuration import Fixed
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release

if TYPE_CHECKING:
    from insync.conformance.documents.json_types import InferredObject, RecordedObject, ValidationObject, ValidationPart

__all__ = [
    "describe_inferred",
    "describe_recorded",
    "describe_validation",
    "inferred_json",
    "recorded_json",
    "validation_json",
]

_BEFORE = 5


def describe_recorded(run: BrokerRun, file: Path) -> str:
    """Return a sentence about what was recorded."""
    return (
        f"Kafka {run.kafka}: {plural(len(run.events), 'event')} about {plural(len(written_in(run)), 'record')}, "
        f"now in {file}.\n"
        f"insync kafka validate {file} compares them with the model."
    )


def recorded_json(run: BrokerRun, file: Path) -> str:
    """Return the object that says what was recorded."""
    told: RecordedObject = {"kafka": run.kafka, "events": len(run.events), "file": str(file)}
    return json.dumps(told)


def describe_validation(run: BrokerRun, model: Cluster, result: Validation, paint: Paint) -> str:
    """Return whether a run is a behaviour of the model, and where it is none, the events up to there."""
    rules = _rules(model)
    if result.stuck is None:
        said = f"a behaviour of cluster by the rules of {rules}: all {plural(result.events, 'event')} are explained"
        return f"{paint('explained', Tone.GOOD)}: Kafka {run.kafka} shows {said}, by {result.states} states at most"
    begun = run.events[0].at
    said = f"no state of cluster by the rules of {rules} explains event {result.stuck + 1} of {result.events}"
    lines = [f"{paint('not explained', Tone.BAD)}: of Kafka {run.kafka}, {said}: {result.event}", ""]
    for event in run.events[max(0, result.stuck - _BEFORE) : result.stuck + 1]:
        lines.append(f"  {event.at - begun:8.3f} s  {event}")
    lines += ["", "One of the states in which the model was before it:"]
    lines += [f"  {name:10}  {cell}" for name, cell in model.grid(result.before).items() if cell]
    named = [f"r{number} is {record}" for number, (record, _) in enumerate(written_in(run)) if record != f"r{number}"]
    return "\n".join([*lines, f"  {', '.join(named)}"] if named else lines)


def validation_json(run: BrokerRun, model: Cluster, result: Validation) -> str:
    """Return the object that says whether a run is a behaviour of the model."""
    settings = model.b.settings
    told: ValidationObject = {
        "kafka": run.kafka,
        "release": settings.release.value,
        "fixed": settings.defect.value if settings.fixed is not Fixed.OFF else None,
        **_json(result),
    }
    return json.dumps(told)


def describe_inferred(run: BrokerRun, made: Sequence[tuple[Release, Validation]], paint: Paint) -> str:
    """Return which releases explain a run, and at which event the others give up."""
    explaining = [release.value for release, result in made if result.explained]
    lines = [f"Kafka {run.kafka} has shown a run of {plural(len(run.events), 'event')}."]
    for release, result in made:
        word = paint("explained", Tone.GOOD) if result.stuck is None else paint("not explained", Tone.BAD)
        lines.append(f"  {release.value:7} {word}" + ("" if result.stuck is None else f": {result.event}"))
    return "\n".join([*lines, "", f"It is a behaviour by the rules of: {', '.join(explaining) or 'no release'}."])


def inferred_json(run: BrokerRun, made: Sequence[tuple[Release, Validation]]) -> str:
    """Return the object that says which releases explain a run."""
    told: InferredObject = {
        "kafka": run.kafka,
        "events": len(run.events),
        "releases": [{"release": release.value, **_json(result)} for release, result in made],
    }
    return json.dumps(told)


def _rules(model: Cluster) -> str:
    settings = model.b.settings
    fixed = "" if settings.fixed is Fixed.OFF else f" with {settings.defect.value} fixed"
    return f"{settings.release.value}{fixed}"


def _json(result: Validation) -> ValidationPart:
    return {
        "verdict": "explained" if result.explained else "not_explained",
        "events": result.events,
        "stuck": result.stuck,
        "event": result.event,
        "states": result.states,
    }

"""What Kafka's classes did with traces, on record: python tests/support/insync_kafka.py TRACE VERSION ... records more.

Without arguments it records again what is on record, as Kafka does it now.

A recording has the steps of a trace, and after them each command that the harness got, with Kafka's answer. Of a state
it has the parts that have changed since the last one.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from insync.conformance.catalogue.entry_traces import steps_again
from insync.conformance.catalogue.vocabulary import present_bounds, present_steps
from insync.conformance.classes.observation import Observation
from insync.conformance.classes.subject import Answer, Argument, Subject
from insync.conformance.replay import KafkaReplay, replay_on_kafka
from insync.explorer.stepping.stepper import Stepper, Walk
from insync.explorer.traces.trace import AGREEMENT, Trace, trace_steps, violation_trace
from insync.kafka.cluster.model import Cluster
from insync.properties.registry import judge

__all__ = ["RECORDINGS", "Recorder", "Recording", "replayed"]

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"

Json = dict[str, Any]


@dataclass
class Recorder:
    """Passes commands on, and notes what came of them."""

    subject: Subject
    answers: list[Json] = field(default_factory=list)
    last: Json = field(default_factory=lambda: {"controller": None, "brokers": {}})

    @property
    def version(self) -> str:
        return self.subject.version

    def take(self, command: str, **arguments: Argument) -> Answer:
        answer = self.subject.take(command, **arguments)
        state: Json = answer.raw
        changed: Json = {} if state["controller"] == self.last["controller"] else {"controller": state["controller"]}
        if state.get("consumer") != self.last.get("consumer"):
            changed["consumer"] = state["consumer"]
        brokers = {name: seen for name, seen in state["brokers"].items() if seen != self.last["brokers"].get(name)}
        entry = {"command": command, "arguments": arguments, "said": answer.said}
        self.answers.append({**entry, **changed, **({"brokers": brokers} if brokers else {})})
        self.last = copy.deepcopy(state)
        return answer


@dataclass
class Recording:
    """Gives the answers that were recorded; commands must come as they came then.

    Attributes:
        content: what was recorded.
        change: what is done to each answer before it is given, with its number.
    """

    content: Json
    change: Callable[[int, Json], None] = lambda number, state: None
    given: int = 0
    last: Json = field(default_factory=lambda: {"brokers": {}})

    @classmethod
    def read(cls, name: str) -> Recording:
        return cls(json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8")))

    @property
    def version(self) -> str:
        version: str = self.content["kafka"]
        return version

    def take(self, command: str, **arguments: Argument) -> Answer:
        entry = self.content["answers"][self.given]
        assert {"command": command, "arguments": arguments} == {name: entry[name] for name in ("command", "arguments")}
        self.last = copy.deepcopy(self.last)
        if "controller" in entry:
            self.last["controller"] = copy.deepcopy(entry["controller"])
        if "consumer" in entry:
            self.last["consumer"] = copy.deepcopy(entry["consumer"])
        self.last["brokers"].update(copy.deepcopy(entry.get("brokers", {})))
        shown = copy.deepcopy(self.last)
        self.change(self.given, shown)
        self.given += 1
        return Answer(entry["said"], Observation.read(shown), shown)

    def trace(self) -> tuple[Cluster, Trace]:
        """The trace that was replayed, as the model takes its steps now."""
        return _trace(*(json.dumps(self.content.get(name)) for name in ("bounds", "steps", "property", "loop")))


@cache
def _trace(bounds: str, steps: str, failing: str, loop: str) -> tuple[Cluster, Trace]:
    bounds = json.dumps(present_bounds(json.loads(bounds)))
    if json.loads(loop) is not None:  # a run that never ends
        asked = steps_again(json.loads(bounds), present_steps(json.loads(steps)), json.loads(failing), json.loads(loop))
        return asked.model, asked.trace
    model, stepper = _stepped(bounds)
    walk = Walk(stepper)
    for action, parameters in present_steps(json.loads(steps)):
        walk.step(walk.number_of(action, parameters))
    if json.loads(failing) is None:  # a walk
        return model, Trace("cluster", model.identity, "walk", trace_steps(model, walk.moves), "", witness=True)
    (violated,) = judge(model, [json.loads(failing)]).invariants
    return model, violation_trace(model, violated, walk.moves)


@cache
def _stepped(bounds: str) -> tuple[Cluster, Stepper]:
    """Many recordings are of one model, which takes longer to make than to step through."""
    model = Cluster(**json.loads(bounds))
    return model, Stepper(model)


def replayed(name: str, change: Callable[[int, Json], None] = lambda number, state: None) -> KafkaReplay:
    """A trace beside what is on record of Kafka, each answer changed before it is given."""
    recording = Recording.read(name)
    recording.change = change
    model, trace = recording.trace()
    return replay_on_kafka(trace, model, recording)


def recorded(model: Cluster, trace: Trace, recorder: Recorder) -> str:
    """The text of a recording."""
    about = None if trace.witness or trace.property == AGREEMENT else trace.property
    head = {"kafka": recorder.version, "property": about}
    bounds = {name: value for name, value in trace.bounds.items() if value != Cluster().identity[name]}
    told = {**head, **({} if trace.loop is None else {"loop": trace.loop}), "bounds": bounds}
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}," for name, value in told.items()]
    steps = ",\n".join(f"    {json.dumps([step.action, dict(step.parameters)])}" for step in trace.steps[1:])
    answers = ",\n".join(f"    {json.dumps(answer)}" for answer in recorder.answers)
    return "\n".join(["{", *lines, f'  "steps": [\n{steps}\n  ],', f'  "answers": [\n{answers}\n  ]', "}", ""])


def _record(name: str, version: str, model: Cluster, trace: Trace) -> None:
    from insync.conformance.classes.harness import Harness
    from insync.conformance.jars.pinned import pinned
    from insync.conformance.jars.store import stored_jars

    with Harness(stored_jars(pinned(version))) as harness:
        recorder = Recorder(harness)
        replay_on_kafka(trace, model, recorder)
    RECORDINGS.mkdir(exist_ok=True)
    (RECORDINGS / f"{name}-{version}.json").write_text(recorded(model, trace, recorder), encoding="utf-8")


def _record_given(given: str, version: str) -> None:
    from insync.conformance.given_trace import given_trace

    _record(Path(given).stem, version, *given_trace(given))


def _record_again() -> None:
    for path in sorted(RECORDINGS.glob("*.json")):
        recording = Recording.read(path.stem)
        _record(path.stem.removesuffix(f"-{recording.version}"), recording.version, *recording.trace())


if __name__ == "__main__":
    for given, on in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        _record_given(given, on)
    if len(sys.argv) == 1:
        _record_again()

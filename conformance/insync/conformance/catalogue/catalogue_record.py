"""What Kafka did with the catalogue, on record: one file in the package, which a run writes anew.

For each entry it has the traces that were run on Kafka's classes, as steps by name, and for each version what came of
one of them; and what running brokers did.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from insync.conformance.correspondence.facts import Fact
from insync.conformance.jars.pinned import version_order
from insync.runtime.errors import UserError
from insync.runtime.files import write_whole

__all__ = [
    "RECORD",
    "BrokersRun",
    "RecordedEntry",
    "RecordedRun",
    "RecordedTrace",
    "read_record",
    "version_ranges",
    "with_brokers_run",
    "write_record",
]

RECORD = Path(__file__).parent / "recorded" / "catalogue.json"
_FORMAT = "insync-kafka-record/1"


@dataclass(frozen=True, slots=True)
class RecordedTrace:
    """A trace that was run.

    Attributes:
        bounds: what its model was made with; all else has its default.
        property: what is broken at its end; "" where it only shows what happens.
        steps: its steps, by the names of actions, with their parameters.
        loop: of a run that never ends, the place to which it comes back; None for others.
    """

    bounds: Mapping[str, int | str]
    property: str
    steps: tuple[tuple[str, Mapping[str, str]], ...]
    loop: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """What one version of Kafka did with a trace.

    Attributes:
        kafka: the version.
        on: where: `classes`.
        verdict: as `insync kafka replay` says it.
        steps: how many steps were taken, the diverging one included.
        date: when, as year-month-day.
        trace: the digest of the trace.
        predicted: whether the model takes that trace with the rules of the version's release.
        label: the step that diverges, or cannot be scheduled.
        field: what differs there first.
        model: what the model has there.
        seen: what Kafka has.
        reason: why the step cannot be scheduled; or why it is not known whether a run goes on for ever.
    """

    kafka: str
    on: str
    verdict: str
    steps: int
    date: str
    trace: str
    predicted: bool
    label: str = ""
    field: str = ""
    model: Fact = None
    seen: Fact = None
    reason: str = ""

    @property
    def taken(self) -> bool:
        """Whether the version did what the trace says, to its end."""
        return self.verdict in ("reproduced", "agrees")


@dataclass(frozen=True, slots=True)
class BrokersRun:
    """What running brokers of one version did.

    Attributes:
        kafka: the version.
        how: what was done to them: `trace`, step by step, or the scenario by its name.
        reproduced: in how many runs what the entry is about happened.
        runs: how many runs there were.
        date: when, as year-month-day.
    """

    kafka: str
    how: str
    reproduced: int
    runs: int
    date: str


@dataclass(frozen=True, slots=True)
class RecordedEntry:
    """The record of an entry.

    Attributes:
        traces: the traces that were run on Kafka's classes, by digest.
        runs: what came of them, the oldest version first.
        on_brokers: what running brokers did, the oldest version first.
    """

    traces: Mapping[str, RecordedTrace] = field(default_factory=dict)
    runs: tuple[RecordedRun, ...] = ()
    on_brokers: tuple[BrokersRun, ...] = ()

    def versions(self, verdict: str) -> list[str]:
        """Return the versions with a verdict, the oldest first."""
        return [run.kafka for run in self.runs if run.verdict == verdict]


def read_record(path: Path = RECORD) -> dict[str, RecordedEntry]:
    """Return what is on record, by the names of entries; nothing if there is no record.

    Raises:
        UserError: the file is no record.
    """
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != _FORMAT:
            raise KeyError(content["format"])
        return {name: _entry(found) for name, found in content["entries"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{path}: this is no record of the catalogue. Write it again: insync kafka replay --all --record"
        raise UserError(message) from error


def _entry(found: Any) -> RecordedEntry:
    traces = {
        digest: RecordedTrace(one["bounds"], one["property"], tuple((a, p) for a, p in one["steps"]), one.get("loop"))
        for digest, one in found["traces"].items()
    }
    brokers = tuple(BrokersRun(**run) for run in found.get("on_brokers", ()))
    return RecordedEntry(traces, tuple(RecordedRun(**run) for run in found["runs"]), brokers)


def with_brokers_run(entry: RecordedEntry, run: BrokersRun) -> RecordedEntry:
    """Return an entry with what brokers did, in the place of what it had of the same version and means."""
    kept = [one for one in entry.on_brokers if (one.kafka, one.how) != (run.kafka, run.how)]
    return replace(entry, on_brokers=tuple(sorted([*kept, run], key=lambda one: (version_order(one.kafka), one.how))))


def write_record(entries: Mapping[str, RecordedEntry], path: Path = RECORD) -> None:
    """Write the record, a line for each step and for each run.

    Raises:
        UserError: it cannot be written.
    """
    text = ",\n".join(f"  {json.dumps(name)}: {{\n{_entry_text(entry)}\n  }}" for name, entry in entries.items())
    write_whole(path, f'{{\n"format": "{_FORMAT}",\n"entries": {{\n{text}\n}}\n}}\n')


def _entry_text(entry: RecordedEntry) -> str:
    traces = ",\n".join(_trace_text(digest, trace) for digest, trace in sorted(entry.traces.items()))
    runs = ",\n".join(f"      {json.dumps(_short(run), ensure_ascii=False)}" for run in entry.runs)
    text = f'    "traces": {{\n{traces}\n    }},\n    "runs": [\n{runs}\n    ]'
    if entry.on_brokers:
        brokers = ",\n".join(f"      {json.dumps(asdict(run))}" for run in entry.on_brokers)
        text += f',\n    "on_brokers": [\n{brokers}\n    ]'
    return text


def _trace_text(digest: str, trace: RecordedTrace) -> str:
    head = f'"bounds": {json.dumps(dict(trace.bounds))}, "property": {json.dumps(trace.property)}'
    head += "" if trace.loop is None else f', "loop": {trace.loop}'
    steps = ",\n".join(f"        {json.dumps([action, dict(given)])}" for action, given in trace.steps)
    return f'      "{digest}": {{{head}, "steps": [\n{steps}\n      ]}}'


def _short(run: RecordedRun) -> dict[str, Any]:
    """A run without what does not apply to its verdict."""
    kept = {"model", "seen"} if run.verdict == "diverges" else set()
    return {name: value for name, value in asdict(run).items() if name in kept or value not in ("", None)}


def version_ranges(versions: list[str], all_versions: tuple[str, ...]) -> str:
    """Return versions in words, those that follow one another as a range: "3.9.0 to 3.9.2, 4.1.0"."""
    places = sorted(all_versions.index(version) for version in versions)
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    words = [
        all_versions[run[0]] if len(run) == 1 else f"{all_versions[run[0]]} to {all_versions[run[-1]]}" for run in runs
    ]
    return ", ".join(words)

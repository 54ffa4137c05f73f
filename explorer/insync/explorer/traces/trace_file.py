"""The trace file, format "insync-trace/1": JSON with a line for each step, whose form is checked in full.

Whether the model takes the steps of a trace is checked by `replay`.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from insync.explorer.traces.trace import RefusedStep, Trace, TraceStep
from insync.model.catalogue import as_argument, is_in_file
from insync.properties.temporal import Fairness
from insync.runtime.errors import UserError, closest
from insync.runtime.files import FileKind, write_whole

__all__ = [
    "FORMAT",
    "ITF",
    "is_itf",
    "parse_trace",
    "portable_reference",
    "read_trace",
    "replay_command",
    "replay_hint",
    "trace_text",
    "write_trace",
]

FORMAT = "insync-trace/1"

ITF = ".itf.json"
"""The end of the name of a trace file in the Informal Trace Format."""

_TRACE_KEYS = (
    "format",
    "model",
    "bounds",
    "property",
    "reason",
    "steps",
    "refused",
    "loop",
    "fairness",
    "witness",
)
_STEP_KEYS = ("action", "parameters", "state")
_REFUSED_KEYS = ("action", "parameters", "label", "message")
_OPTIONAL = frozenset({"refused", "loop", "fairness", "witness"})
_FAIRNESS_KEYS = ("weak", "strong")
_AGAIN = "Write the trace again with `insync check MODEL --trace FILE`."
_NAMED = "Name a trace file that `insync check MODEL --trace FILE` wrote."
_TRACE_FILE = FileKind("trace", FORMAT, _NAMED, _AGAIN)


def write_trace(path: str | Path, trace: Trace) -> None:
    """Write `trace` to `path`, whole or not at all; raises UserError when it cannot be written."""
    write_whole(Path(path), trace_text(trace))


def trace_text(trace: Trace) -> str:
    """Return the text of the trace file: the same trace gives the same bytes."""
    head = {
        "format": FORMAT,
        "model": portable_reference(trace.model),
        "bounds": dict(trace.bounds),
        "property": trace.property,
        "reason": trace.reason,
    }
    lines = [f"  {_line(key)}: {_line(value)}," for key, value in head.items()]
    steps = [{"action": s.action, "parameters": dict(s.parameters), "state": s.state} for s in trace.steps]
    lines += ['  "steps": [', ",\n".join(f"    {_line(step)}" for step in steps), "  ]"]
    if trace.refused is not None:
        lines[-1] += ","
        refused = trace.refused
        entry = {"action": refused.action, "parameters": dict(refused.parameters)}
        lines.append(f'  "refused": {_line({**entry, "label": refused.label, "message": refused.message})}')
    for key, value in _run_entries(trace).items():
        lines[-1] += ","
        lines.append(f"  {_line(key)}: {_line(value)}")
    return "\n".join(["{", *lines, "}", ""])


def portable_reference(reference: str) -> str:
    """Return the reference to a model as trace and proof files have it: of an absolute path only the file name."""
    path, colon, name = reference.rpartition(":")
    return f"{os.path.basename(path)}{colon}{name}" if os.path.isabs(path) else reference


def replay_command(trace: Trace, file: Path) -> str:
    """Return the command that replays a trace from the file that it was written to.

    The command names a model in a Python file, as a trace alone does not run that.
    """
    named = ["--model", as_argument(trace.model)] if is_in_file(trace.model) else []
    return shlex.join(["insync", "replay", as_argument(str(file)), *named])


def is_itf(path: Path) -> bool:
    """Return whether a trace file is in ITF, by its name."""
    return path.name.endswith(ITF)


def replay_hint(trace: Trace, file: Path) -> str:
    """Return the line below a written trace: the replay command, or for ITF the file alone."""
    if is_itf(file):
        return f"Trace: {file} (ITF, for other tools; `insync replay` reads insync's own JSON)"
    return f"Replay: {replay_command(trace, file)}"


def _run_entries(trace: Trace) -> dict[str, object]:
    """The entries of a run that never ends, or of a witness."""
    entries: dict[str, object] = {}
    if trace.loop is not None:
        entries["loop"] = trace.loop
    if trace.fairness is not None:
        entries["fairness"] = {"weak": list(trace.fairness.weak), "strong": list(trace.fairness.strong)}
    if trace.witness:
        entries["witness"] = True
    return entries


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def read_trace(path: str | Path) -> Trace:
    """Read a trace file.

    The file does not contain the labels of the steps: until `replay` executes the trace, these are the actions' names.

    Raises:
        UserError: the file is no trace; the message has the file, the place in it, the value and what was expected.
    """
    path = Path(path)
    return parse_trace(str(path), _TRACE_FILE.text(path))


def parse_trace(place: str, text: str) -> Trace:
    """Return the trace in the text of a trace file; messages begin with `place`. See `read_trace`."""
    return _Reader(place).trace(_TRACE_FILE.parsed(place, text))


class _Reader:
    """Turns parsed JSON into a trace; `path` begins every message."""

    def __init__(self, path: str) -> None:
        self.path = path

    def trace(self, parsed: object) -> Trace:
        entries = self._object(parsed, "the whole file")
        self._version(entries)
        self._keys(entries, _TRACE_KEYS, "at the top")
        bounds = self._object(entries["bounds"], "bounds")
        steps = entries["steps"]
        if not isinstance(steps, list) or not steps:
            raise self._error(steps, "steps", "a list with at least the initial state")
        return Trace(
            model=self._text(entries["model"], "model"),
            bounds={name: self._bound(value, f"bounds.{name}") for name, value in bounds.items()},
            property=self._text(entries["property"], "property"),
            steps=tuple(self._step(step, number) for number, step in enumerate(steps)),
            reason=self._text(entries["reason"], "reason"),
            refused=self._refused(entries["refused"]) if "refused" in entries else None,
            loop=self._loop(entries["loop"], len(steps)) if "loop" in entries else None,
            fairness=self._fairness(entries["fairness"]) if "fairness" in entries else None,
            witness="witness" in entries and self._true(entries["witness"], "witness"),
        )

    def _loop(self, value: object, length: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < length:
            raise self._error(value, "loop", f"the number of a step, from 0 to {length - 1}")
        return value

    def _fairness(self, value: object) -> Fairness:
        entry = self._object(value, "fairness")
        self._keys(entry, _FAIRNESS_KEYS, "in fairness")
        return Fairness(self._texts(entry["weak"], "fairness.weak"), self._texts(entry["strong"], "fairness.strong"))

    def _texts(self, value: object, place: str) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self._error(value, place, "a list of actions")
        return tuple(self._text(entry, f"{place}[{number}]") for number, entry in enumerate(value))

    def _true(self, value: object, place: str) -> bool:
        if value is not True:
            raise self._error(value, place, "true, or no such key")
        return True

    def _version(self, entries: Mapping[str, object]) -> None:
        found = entries.get("format")
        if found == FORMAT:
            return
        if "format" not in entries and "#meta" in entries:
            message = f"{self.path}: this is an ITF file, which insync only writes. Name a trace file ({FORMAT})."
            raise UserError(message)
        hint = (
            "It was written by another version of insync"
            if str(found).startswith("insync-trace/")
            else "It is not a trace file"
        )
        message = f"{self.path}: format is {_shown(found)}, and this insync reads {_shown(FORMAT)}. {hint}. {_AGAIN}"
        raise UserError(message)

    def _step(self, value: object, number: int) -> TraceStep:
        place = f"steps[{number}]"
        entry = self._object(value, place)
        self._keys(entry, _STEP_KEYS, f"in {place}")
        action = entry["action"]
        if number == 0:
            if action is not None:
                raise self._error(action, f"{place}.action", "null, as no action leads to the initial state")
        else:
            action = self._text(action, f"{place}.action")
        return TraceStep(
            action=action,
            parameters=self._parameters(entry["parameters"], place),
            state=self._object(entry["state"], f"{place}.state"),
            label=action or "start",
        )

    def _refused(self, value: object) -> RefusedStep:
        entry = self._object(value, "refused")
        self._keys(entry, _REFUSED_KEYS, "in refused")
        return RefusedStep(
            action=self._text(entry["action"], "refused.action"),
            parameters=self._parameters(entry["parameters"], "refused"),
            label=self._text(entry["label"], "refused.label"),
            message=self._text(entry["message"], "refused.message"),
        )

    def _parameters(self, value: object, place: str) -> dict[str, str]:
        entries = self._object(value, f"{place}.parameters")
        return {name: self._text(label, f"{place}.parameters.{name}") for name, label in entries.items()}

    def _keys(self, entries: Mapping[str, object], known: Sequence[str], where: str) -> None:
        for key in known:
            if key not in entries and key not in _OPTIONAL:
                message = f"{self.path}: the key {key!r} is missing {where}. {_AGAIN}"
                raise UserError(message)
        for key in entries:
            if key not in known:
                message = (
                    f"{self.path}: the key {key!r} {where} is not one of a trace file. {closest(key, known)} {_AGAIN}"
                )
                raise UserError(message)

    def _object(self, value: object, place: str) -> dict[str, object]:
        if not isinstance(value, dict):
            raise self._error(value, place, "an object in braces")
        return value

    def _text(self, value: object, place: str) -> str:
        if not isinstance(value, str):
            raise self._error(value, place, "a text in quotes")
        return value

    def _bound(self, value: object, place: str) -> int | str:
        return value if isinstance(value, str) else self._whole(value, place)

    def _whole(self, value: object, place: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._error(value, place, "a whole number")
        return value

    def _error(self, value: object, place: str, expected: str) -> UserError:
        return UserError(f"{self.path}: {place} is {_shown(value)}; expected {expected}. {_AGAIN}")


def _shown(value: object) -> str:
    """The value as it is written in the file, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."

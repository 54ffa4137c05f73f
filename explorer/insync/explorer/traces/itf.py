"""Export of a trace to the Informal Trace Format (`.itf.json`) of Apalache and Quint, for their viewers and readers.

The format is Apalache's ADR-015: every whole number is a `#bigint`, a set a `#set`, an array over a sort a `#map` from
the labels of its members, an array of places a sequence, an option one of the variants Nothing and Some. The types of
the variables are written in the notation of ADR-002, which Apalache needs to read a trace back. ITF has no place for
the step that led to a state, so a variable `action` holds it, as Quint does under other names. In a run that never ends
`loop` is the first state of the part that repeats, which ends with the last state: the state after the one that the
last state is again, since these two differ in `action`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from insync.explorer.traces.files import write_whole
from insync.explorer.traces.grid import describe_bounds
from insync.explorer.traces.trace import START, Trace, TraceStep
from insync.model.domains import (
    Array,
    Boolean,
    Domain,
    Enum,
    Int,
    Member,
    Option,
    OptionalScalar,
    Record,
    Set,
    State,
)
from insync.model.errors import InternalError

__all__ = ["itf_text", "write_itf"]

_DESCRIPTION = "https://apalache-mc.org/docs/adr/015adr-trace.html"
_NOTHING = "Nothing"  # not None: itf-py makes a class of each tag, and Python reserves that name
_ACTION_TYPE = "{ name: Str, parameters: Str -> Str }"


def write_itf(path: Path, trace: Trace, state: State) -> None:
    """Write the export to `path`, whole or not at all; raises UserError when it cannot be written."""
    write_whole(path, itf_text(trace, state))


def itf_text(trace: Trace, state: State) -> str:
    """Return the ITF export of `trace`, whose states are of the bound domain `state`: one line a state."""
    action = "action" if "action" not in state.fields else "action_taken"
    types = {name: _type(domain) for name, domain in state.fields.items()} | {action: _ACTION_TYPE}
    names = sorted(types)
    verb = "is reached in" if trace.witness else "fails in"
    meta: dict[str, object] = {
        "format": "ITF",
        "format-description": _DESCRIPTION,
        "description": f"Created by insync: {trace.property} {verb} {trace.model}, {describe_bounds(trace.bounds)}",
        "reason": trace.reason,
        "varTypes": {name: types[name] for name in names},
    }
    if trace.refused is not None:
        meta["refused"] = f"{trace.refused.label}: {trace.refused.message}"
    states = [_state(step, index, state, action, names) for index, step in enumerate(trace.steps)]
    lines = [
        "{",
        f'  "#meta": {_line(meta)},',
        f'  "vars": {_line(names)},',
        '  "states": [',
        ",\n".join(f"    {_line(entry)}" for entry in states),
        "  ]" if trace.loop is None else f'  ],\n  "loop": {min(trace.loop + 1, trace.length - 1)}',
        "}",
        "",
    ]
    return "\n".join(lines)


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _state(step: TraceStep, index: int, state: State, action: str, names: Sequence[str]) -> dict[str, object]:
    values: dict[str, object] = {name: _expression(domain, step.state[name]) for name, domain in state.fields.items()}
    parameters = [[name, label] for name, label in sorted(step.parameters.items())]
    values[action] = {"name": step.action or START, "parameters": {"#map": parameters}}
    return {"#meta": {"index": index}, **{name: values[name] for name in names}}


def _expression(domain: Domain, value: object) -> object:
    match domain:
        case Boolean() | Enum() | Member():
            return value
        case Int():
            return {"#bigint": str(value)}
        case Set(of=of):
            assert isinstance(value, list)
            return {"#set": [_expression(of, member) for member in value]}
        case Option(of=of) | OptionalScalar(of=of):
            if value is None:
                return {"tag": _NOTHING, "value": "U_OF_UNIT"}
            return {"tag": "Some", "value": _expression(of, value)}
        case Record(fields=fields):
            assert isinstance(value, Mapping)
            return {name: _expression(of, value[name]) for name, of in fields.items()}
        case Array(of=of):
            if isinstance(value, Mapping):
                return {"#map": [[label, _expression(of, element)] for label, element in value.items()]}
            assert isinstance(value, list)
            return [_expression(of, element) for element in value]
    message = f"The domain {type(domain).__name__} has no expression in ITF."
    raise InternalError(message)


def _type(domain: Domain) -> str:
    match domain:
        case Boolean():
            return "Bool"
        case Int():
            return "Int"
        case Enum() | Member():
            return "Str"
        case Set(of=of):
            return f"Set({_type(of)})"
        case Option(of=of) | OptionalScalar(of=of):
            return f"{_NOTHING}(UNIT) | Some({_type(of)})"
        case Record(fields=fields):
            return "{ " + ", ".join(f"{name}: {_type(of)}" for name, of in fields.items()) + " }"
        case Array(over=int(), of=of):
            return f"Seq({_type(of)})"
        case Array(of=of):
            element = _type(of)
            return f"Str -> ({element})" if "|" in element or "->" in element else f"Str -> {element}"
    message = f"The domain {type(domain).__name__} has no type in ITF."
    raise InternalError(message)

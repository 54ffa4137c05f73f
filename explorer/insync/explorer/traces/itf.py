"""Export of a trace to the Informal Trace Format (`.itf.json`) of Apalache and Quint, for their viewers and readers.

The format is Apalache's ADR-015. A whole number is a `#bigint`, a set a `#set`, an array over a sort a `#map` from the
labels of its members, another array a sequence, an option one of the variants Nothing and Some, and a bag a `#map` from
its elements to their multiplicity, as in TLA+'s module Bags. The types of the variables are in the notation of ADR-002,
which Apalache needs to read a trace back.

ITF has no place for the step that led to a state, so a variable `action` holds it; Quint does this under other names.
In a run that never ends `loop` is the first state of the part that repeats, up to the last state. This is the state
after the one that the last state equals, as these two differ in `action`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from insync.explorer.traces.grid import describe_bounds
from insync.explorer.traces.trace import START, Trace, TraceStep
from insync.model.domains.composite import (
    DOMAINS,
    Absent,
    Array,
    Bag,
    BitSet,
    Boolean,
    Domain,
    Enum,
    Int,
    ListedSet,
    Member,
    Option,
    OptionalScalar,
    Record,
    Seq,
    Set,
    State,
)
from insync.runtime.files import write_whole

__all__ = ["itf_text", "write_itf"]

_DESCRIPTION = "https://apalache-mc.org/docs/adr/015adr-trace.html"
_NOTHING = "Nothing"  # not None: itf-py makes a class of each tag, and Python reserves that name
_ACTION_TYPE = "{ name: Str, parameters: Str -> Str }"


def write_itf(path: Path, trace: Trace, state: State) -> None:
    """Write the export to `path`, whole or not at all; raises UserError when it cannot be written."""
    write_whole(path, itf_text(trace, state))


def itf_text(trace: Trace, state: State) -> str:
    """Return the ITF export of `trace`, a line for each state; `state` is the bound domain of the states."""
    action = "action"
    while action in state.fields:
        action += "_taken"
    types = {name: _type(domain) for name, domain in state.present.items()} | {action: _ACTION_TYPE}
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
    values: dict[str, object] = {name: _expression(domain, step.state[name]) for name, domain in state.present.items()}
    parameters = [[name, label] for name, label in sorted(step.parameters.items())]
    values[action] = {"name": step.action or START, "parameters": {"#map": parameters}}
    return {"#meta": {"index": index}, **{name: values[name] for name in names}}


def _expression(domain: Domain, value: object) -> object:
    return _RULES[type(domain)].expression(domain, value)


def _type(domain: Domain) -> str:
    return _RULES[type(domain)].type(domain)


@dataclass(frozen=True, slots=True)
class _Rule:
    """Writes the values of a domain, and their type in Apalache's notation."""

    expression: Callable[[Any, Any], object]
    type: Callable[[Any], str]


def _option(domain: Option | OptionalScalar, value: object) -> object:
    if value is None:
        return {"tag": _NOTHING, "value": "U_OF_UNIT"}
    return {"tag": "Some", "value": _expression(domain.of, value)}


def _array(domain: Array | Seq, value: Mapping[str, object] | Sequence[object]) -> object:
    if isinstance(value, Mapping):
        return {"#map": [[label, _expression(domain.of, element)] for label, element in value.items()]}
    return [_expression(domain.of, element) for element in value]


def _array_type(domain: Array) -> str:
    if isinstance(domain.over, int):
        return f"Seq({_type(domain.of)})"
    return f"Str -> {_argument(domain.of)}"


def _argument(domain: Domain) -> str:
    """The type of a domain as a part of a function type."""
    written = _type(domain)
    return f"({written})" if "|" in written or "->" in written else written


def _bag(domain: Bag, value: Sequence[object]) -> object:
    """Pairs of an element and its multiplicity; equal elements are adjacent in `value`."""
    pairs = [(_expression(domain.of, element), len(list(same))) for element, same in groupby(value)]
    return {"#map": [[element, {"#bigint": str(count)}] for element, count in pairs]}


_NAME = _Rule(lambda domain, value: value, lambda domain: "Str")
_OPTION = _Rule(_option, lambda domain: f"{_NOTHING}(UNIT) | Some({_type(domain.of)})")
_SET = _Rule(
    lambda domain, value: {"#set": [_expression(domain.of, member) for member in value]},
    lambda domain: f"Set({_type(domain.of)})",
)
_RECORD = _Rule(
    lambda domain, value: {name: _expression(of, value[name]) for name, of in domain.present.items()},
    lambda domain: "{ " + ", ".join(f"{name}: {_type(of)}" for name, of in domain.present.items()) + " }",
)
_RULES: dict[type[Domain], _Rule] = {
    Boolean: _Rule(lambda domain, value: value, lambda domain: "Bool"),
    Int: _Rule(lambda domain, value: {"#bigint": str(value)}, lambda domain: "Int"),
    Enum: _NAME,
    Member: _NAME,
    Set: _SET,
    OptionalScalar: _OPTION,
    Option: _OPTION,
    Record: _RECORD,
    State: _RECORD,
    Array: _Rule(_array, _array_type),
    Seq: _Rule(_array, lambda domain: f"Seq({_type(domain.of)})"),
    Bag: _Rule(_bag, lambda domain: f"{_argument(domain.of)} -> Int"),
    ListedSet: _SET,
    BitSet: _SET,
}
assert set(_RULES) == DOMAINS - {Absent}, "an absent field is not in a readable state"

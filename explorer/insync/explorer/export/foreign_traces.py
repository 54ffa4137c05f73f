"""Traces that other checkers found in an exported module, as claims for `replay`: TLC's JSON, and ITF.

A value is decoded by the domain of its field, never by looking at it: TLC writes a function over numbers as an object
whose keys are texts, and a set as a list. Which action was taken is not read either: it is the one that leads on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from insync.explorer.evaluator.stepping import Refused, Stepper
from insync.explorer.export.tla.decoding import Decoder
from insync.explorer.export.tla.module import HEADER
from insync.explorer.traces.trace import EXPLORED, Trace, TraceStep
from insync.model import Model
from insync.model.catalogue import find_model, model_reference
from insync.model.errors import UserError
from insync.model.evaluator import Codes, evaluate
from insync.properties.every_model import DEADLOCK_FREE
from insync.properties.registry import default_names, invariants_of, judge
from insync.properties.step_invariants import StepInvariant

__all__ = ["foreign_trace", "is_foreign"]


def is_foreign(file: Path) -> bool:
    """Return whether a file is a trace of TLC or in ITF, and not insync's own."""
    found = _parsed(file)
    return (
        isinstance(found, dict) and "format" not in found and bool({"states", "state", "counterexample"} & set(found))
    )


def foreign_trace(file: Path, module: Path | None = None) -> Trace:
    """Return what a trace of an exported module claims.

    Args:
        file: the trace.
        module: the exported module, whose first lines name the model; None is the only one beside the trace.

    Raises:
        UserError: there is no such module, or a state is none of its model, or no step leads from one to the next.
    """
    model = _model_of(module or _beside(file))
    decoder = Decoder(model)
    states = [decoder.codes(state, f"{file}: state {number}") for number, state in enumerate(_states(file), 1)]
    if states[0] not in model.program.initials:
        message = f"{file}: state 1 is no initial state of {model.name} under {model.identity}."
        raise UserError(message)
    steps = [TraceStep(None, {}, model.decode(states[0]))]
    stepper = Stepper(model)
    for number, (before, after) in enumerate(pairwise(states), 2):
        steps.append(_step(model, stepper, before, after, f"{file}: state {number}"))
    broken = _broken(model, states)
    return Trace(model_reference(model), model.identity, broken, tuple(steps), "")


def _parsed(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return None


def _states(file: Path) -> list[Mapping[str, Any]]:
    found = _parsed(file)
    inside = found.get("counterexample", found)
    if "states" in inside:  # ITF
        return [{name: _plain(value) for name, value in state.items()} for state in inside["states"]]
    numbered = sorted(inside["state"], key=lambda entry: entry[0])
    return [state for _, state in numbered]


def _plain(value: Any) -> Any:
    """Return a value of ITF as TLC writes it, but that a function keeps its arguments as they are."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "#bigint" in value:
        return int(value["#bigint"])
    for tag in ("#set", "#tup"):
        if tag in value:
            return [_plain(one) for one in value[tag]]
    if "#map" in value:
        return [(_plain(key), _plain(one)) for key, one in value["#map"]]
    return {name: _plain(one) for name, one in value.items()}


def _beside(file: Path) -> Path:
    modules = [path for path in sorted(file.parent.glob("*.tla")) if HEADER in path.read_text(errors="replace")]
    if len(modules) != 1:
        message = (
            f"{file}: this trace is of a module that insync exported, and beside it are {len(modules)} of these; name "
            f"it with --module FILE.tla."
        )
        raise UserError(message)
    return modules[0]


def _model_of(module: Path) -> Model:
    """Return the model that an exported module names in its first lines."""
    try:
        text = " ".join(module.read_text(encoding="utf-8").split())
    except OSError as error:
        message = f"{module}: cannot be read ({error.strerror or error}). Name the module that insync exported."
        raise UserError(message) from error
    found = re.search(rf"{HEADER} (\S+) with (.*?)\. ", text.replace("\\* ", ""))
    if found is None:
        message = f"{module}: this is no module that insync exported; its first lines do not name a model."
        raise UserError(message)
    chosen = dict(pair.split(" = ") for pair in found[2].split(", ") if " = " in pair)
    kind = find_model(found[1])
    return kind(**{name: int(value) if re.fullmatch(r"-?\d+", value) else value for name, value in chosen.items()})


def _step(model: Model, stepper: Stepper, before: Codes, after: Codes, place: str) -> TraceStep:
    for number, outcome in stepper.outcomes(before):
        if not isinstance(outcome, Refused) and outcome == after:
            action = model.program.actions[number]
            return TraceStep(action.name, action.shown_parameters, model.decode(after), action.label)
    message = f"{place}: no step of {model.name} leads here from the state before."
    raise UserError(message)


def _broken(model: Model, states: Sequence[Codes]) -> str:
    """Return the property that fails at the end, the model's headline first."""
    judged = judge(model, [*default_names(model), *invariants_of(model)])
    for found in judged.invariants:
        name = found.name
        if name == DEADLOCK_FREE:  # bounds stop most models some time
            continue
        if isinstance(found, StepInvariant):
            if len(states) > 1 and not found.met(model, states[-2], states[-1]):
                return name
        elif not evaluate(judged.conditions[name], states[-1]):
            return name
    return EXPLORED

"""Traces that other checkers found in an exported module, in TLC's JSON or in ITF, as claims for `replay`.

The domain of a field decides how its value is decoded, as the formats are ambiguous: TLC writes a function over numbers
as an object with string keys, and a set as a list. Names of actions are not read; the action is the one that leads to
the next state.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from insync.explorer.export.tla.context import Speaker
from insync.explorer.export.tla.module import HEADER
from insync.explorer.export.tla.state import Axis
from insync.explorer.export.tla.terms import field_name
from insync.explorer.export.tla.values import Kind, What
from insync.explorer.named_model import Naming, opened_kind
from insync.explorer.runs.lassos import Lasso, lasso_trace, verify
from insync.explorer.stepping.stepper import Move, Refused, Stepper
from insync.explorer.task import model_of
from insync.explorer.traces.trace import EXPLORED, Trace, trace_of
from insync.model import Model
from insync.model.domains import composite as d
from insync.model.domains.containers import Listed
from insync.model.evaluator import Codes, evaluate
from insync.properties.invariants import DEADLOCK_FREE, StepInvariant
from insync.properties.registry import default_names, invariants_of, judge, run_properties_of
from insync.properties.temporal import RunKind
from insync.runtime.errors import UserError

__all__ = [
    "foreign_trace",
    "is_foreign",
    "named_in_module",
]

_AGAIN = "Give the module that it was found in, or make it again."


def is_foreign(file: Path) -> bool:
    """Return whether a file is a trace in TLC's JSON or in ITF, and not in insync's own format."""
    found = _parsed(file)
    return (
        isinstance(found, dict) and "format" not in found and bool({"states", "state", "counterexample"} & set(found))
    )


def foreign_trace(file: Path, module: Path | None = None, *, model: type[Model] | str | None = None) -> Trace:
    """Return a trace of an exported module as a trace of its model.

    Args:
        file: the trace.
        module: the exported module, whose first lines name the model; None is the only one beside the trace.
        model: the model, a class or a name, which gets the bounds in the module. None is the one that the module names,
            if it comes with insync or its class has been imported already.

    Raises:
        UnnamedModel: the module names a Python file, and `model` is None; nothing was imported.
        UserError: there is no such module, or a state does not belong to the model, or no step leads from a state to
            the next, or an infinite run breaks no property of runs.
    """
    built = _model_of(module or _beside(file), model)
    decoder = Decoder(built)
    told, loop = _states(file)
    states = [decoder.codes(state, f"{file}: state {number}") for number, state in enumerate(told, 1)]
    if states[0] not in built.program.initials:
        message = f"{file}: state 1 is no initial state of {built.name} under {built.identity}."
        raise UserError(message)
    if loop is not None and loop not in range(len(states)):
        message = f"{file}: the loop goes back to the place {loop!r} of {len(states)}; it must be a state, from 0."
        raise UserError(message)
    if loop is not None and loop < len(states) - 1:
        states.append(states[loop])  # the step back closes the loop; without one the run stays
    stepper = Stepper(built)
    moves: list[Move] = [(None, states[0])]
    for number, (before, after) in enumerate(pairwise(states), 2):
        moves.append((_taken(stepper, before, after, f"{file}: state {number}"), after))
    if loop is not None:
        return _broken_run(built, Lasso(moves, loop), str(file))
    return trace_of(built, _broken(built, states), moves, "")


def _parsed(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return None


def _states(file: Path) -> tuple[list[Mapping[str, Any]], int | None]:
    """Return the states, at least one, and for an infinite run the place of the state that the last one returns to."""
    try:
        states, loop = _told(_parsed(file))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        message = f"{file}: its states are not written as `-dumpTrace json` of TLC or ITF writes them; make it again."
        raise UserError(message) from error
    if not states:
        message = f"{file}: there is no state in it; a trace must have the initial one."
        raise UserError(message)
    return states, loop


def _told(found: Any) -> tuple[list[Mapping[str, Any]], int | None]:
    inside = found.get("counterexample", found)
    if "states" in inside:  # ITF
        states: list[Mapping[str, Any]] = [
            {name: _plain(value) for name, value in state.items()} for state in inside["states"]
        ]
        return states, inside.get("loop")
    numbered = sorted(inside["state"], key=lambda entry: entry[0])
    back = [after[0] - 1 for before, _, after in inside.get("action", ()) if after[0] <= before[0]]
    return [state for _, state in numbered], back[-1] if back else None


def _plain(value: Any) -> Any:
    """Return a value of ITF in the form that TLC writes; a function becomes a list of pairs, with its keys decoded."""
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


def named_in_module(file: Path, module: Path | None = None) -> Naming:
    """Return the reference to a model in an exported module. No model is imported. See `foreign_trace`."""
    return _named_in(module or _beside(file))[0]


def _model_of(module: Path, given: type[Model] | str | None) -> Model:
    naming, bounds = _named_in(module)
    return model_of(opened_kind(naming) if given is None else given, bounds)


def _named_in(module: Path) -> tuple[Naming, dict[str, int | str]]:
    """Return the reference to the model in the first lines of an exported module, and the bounds there."""
    try:
        text = " ".join(module.read_text(encoding="utf-8").split())
    except OSError as error:
        message = f"{module}: cannot be read ({error.strerror or error}). Name the module that insync exported."
        raise UserError(message) from error
    found = re.search(rf"{HEADER} (.+?) with (.*?)\. ", text.replace("\\* ", ""))
    if found is None:
        message = f"{module}: this is no module that insync exported, as its first lines name no model. Name another."
        raise UserError(message)
    chosen = dict(pair.split(" = ") for pair in found[2].split(", ") if " = " in pair)
    bounds = {name: int(value) if re.fullmatch(r"-?\d+", value) else value for name, value in chosen.items()}
    return Naming(found[1], "module", str(module), module), bounds


def _taken(stepper: Stepper, before: Codes, after: Codes, place: str) -> int:
    """Return the number of the action that leads from one state to the next."""
    for number, outcome in stepper.outcomes(before):
        if not isinstance(outcome, Refused) and outcome == after:
            return number
    message = f"{place}: no step of {stepper.model.name} leads here from the state before. {_AGAIN}"
    raise UserError(message)


def _broken_run(model: Model, lasso: Lasso, file: str) -> Trace:
    """Return an infinite run as a counterexample to the first property of runs that it breaks."""
    faults = []
    for found in run_properties_of(model).values():
        if found.kind is not RunKind.SOMETIMES:
            verified = verify(model, found, found.fairness, lasso)
            if verified.fault is None:
                return lasso_trace(model, found, found.fairness, lasso, verified.reason)
            faults.append(verified.fault)
    message = f"{file}: this run, which never ends, breaks no property of runs of {model.name}. {' '.join(faults)}"
    raise UserError(message)


def _broken(model: Model, states: Sequence[Codes]) -> str:
    """Return the property that the last state or step violates; the default properties come first."""
    judged = judge(model, [*default_names(model), *invariants_of(model)])
    for found in judged.invariants:
        name = found.name
        if name == DEADLOCK_FREE:  # under bounds most models deadlock in the end
            continue
        if isinstance(found, StepInvariant):
            if len(states) > 1 and not found.met(model, states[-2], states[-1]):
                return name
        elif not evaluate(judged.conditions[name], states[-1]):
            return name
    return EXPLORED


# Decoding of values into the codes of a state.


class Decoder:
    """Decodes states of an exported module.

    Args:
        model: the model that was exported.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._speaker = Speaker.about(model)

    def codes(self, state: Mapping[str, Any], place: str) -> Codes:
        """Return the codes of a state whose variables have these values.

        Raises:
            UserError: a variable is missing, or has a value outside its field's domain.
        """
        return tuple(self._of(self._model.state, state, place))

    def _of(self, domain: d.Domain, value: Any, place: str) -> list[int]:
        if not self._speaker.shapes.live(domain):
            return [0] * domain.width
        return _RULES[type(domain)](self, domain, value, place)

    def _scalar(self, domain: d.Scalar, value: Any, place: str) -> list[int]:
        return [self._code(self._speaker.kinds.of_scalar(domain), value, place)]

    def _code(self, kind: Kind, value: Any, place: str) -> int:
        """Return the code of a value of a kind."""
        if kind.what is What.TRUTH and isinstance(value, bool):
            return int(value)
        if kind.what is What.NUMBER:
            number = value - kind.low if type(value) is int else _place(kind.names, value)
            if number is not None and 0 <= number < kind.size:
                return number
        if kind.what in (What.SET, What.SOME) and isinstance(value, list):
            assert kind.of is not None
            members = [self._code(kind.of, one, place) for one in value]
            if kind.what is What.SET:
                return sum({1 << member for member in members})
            if len(members) < 2:  # a set of at most one value
                return members[0] + 1 if members else 0
        raise self._wrong(value, place)

    def _wrong(self, value: Any, place: str) -> UserError:
        message = f"{place} has {value!r}, which is no value of that part of {self._model.name}. {_AGAIN}"
        return UserError(message)

    def _record(self, domain: d.Record, value: Any, place: str) -> list[int]:
        if not isinstance(value, Mapping):
            raise self._wrong(value, place)
        codes: list[int] = []
        for name, inner in domain.fields.items():
            written = field_name(name)
            live = self._speaker.shapes.live(inner)
            if live and written not in value:
                message = f"{place} has no {name}, which {self._model.name} has. {_AGAIN}"
                raise UserError(message)
            codes += self._of(inner, value.get(written), f"{place}: {name}") if live else [0] * inner.width
        return codes

    def _option(self, domain: d.Option, value: Any, place: str) -> list[int]:
        there = value.get(self._speaker.shapes.there(domain)) if isinstance(value, Mapping) else None
        if not isinstance(there, bool):
            raise self._wrong(value, place)
        return [1, *self._of(domain.of, value, place)] if there else [0] * domain.width

    def _array(self, domain: d.Array, value: Any, place: str) -> list[int]:
        elements = self._elements(self._speaker.shapes.axis(domain), value, place)
        return [code for at, one in enumerate(elements) for code in self._of(domain.of, one, f"{place}[{at}]")]

    def _listed(self, domain: Listed, value: Any, place: str) -> list[int]:
        length = self._of(d.Int(0, domain.most), value["length"], f"{place}.length")
        if not self._speaker.shapes.live(domain.of):
            return [*length, *[0] * (domain.width - 1)]
        elements = self._elements(self._speaker.shapes.axis(domain), value["at"], place)
        return [*length, *(code for one in elements for code in self._of(domain.of, one, place))]

    def _bits(self, domain: d.BitSet, value: Any, place: str) -> list[int]:
        elements = self._elements(self._speaker.shapes.axis(domain), value, place)
        return [self._code(self._speaker.kinds.of_scalar(d.Boolean()), one, place) for one in elements]

    def _elements(self, axis: Axis, value: Any, place: str) -> list[Any]:
        """Return the values of a function in the order of the places of its axis."""
        if isinstance(value, list) and value and isinstance(value[0], tuple):  # pairs
            by_code = {self._code(axis.kind, key, place): one for key, one in value if not axis.literals}
            if set(by_code) == set(range(len(axis))):
                return [by_code[number] for number in range(len(axis))]
        elif isinstance(value, list) and len(value) == len(axis):
            return value
        elif isinstance(value, Mapping):
            written = {_normal(key): one for key, one in value.items()}
            terms, printer = self._speaker.terms, self._speaker.printer
            found = []
            for number in range(len(axis)):
                name = _normal(printer.text(axis.argument(terms, number)))
                other = _normal(str(number + axis.kind.low))
                found.append(written.get(name, written.get(other, _MISSING)))
            if _MISSING not in found:
                return found
        raise self._wrong(value, place)


_MISSING = object()


def _place(names: tuple[str, ...], value: Any) -> int | None:
    return names.index(value) if value in names else None


def _normal(text: str) -> str:
    return re.sub(r"\s+", "", text)


_RULES: dict[type[d.Domain], Callable[[Decoder, Any, Any, str], list[int]]] = {
    **dict.fromkeys(d.SCALARS, Decoder._scalar),
    **dict.fromkeys((d.Record, d.State), Decoder._record),
    d.Option: Decoder._option,
    d.Absent: lambda decoder, domain, value, place: [],
    d.Array: Decoder._array,
    **dict.fromkeys((d.Seq, d.Bag, d.ListedSet), Decoder._listed),
    d.BitSet: Decoder._bits,
}
assert set(_RULES) == d.DOMAINS

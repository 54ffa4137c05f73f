"""The actions of a model with their parameters: one operator for all bindings, where the Python allows it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from enum import Enum

from insync.explorer.export.tla.assigned import assigned_variables
from insync.explorer.export.tla.context import Speaker
from insync.explorer.export.tla.definitions import action_text, comment, condition_text
from insync.explorer.export.tla.module_names import camel
from insync.explorer.export.tla.unrolled import Operator
from insync.explorer.export.tla.values import Kind
from insync.model.domains.sorts import Parameter, label_of
from insync.model.expressions.graph import Op
from insync.model.expressions.simplify import combine
from insync.model.language.declarations import action_specs
from insync.model.tracing.retracing import GeneralAction

__all__ = ["general_operator"]


def general_operator(speaker: Speaker, action: GeneralAction) -> Operator:
    """Return the operator of an action for all values of those parameters that are open."""
    model, terms, names = speaker.model, speaker.terms, speaker.names
    terms.scope.clear()
    fixed = {name: value for name, value, is_open in action.parameters if not is_open}
    cells = {name: int(cell) for name, cell, is_open in action.parameters if is_open}  # type: ignore[arg-type]
    said = "_".join([camel(action.name), *map(label_of, fixed.values())])
    name = names.name(("action", action.name, *fixed.items()), said)
    parameters = {one: speaker.opaque[cell] for one, cell in cells.items()}
    head = _called(name, [one.term.text for one in parameters.values()])
    numbers = {
        number: {key: value for key, value in bound.parameters if key in cells}
        for number, bound in enumerate(model.program.actions)
        if bound.name == action.name and all(dict(bound.parameters)[key] == value for key, value in fixed.items())
    }
    checked = [number for number in numbers if model.program.actions[number].checks]
    checks = action.checks if checked else ()
    guard = list(action.guard)
    known = speaker.translation.within([*guard, *checks])
    changes = assigned_variables(speaker.shapes, known, model.state, action.assignments)
    same = [one for one in speaker.variables if one not in {change.variable for change in changes}]
    conditions = speaker.conditions(speaker.translation, [*guard, *checks])
    text = action_text(speaker.printer, terms, head, conditions, changes, same)
    lines = [*comment(_sentence(speaker, action, {k: v.term.text for k, v in parameters.items()}, fixed)), text]
    if fixed:
        lines[-1:-1] = comment(f"The Python may decide on {' and '.join(fixed)}: one operator for each value.")
    binding = [(one.term.text, speaker.printer.text(one.kind.extent(terms))) for one in parameters.values()]
    check = ""
    if checks:
        fits = names.name(("check", action.name, *fixed.items()), f"{said}_fits")
        holds = combine(checks[0].graph, Op.AND, list(checks))
        within = [terms.name("Within")] if model.program.within else []  # TLC checks other states too
        premise = terms.all_of([*within, *speaker.conditions(speaker.translation, guard)])
        term = terms.infix("=>", premise, speaker.translation.within(guard).condition(holds))
        called = _called(fits, [variable for variable, _ in binding])
        lines.append(condition_text(speaker.printer, called, term))
        check = "".join(f"\\A {variable} \\in {over} : " for variable, over in binding) + called
    calls = {
        number: _called(name, [_argument(speaker, parameters[key].kind, values[key]) for key in parameters])
        for number, values in numbers.items()
    }
    quantified = "".join(f"\\E {variable} \\in {over} : " for variable, over in binding)
    return Operator(quantified + head, "\n".join(lines), tuple(numbers), check, calls)


def _called(name: str, arguments: Sequence[str]) -> str:
    return f"{name}({', '.join(arguments)})" if arguments else name


def _argument(speaker: Speaker, kind: Kind, value: Parameter) -> str:
    """Return the value of a parameter, as an argument."""
    code = list(type(value)).index(value) if isinstance(value, Enum) else int(value) - kind.low
    return speaker.printer.text(kind.literal(speaker.terms, code))


def _sentence(speaker: Speaker, action: GeneralAction, names: dict[str, str], fixed: dict[str, Parameter]) -> str:
    """Return what an action does: its label with its parameters, and what its docstring says."""
    kind = type(speaker.model)
    spec = action_specs(kind)[action.name]
    shown = {**names, **{key: label_of(value) for key, value in fixed.items()}}
    label = "" if spec.label is None else spec.label.format(**shown)
    doc = " ".join((inspect.getdoc(getattr(kind, action.name)) or "").split("\n\n")[0].split())
    return ": ".join(part for part in (label, doc) if part) or action.name.replace("_", " ")

"""Actions as TLA+ operators: one with parameters for an action of the source, or one for each bound action.

The first is for readers, as long as the Python of the action does not branch on a parameter. The second is the program
that the engines run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from insync.explorer.export.tla.context import Speaker, Values
from insync.explorer.export.tla.printing import NewValue, action_text, comment, condition_text
from insync.explorer.export.tla.reads import ReadAction
from insync.explorer.export.tla.state import Shapes
from insync.explorer.export.tla.terms import Form, Term, camel
from insync.explorer.export.tla.translation import Translation
from insync.explorer.export.tla.values import Kind
from insync.model.domains import composite as d
from insync.model.domains.sorts import Parameter, label_of
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.lifted import Action, Assign
from insync.model.expressions.simplify import combine
from insync.model.language.declarations import action_specs
from insync.model.tracing.program import BoundAction

__all__ = [
    "Operator",
    "bound_operator",
    "general_operator",
]


def general_operator(speaker: Speaker, read: ReadAction) -> Operator:
    """Return the operator of an action, with its variables as arguments."""
    model, terms, names, action = speaker.model, speaker.terms, speaker.names, read.action
    terms.scope.clear()
    fixed = action.fixed
    variables = {variable.name: variable for variable in action.variables}
    said = "_".join([camel(action.name), *map(label_of, fixed.values())])
    name = names.name(("action", action.name, *fixed.items()), said)
    parameters = {one: speaker.opaque[variable] for one, variable in variables.items()}
    head = _called(name, [one.term.text for one in parameters.values()])
    numbers = {
        number: {key: value for key, value in bound.parameters if key in variables}
        for number, bound in enumerate(model.program.actions)
        if bound.name == action.name and all(dict(bound.parameters)[key] == value for key, value in fixed.items())
    }
    checked = [number for number in numbers if model.program.actions[number].checks]
    checks = read.checks if checked else ()
    guard = list(read.guard)
    known = speaker.translation.within([*guard, *checks])
    changes = assigned_variables(speaker.shapes, known, model.state, read.assigns)
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
        within = [terms.name("Within")] if model.program.within else []  # TLC also checks states outside of it
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
    """Return the value of a parameter as the text of an argument."""
    code = list(type(value)).index(value) if isinstance(value, Enum) else int(value) - kind.low
    return speaker.printer.text(kind.literal(speaker.terms, code))


def _sentence(speaker: Speaker, action: Action, names: dict[str, str], fixed: dict[str, object]) -> str:
    """Return the comment of an action: its label with its parameters, and the first paragraph of its docstring."""
    kind = type(speaker.model)
    spec = action_specs(kind)[action.name]
    shown = {**names, **{key: label_of(value) for key, value in fixed.items()}}
    label = "" if spec.label is None else spec.label.format(**shown)
    doc = " ".join((inspect.getdoc(getattr(kind, action.name)) or "").split("\n\n")[0].split())
    return ": ".join(part for part in (label, doc) if part) or action.name.replace("_", " ")


# Bound actions, one operator for each.


@dataclass(frozen=True, slots=True)
class Operator:
    """The operator of one or more bound actions.

    Attributes:
        call: its call in `Next`, with quantifiers.
        text: its definition.
        numbers: the numbers of the bound actions.
        check: the condition that its steps assign values within the fields' domains; empty where interval analysis
            has shown that.
        calls: the call for each bound action, by number.
    """

    call: str
    text: str
    numbers: tuple[int, ...]
    check: str = ""
    calls: dict[int, str] = field(default_factory=dict)


def bound_operator(speaker: Speaker, number: int, action: BoundAction, within: Sequence[Node]) -> Operator:
    """Return the operator of one bound action."""
    said = "_".join([camel(action.name), *action.shown_parameters.values()])
    name = speaker.names.name(action, said)
    guard = [node for node in action.guard if node not in within]
    checks = [check.node for check in action.checks]
    conditions = speaker.conditions(speaker.plain, [*guard, *checks])
    after = speaker.plain.within([*within, *guard, *checks])
    changes, same = changed_variables(speaker.shapes, after, speaker.model.state, dict(action.updates))
    text = action_text(speaker.printer, speaker.terms, name, conditions, changes, same)
    lines = [*comment(action.label), text]
    check = ""
    if checks:
        graph = speaker.model.program.graph
        check = speaker.names.name((action, "check"), f"{said}_fits")
        holds = combine(graph, Op.AND, checks)
        premise = speaker.terms.all_of(
            speaker.conditions(speaker.plain, [*within, *guard])
        )  # TLC also checks states outside of `within`
        term = speaker.terms.infix("=>", premise, speaker.plain.within([*within, *guard]).condition(holds))
        lines.append(condition_text(speaker.printer, check, term))
    return Operator(name, "\n".join(lines), (number,), check, {number: name})


# Assignments in source order, as new values of variables.


def assigned_variables(
    shapes: Shapes, translation: Translation, state: d.State, assignments: Sequence[Assign]
) -> list[NewValue]:
    """Return the variables that are assigned to, in the order of the fields, with their new values.

    Args:
        shapes: the shapes of the state.
        translation: the translation under the guard of the action.
        state: the domain of the state.
        assignments: in source order; a later one to the same place wins.
    """
    values = Values(shapes, translation, state)
    found: dict[str, dict[tuple[str, tuple[Term, ...]], Term]] = {}
    for one in assignments:
        name, path, indexes, domain = _place(shapes, translation, state, one)
        if shapes.live(domain):
            changes = found.setdefault(name, {})
            changes.pop((path, indexes), None)
            changes[path, indexes] = values.value(domain, one.codes)
    return [NewValue(name, _assigned_value(shapes, name, found[name])) for name in state.fields if name in found]


def _assigned_value(shapes: Shapes, name: str, changes: dict[tuple[str, tuple[Term, ...]], Term]) -> Term:
    """Return the new value of a variable: an EXCEPT, whose base is the last value assigned to the whole variable."""
    listed = list(changes.items())
    whole = next((number for number, ((path, _), _) in enumerate(listed) if not path), -1)
    base = shapes.terms.state_variable(name) if whole < 0 else listed[whole][1]
    rest = listed[whole + 1 :]
    if not rest:
        return base
    args = [base]
    for (_, indexes), value in rest:
        args += [*indexes, value]
    return shapes.terms.make(Form.EXCEPT, args, fields=[path for (path, _), _ in rest])


def _place(
    shapes: Shapes, translation: Translation, state: d.State, one: Assign
) -> tuple[str, str, tuple[Term, ...], d.Domain]:
    """Return the target of an assignment: the variable, the path in it, the indexes, and the domain at its end."""
    domain: d.Domain = state
    at, path, rest = 0, "", list(zip(one.dims, one.indexes, strict=True))
    indexes: list[Node | Term] = []
    while domain is state or at != one.base or domain.width != len(one.codes) or rest:
        inside, begin = (domain.of, at + 1) if isinstance(domain, d.Option) else (domain, at)
        if isinstance(inside, d.Record):
            name, domain, at = _field(inside, begin, one.base, len(one.codes))
            path += f".{name}"
            continue
        if isinstance(inside, d.BitSet):
            indexes.append(shapes.axis(inside).argument(shapes.terms, one.base - begin))
            path, domain, at = path + "[]", d.Boolean(), one.base
            continue
        assert isinstance(inside, d.Array), "only these are assigned to in part"
        axis, width = shapes.axis(inside), inside.of.width
        if rest and rest[0][0] == (width, len(inside.labels)) and one.base - begin < width:
            indexes.append(translation.value(rest.pop(0)[1], axis.kind))
            place = 0
        else:
            place = (one.base - begin) // width
            indexes.append(axis.argument(shapes.terms, place))
        path, domain, at = path + "[]", inside.of, begin + place * width
    _, variable, *_ = path.replace("[", ".[").split(".")
    return variable, path[1 + len(variable) :], tuple(term for term in indexes if isinstance(term, Term)), domain


def _field(record: d.Record, begin: int, base: int, width: int) -> tuple[str, d.Domain, int]:
    """Return name, domain and first cell of the field of a record that contains the cells from `base` on."""
    for name, domain in record.fields.items():
        at = begin + record.offsets[name]
        if at <= base and base + width <= at + domain.width and domain.width:
            return name, domain, at
    raise AssertionError(record)  # the cells of one assignment lie in one field


# The updates of a bound action, cell by cell, as new values of variables.


PartChange = tuple[str, tuple[Term, ...], Term]
"""A change inside a variable: the path with `[]` for each index, the indexes, and the new value."""


def changed_variables(
    shapes: Shapes, translation: Translation, state: d.State, updates: Mapping[int, Node]
) -> tuple[list[NewValue], list[str]]:
    """Return the new values of the variables that change, and the names of the others.

    Args:
        shapes: the shapes of the state.
        translation: the translation under the guard of the action.
        state: the domain of the state.
        updates: the new code of each cell that changes, as a node.
    """
    cells = shapes.cells
    live = {number: node for number, node in updates.items() if cells[number].kind.size > 1}
    finder = _Finder(shapes, lambda number, kind: translation.value(live[number], kind), set(live))
    changes, same = [], []
    for name, domain in state.fields.items():
        if not shapes.live(domain):
            continue
        found = list(finder.changes(domain, state.offsets[name], "", ()))
        if found:
            changes.append(NewValue(name, _changed_value(shapes, name, found)))
        else:
            same.append(name)
    return changes, same


def _changed_value(shapes: Shapes, name: str, found: Sequence[PartChange]) -> Term:
    if found[0][0] == "":
        return found[0][2]
    args = [shapes.terms.state_variable(name)]
    for _, indexes, value in found:
        args += [*indexes, value]
    return shapes.terms.make(Form.EXCEPT, args, fields=[path for path, _, _ in found])


class _Finder:
    """Finds the largest parts of a variable all of whose cells change."""

    def __init__(self, shapes: Shapes, leaf: Callable[[int, Kind], Term], changed: set[int]) -> None:
        self.shapes, self.leaf, self.changed = shapes, leaf, changed

    def changes(self, domain: d.Domain, at: int, path: str, indexes: tuple[Term, ...]) -> Iterator[PartChange]:
        """Yield the changes in the part of the state whose first cell is `at`."""
        live = {at + offset for offset, leaf in enumerate(domain.leaves()) if leaf.size > 1}
        touched = live & self.changed
        if not touched:
            return
        if touched == live and type(domain) not in _BY_PLACE:
            yield path, indexes, self.shapes.value(domain, at, self.leaf)
            return
        for steps, offset, inner in self.shapes.parts(domain):
            below = "".join(f".{step.name}" if step.axis is None else "[]" for step in steps)
            places = [step.axis.argument(self.shapes.terms, step.place) for step in steps if step.axis is not None]
            yield from self.changes(inner, at + offset, path + below, (*indexes, *places))


_BY_PLACE = {d.Array, d.BitSet, d.Seq, d.Bag, d.ListedSet}

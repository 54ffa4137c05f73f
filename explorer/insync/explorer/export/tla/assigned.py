"""Assignments as they were made, as the new values of variables."""

from __future__ import annotations

from collections.abc import Sequence

from insync.explorer.export.tla.context import Values
from insync.explorer.export.tla.definitions import NewValue
from insync.explorer.export.tla.state import Shapes
from insync.explorer.export.tla.terms import Form, Term
from insync.explorer.export.tla.translation import Translation
from insync.model.domains import composite as d
from insync.model.expressions.graph import Node
from insync.model.tracing.retracing import KeptAssignment

__all__ = ["assigned_variables"]


def assigned_variables(
    shapes: Shapes, translation: Translation, state: d.State, assignments: Sequence[KeptAssignment]
) -> list[NewValue]:
    """Return the variables that are assigned to, in their order, and what each becomes.

    Args:
        shapes: of the state.
        translation: of the nodes, where the guard of the action holds.
        state: the domain.
        assignments: in the order in which they were made: where two are to one place, the later counts.
    """
    values = Values(shapes, translation, state)
    found: dict[str, dict[tuple[str, tuple[Term, ...]], Term]] = {}
    for one in assignments:
        name, path, indexes, domain = _place(shapes, translation, state, one)
        if shapes.live(domain):
            changes = found.setdefault(name, {})
            changes.pop((path, indexes), None)
            changes[path, indexes] = values.value(domain, one.codes)
    return [NewValue(name, _new_value(shapes, name, found[name])) for name in state.fields if name in found]


def _new_value(shapes: Shapes, name: str, changes: dict[tuple[str, tuple[Term, ...]], Term]) -> Term:
    """Return a variable with some changes; from where it is assigned as a whole on, the rest is changed in that."""
    listed = list(changes.items())
    whole = next((number for number, ((path, _), _) in enumerate(listed) if not path), -1)
    base = shapes.terms.name(name) if whole < 0 else listed[whole][1]
    rest = listed[whole + 1 :]
    if not rest:
        return base
    args = [base]
    for (_, indexes), value in rest:
        args += [*indexes, value]
    return shapes.terms.make(Form.EXCEPT, args, fields=[path for (path, _), _ in rest])


def _place(
    shapes: Shapes, translation: Translation, state: d.State, one: KeptAssignment
) -> tuple[str, str, tuple[Term, ...], d.Domain]:
    """Return the variable, the path in it with its indexes, and the domain of what an assignment is to."""
    domain: d.Domain = state
    at, path, rest = 0, "", list(one.dimensions)
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
        if rest and (rest[0].stride, rest[0].length) == (width, len(inside.labels)) and one.base - begin < width:
            indexes.append(translation.value(rest.pop(0).index, axis.kind))
            place = 0
        else:
            place = (one.base - begin) // width
            indexes.append(axis.argument(shapes.terms, place))
        path, domain, at = path + "[]", inside.of, begin + place * width
    _, variable, *_ = path.replace("[", ".[").split(".")
    return variable, path[1 + len(variable) :], tuple(term for term in indexes if isinstance(term, Term)), domain


def _field(record: d.Record, begin: int, base: int, width: int) -> tuple[str, d.Domain, int]:
    """Return the field of a record in which some cells lie."""
    for name, domain in record.fields.items():
        at = begin + record.offsets[name]
        if at <= base and base + width <= at + domain.width and domain.width:
            return name, domain, at
    raise AssertionError(record)  # what is assigned lies in one field

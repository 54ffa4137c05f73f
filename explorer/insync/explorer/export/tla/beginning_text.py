"""The initial states: what each field begins with, or what each initial method allows."""

from __future__ import annotations

from collections.abc import Mapping

from insync.explorer.export.tla.context import Speaker
from insync.explorer.export.tla.definitions import comment, condition_text, one_value
from insync.explorer.export.tla.terms import Form, Term
from insync.explorer.export.tla.translation import OpaqueTerm, Translation
from insync.explorer.export.tla.values import PLAIN, Kind, What
from insync.model.expressions.graph import Op, reachable
from insync.model.tracing.initial_states import Beginning

__all__ = ["init_text"]


def init_text(speaker: Speaker) -> str:
    """Return the definition of Init, and of what it is made of."""
    beginnings = speaker.model.program.initials.beginnings
    if len(beginnings) == 1:
        return condition_text(speaker.printer, "Init", _term(speaker, beginnings[0]))
    texts, calls = [], []
    for beginning in beginnings:
        labels = "_".join(["Init", beginning.name, *(str(value) for _, value in beginning.parameters)])
        name = speaker.names.name(beginning, labels)
        calls.append(speaker.terms.name(name))
        text = condition_text(speaker.printer, name, _term(speaker, beginning))
        texts.append("\n".join([*comment(beginning.label), text]))
    texts.append(condition_text(speaker.printer, "Init", speaker.terms.any_of(calls)))
    return "\n\n".join(texts)


def _term(speaker: Speaker, beginning: Beginning) -> Term:
    """Return what an initial method allows, a quantifier for each of its variables."""
    terms, shapes, state = speaker.terms, speaker.shapes, speaker.model.state
    opaque = _variables(speaker, beginning)
    translation = Translation(terms, (), opaque)

    def leaf(number: int, kind: Kind) -> Term:
        return translation.value(beginning.cells[number], kind)

    # TLC counts the states that it generates, and would generate one for each arm of a disjunction.
    parts = [one_value(terms, translation.condition(node)) for node in beginning.conditions]
    for name in speaker.variables:
        value = shapes.value(state.fields[name], state.offsets[name], leaf)
        parts.append(terms.infix("=", terms.name(name), value))
    found = terms.all_of(parts)
    for one in reversed(list(opaque.values())):
        found = terms.binding(Form.EXISTS, one.term.text, one.kind.extent(terms), found)
    return found


def _variables(speaker: Speaker, beginning: Beginning) -> Mapping[int, OpaqueTerm]:
    """Return what the variables of an initial method stand for: values of the fields that they are assigned to."""
    found: dict[int, OpaqueTerm] = {}
    read = reachable([*beginning.conditions, *beginning.cells])
    for number in sorted(int(str(node.arg)) for node in read if node.op is Op.CELL):
        size = beginning.graph.cell_sizes[number]
        direct = [
            cell.kind
            for cell, node in zip(speaker.shapes.cells, beginning.cells, strict=True)
            if node.op is Op.CELL and node.arg == number and cell.kind.size == size
        ]
        kind = direct[0] if direct else Kind(What.NUMBER, size, low=PLAIN.low)
        found[number] = OpaqueTerm(speaker.terms.variable_name(_name(found)), kind)
    return found


def _name(found: Mapping[int, OpaqueTerm]) -> str:
    return f"any{len(found) + 1}"

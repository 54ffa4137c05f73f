"""What a mutant lacks, in the model's words: fields with the names of the action's parameters in place of members."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from insync.model import Index, Model
from insync.model.domains.composite import Array, Bag, BitSet, Domain, ListedSet, Option, Record, Seq
from insync.model.domains.sorts import Parameter, label_of
from insync.model.expressions.graph import Node, Op, Quantifier, reachable
from insync.model.expressions.simplify import substituted
from insync.model.tracing.initial_states import Beginning
from insync.model.tracing.program import BoundAction
from insync.properties.condition_text import PART, show

__all__ = ["assignment_of", "conditions_on_state", "lacking"]

_MOST_FIELDS = 5


def assignment_of(model: Model, action: BoundAction, cell: int) -> str:
    """Return what an update of a cell assigns to, as it was written: `replica[follower].log[]`.

    An optional record, a sequence, a bag and a set are assigned as a whole, an element of an array whatever its place.
    """
    return _general(model.state, model.program.schema.cells[cell].path, dict(action.parameters), whole=True)


def conditions_on_state(model: Model, begun: Beginning, nodes: Sequence[Node]) -> list[Node] | None:
    """Return conditions on the variables of an initial method as conditions on the states that it makes.

    None is that some variable is no cell of these states: `ANY` was assigned, and something else calculated of it.
    """
    cells = {node.index: cell for cell, node in enumerate(begun.cells)}
    variables = [begun.graph.cell(number).index for number in range(len(begun.graph.cell_sizes))]
    if any(node.op is Op.CELL and node.index not in cells for node in reachable(nodes)):
        return None
    graph = model.program.graph
    return substituted(graph, nodes, [graph.cell(cells.get(variable, 0)) for variable in variables])


def lacking(model: Model, bound: Sequence[tuple[str, Parameter]], condition: Node, part: Node | None = None) -> str:
    """Return a condition, or a part of one with the variable that it speaks of, with the names of bound parameters."""
    parameters = dict(bound)
    if part is None:
        return _condition(model, parameters, condition)
    text = _condition(model, parameters, part)
    if not isinstance(condition.arg, Quantifier):
        return f"{text} (in an alternative)"
    variable = condition.arg.variable
    for label in [label for label in condition.arg.labels if f"[{label}]" in text]:
        text = text.replace(f"[{label}]", f"[{variable}]")
    return f"{text} (of each {variable})"


def _condition(model: Model, parameters: Mapping[str, Parameter], node: Node) -> str:
    """Return a condition with the names of parameters; the fields it reads where it is too long."""
    text = show(model, node)
    if not text:
        return f"a condition on {_fields(model, parameters, node)}"
    cells = sorted((cell.path for cell in model.program.schema.cells), key=len, reverse=True)
    known = re.compile("|".join(re.escape(path) + r"(?![\w.\[])" for path in cells))
    text = known.sub(lambda match: _general(model.state, match[0], parameters, whole=False), text)
    for name, value in parameters.items():
        label = label_of(value)
        if not label.isdigit():
            text = re.sub(rf"(?<![\w.\[]){re.escape(label)}(?![\w.\]])", name, text)
    return text


def _fields(model: Model, parameters: Mapping[str, Parameter], node: Node) -> str:
    cells = [int(str(n.arg)) for n in reachable([node]) if n.op is Op.CELL]
    paths = [model.program.schema.cells[cell].path for cell in cells]
    names = dict.fromkeys(_general(model.state, path, parameters, whole=False) for path in paths)
    names = dict.fromkeys(re.sub(r"\[[^\]]*\]", "[]", re.sub(r"\{.*\}$", "", name)) for name in names)
    shown = list(names)[:_MOST_FIELDS]
    return ", ".join(shown) + (", ..." if len(names) > _MOST_FIELDS else "")


def _general(domain: Domain, path: str, parameters: Mapping[str, Parameter], *, whole: bool) -> str:
    """Return a cell's path with parameters in place of members; `whole`: of the assignment that it is a part of."""
    text, bound = "", {name: value for name, value in parameters.items() if isinstance(value, Index)}
    for part in PART.finditer(path):
        if isinstance(domain, (Seq, Bag, ListedSet, BitSet)):
            return text if whole else text + path[part.start() :]
        if isinstance(domain, Option):
            if whole:
                return text
            domain = domain.of
        if isinstance(domain, Record):
            domain = domain.fields[part[3]]
            text += f".{part[3]}" if text else part[3]
        elif isinstance(domain, Array):
            text += f"[{_index(domain, part[2], bound, whole=whole)}]"
            domain = domain.of
    return text


def _index(array: Array, label: str, bound: Mapping[str, Index], *, whole: bool) -> str:
    for name, value in bound.items():
        if type(value) is array.over and str(value) == label:
            return name
    return "" if whole else label

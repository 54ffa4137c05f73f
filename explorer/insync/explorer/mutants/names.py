"""What a mutant lacks, in the model's words: fields with the names of the action's parameters in place of members."""

from __future__ import annotations

import re
from collections.abc import Mapping

from insync.model import Index, Model
from insync.model.domains import Array, Bag, BitSet, Domain, ListedSet, Option, Record, Seq
from insync.model.graph import Node, Op, Quantifier, reachable
from insync.model.program import BoundAction
from insync.properties.show import PART, show

__all__ = ["assignment_of", "condition_name", "part_name"]

_MOST_FIELDS = 5


def assignment_of(model: Model, action: BoundAction, cell: int) -> str:
    """Return what an update of a cell assigns to, as it was written: `replica[follower].log[]`.

    An optional record, a sequence, a bag and a set are assigned as a whole, an element of an array whatever its place.
    """
    return _general(model.state, model.program.schema.cells[cell].path, action, whole=True)


def condition_name(model: Model, action: BoundAction, node: Node) -> str:
    """Return a condition of an action with the names of its parameters; the fields it reads where it is too long."""
    text = show(model, node)
    if not text:
        return f"a condition on {_fields(model, action, node)}"
    cells = sorted((cell.path for cell in model.program.schema.cells), key=len, reverse=True)
    known = re.compile("|".join(re.escape(path) + r"(?![\w.\[])" for path in cells))
    text = known.sub(lambda match: _general(model.state, match[0], action, whole=False), text)
    for name, label in action.shown_parameters.items():
        if not label.isdigit():
            text = re.sub(rf"(?<![\w.\[]){re.escape(label)}(?![\w.\]])", name, text)
    return text


def part_name(model: Model, action: BoundAction, part: Node, whole: Node) -> str:
    """Return a part of a longer condition, with the variable that it speaks of."""
    text = condition_name(model, action, part)
    if not isinstance(whole.arg, Quantifier):
        return f"{text} (in an alternative)"
    labels = [label for label in whole.arg.labels if f"[{label}]" in text]
    for label in labels:
        text = text.replace(f"[{label}]", f"[{whole.arg.variable}]")
    return f"{text} (of each {whole.arg.variable})"


def _fields(model: Model, action: BoundAction, node: Node) -> str:
    cells = [int(str(n.arg)) for n in reachable([node]) if n.op is Op.CELL]
    names = dict.fromkeys(_general(model.state, model.program.schema.cells[c].path, action, whole=False) for c in cells)
    names = dict.fromkeys(re.sub(r"\[[^\]]*\]", "[]", re.sub(r"\{.*\}$", "", name)) for name in names)
    shown = list(names)[:_MOST_FIELDS]
    return ", ".join(shown) + (", ..." if len(names) > _MOST_FIELDS else "")


def _general(domain: Domain, path: str, action: BoundAction, *, whole: bool) -> str:
    """Return a cell's path with parameters in place of members; `whole`: of the assignment that it is a part of."""
    text, bound = "", {name: value for name, value in action.parameters if isinstance(value, Index)}
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

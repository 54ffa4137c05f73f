"""Why an invariant fails in a state: the bindings of its quantifiers, the condition that does not hold, and a sentence.

The walk follows the expression of the invariant from the top with the evaluator. Of conditions that must all hold it
enters the first that does not; of alternatives, none of which holds, the one that says most: the last with a
quantifier in it, else the last.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.model import Model
from insync.model.evaluator import evaluate
from insync.model.graph import Node, Op, Quantifier, reachable
from insync.properties.invariants import Failure, Invariant
from insync.properties.show import field_value, plain, show

__all__ = ["explain", "failure"]

MOST_FIELDS = 8


def explain(model: Model, found: Invariant, codes: Sequence[int]) -> str | None:
    """Return the sentence that says why an invariant fails in the state with these codes; None where it holds."""
    failing = failure(model, found, codes)
    if failing is None:
        return None
    return found.because(failing) if found.because is not None else _generic(found, failing)


def failure(model: Model, found: Invariant, codes: Sequence[int]) -> Failure | None:
    """Return where an invariant fails in the state with these codes; None where it holds."""
    root = found.node(model)
    if evaluate(root, codes):
        return None
    bindings: dict[str, str] = {}
    culprit, wanted = _descend(root, True, codes, bindings)
    state = model.decode(tuple(codes))
    cells = [model.program.schema.cells[int(str(n.arg))] for n in reachable([culprit]) if n.op is Op.CELL]
    fields = {cell.path: field_value(state, cell.path) for cell in cells}
    return Failure(state, bindings, show(model, culprit), wanted, fields)


def _descend(node: Node, wanted: bool, codes: Sequence[int], bindings: dict[str, str]) -> tuple[Node, bool]:
    """Return the innermost condition that is to blame, and the value that it should have had."""
    while True:
        if node.op is Op.NOT:
            node, wanted = node.args[0], not wanted
            continue
        must_all_hold = (node.op is Op.AND and wanted) or (node.op is Op.OR and not wanted)
        if must_all_hold:
            at = next(i for i, part in enumerate(node.args) if bool(evaluate(part, codes)) != wanted)
            if isinstance(node.arg, Quantifier):
                bindings[node.arg.variable] = node.arg.labels[at]
            node = node.args[at]
        elif node.op in (Op.AND, Op.OR) and not isinstance(node.arg, Quantifier):
            node = _most_telling(node)
        else:
            return node, wanted


def _most_telling(node: Node) -> Node:
    quantified = [part for part in node.args if any(isinstance(n.arg, Quantifier) for n in reachable([part]))]
    return (quantified or node.args)[-1]


def _generic(found: Invariant, failing: Failure) -> str:
    where = ", ".join(f"{variable} = {label}" for variable, label in failing.bindings.items())
    values = list(failing.fields.items())
    shown = ", ".join(f"{path} = {plain(value)}" for path, value in values[:MOST_FIELDS])
    more = f", and {len(values) - MOST_FIELDS} more" if len(values) > MOST_FIELDS else ""
    known = f", with {shown}{more}" if shown else ""
    condition = failing.conjunct or "its condition"
    fault = "does not hold" if failing.must_hold else "must not hold"
    return f"{found.name} fails{f' for {where}' if where else ''}: {condition} {fault}{known}."

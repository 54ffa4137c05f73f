"""Explanations: why an invariant fails in a state, as bindings of quantifiers, a condition to blame, and a sentence.

The evaluator follows the expression of the invariant from the top. Where all parts of a condition must hold, the walk
enters the first that fails. Where one of several parts must hold and none does, it enters one that is no negation:
`Implies(a, b)` is `Not(a) or b`, and `b` is to blame. Of these parts it enters the last with a quantifier, else the
last. Parts that must not hold together are to blame together, unless one has a quantifier.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import replace

from insync.model import Model, ReadableState
from insync.model.evaluator import evaluate
from insync.model.expressions.graph import Node, Op, reachable
from insync.properties.condition_text import Reading, field_read, plain, read_pair, read_state, shown
from insync.properties.invariants import Because, Failure, Invariant, Sentence, StepInvariant, pointed
from insync.runtime.errors import ModelError

__all__ = ["blame", "explain", "explain_step", "failure_of_condition"]

MOST_FIELDS = 8


def explain(model: Model, found: Invariant, codes: Sequence[int]) -> Failure | None:
    """Return the failure of an invariant in the state with these codes, with its sentence; None where it holds.

    A step invariant fails in a state from which a step breaks it.
    """
    if isinstance(found, StepInvariant):
        step = found.bad_step(model, codes)
        return None if step is None else explain_step(model, found, codes, step[1])
    root = found.node(model)
    if evaluate(root, codes):
        return None
    return _explained(found, _failure(read_state(model), root, codes, model.decode(tuple(codes))))


def explain_step(model: Model, found: StepInvariant, before: Sequence[int], after: Sequence[int]) -> Failure | None:
    """Return the failure of a step invariant in a step, with its sentence; None where the step meets it."""
    if found.met(model, tuple(before), tuple(after)):
        return None
    states = model.decode(tuple(after)), model.decode(tuple(before))
    return _explained(found, _failure(read_pair(model), found.pair(model), (*before, *after), *states))


def blame(failing: Failure) -> str:
    """Return the condition to blame for a failure, with the value of each field that it reads, as text."""
    flag, _, given = failing.conjunct.rpartition(" == ")
    if given in ("true", "false"):
        wanted, value = "true" if (given == "true") == failing.must_hold else "false", failing.fields.get(flag)
        if len(failing.fields) == 1 and isinstance(value, bool):
            return f"{flag} must be {wanted}, and is {plain(value)}"
        return f"{flag} must be {wanted}, with {_fields(failing)}"
    known = f", with {_fields(failing)}" if failing.fields else ""
    return f"{failing.conjunct or 'its condition'} {'does not hold' if failing.must_hold else 'must not hold'}{known}"


def failure_of_condition(model: Model, root: Node, codes: Sequence[int]) -> Failure | None:
    """Return the failure of a condition in the state with these codes; None where it holds.

    The fields of the failure are those that the value depends on in this state: of several elements the one that an
    index selects, and of two values the one that a condition chooses.
    """
    if evaluate(root, codes):
        return None
    return _failure(read_state(model), root, codes, model.decode(tuple(codes)), chosen_alone=True)


def _failure(
    reading: Reading,
    root: Node,
    codes: Sequence[int],
    state: ReadableState,
    before: ReadableState | None = None,
    *,
    chosen_alone: bool = False,
) -> Failure:
    bindings: dict[str, str] = {}
    culprit, wanted = _descend(root, True, codes, bindings)
    text = shown(reading, culprit)
    if not text and culprit.op is Op.AND:  # the text is too long: blame one of the conditions that hold together
        culprit, wanted = _descend(_most_telling(culprit), wanted, codes, bindings)
        text = shown(reading, culprit)
    values = reading.decode(tuple(codes))
    read = _chosen(culprit, codes) if chosen_alone else reachable([culprit])
    fields = dict(field_read(values, reading.leaves[n.cell]) for n in read if n.op is Op.CELL)
    return Failure(state, bindings, text, wanted, fields, before)


def _chosen(root: Node, codes: Sequence[int]) -> list[Node]:
    """Return the nodes that a node's value depends on in a state, arguments before the nodes that use them."""
    seen: dict[int, Node] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node.index in seen:
            continue
        seen[node.index] = node
        if node.op is Op.ITE:
            stack += [node.args[0], node.args[1 if evaluate(node.args[0], codes) else 2]]
        elif node.op is Op.SELECT:
            at = evaluate(node.args[0], codes)
            stack += [node.args[0], *(node.args[1 + at : 2 + at] if at >= 0 else ())]
        else:
            stack += node.args
    return [seen[index] for index in sorted(seen)]


def _explained(found: Invariant, failing: Failure) -> Failure:
    text = _reason(found, failing)
    named = [*failing.bindings.values(), *failing.fields]
    sentence = text if isinstance(text, Sentence) else pointed(text, named)
    return replace(failing, property=found.name, sentence=sentence)


def _reason(found: Invariant, failing: Failure) -> str:
    if found.because is None:
        return _generic(found, failing)
    try:
        reason: object = found.because(failing)
    except Exception as error:
        message = (
            f"{_place_of_fault(error, found.because)}because= of {found.name} raised {type(error).__name__}: {error}, "
            f"called to say why it fails where {_fields(failing) or 'it reads no field'}. Fix it there, or leave it "
            f"out for a general sentence."
        )
        raise ModelError(message) from error
    if not isinstance(reason, str):
        place = _place_of_fault(None, found.because)
        message = f"{place}because= of {found.name} returns {reason!r}; it must return a sentence, a text."
        raise ModelError(message)
    return reason


def _place_of_fault(error: Exception | None, because: Because) -> str:
    """Return the place in a `because=` function where an error arose, else that of the function, with ": " after it."""
    code = getattr(because, "__code__", None)
    if code is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__) if error is not None else []
    lines = [frame.lineno for frame in frames if frame.filename == code.co_filename]
    return f"{code.co_filename}:{lines[-1] if lines else code.co_firstlineno}: "


def _descend(node: Node, wanted: bool, codes: Sequence[int], bindings: dict[str, str]) -> tuple[Node, bool]:
    """Return the innermost condition to blame, and the value that it should have had; fill in the bindings."""
    while True:
        if node.op is Op.NOT:
            node, wanted = node.args[0], not wanted
            continue
        must_all_hold = (node.op is Op.AND and wanted) or (node.op is Op.OR and not wanted)
        if must_all_hold:
            at = next(i for i, part in enumerate(node.args) if bool(evaluate(part, codes)) != wanted)
            if node.quantifier is not None:
                bindings[node.quantifier.variable] = node.quantifier.labels[at]
            node = node.args[at]
        elif node.op in (Op.AND, Op.OR) and node.quantifier is None:
            if node.op is Op.AND and not any(_quantified(part) for part in node.args):
                return node, wanted  # its parts hold, and must not hold together
            node = _most_telling(node)
        else:
            return node, wanted


def _most_telling(node: Node) -> Node:
    conclusions = [part for part in node.args if node.op is not Op.OR or part.op is not Op.NOT] or node.args
    return ([part for part in conclusions if _quantified(part)] or conclusions)[-1]


def _quantified(node: Node) -> bool:
    return any(one.quantifier is not None for one in reachable([node]))


def _generic(found: Invariant, failing: Failure) -> str:
    where = ", ".join(f"{variable} = {label}" for variable, label in failing.bindings.items())
    return f"{found.name} fails{f' for {where}' if where else ''}: {blame(failing)}."


def _fields(failing: Failure) -> str:
    values = list(failing.fields.items())
    shown = ", ".join(f"{path} = {plain(value)}" for path, value in values[:MOST_FIELDS])
    return shown + (f", and {len(values) - MOST_FIELDS} more" if len(values) > MOST_FIELDS else "")

"""What `why` counts, counted plainly: every state is visited and every condition evaluated, in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from insync.explorer.stepping.stepper import Refused, Stepper
from insync.model import Model
from insync.model.evaluator import Codes, Evaluator, evaluate
from insync.model.expressions.graph import Node, Op
from insync.model.tracing.grounding import ActionParts
from insync_each_binding import parts_one_by_one

__all__ = ["Key", "near_to_failing", "plain_counts", "states_of"]

Key = tuple[object, ...]
"""The action, what is counted of it, and where."""


def states_of(model: Model) -> list[Codes]:
    """Return the states that the evaluator reaches, inside of what the model is confined to."""
    stepper, found = Stepper(model), list(model.program.initials)
    seen = set(found)
    for codes in found:
        for _, after in stepper.outcomes(codes):
            if not isinstance(after, Refused) and after not in seen:
                seen.add(after)
                found.append(after)
    return [codes for codes in found if _all(model.program.within, codes)]


def plain_counts(model: Model) -> Counter[Key]:
    """Return the counts of all actions of a model."""
    counts: Counter[Key] = Counter()
    evaluator, parts = Evaluator(model.program), parts_one_by_one(model)
    numbers = {id(action): number for number, action in enumerate(model.program.actions)}
    for codes in states_of(model):
        enabled = set()
        for one in parts:
            if one.bound is None:
                continue
            number = numbers[id(one.bound)]
            if number in evaluator.enabled(codes):
                enabled.add(one.name)
            counts.update(_of_guards(one, codes))
            if number in evaluator.enabled(codes):
                if evaluator.failing_check(number, codes) is not None:
                    counts[one.name, "refused"] += 1
                else:
                    counts.update(_of_step(model, one, codes, evaluator.step(number, codes)))
        counts.update((name, "states") for name in enabled)
    return counts


def _of_guards(one: ActionParts, codes: Codes) -> Sequence[Key]:
    places = dict.fromkeys((part.spot, part.place) for part in one.required)
    false = [
        (spot, place)
        for spot, place in places
        if not all(evaluate(r.condition, codes) for r in one.required if (r.spot, r.place) == (spot, place))
    ]
    # Where one part of two guards is false, neither is alone.
    found: list[Key] = [(one.name, "false", *key) for key in false]
    return [*found, (one.name, "alone", *false[0])] if len(false) == 1 else found


def _of_step(model: Model, one: ActionParts, codes: Codes, after: Codes) -> set[Key]:
    found: set[Key] = {(one.name, "steps")}
    for branch in one.branches:
        if _all(branch.where, codes):
            found.add((one.name, bool(evaluate(branch.test, codes)), branch.spot))
    for assigned in one.assigned:
        if _all(assigned.where, codes):
            found.add((one.name, "assigned", assigned.spot))
    for cell, old, new in zip(model.program.schema.cells, codes, after, strict=True):
        if old != new:
            found.add((one.name, "changed", "".join(_without_places(cell.path))))
    return found


def _without_places(path: str) -> Sequence[str]:
    pieces = path.split("{")[0].split("[")
    return [pieces[0], *chain.from_iterable(("[]", piece.split("]", 1)[1]) for piece in pieces[1:])]


def _all(conditions: Sequence[Node], codes: Codes) -> bool:
    return all(evaluate(condition, codes) for condition in conditions)


def near_to_failing(root: Node, codes: Codes) -> bool:
    """Return whether a condition holds, and one comparison that comes out the other way would make it fail."""
    return bool(evaluate(root, codes)) and any(not value for value in _with_one_flipped(root, codes))


def _with_one_flipped(node: Node, codes: Codes) -> list[bool]:
    """Return what a condition comes to for each of its comparisons that comes out the other way."""
    if node.op is Op.CONST:
        return []
    if node.op is Op.NOT:
        return [not value for value in _with_one_flipped(node.args[0], codes)]
    if node.op not in (Op.AND, Op.OR):
        return [not evaluate(node, codes)]
    found = []
    joined = all if node.op is Op.AND else any
    for place, arg in enumerate(node.args):
        others = [bool(evaluate(other, codes)) for at, other in enumerate(node.args) if at != place]
        found += [joined([value, *others]) for value in _with_one_flipped(arg, codes)]
    return found

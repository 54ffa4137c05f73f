"""Mutants of a model: its program with one condition or one assignment of one action taken away.

Actions are traced once for each binding of their parameters; what was written once is one mutant, taken away in all
bindings. A mutant that takes the same steps as the model from every state that the model reaches is equivalent to it:
that is a condition on the model's own states, so one search decides it for all mutants.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from insync.explorer.mutants.names import assignment_of, condition_name, part_name
from insync.model import Model
from insync.model.graph import Graph, Node, Op, Quantifier
from insync.model.program import BoundAction, Check, Program
from insync.model.ranges import always_holds
from insync.model.simplify import apply, combine

__all__ = ["Change", "Mutant", "mutants_of", "same_steps"]


class Change(StrEnum):
    """What was done to the action."""

    GUARD = "guard"
    WEAKER = "weaker guard"
    ASSIGNMENT = "assignment"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed action.

    Attributes:
        action: its name.
        change: what kind of change.
        without: what was taken away, in the model's words.
        replaced: the changed bindings, by the number of the action.
    """

    action: str
    change: Change
    without: str
    replaced: Mapping[int, BoundAction]

    @property
    def name(self) -> str:
        """What the mutant is called."""
        kind = "does not assign" if self.change is Change.ASSIGNMENT else "does not require"
        return f"{self.action} {kind} {self.without}"

    def program(self, original: Program) -> Program:
        """Return the mutated program."""
        actions = tuple(self.replaced.get(number, action) for number, action in enumerate(original.actions))
        return replace(original, actions=actions)


def mutants_of(model: Model, only: Sequence[str] | None = None) -> list[Mutant]:
    """Return all mutants of a model, or of some of its actions."""
    program = model.program
    found: list[Mutant] = []
    for name in program.action_names:
        bindings = {n: action for n, action in enumerate(program.actions) if action.name == name}
        if bindings and (only is None or name in only):
            found += _of_guard(model, name, bindings)
            found += _of_assignments(model, name, bindings)
    return found


# -------------------------------------------------------------------------------------------------------- guards


def _of_guard(model: Model, name: str, bindings: Mapping[int, BoundAction]) -> Iterator[Mutant]:
    most = max(bindings.values(), key=lambda action: len(action.guard))
    rows = {number: _aligned(most.guard, action.guard) for number, action in bindings.items()}
    for place, conjunct in enumerate(most.guard):
        yield Mutant(
            name,
            Change.GUARD,
            condition_name(model, most, conjunct),
            {
                number: _with_guard(bindings[number], [c for c in bindings[number].guard if c is not row[place]])
                for number, row in rows.items()
                if row[place] is not None
            },
        )
        for part in range(len(_parts(conjunct))):
            yield from _weaker(model, most, bindings, rows, place, part)


def _weaker(
    model: Model,
    most: BoundAction,
    bindings: Mapping[int, BoundAction],
    rows: Mapping[int, Sequence[Node | None]],
    place: int,
    part: int,
) -> Iterator[Mutant]:
    """The mutant without one part of a condition within a guard, where the condition is made of parts."""
    replaced = {}
    for number, row in rows.items():
        conjunct = row[place]
        if conjunct is not None and part < len(_parts(conjunct)):
            weaker = _without_part(model.program.graph, conjunct, part)
            guard = [weaker if c is conjunct else c for c in bindings[number].guard]
            replaced[number] = _with_guard(bindings[number], [c for c in guard if c is not model.program.graph.true])
    if replaced:
        text = part_name(model, most, _parts(most.guard[place])[part], most.guard[place])
        yield Mutant(most.name, Change.WEAKER, text, replaced)


def _parts(conjunct: Node) -> Sequence[Node]:
    """The conditions that must all hold within a quantified conjunct or an alternative of one; none elsewhere."""
    if isinstance(conjunct.arg, Quantifier) and conjunct.op is Op.AND:
        return max((_inner(child) for child in conjunct.args), key=len, default=())
    return _inner(conjunct) if conjunct.op is Op.OR else ()


def _inner(node: Node) -> Sequence[Node]:
    """The parts of a conjunction, or of the last alternative that is one."""
    if node.op is Op.AND and node.arg is None:
        return node.args
    if node.op is Op.OR:
        return next((_inner(child) for child in reversed(node.args) if _inner(child)), ())
    return ()


def _without_part(graph: Graph, node: Node, part: int) -> Node:
    if isinstance(node.arg, Quantifier) and node.op is Op.AND:
        size = len(_parts(node))  # where simplification has left less, it is not known which parts these are
        children = [_without_part(graph, c, part) if len(_inner(c)) == size else c for c in node.args]
        return combine(graph, Op.AND, children, node.arg)
    if node.op is Op.AND and node.arg is None:
        return combine(graph, Op.AND, [child for number, child in enumerate(node.args) if number != part])
    if node.op is Op.OR:
        last = max((number for number, child in enumerate(node.args) if _inner(child)), default=None)
        if last is not None:
            changed = _without_part(graph, node.args[last], part)
            return combine(graph, Op.OR, [*node.args[:last], changed, *node.args[last + 1 :]])
    return node


def _with_guard(action: BoundAction, guard: Sequence[Node]) -> BoundAction:
    """The action with a weaker guard, checked again for what the guard had excluded."""
    needed: list[Check] = [*action.checks, *(c for c in action.shown if not always_holds(guard, c.node))]
    return replace(action, guard=tuple(guard), checks=tuple(needed))


def _aligned(most: Sequence[Node], guard: Sequence[Node]) -> list[Node | None]:
    """For each condition of the longest guard the one of another binding that was written at the same place."""
    if len(most) == len(guard):
        return list(guard)
    shapes = [[_shape(node) for node in one] for one in (most, guard)]
    row: list[Node | None] = [None] * len(most)
    for at, other, size in difflib.SequenceMatcher(None, shapes[0], shapes[1], autojunk=False).get_matching_blocks():
        row[at : at + size] = guard[other : other + size]
    return row


def _shape(node: Node) -> str:
    return f"{node.op.value}({','.join(map(_shape, node.args))})" if node.op is not Op.SELECT else "select"


# --------------------------------------------------------------------------------------------------- assignments


def _of_assignments(model: Model, name: str, bindings: Mapping[int, BoundAction]) -> Iterator[Mutant]:
    families: dict[str, dict[int, BoundAction]] = {}
    for number, action in bindings.items():
        assigned = {cell: assignment_of(model, action, cell) for cell, _ in action.updates}
        for family in dict.fromkeys(assigned.values()):
            kept = tuple((cell, node) for cell, node in action.updates if assigned[cell] != family)
            families.setdefault(family, {})[number] = replace(action, updates=kept)
    for family, replaced in families.items():
        yield Mutant(name, Change.ASSIGNMENT, family, replaced)


# --------------------------------------------------------------------------------------------------- equivalence


def same_steps(program: Program, mutant: Mutant) -> Node:
    """Return the condition that the mutant takes the same steps from a state, but for those that change nothing."""
    graph = program.graph
    pairs = [(program.actions[number], action) for number, action in mutant.replaced.items()]
    return combine(graph, Op.AND, [_same(graph, old, new) for old, new in pairs])


def _same(graph: Graph, old: BoundAction, new: BoundAction) -> Node:
    old_step, old_refused = _effects(graph, old)
    new_step, new_refused = _effects(graph, new)
    before, after = dict(old.updates), dict(new.updates)
    cells = dict.fromkeys([*before, *after])
    equal = [apply(Op.EQ, before.get(cell) or graph.cell(cell), after.get(cell) or graph.cell(cell)) for cell in cells]
    result = combine(graph, Op.OR, [apply(Op.NOT, old_step), combine(graph, Op.AND, equal)])
    return combine(graph, Op.AND, [_iff(graph, old_step, new_step), _iff(graph, old_refused, new_refused), result])


def _effects(graph: Graph, action: BoundAction) -> tuple[Node, Node]:
    """Whether the action changes the state, and whether its step is refused."""
    guard = list(action.guard)
    sound = combine(graph, Op.AND, [check.node for check in action.checks])
    changes = [apply(Op.NOT, apply(Op.EQ, node, graph.cell(cell))) for cell, node in action.updates]
    step = combine(graph, Op.AND, [*guard, sound, combine(graph, Op.OR, changes)])
    return step, combine(graph, Op.AND, [*guard, apply(Op.NOT, sound)])


def _iff(graph: Graph, a: Node, b: Node) -> Node:
    both = combine(graph, Op.AND, [a, b])
    neither = combine(graph, Op.AND, [apply(Op.NOT, a), apply(Op.NOT, b)])
    return combine(graph, Op.OR, [both, neither])

"""Mutants of a model: its program with one condition or one assignment of one action taken away.

Actions are traced once for each binding of their parameters; what was written once is one mutant, taken away in all
bindings. Of an initial method a condition is taken away, so that the model may begin in more states. A mutant that
takes the same steps as the model from every state that the model reaches is equivalent to it: that is a condition on
the model's own states, so one search decides it for all mutants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from insync.explorer.names import assignment_of, conditions_on_state, lacking
from insync.explorer.weakened import Weakened, weakened
from insync.model import Model
from insync.model.domains.sorts import Parameter
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.intervals import always_holds
from insync.model.expressions.simplify import apply, combine
from insync.model.tracing.initial_states import Beginning
from insync.model.tracing.program import BoundAction, Check, Program

__all__ = ["Change", "Mutant", "mutants_of", "same_steps"]


class Change(StrEnum):
    """What was done to the action or initial method."""

    GUARD = "guard"
    WEAKER = "weaker guard"
    ASSIGNMENT = "assignment"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed action or initial method.

    Attributes:
        action: its name.
        change: what kind of change.
        without: what was taken away, in the model's words.
        replaced: the changed bindings of an action, by the number of the action.
        begun: the changed bindings of an initial method, by the number of the beginning.
    """

    action: str
    change: Change
    without: str
    replaced: Mapping[int, BoundAction]
    begun: Mapping[int, Beginning] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the mutant is called."""
        kind = "does not assign" if self.change is Change.ASSIGNMENT else "does not require"
        return f"{self.action} {kind} {self.without}"

    def program(self, original: Program, go_on: Callable[[], None] = lambda: None) -> Program:
        """Return the mutated program.

        Args:
            original: the program of the model.
            go_on: called again and again while initial states are looked for; what it raises ends it.

        Raises:
            ModelError: an initial state has a value outside its field's domain.
        """
        actions = tuple(self.replaced.get(number, action) for number, action in enumerate(original.actions))
        initials = original.initials.changed(self.begun, go_on) if self.begun else original.initials
        return replace(original, actions=actions, initials=initials)


def mutants_of(model: Model, only: Sequence[str] | None = None) -> list[Mutant]:
    """Return all mutants of a model, or of some of its actions and initial methods."""
    program = model.program
    found: list[Mutant] = []
    for name in dict.fromkeys(one.name for one in program.initials.beginnings):
        begun = {n: one for n, one in enumerate(program.initials.beginnings) if one.name == name}
        if only is None or name in only:
            found += _of_requirements(model, name, begun)
    for name in program.action_names:
        bindings = {n: action for n, action in enumerate(program.actions) if action.name == name}
        if bindings and (only is None or name in only):
            found += _of_guard(model, name, bindings)
            found += _of_assignments(model, name, bindings)
    return found


# -------------------------------------------------------------------------------------------------------- guards


def _of_guard(model: Model, name: str, bindings: Mapping[int, BoundAction]) -> Iterator[Mutant]:
    for weaker in weakened({number: action.guard for number, action in bindings.items()}):
        text = lacking(model, _spoken_of(bindings, weaker), weaker.condition, weaker.part)
        changed = {number: _with_guard(bindings[number], guard) for number, guard in weaker.left.items()}
        yield Mutant(name, _change_of(weaker), text, changed)


def _change_of(weaker: Weakened) -> Change:
    return Change.GUARD if weaker.part is None else Change.WEAKER


def _spoken_of(bindings: Mapping[int, BoundAction], weaker: Weakened) -> list[tuple[str, Parameter]]:
    """Return the parameters that a condition was written with: those whose other values make it another one."""
    one = bindings[weaker.binding]

    def unlike(other: BoundAction) -> list[str]:
        pairs = zip(one.parameters, other.parameters, strict=True)
        return [name for (name, value), (_, another) in pairs if value != another]

    def matters(name: str) -> bool:
        others = [other for other in bindings.values() if unlike(other) == [name]]
        return not others or any(weaker.condition not in other.guard for other in others)

    return [(name, value) for name, value in one.parameters if matters(name)]


def _with_guard(action: BoundAction, guard: Sequence[Node]) -> BoundAction:
    """The action with a weaker guard, checked again for what the guard had excluded."""
    needed: list[Check] = [*action.checks, *(c for c in action.shown if not always_holds(guard, c.node))]
    return replace(action, guard=tuple(guard), checks=tuple(needed))


def _of_requirements(model: Model, name: str, bindings: Mapping[int, Beginning]) -> Iterator[Mutant]:
    """The mutants of an initial method: each begins in all states of the model, and perhaps in others."""
    for count, weaker in enumerate(weakened({number: one.required for number, one in bindings.items()}), start=1):
        one = bindings[weaker.binding]
        nodes = [node for node in (weaker.condition, weaker.part) if node is not None]
        shown = conditions_on_state(model, one, nodes)
        text = f"condition {count}" if shown is None else lacking(model, one.parameters, *shown)
        changed = {number: _allowing(bindings[number], left) for number, left in weaker.left.items()}
        yield Mutant(name, _change_of(weaker), text, {}, changed)


def _allowing(one: Beginning, required: Sequence[Node]) -> Beginning:
    """The initial states of a method that requires less, looked at again for what it had excluded."""
    conditions = (*one.well_formed, *required)
    expected = (*one.expected, *(each for each in one.shown if not always_holds(conditions, each[0])))
    return replace(one, conditions=conditions, expected=expected)


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

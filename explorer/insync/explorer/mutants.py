"""Mutants of a model (mutation testing: DeMillo et al. 1978): its program without one condition or one assignment.

A mutant omits one condition or assignment of the source, in all bindings of an action's parameters. Without a condition
of an initial method, the model may begin in more states. A mutant is equivalent to the model if it takes the same steps
from every reachable state of the model. This is a condition on the states of the model, so one search decides it for
all mutants.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from insync.model import Index, Model
from insync.model.domains.composite import Array, Domain, Option, Record
from insync.model.domains.domain import Element, Field, Leaf
from insync.model.domains.sorts import Parameter, label_of
from insync.model.expressions.graph import Graph, Node, Op, Quantifier, reachable
from insync.model.expressions.intervals import Facts
from insync.model.expressions.simplify import apply, combine, substituted
from insync.model.expressions.source import Required, Spot
from insync.model.expressions.store import conjuncts
from insync.model.tracing.grounding import ActionParts
from insync.model.tracing.initial_states import Beginning
from insync.model.tracing.program import BoundAction, Check, Program
from insync.model.tracing.tracer import parts_of
from insync.properties.condition_text import show

__all__ = [
    "Change",
    "Mutant",
    "mutants_of",
    "same_steps",
    "weakened",
]


class Change(StrEnum):
    """The kind of change to an action or initial method."""

    GUARD = "guard"
    WEAKER = "weaker guard"
    ASSIGNMENT = "assignment"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed action or initial method.

    Attributes:
        action: its name.
        change: the kind of change.
        without: the omitted condition or assignment, in the names of the model.
        replaced: the changed bindings of an action, by the number of the bound action.
        begun: the changed bindings of an initial method, by the number of the beginning.
    """

    action: str
    change: Change
    without: str
    replaced: Mapping[int, BoundAction]
    begun: Mapping[int, Beginning] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the mutant."""
        kind = "does not assign" if self.change is Change.ASSIGNMENT else "does not require"
        return f"{self.action} {kind} {self.without}"

    def program(self, original: Program, go_on: Callable[[], None] = lambda: None) -> Program:
        """Return the mutated program.

        Args:
            original: the program of the model.
            go_on: called again and again while initial states are enumerated; an exception it raises ends that.

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
    parts: list[ActionParts] = []
    for name in dict.fromkeys(one.name for one in program.initials.beginnings):
        begun = {n: one for n, one in enumerate(program.initials.beginnings) if one.name == name}
        if only is None or name in only:
            found += _of_requirements(model, name, begun)
    for name in program.action_names:
        bindings = {n: action for n, action in enumerate(program.actions) if action.name == name}
        if bindings and (only is None or name in only):
            parts = parts or [one for one in parts_of(model) if one.bound is not None]
            found += _of_guard(model, name, bindings, parts)
            found += _of_assignments(model, name, bindings)
    return found


# -------------------------------------------------------------------------------------------------------- guards


def _of_guard(
    model: Model, name: str, bindings: Mapping[int, BoundAction], parts: Sequence[ActionParts]
) -> Iterator[Mutant]:
    for weaker in weakened({number: conditions_of(parts[number].required) for number in bindings}):
        text = lacking(model, _spoken_of(bindings, weaker), weaker.condition, weaker.part)
        changed = {n: _with_guard(bindings[n], guard, parts[n].shown) for n, guard in weaker.left.items()}
        yield Mutant(name, _change_of(weaker), text, changed)


def _change_of(weaker: Weakened) -> Change:
    return Change.GUARD if weaker.part is None else Change.WEAKER


def _spoken_of(bindings: Mapping[int, BoundAction], weaker: Weakened) -> list[tuple[str, Parameter]]:
    """Return the parameters that occur in a condition: those whose other values make another condition."""
    one = bindings[weaker.binding]

    def unlike(other: BoundAction) -> list[str]:
        pairs = zip(one.parameters, other.parameters, strict=True)
        return [name for (name, value), (_, another) in pairs if value != another]

    def matters(name: str) -> bool:
        others = [other for other in bindings.values() if unlike(other) == [name]]
        return not others or any(weaker.condition not in other.guard for other in others)

    return [(name, value) for name, value in one.parameters if matters(name)]


def _with_guard(action: BoundAction, guard: Sequence[Node], shown: Sequence[Check]) -> BoundAction:
    """The action with a weaker guard, and with the checks that the guard had made unnecessary."""
    known = Facts(guard)
    needed = [*action.checks, *(check for check in shown if not known.show(check.node))]
    return replace(action, guard=tuple(guard), checks=tuple(needed))


def _of_requirements(model: Model, name: str, bindings: Mapping[int, Beginning]) -> Iterator[Mutant]:
    """The mutants of an initial method: each begins in all initial states of the model, and perhaps in others."""
    required = {number: conditions_of(one.required, one.well_formed) for number, one in bindings.items()}
    for count, weaker in enumerate(weakened(required), start=1):
        one = bindings[weaker.binding]
        nodes = [node for node in (weaker.condition, weaker.part) if node is not None]
        shown = conditions_on_state(model, one, nodes)
        text = f"condition {count}" if shown is None else lacking(model, one.parameters, *shown)
        changed = {number: _allowing(bindings[number], left) for number, left in weaker.left.items()}
        yield Mutant(name, _change_of(weaker), text, {}, changed)


def _allowing(one: Beginning, required: Sequence[Node]) -> Beginning:
    """The initial states with fewer requirements, and with the checks that these had made unnecessary."""
    conditions = (*one.well_formed, *required)
    known = Facts(conditions)
    expected = (*one.expected, *(each for each in one.shown if not known.show(each[0])))
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
    """Return the condition that model and mutant take the same steps, apart from steps that change nothing."""
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


# --------------------------------------------------------------------------------------------------------- names
#
# The omitted condition or assignment as it was written: with the action's parameters where the program has members.


_MOST_FIELDS = 5


def assignment_of(model: Model, action: BoundAction, cell: int) -> str:
    """Return the target of an assignment that updates a cell, as it was written: `replica[follower].log[]`.

    An optional record, a sequence, a bag and a set are assigned as a whole. All elements of an array have one name.
    """
    return _general(model.state, list(model.state.leaves())[cell], dict(action.parameters), whole=True)


def conditions_on_state(model: Model, begun: Beginning, nodes: Sequence[Node]) -> list[Node] | None:
    """Return conditions on the variables of an initial method as conditions on its states.

    The result is None if a variable is no cell of these states, as when a cell is calculated from `ANY`.
    """
    cells = {node.index: cell for cell, node in enumerate(begun.cells)}
    variables = [begun.graph.cell(number).index for number in range(len(begun.graph.cell_sizes))]
    if any(node.op is Op.CELL and node.index not in cells for node in reachable(nodes)):
        return None
    graph = model.program.graph
    return substituted(graph, nodes, [graph.cell(cells.get(variable, 0)) for variable in variables])


def lacking(model: Model, bound: Sequence[tuple[str, Parameter]], condition: Node, part: Node | None = None) -> str:
    """Return a condition, or a part of one with its quantified variable, in the names of bound parameters."""
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
    """Return a condition in the names of parameters; if it is too long, only the fields that it reads."""
    text = show(model, node)
    if not text:
        return f"a condition on {_fields(model, node)}"
    cells = {leaf.after(""): leaf for leaf in model.state.leaves()}
    known = re.compile("|".join(re.escape(path) + r"(?![\w.\[])" for path in sorted(cells, key=len, reverse=True)))
    text = known.sub(lambda match: _general(model.state, cells[match[0]], parameters, whole=False), text)
    for name, value in parameters.items():
        label = label_of(value)
        if not label.isdigit():
            text = re.sub(rf"(?<![\w.\[]){re.escape(label)}(?![\w.\]])", name, text)
    return text


def _fields(model: Model, node: Node) -> str:
    leaves = list(model.state.leaves())
    names = list(dict.fromkeys(leaves[one.cell].field for one in reachable([node]) if one.op is Op.CELL))
    return ", ".join(names[:_MOST_FIELDS]) + (", ..." if len(names) > _MOST_FIELDS else "")


def _general(state: Domain, leaf: Leaf, parameters: Mapping[str, Parameter], *, whole: bool) -> str:
    """Return a cell's path with parameters for members; with `whole`, of the assignment that contains it."""
    text, domain = "", state
    bound = {name: value for name, value in parameters.items() if isinstance(value, Index)}
    for at, step in enumerate(leaf.steps):
        if isinstance(domain, Record):
            assert isinstance(step, Field)
            text, domain = step.after(text), domain.fields[step.name]
        elif isinstance(domain, Array):
            assert isinstance(step, Element)
            text += f"[{_index(domain, step.label, bound, whole=whole)}]"
            domain = domain.of
        elif whole:  # an optional record, a sequence, a bag or a set
            return text
        elif isinstance(domain, Option):
            domain = domain.of
        else:
            return replace(leaf, steps=leaf.steps[at:]).after(text)
    return text


def _index(array: Array, label: str, bound: Mapping[str, Index], *, whole: bool) -> str:
    for name, value in bound.items():
        if type(value) is array.over and str(value) == label:
            return name
    return "" if whole else label


# --------------------------------------------------------------------------------------------- weaker conditions


@dataclass(frozen=True, slots=True)
class Weakened:
    """The conditions of all bindings of an action or method without one condition, or without a part of one.

    Attributes:
        binding: a binding with the condition, from which its name is made.
        condition: the condition.
        part: the omitted part; None if the whole condition is omitted.
        left: the remaining conditions, for each binding that changes.
    """

    binding: int
    condition: Node
    part: Node | None
    left: Mapping[int, list[Node]]


def conditions_of(required: Sequence[Required], known: Sequence[Node] = ()) -> dict[Hashable, Node]:
    """Return the distinct conjuncts of what is required, by their source, without those that are known to hold.

    The source is the `require`, its argument, the conjunct of that, and how often Python was there before.
    """
    found: dict[Node, Hashable] = {}
    times: Counter[tuple[Spot, int]] = Counter()
    for one in required:
        before = times[one.spot, one.place]
        times[one.spot, one.place] += 1
        for at, node in enumerate(conjuncts(one.condition)):
            if node.op is not Op.CONST and node not in known:
                found.setdefault(node, (one.spot, one.place, at, before))
    return {place: node for node, place in found.items()}


def weakened(conditions: Mapping[int, Mapping[Hashable, Node]]) -> Iterator[Weakened]:
    """Yield the conditions without each one of them, and without each part of one.

    Args:
        conditions: the conditions of each binding, by its number and their source.
    """
    places: dict[Hashable, int] = {}
    for binding in sorted(conditions, key=lambda number: -len(conditions[number])):
        for place in conditions[binding]:
            places.setdefault(place, binding)
    for place, binding in places.items():
        condition = conditions[binding][place]
        having = {number: own for number, own in conditions.items() if place in own}
        left = {number: [node for node in own.values() if node is not own[place]] for number, own in having.items()}
        yield Weakened(binding, condition, None, left)
        for part, gone in enumerate(_parts(condition)):
            weaker = {
                number: _weaker(own, place, part) for number, own in having.items() if part < len(_parts(own[place]))
            }
            yield Weakened(binding, condition, gone, weaker)


def _weaker(conditions: Mapping[Hashable, Node], place: Hashable, part: int) -> list[Node]:
    """Return conditions without a part of one of them."""
    graph = conditions[place].graph
    weaker = _without_part(graph, conditions[place], part)
    made = [weaker if at == place else condition for at, condition in conditions.items()]
    return [condition for condition in made if condition is not graph.true]


def _parts(conjunct: Node) -> Sequence[Node]:
    """The parts of a conjunct: the conditions within a quantifier or an alternative that must all hold."""
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
        size = len(_parts(node))  # with fewer parts, after simplification, their places are unknown
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

"""Grounding: the bound actions of a lifted action, which is replayed for each value of its variables (see `replay`)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING

from insync.model.domains.sorts import Parameter, members_of, under
from insync.model.expressions.graph import Graph, Node, Variable
from insync.model.expressions.intervals import Facts
from insync.model.expressions.lifted import Action, Expect, LiftedGraph, instances
from insync.model.expressions.source import Assigning, Branch, Notes, Required
from insync.model.expressions.store import conjuncts
from insync.model.language.declarations import ActionSpec, action_specs
from insync.model.tracing.lifting import LiftedActions, bindings_of, label_of_action, refuse_too_many
from insync.model.tracing.program import BoundAction, Check, specs_of, whole_of
from insync.model.tracing.replay import Replay

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = ["ActionParts", "action_parts", "ground_actions", "lifted_actions"]


def lifted_actions(model: Model, graph: LiftedGraph, go_on: Callable[[], None] = lambda: None) -> list[Action]:
    """Return the actions of a model, each for all values of as many of its parameters as its Python allows.

    Python can decide on a parameter unnoticed, as by `is`. So the first and the last binding of an action are traced
    with plain values too; where they differ from those of the lifted action, there is an action for each binding.

    Args:
        model: the model; its confinement is not part of the guards.
        graph: the graph of the actions.
        go_on: called again and again; an exception that it raises ends the tracing.

    Raises:
        ModelError: an action cannot be traced.
    """
    found: list[Action] = []
    whole = whole_of(model)
    with under(whole.b), graph.asking(go_on):
        tracing, by_tests = LiftedActions(whole, graph), _compared_by_tests(whole)
        for name, spec in action_specs(whole).items():
            refuse_too_many(whole, f"{spec.place}: the {spec.word} {name!r}", spec.parameters)
            go_on()
            actions = tracing.of(name, spec)
            if not by_tests and any(action.variables for action in actions):
                known = specs_of(whole)[name]
                every = list(bindings_of(whole, name, known))
                if any(_differs(whole, name, known, tracing, actions, values) for values in (every[0], every[-1])):
                    actions = tracing.one_by_one(name, known)
            found += actions
    return found


def _compared_by_tests(model: Model) -> bool:
    """Return whether a model comes with insync: all its bindings are compared in tests/model/tracing."""
    return all(kind.__module__.startswith("insync.") for kind in type(model).__mro__ if hasattr(kind, "program"))


def _differs(
    model: Model,
    name: str,
    spec: ActionSpec,
    tracing: LiftedActions,
    actions: Sequence[Action],
    values: Sequence[Parameter],
) -> bool:
    """Return whether a binding of lifted actions differs from the same binding traced with plain values."""
    fixed = dict(zip(spec.parameters, values, strict=True))
    alone = tracing.trace(name, spec, fixed, None)
    graph, copies = Graph(tracing.graph.cell_sizes), dict[int, Node]()
    mine, wanted = (
        [bound for one in some if (bound := _Instances(model, spec, tracing.graph, one, graph, copies).of(fixed))]
        for some in (actions, [alone])
    )
    return mine != wanted


def ground_actions(
    model: Model, lifted: LiftedGraph, actions: Sequence[Action], graph: Graph, go_on: Callable[[], None] = lambda: None
) -> list[BoundAction]:
    """Return the bound actions of lifted actions, in the order of the values of their parameters.

    Args:
        model: the model.
        lifted: the graph of the lifted actions.
        actions: the lifted actions.
        graph: the graph of the bound actions.
        go_on: called again and again; an exception that it raises ends the grounding.
    """
    found: list[BoundAction] = []
    possible = [action for action in actions if not action.is_impossible]
    for of_name in _instances(model, lifted, possible, graph, go_on):
        placed = [(places, bound) for one in of_name for places in one.places() if (bound := one.bound(places))]
        found += [bound for _, bound in sorted(placed, key=itemgetter(0))]
    graph.by_place.update(lifted.by_place)
    return found


@dataclass(frozen=True, slots=True)
class ActionParts:
    """The parts of an action with its parameters bound, as they stand in the source.

    Attributes:
        name: the action's name.
        parameters: the value of each parameter.
        bound: the action of the program; None where the bounds and settings alone rule it out.
        required: the conditions of its guard as they were written; of an action that is ruled out, up to the false one.
        branches: the conditions of its `If` and `when`; none of an action that is ruled out.
        assigned: its assignments; none of an action that is ruled out.
        shown: the checks that interval analysis showed to hold; code that weakens the guard must make them again.
    """

    name: str
    parameters: tuple[Parameter, ...]
    bound: BoundAction | None
    required: tuple[Required, ...]
    branches: tuple[Branch, ...] = ()
    assigned: tuple[Assigning, ...] = ()
    shown: tuple[Check, ...] = ()

    def of(self, bound: BoundAction) -> ActionParts:
        """Return the parts with another bound action; what it does not check is shown."""
        every = [*(self.bound.checks if self.bound is not None else ()), *self.shown]
        return replace(self, bound=bound, shown=tuple(check for check in every if check not in bound.checks))


def action_parts(
    model: Model, lifted: LiftedGraph, actions: Sequence[Action], graph: Graph, go_on: Callable[[], None]
) -> list[ActionParts]:
    """Return the parts of lifted actions for all bindings, also of those that are ruled out (see `ground_actions`)."""
    found: list[ActionParts] = []
    for of_name in _instances(model, lifted, actions, graph, go_on, whole=True):
        placed = [(places, one.parts(places)) for one in of_name for places in one.places()]
        found += [parts for _, parts in sorted(placed, key=itemgetter(0))]
    return found


def _instances(
    model: Model,
    lifted: LiftedGraph,
    actions: Sequence[Action],
    graph: Graph,
    go_on: Callable[[], None],
    *,
    whole: bool = False,
) -> Iterator[Iterator[_Instances]]:
    """Yield the instances of the lifted actions of each name."""
    specs = specs_of(model)
    copies: dict[int, Node] = {}

    def of(action: Action) -> _Instances:
        go_on()
        return _Instances(model, specs[action.name], lifted, action, graph, copies, whole=whole)

    with under(model.b), graph.asking(go_on):
        for _, of_name in itertools.groupby(actions, key=lambda action: action.name):
            yield map(of, of_name)


class _Instances:
    """The bound actions of one lifted action.

    Args:
        model: the model.
        spec: the specification of the action.
        lifted: the graph of the action.
        action: the action.
        graph: the graph of the bound actions.
        copies: the ground nodes of the lifted graph in that graph, by their indexes, so far.
        whole: whether the parts of the action as they were written are wanted too.
    """

    def __init__(
        self,
        model: Model,
        spec: ActionSpec,
        lifted: LiftedGraph,
        action: Action,
        graph: Graph,
        copies: dict[int, Node],
        *,
        whole: bool = False,
    ) -> None:
        self.spec, self.action, self.graph = spec, action, graph
        self.members = {name: members_of(kind, model.b) for name, kind in spec.parameters.items()}
        self.variable = [isinstance(value, Variable) for _, value in action.parameters]
        known: dict[tuple[Node, ...], Facts] = {}
        wanted: list[Expect] = []
        for one in action.expects:
            if one.where not in known and any(self.variable):
                known[one.where] = Facts([*action.guard, *one.where])
            if whole or not any(self.variable) or not known[one.where].show(one.condition):
                wanted.append(one)
        self.shown: list[Check] = []
        self.notes = _expanded(lifted, action.notes) if whole else None
        self.replay = Replay(lifted, action, wanted, graph, copies, self.notes)

    def places(self) -> Iterator[tuple[int, ...]]:
        """Yield the places of the parameters' values among their members, for each binding."""
        ranges: list[Sequence[int]] = []
        for name, value in self.action.parameters:
            members = self.members[name]
            ranges.append(range(len(members)) if isinstance(value, Variable) else (members.index(value),))
        return itertools.product(*ranges)

    def of(self, values: Mapping[str, Parameter]) -> BoundAction | None:
        """Return the bound action with these values; None if there is none."""
        if any(values[name] != value for name, value in self.action.fixed.items()):
            return None
        return self.bound([self.members[name].index(value) for name, value in values.items()])

    def bound(self, places: Sequence[int]) -> BoundAction | None:
        """Return the bound action for the places of its parameters' values; None if its guard is false.

        `shown` has then the checks that interval analysis shows to hold, of those that were not shown for all bindings.
        """
        replay, parameters = self.replay, self.action.parameters
        named = {name: self.members[name][at] for (name, _), at in zip(parameters, places, strict=True)}
        if not replay.run(list(itertools.compress(places, self.variable))):
            return None
        guard = tuple(replay.guard)
        checks: list[Check] = []
        self.shown.clear()
        known: dict[tuple[Node, ...], Facts] = {}
        for one in replay.expected():
            if one.where not in known:
                known[one.where] = Facts([*guard, *one.where])
            (self.shown if known[one.where].show(one.condition) else checks).append(Check(one.node, one.message))
        return BoundAction(
            name=self.action.name,
            parameters=tuple(named.items()),
            label=label_of_action(self.action.name, self.spec, named),
            guard=guard,
            updates=tuple(replay.updates()),
            checks=tuple(checks),
        )

    def parts(self, places: Sequence[int]) -> ActionParts:
        """Return the parts of the bound action for the places of its parameters' values."""
        assert self.notes is not None, "they are wanted"
        bound, at, false = self.bound(places), self.replay.at, self.replay.graph.false
        names = [name for name, _ in self.action.parameters]
        values = tuple(self.members[name][place] for name, place in zip(names, places, strict=True))
        required = []
        for one in self.notes.required:
            required.append(replace(one, condition=at(one.condition)))
            if required[-1].condition is false:
                return ActionParts(self.action.name, values, None, tuple(required))
        branches = [
            replace(one, where=tuple(map(at, one.where)), test=at(one.test))
            for one in self.notes.branches
            if not self._is_of_others(one)
        ]
        assigned = [replace(one, where=tuple(map(at, one.where))) for one in self.notes.assigned]
        return ActionParts(
            self.action.name,
            values,
            bound,
            tuple(required),
            tuple(branches),
            tuple(one for one in assigned if false not in one.where),
            tuple(self.shown),
        )

    def _is_of_others(self, branch: Branch) -> bool:
        """Return whether a branch of a loop over others is that of a parameter itself, as in `And(other != one, ...)`.

        It is where a part of its condition, or of the conditions around it, fails for these parameters alone.
        """
        at, lifted = self.replay.at, self.replay.lifted
        tests = conjuncts(branch.test)
        parts = [part for one in branch.where for part in conjuncts(one)] + list(tests if len(tests) > 1 else ())
        return any(at(part) is self.replay.graph.false for part in parts if not lifted.reads_state(part))


def _expanded(lifted: LiftedGraph, notes: Notes) -> Notes:
    """Return notes with a branch for each member in place of one inside a quantifier."""
    branches = [
        replace(one, where=tuple(where), test=test)
        for one in notes.branches
        for *where, test in instances(lifted, [*one.where, one.test])
    ]
    return Notes(notes.required, branches, notes.assigned)

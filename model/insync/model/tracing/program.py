"""The program of a model: bound actions, initial states and the layout of a state. Engines need nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from insync.model.domains.sorts import Parameter, label_of
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply, combine
from insync.model.language.declarations import ActionSpec, action_specs
from insync.runtime.errors import InternalError

if TYPE_CHECKING:  # `insync list` does without them
    from insync.model.define import Model
    from insync.model.domains.layout import Schema
    from insync.model.symmetry.group import Symmetry
    from insync.model.tracing.initial_states import Initials

__all__ = [
    "BoundAction",
    "Check",
    "Confinement",
    "Program",
    "specs_of",
    "whole_of",
]


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that engines check when an action is enabled, because interval analysis could not show it.

    Attributes:
        node: the condition.
        message: what is wrong where it fails, with the author's file and line.
    """

    node: Node
    message: str


@dataclass(frozen=True, slots=True)
class BoundAction:
    """An action with its parameters bound.

    Attributes:
        name: the action's name.
        parameters: each parameter's name and value.
        label: the step in protocol words.
        guard: the conditions that enable it; all must hold.
        updates: for each cell that changes, its number and the node of its new code.
        checks: conditions without which the step violates `type_ok`.
    """

    name: str
    parameters: tuple[tuple[str, Parameter], ...]
    label: str
    guard: tuple[Node, ...]
    updates: tuple[tuple[int, Node], ...]
    checks: tuple[Check, ...]

    @property
    def shown_parameters(self) -> dict[str, str]:
        """The name of each parameter's value."""
        return {name: label_of(value) for name, value in self.parameters}

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{n}={v}' for n, v in self.shown_parameters.items())})"


@dataclass(frozen=True, slots=True)
class Program:
    """A traced model.

    Attributes:
        graph: the graph of its expressions.
        schema: the packed layout of a state.
        actions: every action for every binding of its parameters, except those that can never be enabled; an action's
            place here is its number.
        action_names: the names of all actions, also of those that no binding can enable.
        initials: the initial states.
        within: the conditions on states from which steps are taken; every guard contains them.
        symmetry: the declared symmetry of the state's sorts; whether the model keeps to it is not checked here.
    """

    graph: Graph
    schema: Schema
    actions: tuple[BoundAction, ...]
    action_names: tuple[str, ...]
    initials: Initials
    within: tuple[Node, ...] = ()
    symmetry: Symmetry | None = None
    _numbers: dict[tuple[str, tuple[tuple[str, str], ...]], int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Refuse actions with nodes that no engine has a rule for.

        Raises:
            InternalError: the nodes of an action are of a graph with variables.
        """
        for action in self.actions:
            if any(node.graph.has_variables for node in (*action.guard, *(node for _, node in action.updates))):
                message = f"the action {action} has variables, and a program has none"
                raise InternalError(message)

    @property
    def impossible(self) -> tuple[str, ...]:
        """The actions that the bounds and settings alone rule out: no binding of them can be enabled."""
        possible = {action.name for action in self.actions}
        return tuple(name for name in self.action_names if name not in possible)

    @property
    def outside(self) -> Node:
        """The condition of states from which no steps are taken."""
        return apply(Op.NOT, combine(self.graph, Op.AND, list(self.within)))

    def confined(self, within: Sequence[Node]) -> Program:
        """Return the program that takes steps only from states in which these conditions hold."""
        actions = (replace(action, guard=_joined(within, action.guard)) for action in self.actions)
        return replace(self, actions=tuple(actions), within=_joined(within, self.within))

    def only(self, names: Collection[str]) -> Program:
        """Return the program of the actions with these names alone."""
        actions = tuple(action for action in self.actions if action.name in names)
        named = tuple(name for name in self.action_names if name in names)
        return replace(self, actions=actions, action_names=named, _numbers={})

    def action_number(self, name: str, parameters: dict[str, str]) -> int | None:
        """Return the number of the action with these parameters, given by their names; None if there is none."""
        if not self._numbers:
            for number, action in enumerate(self.actions):
                self._numbers[action.name, tuple(sorted(action.shown_parameters.items()))] = number
        return self._numbers.get((name, tuple(sorted(parameters.items()))))


def _joined(first: Sequence[Node], then: Sequence[Node]) -> tuple[Node, ...]:
    return tuple(dict.fromkeys([*first, *then]))


@dataclass(frozen=True, slots=True)
class Confinement:
    """The confinement of a model: it takes steps only from states in which some invariants hold.

    Attributes:
        whole: the same model without the confinement.
        names: the invariants; empty if the user chose none.
        conditions: traces the invariants in the graph of the whole model, which is already traced.
    """

    whole: Model
    names: tuple[str, ...]
    conditions: Callable[[], Sequence[Node]]


def whole_of(model: Model) -> Model:
    """Return a model without its confinement."""
    return model if model._confinement is None else model._confinement.whole


def specs_of(model: Model) -> dict[str, ActionSpec]:
    """Return the actions of a traced model by name, with the parameters that `any_of` makes."""
    whole = whole_of(model)
    return {**action_specs(whole), **whole._choosing}

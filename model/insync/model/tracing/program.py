"""The program of a model: everything an engine needs, traced once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from insync.model.domains.layout import Schema
from insync.model.domains.sorts import Parameter, label_of
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply, combine
from insync.model.symmetry.group import Symmetry
from insync.model.tracing.initial_states import Initials

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = [
    "BoundAction",
    "Check",
    "Confinement",
    "Program",
]


@dataclass(frozen=True, slots=True)
class Check:
    """What must hold whenever an action is enabled, because range analysis could not show it.

    Attributes:
        node: the condition.
        message: what is wrong where it does not hold, with the author's file and line.
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
        guard: the conditions that enable it, all of which must hold.
        updates: for each cell that changes, its number and the node of its new code.
        checks: what must hold besides, or the step is a violation of `type_ok`.
        shown: what range analysis showed to hold wherever the guard does; checks again for whoever changes the guard.
    """

    name: str
    parameters: tuple[tuple[str, Parameter], ...]
    label: str
    guard: tuple[Node, ...]
    updates: tuple[tuple[int, Node], ...]
    checks: tuple[Check, ...]
    shown: tuple[Check, ...] = ()

    @property
    def shown_parameters(self) -> dict[str, str]:
        """What each parameter's value is called."""
        return {name: label_of(value) for name, value in self.parameters}

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{n}={v}' for n, v in self.shown_parameters.items())})"


@dataclass(frozen=True, slots=True)
class Program:
    """A traced model.

    Attributes:
        graph: the nodes of its expressions.
        schema: how its states are packed.
        actions: every action for every binding of its parameters that can be enabled at all; an action's
            place here is its number.
        action_names: every action's name, also of those that no binding can enable.
        initials: the initial states.
        within: what must hold in a state for its steps to be taken; every guard demands it as well.
        symmetry: what the sorts of the state declare of their members; that the model keeps to it is not checked here.
    """

    graph: Graph
    schema: Schema
    actions: tuple[BoundAction, ...]
    action_names: tuple[str, ...]
    initials: Initials
    within: tuple[Node, ...] = ()
    symmetry: Symmetry | None = None
    _numbers: dict[tuple[str, tuple[tuple[str, str], ...]], int] = field(default_factory=dict, repr=False)

    @property
    def impossible(self) -> tuple[str, ...]:
        """The actions that the bounds and settings alone rule out, whatever the state: no binding can be enabled."""
        possible = {action.name for action in self.actions}
        return tuple(name for name in self.action_names if name not in possible)

    @property
    def outside(self) -> Node:
        """The condition that a state is not to be expanded."""
        return apply(Op.NOT, combine(self.graph, Op.AND, list(self.within)))

    def confined(self, within: Sequence[Node]) -> Program:
        """Return the program with the same steps from states in which conditions hold, and none from others."""
        actions = (replace(action, guard=_joined(within, action.guard)) for action in self.actions)
        return replace(self, actions=tuple(actions), within=_joined(within, self.within))

    def action_number(self, name: str, parameters: dict[str, str]) -> int | None:
        """Return the number of the action with these parameters, by what they are called; None when there is none."""
        if not self._numbers:
            for number, action in enumerate(self.actions):
                self._numbers[action.name, tuple(sorted(action.shown_parameters.items()))] = number
        return self._numbers.get((name, tuple(sorted(parameters.items()))))


def _joined(first: Sequence[Node], then: Sequence[Node]) -> tuple[Node, ...]:
    return tuple(dict.fromkeys([*first, *then]))


# A model that is confined to states in which some conditions hold: steps from other states are not taken.


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a model is confined to.

    Attributes:
        whole: the same model without it.
        names: what must hold in a state for its steps to be taken; none where somebody decided against all.
        conditions: traces these in the graph of the whole model, which is traced by then.
    """

    whole: Model
    names: tuple[str, ...]
    conditions: Callable[[], Sequence[Node]]

"""Open tracing: a model's actions, initial state and properties traced for all values of its open bounds at once.

The methods are those that every engine traces. A parameter over an open sort is a variable of the graph (as in
`lifting`), quantifiers over open sorts are kept (`binders`), and arrays of open length are functions (`open_views`).
Python that counts up to an open bound is refused.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from insync.model.domains import composite as d
from insync.model.domains.bounds import BoundValues
from insync.model.domains.open_bounds import OpenArray, OpenGraph, is_open, open_sizes
from insync.model.domains.sorts import Parameter, label_of, members_of, number_of_members, under
from insync.model.domains.values import Condition
from insync.model.expressions.graph import Node, Variable
from insync.model.expressions.lifted import lifting
from insync.model.expressions.store import Expected
from insync.model.language.binders import value_of_variable, variable_over
from insync.model.language.declarations import ActionSpec, action_specs, initial_specs
from insync.model.language.open_views import OpenEnvironment, Places, PlaceWrite
from insync.model.tracing.methods import run_method, state_view
from insync.model.tracing.tracer import traced_condition
from insync.runtime.errors import UserError

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = ["OpenAction", "OpenCell", "OpenModel"]


@dataclass(frozen=True, slots=True)
class OpenCell:
    """A cell of a state with open bounds.

    Attributes:
        path: its name.
        domain: the domain of its value; None for the presence of an optional record.
        size: the number of its codes, or the stand-in for that.
        lengths: the stand-ins for the lengths of the open arrays around it, the outermost first; with any of these, the
            cell is a function of places.
        kind: its path without `members`, equal for cells that differ in these alone.
        members: for each array of known length around it, the class of the indexes and the place in it.
    """

    path: str
    domain: d.Scalar | None
    size: int
    lengths: tuple[int, ...]
    kind: str
    members: tuple[tuple[object, int], ...]


@dataclass(frozen=True, slots=True)
class OpenAction:
    """An action for all values of its open parameters, the others bound.

    Attributes:
        name: the action's name.
        parameters: the name of each parameter, its value or its variable, and whether it is open.
        guard: the conditions that enable it.
        updates: number and new code of each cell that changes and is not a function of places.
        writes: the assignments to places of open arrays, in order.
        checks: the conditions that make the assignments sound, where the guard holds.
    """

    name: str
    parameters: tuple[tuple[str, Parameter | Variable, bool], ...]
    guard: tuple[Node, ...]
    updates: tuple[tuple[int, Node], ...]
    writes: tuple[PlaceWrite, ...]
    checks: tuple[Expected, ...]

    @property
    def open_parameters(self) -> list[Variable]:
        """The variables of the open parameters."""
        return [value for _, value, _ in self.parameters if isinstance(value, Variable)]

    @property
    def bound_parameters(self) -> tuple[Parameter, ...]:
        """The values of the bound parameters."""
        return tuple(value for _, value, _ in self.parameters if not isinstance(value, Variable))

    def __str__(self) -> str:
        bound = [f"{name}={name if left_open else label_of(value)}" for name, value, left_open in self.parameters]
        return f"{self.name}({', '.join(bound)})"


class OpenModel:
    """A model with some bounds left open.

    Args:
        model: the model; its other bounds and its settings stay as they are.

    Attributes:
        model: the same model with those bounds open, for tracing properties.
        lowest: the least value of each open bound.
        cells: the cells of the state.
        graph: the graph of all that is traced.
        places: the reads of arrays of open length.

    Raises:
        UserError: the model has no bounds that can be open.
        ModelError: it cannot be traced without them.
    """

    def __init__(self, model: Model) -> None:
        kind = type(model)
        if not kind.unbounded:
            message = (
                f"{model.name} has no bound that a proof may leave open; its class would name them: "
                f'unbounded = ("log_size", ...).'
            )
            raise UserError(message)
        if model._confinement is not None:
            message = f"{model.name} is confined by `within`, of which a proof for all bounds cannot speak yet."
            raise UserError(message)
        sizes = open_sizes(kind.unbounded)
        self.lowest = {name: kind.bounds[name].lowest for name in kind.unbounded}
        self.model = copy.copy(model)
        values: dict[str, Any] = {**model.b, **sizes}
        self.model.b = BoundValues(values, model.b.settings)
        self.model._members, self.model._state = {}, None
        self.model._program, self.model._lifted = None, None
        self.model._condition = self._traced_condition
        state = self.model.declare(self.model.b).bind(self.model.b)
        self.model._state = state
        self.cells = list(_open_cells(state, _Around()))
        self.graph = OpenGraph((cell.size for cell in self.cells), sizes)
        self.places = Places(self.graph)
        self._environments, self._variables = itertools.count(1), itertools.count()

    def _environment(self, *, writable: bool) -> OpenEnvironment:
        nodes = [self.graph.cell(number) for number in range(len(self.cells))]
        return OpenEnvironment(self.places, nodes, next(self._environments) if writable else 0)

    def _traced_condition(
        self, model: Model, predicate: Callable[..., Condition], parameters: Mapping[str, type]
    ) -> Node:
        view = state_view(model, self._environment(writable=False))
        with lifting(self.graph):
            return traced_condition(model, self.graph, predicate, [view], parameters, "a condition on the state")

    def initial(self) -> OpenAction:
        """Return the plain `initial` as an action on the state in which all codes are 0.

        Raises:
            UserError: the model has other initial states.
        """
        if initial_specs(type(self.model)):
            message = f"{self.model.name} has several initial states, of which a proof without bounds cannot speak yet."
            raise UserError(message)
        zero = self.graph.const(0)
        environment = OpenEnvironment(self.places, [zero] * len(self.cells), next(self._environments))
        with under(self.model.b), lifting(self.graph):
            run_method(self.model, environment, self.model.initial, (), "initial")
        updates = tuple(enumerate(environment.cells))
        return OpenAction("initial", (), (), updates, tuple(environment.writes), tuple(environment.expected))

    def actions(self) -> Iterator[OpenAction]:
        """Yield each action for each binding of the parameters that are not open."""
        with under(self.model.b), lifting(self.graph):
            for name, spec in action_specs(type(self.model)).items():
                kinds = {
                    one: kind
                    for one, kind in spec.parameters.items()
                    if not is_open(number_of_members(kind, self.model.b))
                }
                members = [members_of(kind, self.model.b) for kind in kinds.values()]
                for values in itertools.product(*members):
                    found = self._action(name, spec, dict(zip(kinds, values, strict=True)))
                    if found is not None:
                        yield found

    def _action(self, name: str, spec: ActionSpec, fixed: Mapping[str, Parameter]) -> OpenAction | None:
        environment = self._environment(writable=True)
        before = list(environment.cells)
        parameters: list[tuple[str, Any, bool]] = []
        values: list[Any] = []
        for parameter, kind in spec.parameters.items():
            if parameter in fixed:
                parameters.append((parameter, fixed[parameter], False))
                values.append(fixed[parameter])
            else:
                variable = variable_over(parameter, kind, next(self._variables))
                parameters.append((parameter, variable, True))
                values.append(value_of_variable(self.graph, variable))
        if not run_method(self.model, environment, getattr(self.model, name), values, spec.place):
            return None
        changed = enumerate(zip(before, environment.cells, strict=True))
        updates = tuple((cell, new) for cell, (old, new) in changed if new is not old)
        guard, writes = tuple(environment.guard), tuple(environment.writes)
        return OpenAction(name, tuple(parameters), guard, updates, writes, tuple(environment.expected))


@dataclass(frozen=True, slots=True)
class _Around:
    """The path and the arrays around a cell, while domains are walked; see `OpenCell`."""

    path: str = ""
    kind: str = ""
    lengths: tuple[int, ...] = ()
    members: tuple[tuple[object, int], ...] = ()

    def field(self, name: str) -> _Around:
        dot = "." if self.path else ""
        return replace(self, path=f"{self.path}{dot}{name}", kind=f"{self.kind}{dot}{name}")

    def element(self, over: object, place: int, label: str) -> _Around:
        members = (*self.members, (over, place))
        return replace(self, path=f"{self.path}[{label}]", kind=f"{self.kind}[]", members=members)

    def any_element(self, length: int) -> _Around:
        return replace(self, path=f"{self.path}[...]", kind=f"{self.kind}[...]", lengths=(*self.lengths, length))

    def cell(self, domain: d.Scalar | None, size: int, within: str = "") -> OpenCell:
        return OpenCell(self.path + within, domain, size, self.lengths, self.kind + within, self.members)


def _open_cells(domain: d.Domain, around: _Around) -> Iterator[OpenCell]:
    """Yield the cells of a bound domain, in order."""
    if isinstance(domain, d.Record):
        for name, one in domain.fields.items():
            yield from _open_cells(one, around.field(name))
    elif isinstance(domain, OpenArray):
        yield from _open_cells(domain.of, around.any_element(domain.length))
    elif isinstance(domain, d.Array):
        for place, label in enumerate(domain.labels):
            yield from _open_cells(domain.of, around.element(domain.over, place, label))
    elif isinstance(domain, d.Option):
        yield around.cell(None, 2)
        yield from _open_cells(domain.of, around)
    else:
        yield from (around.cell(leaf.domain, leaf.size, leaf.after("")) for leaf in domain.leaves())

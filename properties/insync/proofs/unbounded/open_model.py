"""A model with open bounds: its cells, actions, initial state and properties for all values of these bounds at once.

Actions are traced as for a program, but open parameters, quantifiers over open sorts, and reads of arrays of open
length stay in the instances. Python that counts up to an open bound is refused.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from insync.model import Model
from insync.model.domains import composite as d
from insync.model.domains.bounds import BoundValues
from insync.model.domains.domain import Domain, Element
from insync.model.domains.open_bounds import OpenArray, OpenGraph, open_sizes
from insync.model.domains.sorts import under
from insync.model.domains.values import Condition
from insync.model.expressions.graph import Node
from insync.model.expressions.lifted import Action, Assign, Expect, lifting
from insync.model.expressions.store import LiftedStore
from insync.model.language.declarations import action_specs, initial_specs
from insync.model.tracing.lifting import LiftedActions, run_method, state_view
from insync.model.tracing.replay import open_action
from insync.model.tracing.tracer import traced_condition
from insync.runtime.errors import UserError

__all__ = ["OpenCell", "OpenModel"]


@dataclass(frozen=True, slots=True)
class OpenCell:
    """A cell of a state with open bounds.

    Attributes:
        path: its name.
        domain: the domain of its value; None for the presence of an optional record.
        size: the number of its codes, or the stand-in for that.
        lengths: the stand-ins for the lengths of the open arrays around it, the outermost first; with any of these, the
            cell is a function of places.
        steps: the steps to it; to an element of an array of known length the class of the indexes and the place.
    """

    path: str
    domain: d.Scalar | None
    size: int
    lengths: tuple[int, ...]
    steps: tuple[object, ...]


class OpenModel:
    """A model with some bounds left open.

    Args:
        model: the model; its other bounds and its settings stay as they are.

    Attributes:
        model: the same model with those bounds open, for tracing properties.
        lowest: the least value of each open bound.
        cells: the cells of the state.
        graph: the graph of its expressions.

    Raises:
        UserError: the model has no bounds that can be open.
        ModelError: it cannot be traced without them.
    """

    def __init__(self, model: Model) -> None:
        kind = type(model)
        if not kind.unbounded:
            message = (
                f"{model.name} has no bound that a proof may leave open; name some in its class: "
                f'unbounded = ("log_size", ...).'
            )
            raise UserError(message)
        if model._confinement is not None:
            message = (
                f"{model.name} is confined by `within`, which no proof for all bounds can express; prove it at bounds."
            )
            raise UserError(message)
        sizes = open_sizes(kind.unbounded)
        self.lowest = {name: kind.bounds[name].lowest for name in kind.unbounded}
        self.model = copy.copy(model)
        values: dict[str, Any] = {**model.b, **sizes}
        self.model.b = BoundValues(values, model.b.settings)
        self.model._parts, self.model._state = {}, None
        self.model._program, self.model._lifted = None, None
        self.model._condition = self._traced_condition
        state = self.model.declare(self.model.b).bind(self.model.b)
        self.model._state = state
        self.cells = list(_cells(state))
        self._traced, self.graph = (OpenGraph((cell.size for cell in self.cells), sizes) for _ in range(2))
        self._stores = itertools.count(-1, -1)

    def _traced_condition(
        self, model: Model, predicate: Callable[..., Condition], parameters: Mapping[str, type]
    ) -> Node:
        view = state_view(model, LiftedStore(self._traced, 0).snapshot())
        with lifting(self._traced):
            node = traced_condition(model, self._traced, predicate, [view], parameters, "a condition on the state")
        whole = open_action(self._traced, Action("", (), (), (), (Expect((), node, ""),)), self.graph)
        assert whole is not None, "its guard is empty"
        return next((expect.condition for expect in whole.expects), self.graph.true)

    def initial(self) -> Action:
        """Return the plain `initial` as an action on the state in which all codes are 0.

        Raises:
            UserError: the model has other initial states.
        """
        if initial_specs(self.model):
            message = (
                f"{self.model.name} has several initial states, which no proof for all bounds can express; prove it at "
                "bounds."
            )
            raise UserError(message)
        store = LiftedStore(self._traced, next(self._stores))
        with under(self.model.b), lifting(self._traced):
            run_method(self.model, store, self.model.initial, (), "initial")
        expects = tuple(Expect(one.where, one.condition, one.recorded) for one in store.expected)
        action = Action("initial", (), (), tuple(store.assigns), expects)
        zeros = [self.graph.const(0)] * len(self.cells)
        found = open_action(self._traced, action, self.graph, [*zeros, *self.graph.cells()[len(zeros) :]])
        assert found is not None, "its guard is empty"
        # Cells that keep the code 0 are assigned it, as 0 must be one of their codes too.
        kept = {number: Assign(number, (), (), (), (zero,)) for number, zero in enumerate(zeros)}
        kept.update((one.base, one) for one in found.assigns if not one.indexes)
        return replace(found, assigns=(*(one for one in found.assigns if one.indexes), *kept.values()))

    def actions(self) -> Iterator[Action]:
        """Yield each action for each binding of the parameters that are not open."""
        tracing = LiftedActions(self.model, self._traced)
        with under(self.model.b):
            for name, spec in action_specs(self.model).items():
                for action in tracing.one_by_one(name, spec):
                    found = open_action(self._traced, action, self.graph)
                    if found is not None:
                        yield found


def _cells(
    domain: Domain, path: str = "", lengths: tuple[int, ...] = (), steps: tuple[object, ...] = ()
) -> Iterator[OpenCell]:
    """Yield the cells of a bound domain, in order."""
    lengths = (*lengths, domain.length) if isinstance(domain, OpenArray) else lengths
    parts = domain.parts()
    if not parts:
        assert isinstance(domain, d.Scalar)
        yield OpenCell(path, domain, domain.size, lengths, steps)
    for part in parts:
        step: object = part.step
        if isinstance(domain, d.Array) and isinstance(part.step, Element):
            step = domain.over, part.step.place
        below = (*steps, step)
        if part.domain is None:
            yield OpenCell(part.step.after(path), None, 2, lengths, below)
        else:
            yield from _cells(part.domain, part.step.after(path), lengths, below)

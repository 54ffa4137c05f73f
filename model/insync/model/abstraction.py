"""Abstract states for coverage: the values that a model's method `abstraction` gives for a state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from insync.model.domains.layout import Schema
from insync.model.domains.sorts import under
from insync.model.domains.values import Bool, Nothing, Num, OneNode, of_graph
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply
from insync.model.expressions.store import Environment
from insync.model.language.declarations import place_of_function
from insync.model.language.views import View
from insync.model.tracing.lifting import state_view
from insync.runtime.errors import ModelError, shown

if TYPE_CHECKING:
    from insync.model.define import Model

__all__ = ["Abstraction", "abstraction_of"]


@dataclass(frozen=True, slots=True)
class Abstraction:
    """The abstraction of a model: an abstract state is a code for each of some nodes.

    Attributes:
        names: the model's names of the values; values that are the same in all states are left out.
        codes: the nodes, in the graph of the program; each is a number from 0.
        schema: the packed layout of an abstract state, with a cell for each node.
    """

    names: tuple[str, ...]
    codes: tuple[Node, ...]
    schema: Schema


def abstraction_of(model: Model) -> Abstraction:
    """Return the abstraction that a model's method `abstraction` declares.

    Raises:
        ModelError: it does not return a dict of values by name.
    """
    graph = model.program.graph
    view = state_view(model, Environment(graph, graph.cells()))
    method: object = model.abstraction
    if not callable(method) or not hasattr(method, "__code__"):
        message = f"{type(model).__name__}.abstraction is {shown(method)}; it must be a method of self and the state."
        raise ModelError(message)
    place = place_of_function(method)
    with under(model.b):
        named: object = method(view)
        if not isinstance(named, Mapping) or not named or not all(isinstance(name, str) for name in named):
            message = (
                f"{place}: abstraction returns {shown(named)}; it must return a dict with what counts of a state, "
                f'by name, such as {{"leader": s.leader}}.'
            )
            raise ModelError(message)
        codes = {
            name: [code for code in _codes(graph, value, place, name) if code.lo < code.hi]
            for name, value in named.items()
        }
    varying = {name: nodes for name, nodes in codes.items() if nodes}
    return Abstraction(
        tuple(varying), tuple(node for nodes in varying.values() for node in nodes), Schema(_Named(varying))
    )


@dataclass(frozen=True, slots=True)
class _Named:
    """The nodes by name, in the form that `Schema` needs."""

    nodes: Mapping[str, list[Node]]

    def cells(self, path: str) -> Iterator[tuple[str, int]]:
        return ((f"{path}{name}", node.hi + 1) for name, nodes in self.nodes.items() for node in nodes)


def _codes(graph: Graph, value: object, place: str, name: str) -> Iterator[Node]:
    """Yield the codes of the symbolic parts of a value, each from 0.

    Args:
        graph: the graph of the program.
        value: a symbolic value, or a Python collection of such values; plain parts are the same in all states.
        place: the place of the method `abstraction`, for messages.
        name: the name of the value there.
    """
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _codes(graph, one, place, name)
    elif isinstance(value, Bool):
        yield apply(Op.ITE, of_graph(graph, value), graph.const(1), graph.const(0))
    elif isinstance(value, OneNode):
        yield _from_zero(graph, of_graph(graph, value))
    elif isinstance(value, View):
        yield from (_from_zero(graph, of_graph(graph, Num(code))) for code in value._codes())
    elif value is not None and not isinstance(value, (Nothing, int, Enum)):
        message = (
            f"{place}: {name!r} of the abstraction is {shown(value)}; it must be a field of the state, a condition, "
            f"a number, or a list or dict of these."
        )
        raise ModelError(message)


def _from_zero(graph: Graph, node: Node) -> Node:
    return apply(Op.SUB, node, graph.const(node.lo)) if node.lo else node

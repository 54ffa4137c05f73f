"""Lifted actions (action schemas): an action for all values of its parameters, with its quantifiers as written.

The graph of lifted actions has variables (`VAR`), reads at symbolic indexes (`READ`) and quantifiers (`BIND`) beside
the operations of programs. Assignments are kept in order; a read has the number of those before it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from insync.model.expressions.graph import LIFTED, Binder, Graph, Location, Made, Node, Op, Quantifier, Variable, fold
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.source import Notes
from insync.runtime.errors import ModelError

__all__ = [
    "MARKED",
    "Action",
    "Assign",
    "Expect",
    "Lifted",
    "LiftedGraph",
    "NodeFacts",
    "Undecided",
    "instances",
    "lifting",
    "quantifiers_kept",
    "undecided_in",
]


MARKED = "\ue000", "\ue001"
"""The characters around the number of a mark; see `LiftedGraph.mark`."""


_NO_VARIABLES: frozenset[Variable] = frozenset()


class Undecided(ModelError):
    """Python needs the value of a variable, such as a parameter, while all its values are traced at once.

    Attributes:
        variables: the variables on which it depends.
    """

    def __init__(self, message: str, variables: Iterable[Variable]) -> None:
        super().__init__(message)
        self.variables = frozenset(variables)


class NodeFacts(NamedTuple):
    """What a node of a lifted graph depends on.

    Attributes:
        free: the free variables; equal sets are one object.
        of_state: whether it depends on the state, and not on variables alone.
        version: the number of assignments after which it can be evaluated.
        ground: whether no lifted operation and no mark occurs in it, so that all its instances are equal.
    """

    free: frozenset[Variable]
    of_state: bool
    version: int
    ground: bool


_OF_CONSTANTS = NodeFacts(_NO_VARIABLES, of_state=False, version=0, ground=True)


class LiftedGraph(Graph):
    """A graph in which the lifted operations may occur.

    Args:
        cell_sizes: the number of codes of each cell.

    Attributes:
        behind: for each `READ` of a later version the variables of the assignments that it may read.
        bound: the number of variables of quantifiers so far.
        marks: the index, and the names of the places, for each mark; see `mark`.
    """

    has_variables: ClassVar[bool] = True
    decides: ClassVar[bool] = True
    """Whether the variables can be given values, so that Python that needs one is an `Undecided`."""

    def __init__(self, cell_sizes: Iterable[int]) -> None:
        self.behind: dict[Node, frozenset[Variable]] = {}
        self.bound = 0
        self.marks: list[tuple[Node, tuple[str, ...]]] = []
        self._facts: list[NodeFacts] = []
        self._known = {_OF_CONSTANTS: _OF_CONSTANTS}
        self._joined: dict[tuple[NodeFacts, NodeFacts], NodeFacts] = {}
        self._sets: dict[frozenset[Variable], frozenset[Variable]] = {_NO_VARIABLES: _NO_VARIABLES}
        super().__init__(cell_sizes)

    def mark(self, index: Node, names: Iterable[str] = ()) -> str:
        """Return a mark that stands in a message for the name of the place that an index selects.

        Args:
            index: the index.
            names: the names of the places; where there are none the index itself is the name.
        """
        self.marks.append((index, tuple(names)))
        return f"{MARKED[0]}{len(self.marks) - 1}{MARKED[1]}"

    def free(self, node: Node) -> frozenset[Variable]:
        """Return the free variables of a node; those of a read include the variables of what it may read."""
        return self._facts_of(node).free

    def node_facts(self) -> Sequence[NodeFacts]:
        """Return the facts of all nodes, by their indexes."""
        self._explore()
        return self._facts

    def reads_state(self, node: Node) -> bool:
        """Return whether a node depends on the state, and not on variables alone."""
        return self._facts_of(node).of_state

    def version(self, node: Node) -> int:
        """Return the number of assignments after which a node can be evaluated."""
        return self._facts_of(node).version

    def _facts_of(self, node: Node) -> NodeFacts:
        if node.index >= len(self._facts):
            self._explore()
        return self._facts[node.index]

    def kept(self, variables: frozenset[Variable]) -> frozenset[Variable]:
        """Return the one object of equal sets of variables."""
        return self._sets.setdefault(variables, variables)

    def _explore(self) -> None:
        """Find the facts of the nodes made since the last call; arguments come before users."""
        facts, joined = self._facts, self._joined
        for node in self.nodes[len(facts) :]:
            found = _OF_CONSTANTS
            for one in node.args:
                own = facts[one.index]
                if own is found or own is _OF_CONSTANTS:
                    continue
                if found is _OF_CONSTANTS:
                    found = own
                    continue
                both = joined.get((found, own))
                if both is None:
                    both = joined[found, own] = self._both(found, own)
                found = both
            if node.arg is not None and node.op is not Op.CONST:
                found = self._with_arg(node, found)
            facts.append(found)

    def _both(self, one: NodeFacts, other: NodeFacts) -> NodeFacts:
        return self._kept_facts(
            one.free | other.free,
            one.of_state or other.of_state,
            max(one.version, other.version),
            one.ground and other.ground,
        )

    def _with_arg(self, node: Node, found: NodeFacts) -> NodeFacts:
        """Return the facts of a node that has an argument of its own, given those of the nodes that it uses."""
        arg, (free, of_state, version, ground) = node.arg, found
        if isinstance(arg, Quantifier):
            if not any(MARKED[0] in label for label in arg.labels):
                return found
            ground = False
        elif isinstance(arg, Variable):
            free, ground = frozenset((arg,)), False
        elif isinstance(arg, Binder):
            free, ground = free - {arg.variable}, False
        elif isinstance(arg, Location):
            of_state, ground = True, False
            if arg.version:
                version, free = max(version, arg.version), free | self.behind[node]
        else:
            of_state = True  # a cell
        return self._kept_facts(free, of_state, version, ground)

    def _kept_facts(self, free: frozenset[Variable], of_state: bool, version: int, ground: bool) -> NodeFacts:
        """Return the one object of equal facts."""
        made = NodeFacts(self.kept(free), of_state, version, ground)
        return self._known.setdefault(made, made)


def instances(graph: LiftedGraph, nodes: Sequence[Node]) -> Iterator[list[Node]]:
    """Yield some nodes for all values of the variables of quantifiers on which they depend."""
    bound = sorted({one for node in nodes for one in graph.free(node) if one.number < 0}, key=lambda one: one.number)

    def rule(node: Node, args: list[Node]) -> Node:
        if isinstance(node.arg, Variable):
            return known.get(node.arg, node)
        if all(one is other for one, other in zip(args, node.args, strict=True)):
            return node
        if node.op in (Op.AND, Op.OR):
            return combine(graph, node.op, args, node.quantifier)
        if node.op not in LIFTED:
            return apply(node.op, *args)
        made = graph.node(node.op, tuple(args), node.arg)
        if node in graph.behind:
            graph.behind[made] = graph.behind[node]
        return made

    for values in itertools.product(*[range(one.size) for one in bound]):
        known = {one: graph.const(value) for one, value in zip(bound, values, strict=True)}
        yield fold(nodes, rule) if bound else list(nodes)


def undecided_in(node: Node) -> frozenset[Variable]:
    """Return the variables of a node that depends on variables alone; empty for any other node.

    Where all parameters have values, such a node is a constant, on which Python can decide.
    """
    graph = node.graph
    if not isinstance(graph, LiftedGraph) or not graph.decides or node.op is Op.CONST or graph.reads_state(node):
        return frozenset()
    return graph.free(node)


class Assign(NamedTuple):
    """An assignment as it was made.

    Attributes:
        base: the first cell where all indexes are 0.
        dims: the distance of the elements in cells and the length of the array, for each index.
        indexes: the symbolic indexes, the outermost first.
        where: the conditions under which it happens.
        codes: the new code of each cell.
        onwards: whether the codes are assigned to all places from the last index on.
    """

    base: int
    dims: tuple[tuple[int, int], ...]
    indexes: tuple[Node, ...]
    where: tuple[Node, ...]
    codes: tuple[Node, ...]
    onwards: bool = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes of the assignment."""
        return (*self.indexes, *self.where, *self.codes)


class Expect(NamedTuple):
    """A condition that makes an assignment sound.

    Attributes:
        where: the conditions under which the assignment happens.
        condition: the condition that must hold there.
        message: what is wrong where it fails, with the author's file and line; marks stand for names of places.
    """

    where: tuple[Node, ...]
    condition: Node
    message: str

    @property
    def node(self) -> Node:
        """The implication from `where` to the condition."""
        return combine(self.condition.graph, Op.OR, [*(apply(Op.NOT, one) for one in self.where), self.condition])


@dataclass(frozen=True, slots=True)
class Action:
    """An action for all values of some of its parameters.

    Attributes:
        name: the action's name.
        parameters: each parameter's name with its variable, or with its value where Python decides on it.
        guard: the conditions that enable it, in the order of the source.
        assigns: its assignments, in order.
        expects: the conditions that make them sound.
        made: the operations that made codes of containers; see `Made`.
        orders: the conditions that compare elements of a container to sort them.
        notes: the source spans of its parts.
        results: the new code of each cell that is assigned; None where symbolic indexes select such cells.
    """

    name: str
    parameters: tuple[tuple[str, object], ...]
    guard: tuple[Node, ...]
    assigns: tuple[Assign, ...]
    expects: tuple[Expect, ...]
    made: dict[tuple[Node, ...], Made] = field(default_factory=dict)
    orders: tuple[Node, ...] = ()
    notes: Notes = field(default_factory=Notes, compare=False)
    results: tuple[tuple[int, Node], ...] | None = None

    @property
    def is_impossible(self) -> bool:
        """Whether its guard is false for all values of its variables."""
        return any(node is node.graph.false for node in self.guard)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The parameters that are variables."""
        return tuple(value for _, value in self.parameters if isinstance(value, Variable))

    @property
    def fixed(self) -> dict[str, object]:
        """The values of the other parameters, by their names."""
        return {name: value for name, value in self.parameters if not isinstance(value, Variable)}


@dataclass(frozen=True, slots=True)
class Lifted:
    """The lifted actions of a model, and their graph."""

    graph: LiftedGraph
    actions: tuple[Action, ...]


quantifiers_kept: ContextVar[LiftedGraph | None] = ContextVar("quantifiers_kept", default=None)
"""The graph in which quantifiers are kept as they are written; None where they are expanded."""


class lifting:
    """Keeps the quantifiers that are traced in this context in a graph; None expands them."""

    __slots__ = ("_graph", "_token")

    def __init__(self, graph: LiftedGraph | None) -> None:
        self._graph = graph

    def __enter__(self) -> None:
        self._token = quantifiers_kept.set(self._graph)

    def __exit__(self, *_: object) -> None:
        quantifiers_kept.reset(self._token)

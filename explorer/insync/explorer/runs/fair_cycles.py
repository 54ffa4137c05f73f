"""Fair cycles: strongly connected components that a fair run can stay in for ever (Emerson & Lei 1987).

A strongly connected set of states supports a fair run if it meets each obligation of fairness: one of its actions is
taken inside, or (weak) one of its states has none of them enabled, or (strong) none of its states has. If a weak
obligation fails, every part of the set fails too. If a strong one fails, the states in which its actions are enabled
are removed, and the rest is examined again. A single state counts as a cycle, as a run may stay there. A step that
changes nothing is no step, as in TLA+.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.explorer.runs.state_graph import StateGraph
from insync.properties.temporal import FairSet
from insync.runtime.watch import Watch

if TYPE_CHECKING:
    from insync.explorer.runs.state_graph import Bits, Numbers

__all__ = ["Adjacency", "Obligation", "adjacency_of", "fair_components", "obligations_of", "visits"]


@dataclass(frozen=True, slots=True)
class Adjacency:
    """The steps of a graph that change the state, by source.

    Attributes:
        graph: the graph.
        source, action, target: the steps.
        first: the index of the first step of each state; one more entry is the end of all steps.
    """

    graph: StateGraph
    source: Numbers
    action: Numbers
    target: Numbers
    first: Numbers

    def steps(self, state: int) -> list[tuple[int, int]]:
        """Return the action and the target of each step from a state."""
        part = slice(int(self.first[state]), int(self.first[state + 1]))
        return list(zip(self.action[part].tolist(), self.target[part].tolist(), strict=True))

    def without(self, left_out: Bits) -> Adjacency:
        """Return the steps without some of them, which are given as a mask."""
        return _adjacency(self.graph, self.source[~left_out], self.action[~left_out], self.target[~left_out])


@dataclass(frozen=True, slots=True)
class Obligation:
    """An obligation of fairness on a graph.

    Attributes:
        fair: the obligation.
        takes: the steps that meet it, as a mask.
        enabled: the states in which one of its actions is enabled, as a mask.
    """

    fair: FairSet
    takes: Bits
    enabled: Bits


def adjacency_of(graph: StateGraph) -> Adjacency:
    """Return the steps of a graph that change the state."""
    real = graph.source != graph.target
    return _adjacency(graph, graph.source[real], graph.action[real], graph.target[real])


def _adjacency(graph: StateGraph, source: Numbers, action: Numbers, target: Numbers) -> Adjacency:
    import numpy as np

    return Adjacency(graph, source, action, target, np.searchsorted(source, np.arange(len(graph) + 1)))


def obligations_of(adjacency: Adjacency, fair: Sequence[FairSet], watch: Watch) -> list[Obligation]:
    """Return the obligations with the steps that meet them and the states in which they apply.

    Raises:
        Stopped: a limit is reached.
    """
    import numpy as np

    obligations = []
    for one in fair:
        watch.check()
        takes = np.isin(adjacency.action, sorted(one.numbers))
        enabled = np.zeros(len(adjacency.graph), dtype=np.bool_)
        enabled[adjacency.source[takes]] = True
        obligations.append(Obligation(one, takes, enabled))
    return obligations


def visits(adjacency: Adjacency, states: Bits) -> Obligation:
    """Return the obligation to be in one of some states again and again, as a Büchi condition has it.

    It is a weak one that no action meets, and that does not apply in these states.
    """
    import numpy as np

    return Obligation(FairSet("", False, frozenset()), np.zeros(len(adjacency.source), dtype=np.bool_), ~states)


def fair_components(adjacency: Adjacency, inside: Bits, obligations: Sequence[Obligation], watch: Watch) -> Numbers:
    """Return for each state the number of its fair component; -1 if it is in none.

    Args:
        adjacency: the steps.
        inside: the states that a run may be in.
        obligations: the fairness.
        watch: the limits.

    Raises:
        Stopped: a limit is reached.
    """
    import numpy as np

    label = np.full(len(adjacency.graph), -1, dtype=np.int64)
    open_, found = inside.copy(), 0
    while open_.any():
        watch.check()
        states = np.flatnonzero(open_)
        component, count = _components(adjacency, open_, states)
        wrong = np.zeros(count, dtype=np.bool_)
        removed = np.zeros(len(states), dtype=np.bool_)
        within = open_[adjacency.source] & open_[adjacency.target]
        place = np.zeros(len(adjacency.graph), dtype=np.int64)
        place[states] = component
        within &= place[adjacency.source] == place[adjacency.target]
        for obligation in obligations:
            taken = np.zeros(count, dtype=np.bool_)
            taken[place[adjacency.source[within & obligation.takes]]] = True
            enabled = obligation.enabled[states]
            fails = ~taken & ~_some(component, ~enabled, count)
            if obligation.fair.strong:
                fails = ~taken & _some(component, enabled, count)
                removed |= fails[component] & enabled
            else:
                removed |= fails[component]
            wrong |= fails
        good = ~wrong[component]
        label[states[good]] = found + component[good]
        found += count
        open_[states[good | removed]] = False
    return label


def _components(adjacency: Adjacency, inside: Bits, states: Numbers) -> tuple[Numbers, int]:
    """Return the number of the strongly connected component of each state, and the number of components."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    place = np.zeros(len(adjacency.graph), dtype=np.int64)
    place[states] = np.arange(len(states))
    steps = inside[adjacency.source] & inside[adjacency.target]
    ends = place[adjacency.source[steps]], place[adjacency.target[steps]]
    matrix = csr_matrix((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(len(states), len(states)))
    count, component = connected_components(matrix, directed=True, connection="strong")
    return component.astype(np.int64), int(count)


def _some(component: Numbers, values: Bits, count: int) -> Bits:
    """Return for each component whether one of its states has the value."""
    import numpy as np

    found = np.zeros(count, dtype=np.bool_)
    found[component[values]] = True
    return found

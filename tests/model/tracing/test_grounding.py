"""Grounding of lifted actions, compared with tracing of each binding: the same actions, cells, checks and conditions.

Nearly all models have the very same nodes. Those of `KNOWN` decide by `is` on a condition of a parameter, which makes
other expressions with the same meaning; their values are compared in random states.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from insync.model import Model
from insync.model.expressions.graph import Graph, Node, reachable
from insync.model.expressions.lifted import LiftedGraph
from insync.model.tracing.grounding import ground_actions, lifted_actions
from insync.model.tracing.program import BoundAction
from insync.runtime.errors import ModelError
from insync_differential import model_of
from insync_drawn import drawn
from insync_drawn_text import model_text
from insync_each_binding import bound_one_by_one
from insync_every_model import QUICK, Chosen
from insync_meanings import beside, states_of, values
from insync_suspicious import Chance

KNOWN = {"cluster"}


def both(model: Model) -> tuple[list[BoundAction], list[BoundAction]]:
    """Return the bound actions of a model as traced one by one, and as instances of lifted actions, of one graph."""
    graph, lifted = Graph(model.program.graph.cell_sizes), LiftedGraph(model.program.graph.cell_sizes)
    whole = model if model._confinement is None else model._confinement.whole
    wanted = bound_one_by_one(whole, graph)
    return wanted, ground_actions(whole, lifted, lifted_actions(whole, lifted), graph)


def nodes(actions: Sequence[BoundAction]) -> list[Node]:
    return [n for one in actions for n in (*one.guard, *(new for _, new in one.updates), *(c.node for c in one.checks))]


def assert_same(wanted: list[BoundAction], found: list[BoundAction]) -> None:
    assert [(str(one), one.label) for one in found] == [(str(one), one.label) for one in wanted]
    for one, other in zip(found, wanted, strict=True):
        assert one.guard == other.guard, one
        assert one.updates == other.updates, one
        assert one.checks == other.checks, one


def assert_alike(model: Model, wanted: list[BoundAction], found: list[BoundAction]) -> None:
    """Compare actions whose expressions differ: in values, and in how many nodes and checks there are."""
    assert [(str(one), one.label) for one in found] == [(str(one), one.label) for one in wanted]
    states = beside(model, states_of(model, walks=6))[:1000]
    known = values([*nodes(wanted), *nodes(found)], states)
    for one, other in zip(found, wanted, strict=True):
        enabled, its = (
            np.logical_and.reduce([known[node.index] for node in action.guard] or [np.ones(len(states), dtype=bool)])
            for action in (one, other)
        )
        assert (enabled == its).all(), one
        updates, expected = dict(one.updates), dict(other.updates)
        assert updates.keys() == expected.keys(), one
        for cell, new in updates.items():
            differ = known[new.index] != known[expected[cell].index]
            assert not any(differ & enabled), (one, cell)
        assert {check.message for check in one.checks} <= {check.message for check in other.checks}, one
        assert len(one.checks) <= len(other.checks), one
    assert len(reachable(nodes(found))) <= 1.03 * len(reachable(nodes(wanted)))


@pytest.mark.slow_for(
    "examples/raft.py:Raft", "cluster, snapshots", "kraft, voters", "tests/support/insync_decisions.py:WatchedQuorum"
)
@pytest.mark.parametrize("chosen", [one for one in QUICK if not one.model.endswith(f":{Chance.__name__}")], ids=str)
def test_a_lifted_action_has_the_bound_actions_that_its_bindings_have(chosen: Chosen) -> None:
    model = chosen.made()
    wanted, found = both(model)
    if {str(chosen), chosen.model} & KNOWN:
        assert_alike(model, wanted, found)
    else:
        assert_same(wanted, found)


@pytest.mark.slow_but("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
@pytest.mark.parametrize("seed", range(60))
def test_random_models_have_the_same_actions(seed: int) -> None:
    try:
        model = model_of(model_text(drawn(seed)))
        wanted, found = both(model)
    except ModelError:
        return
    assert_same(wanted, found)

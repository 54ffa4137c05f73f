"""The search for fair cycles against its definition, on random graphs: every subset of the states is looked at."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from insync.explorer.runs.fair_cycles import Adjacency, Obligation, adjacency_of, fair_components, obligations_of
from insync.explorer.runs.lassos import find_lasso
from insync.explorer.runs.state_graph import StateGraph
from insync.properties.temporal import FairSet
from insync.runtime.watch import Limits, Watch

WATCH = Watch(Limits(), None)
ACTIONS = 3
Step = tuple[int, int, int]


def graph_of(size: int, steps: Sequence[Step]) -> StateGraph:
    """A graph without a model, its states numbered level by level; all can be reached from the first."""
    levels = [[0]]
    while levels[-1]:
        seen = [state for level in levels for state in level]
        after = {target for source, _, target in steps if source in levels[-1]} - set(seen)
        levels.append(sorted(after))
    number = {state: place for place, state in enumerate(state for level in levels for state in level)}
    starts = (0, *itertools.accumulate(len(level) for level in levels if level))
    renamed = sorted({(number[source], action, number[target]) for source, action, target in steps})
    columns = np.array(renamed, dtype=np.int64).reshape(-1, 3)
    rows = np.arange(size, dtype=np.uint64).reshape(-1, 1)
    return StateGraph(cast(Any, None), rows, starts, columns[:, 0], columns[:, 1], columns[:, 2], 0, size, None)


@st.composite
def adjacencies(draw: st.DrawFn) -> tuple[Adjacency, list[Obligation], list[bool]]:
    size = draw(st.integers(1, 5))
    state = st.integers(0, size - 1)
    steps = draw(st.lists(st.tuples(state, st.integers(0, ACTIONS - 1), state), max_size=10))
    chain = [(at, 0, at + 1) for at in range(size - 1)]
    sets = st.frozensets(st.integers(0, ACTIONS - 1), min_size=1)
    fair = draw(st.lists(st.builds(FairSet, st.just("x"), st.booleans(), sets), max_size=3))
    adjacency = adjacency_of(graph_of(size, [*steps, *chain]))
    return (
        adjacency,
        obligations_of(adjacency, fair, WATCH),
        draw(st.lists(st.booleans(), min_size=size, max_size=size)),
    )


def is_fair(adjacency: Adjacency, part: frozenset[int], obligations: Sequence[Obligation]) -> bool:
    """Whether a run can go through all of these states for ever and meet every obligation."""
    steps = [step for state in part for step in ((state, *rest) for rest in adjacency.steps(state)) if step[2] in part]
    reach = {state: {state} for state in part}
    for _ in part:
        for source, _, target in steps:
            for seen in reach.values():
                if source in seen:
                    seen.add(target)
    if any(seen != part for seen in reach.values()):
        return False
    for obligation in obligations:
        taken = any(action in obligation.fair.numbers for _, action, _ in steps)
        idle = [not obligation.enabled[state] for state in part]
        if not taken and not (all(idle) if obligation.fair.strong else any(idle)):
            return False
    return True


def fair_parts(adjacency: Adjacency, inside: Sequence[bool], obligations: Sequence[Obligation]) -> list[frozenset[int]]:
    states = [state for state, there in enumerate(inside) if there]
    parts = (frozenset(part) for size in range(1, len(states) + 1) for part in itertools.combinations(states, size))
    return [part for part in parts if is_fair(adjacency, part, obligations)]


@settings(max_examples=120)
@given(adjacencies())
def test_the_components_are_those_of_the_definition(given_: tuple[Adjacency, list[Obligation], list[bool]]) -> None:
    adjacency, obligations, inside = given_
    label = fair_components(adjacency, np.array(inside), obligations, WATCH)
    parts = fair_parts(adjacency, inside, obligations)
    assert {state for state in range(len(inside)) if label[state] >= 0} == set().union(*parts)
    for number in set(label.tolist()) - {-1}:
        assert frozenset(np.flatnonzero(label == number).tolist()) in parts


@settings(max_examples=120)
@given(adjacencies(), st.data())
def test_the_lasso_is_a_shortest_one(
    given_: tuple[Adjacency, list[Obligation], list[bool]], data: st.DataObject
) -> None:
    adjacency, obligations, inside = given_
    size = len(inside)
    start = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    mask = np.array(inside)
    fair = fair_components(adjacency, mask, obligations, WATCH)
    found = find_lasso(adjacency, start & mask, mask, fair, obligations, WATCH)
    goals = {state for state in range(size) if fair[state] >= 0}
    shortest = _shortest(adjacency, start & mask, mask, goals)
    if found is None:
        assert shortest is None
        return
    path, loop = found
    states = [state for _, state in path]
    assert states[0] == 0
    assert states[loop] == states[-1]
    assert loop == shortest
    for (_, before), (action, after) in itertools.pairwise(path):
        assert (action, after) in adjacency.steps(before)
    due = max((at for at in range(loop + 1) if start[states[at]] and all(mask[s] for s in states[at:])), default=None)
    assert due is not None
    around = frozenset(states[loop:])
    taken = {action for action, _ in path[loop + 1 :]}
    for obligation in obligations:
        idle = [not obligation.enabled[state] for state in around]
        assert taken & obligation.fair.numbers or (all(idle) if obligation.fair.strong else any(idle))


def test_a_loop_takes_what_is_enabled_in_some_of_its_states_where_that_is_strongly_fair() -> None:
    """To go back by action 1 is as near, but then action 2 would be neglected."""
    adjacency = adjacency_of(graph_of(2, [(0, 0, 1), (1, 1, 0), (1, 2, 0)]))
    everywhere, start = np.array([True, True]), np.array([True, False])
    for strong, back in [(True, 2), (False, 1)]:
        fair = [FairSet("there", False, frozenset({0})), FairSet("back", strong, frozenset({2}))]
        obligations = obligations_of(adjacency, fair, WATCH)
        label = fair_components(adjacency, everywhere, obligations, WATCH)
        assert find_lasso(adjacency, start, everywhere, label, obligations, WATCH) == (
            [(None, 0), (0, 1), (back, 0)],
            0,
        )


def _shortest(adjacency: Adjacency, start: Any, inside: Any, goals: set[int]) -> int | None:
    """The steps to a goal by way of a start, within `inside` from there on; breadth first over both halves at once."""
    frontier = {(0, False)} | ({(0, True)} if start[0] else set())
    seen = set(frontier)
    for steps in range(2 * len(inside) + 1):
        if any(pending and state in goals for state, pending in frontier):
            return steps
        after = set()
        for state, pending in frontier:
            for _, target in adjacency.steps(state):
                if pending and inside[target]:
                    after.add((target, True))
                elif not pending:
                    after.add((target, False))
                    if start[target]:
                        after.add((target, True))
        frontier = after - seen
        seen |= frontier
    return None

"""A tour takes each step of a graph, whatever the graph, and knows of the others why it does not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.explorer.runs.transition_tour import Tour, Went
from insync.runtime.watch import Stopped, StopReason

Edge = tuple[int, int, int]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[Edge]]:
    """How many states, and steps from them, the actions of each state all different; not all can be reached."""
    states = draw(st.integers(1, 12))
    pairs = st.tuples(st.integers(0, states - 1), st.integers(0, 4))
    steps = draw(st.dictionaries(pairs, st.integers(0, states - 1), max_size=30))
    return states, sorted((source, action, target) for (source, action), target in steps.items())


def tour_of(states: int, edges: list[Edge], at_once: dict[int, int] | None = None) -> Tour:
    return Tour([e[0] for e in edges], [e[1] for e in edges], [e[2] for e in edges], states, at_once)


def toured(tour: Tour, lead: Callable[[int], int | None], most: int = 20_000) -> list[list[int]]:
    """The walks of a tour, where a function says where each step leads; None for one that cannot be taken."""
    walks: list[list[int]] = []
    state, taken = 0, 0
    while taken < most:
        plan = tour.plan(state) if walks else []
        if not plan:
            state, plan = 0, tour.plan_anew()
            walks.append([])
            if not plan:
                tour.give_up()
                return walks[:-1]
        for step, following in zip_longest(plan, plan[1:]):
            assert tour.source[step] == state, "a plan is a walk from where one is"
            there, taken = lead(step), taken + 1
            if there is None:
                tour.refused(step)
                if following is not None:
                    tour.missed()
                break
            tour.took(step)
            walks[-1].append(step)
            state = there
            tour.led(step, there)
            if following is not None and tour.source[following] != there:
                tour.missed()
                break
    raise AssertionError("the tour does not end")


def reachable(edges: list[Edge], lead: Callable[[int], int | None]) -> set[int]:
    found, before = {0}, set[int]()
    while found != before:
        before = set(found)
        for number, (source, _, _) in enumerate(edges):
            there = lead(number)
            if source in found and there is not None:
                found.add(there)
    return found


@given(graphs())
def test_each_step_that_can_be_reached_is_taken(graph: tuple[int, list[Edge]]) -> None:
    states, edges = graph
    tour = tour_of(states, edges)
    walks = toured(tour, lambda step: edges[step][2])
    states_reached = reachable(edges, lambda step: edges[step][2])
    for number, (source, _, _) in enumerate(edges):
        assert tour.went[number] == (Went.TAKEN if source in states_reached else Went.GIVEN_UP)
    assert {number for walk in walks for number in walk} == {n for n, e in enumerate(edges) if e[0] in states_reached}
    assert {state for state in range(states) if tour.visited[state]} <= states_reached
    assert tour.left == 0


@given(graphs(), st.data())
def test_what_leads_elsewhere_or_cannot_be_taken_is_learned(graph: tuple[int, list[Edge]], data: st.DataObject) -> None:
    states, edges = graph
    elsewhere = st.one_of(st.none(), st.integers(0, states - 1))
    really = {n: data.draw(st.one_of(st.just(e[2]), elsewhere)) for n, e in enumerate(edges)}
    tour = tour_of(states, edges)
    toured(tour, lambda step: really[step])
    states_reached = reachable(edges, lambda step: really[step])
    for number, (source, _, _) in enumerate(edges):
        if source in states_reached:
            assert tour.went[number] == (Went.REFUSED if really[number] is None else Went.TAKEN)
        else:
            assert tour.went[number] == Went.GIVEN_UP


@given(graphs(), st.integers(0, 1_000_000), st.integers(0, 100))
def test_a_tour_ends_though_the_same_step_leads_here_and_there(
    graph: tuple[int, list[Edge]], seed: int, odds: int
) -> None:
    states, edges = graph
    tour, chance = tour_of(states, edges), Random(seed)

    def lead(step: int) -> int | None:
        if chance.randrange(100) >= odds:
            return edges[step][2]
        wherever: list[int | None] = [None, *range(states)]
        return chance.choice(wherever)

    toured(tour, lead)
    assert tour.left == 0


def test_what_follows_at_once_is_planned_with() -> None:
    # 0 -a-> 1 -b-> 2, and b follows a by itself: nobody is ever in 1, where c can be taken.
    edges = [(0, 0, 1), (1, 1, 2), (1, 2, 3), (2, 2, 0)]
    tour = tour_of(4, edges, {0: 1})
    walks = toured(tour, lambda step: 2 if step == 0 else edges[step][2])
    assert walks == [[0, 3]]
    assert [tour.went[step] for step in (1, 2)] == [Went.GIVEN_UP] * 2


def test_a_state_that_is_missed_again_and_again_is_given_up() -> None:
    edges = [(0, 0, 1), (1, 0, 1), (1, 1, 0)]
    tour = tour_of(2, edges)
    for _ in range(3):
        tour.plan(1)
        tour.missed()
    assert list(tour.went) == [Went.OPEN, Went.GIVEN_UP, Went.GIVEN_UP]


def test_what_was_refused_is_tried_again_but_not_for_ever() -> None:
    tour = tour_of(1, [(0, 0, 0), (0, 1, 0)])
    assert tour.refused_before(0) == []
    for _ in range(2):
        tour.refused(0)
        assert tour.refused_before(0) == [0]
    tour.refused(0)
    assert tour.refused_before(0) == []
    tour.took(0)
    assert tour.went[0] == Went.TAKEN


def test_who_wants_the_end_waits_for_no_plan() -> None:
    with pytest.raises(Stopped, match="states"):
        Tour([0], [0], [0], 1, stopped=lambda: StopReason.STATES)

"""An estimate of the end of a search is a function of its levels, and there is none where it would be a guess."""

from __future__ import annotations

import random
from itertools import accumulate
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.explorer.progress import SpaceEstimate, estimated_end

LEVELS = st.lists(st.integers(1, 10**9), max_size=40)


def switches(count: int) -> list[int]:
    """Return the levels of independent switches: the states in which 0, 1, 2, ... of them are on."""
    return [comb(count, on) for on in range(count + 1)]


BELLS = st.builds(lambda count, part: switches(count)[: int(part * count)], st.integers(20, 60), st.floats(0.5, 1))


@given(LEVELS)
def test_an_estimate_is_at_least_what_is_there(levels: list[int]) -> None:
    said = estimated_end(levels)
    assert said is None or (said.levels >= len(levels) and said.states >= sum(levels))


@given(LEVELS, st.integers(2, 1000))
def test_a_space_of_so_many_parts_is_as_deep_and_so_many_times_as_large(levels: list[int], parts: int) -> None:
    one, many = estimated_end(levels), estimated_end([parts * size for size in levels])
    assert (one is None) == (many is None)
    if one is not None and many is not None:
        assert many.levels >= one.levels
        assert many.states >= (one.states - 1) * parts


@given(BELLS, st.integers(1, 10**9))
def test_what_came_long_before_changes_nothing_of_what_is_to_come(levels: list[int], first: int) -> None:
    plain, longer = estimated_end(levels), estimated_end([first, *levels])
    assert plain is None or longer is not None  # more of what is known makes the total more certain
    if plain is not None and longer is not None:
        assert longer.levels == plain.levels + 1
        assert abs(longer.states - plain.states - first) <= 1 + plain.states * 1e-9


@given(st.integers(1, 10**6), st.integers(0, 40))
def test_levels_that_do_not_fall_have_no_end_in_sight(size: int, count: int) -> None:
    assert estimated_end([size] * count) is None


@given(st.lists(st.floats(1.6, 9), min_size=8, max_size=20))
def test_levels_that_grow_fast_have_no_end_in_sight(factors: list[float]) -> None:
    assert estimated_end([round(size) for size in accumulate(factors, lambda a, b: a * b, initial=1e3)]) is None


@pytest.mark.parametrize("count", range(20, 61))
def test_independent_switches_are_foreseen_past_the_middle(count: int) -> None:
    levels = switches(count)
    for known in range(int(0.65 * count), int(0.95 * count) + 1):
        said = estimated_end(levels[:known])
        assert said is not None
        assert abs(said.levels - len(levels)) <= 0.3 * len(levels)
        assert abs(said.states - sum(levels)) <= 0.1 * sum(levels)


def test_there_is_no_end_that_the_limits_do_not_allow() -> None:
    levels = switches(24)[:17]
    end = estimated_end(levels)
    assert end is not None
    assert estimated_end(levels, lambda depth, states: (depth, states) == (end.levels, end.states)) == end
    assert estimated_end(levels, lambda depth, states: depth < end.levels) is None


def test_levels_that_contradict_one_another_say_nothing() -> None:
    falling = switches(24)[:17]
    assert estimated_end(falling) is not None
    assert estimated_end([*falling[:-1], falling[-3]]) is None


def test_the_last_three_levels_say_about_the_same_or_nothing_is_said() -> None:
    """Switches of which the levels are a little off, as those of a search are."""
    chance, told = random.Random(1), 0
    for _ in range(2000):
        levels = [max(1, round(size * chance.uniform(0.7, 1.4))) for size in switches(chance.randint(18, 36))]
        known = levels[: chance.randint(12, len(levels))]
        said = [estimated_end(known[: len(known) - fewer]) for fewer in range(3)]
        sizes = [estimate.states for estimate in said if estimate is not None]
        told += len(sizes) == 3
        assert len(sizes) < 3 or max(sizes) <= 1.5 * min(sizes)
    assert told > 100


def test_levels_that_would_grow_beyond_all_numbers_have_no_end_in_sight() -> None:
    assert estimated_end([2, 11, 217, 925, 2691, 7391, 6708, 28951, 35305]) is None


def test_a_line_that_reaches_zero_is_the_end() -> None:
    """The factors fall by a quarter each time, from 3/2 to 1/2; so the next would be 1/4 and then 0."""
    levels = [1, 100, 400, 1_000, 1_750, 2_625, 3_281, 3_281, 2_461, 1_230]
    assert estimated_end(levels) == SpaceEstimate(11, sum(levels) + 307)

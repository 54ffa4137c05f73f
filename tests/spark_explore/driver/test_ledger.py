"""What the levels of a search on Spark amount to, level by level: what the local search says of the same levels."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from insync.explorer.search.explored import Explored, Hit
from insync.explorer.search.manifest_counts import SpaceShape
from insync.machine.packed import Found
from insync.runtime.watch import Limits, StopReason
from insync.spark_explore.driver.ledger import Ledger

START = Explored([1, 2], [1, 3], stepless=[0])
"""Two levels that the driver searched, the second of them not expanded: two actions, two properties."""

NOTHING = Found()


def ledger(*, closed: int = 0, expanded: int = 0, refused: int = 0, violating: int = 0, end: int = 9) -> Ledger:
    """What is known after some levels of five states each.

    Args:
        closed: the last level whose states are known.
        expanded: the last level that was expanded, in two parts.
        refused: the level with two steps that are refused; 0 for none.
        violating: the level with three states that violate the second property.
        end: the first level without a state.
    """
    made = Ledger(START, bytes(32))
    for level in range(3, closed + 1):
        found = [Found(3, (level,)) if level == violating else NOTHING for _ in range(2)]
        there = level < end
        made.figures(level).files = {0: bytes([level] * 16), 1: bytes([level + 1] * 16)}
        made.figures(level).add_states(1 * there, 2 * there, 2 * there, [NOTHING, NOTHING])
        made.figures(level).add_states(1 * there, 3 * there, 0, [NOTHING, found[1]])
    for level in range(2, expanded + 1):
        made.figures(level).add_steps([1, 0], Found(2, (7, level)) if level == refused else NOTHING, 1)
        made.figures(level).add_steps([0, 4], NOTHING, 0)
    return made


def space(found: Ledger, limits: Limits | None = None, keep_going: bool = False) -> tuple[Explored, bool]:
    return found.space(limits or Limits(), keep_going)


def told(
    found: Ledger, limits: Limits | None = None, keep_going: bool = False
) -> tuple[list[int], int, list[int], bool]:
    """The levels, how many are expanded, the steps of each action, and whether it is over."""
    result, over = space(found, limits, keep_going)
    return result.levels, result.expanded, result.steps, over


@pytest.mark.parametrize(("known", "levels", "expanded", "steps", "over"), [
    ({}, [1, 3], 1, [1, 2], False),
    ({"expanded": 2}, [1, 3], 2, [2, 6], False),
    ({"closed": 3}, [1, 3], 1, [1, 2], False),
    ({"closed": 3, "expanded": 2}, [1, 3, 5], 2, [2, 6], False),
    ({"closed": 4, "expanded": 2}, [1, 3, 5], 2, [2, 6], False),
    ({"closed": 4, "expanded": 3}, [1, 3, 5, 5], 3, [3, 10], False),
    ({"closed": 3, "expanded": 2, "end": 3}, [1, 3], 2, [2, 6], True),
    ({"closed": 5, "expanded": 4, "end": 5}, [1, 3, 5, 5], 4, [4, 14], True),
    ({"closed": 6, "expanded": 5, "end": 5}, [1, 3, 5, 5], 4, [4, 14], True),
])  # fmt: skip
def test_a_level_counts_once_it_is_known_and_the_one_before_it_is_expanded(
    known: dict[str, int], levels: list[int], expanded: int, steps: list[int], over: bool
) -> None:
    """It is over when a level was expanded, and the next one is known to have no state."""
    assert told(ledger(**known)) == (levels, expanded, steps, over)


def test_states_that_stand_for_others() -> None:
    """Levels and limits count all states; how many were visited is beside them."""
    result, _ = space(ledger(closed=4, expanded=4))
    assert (result.levels, result.visited) == ([1, 3, 5, 5], [1, 3, 2, 2])
    assert space(ledger(closed=4, expanded=4), Limits(states=9))[0].levels == [1, 3, 5]


def test_states_outside_are_known_of_each_level_that_is_closed() -> None:
    result, _ = space(ledger(closed=4, expanded=3))
    assert (result.levels, result.outside, result.stepless) == ([1, 3, 5, 5], [0, 0, 2, 2], [0, 1, 1])
    again, _ = space(Ledger.from_entries(json.loads(json.dumps(ledger(closed=4, expanded=3).entries()))))
    assert (again.outside, again.stepless) == (result.outside, result.stepless)


def test_how_far_it_is() -> None:
    found = ledger(closed=5, expanded=4, end=5)
    assert (found.warm, found.depth, found.expanded) == (2, 4, 4)
    assert (ledger().warm, ledger().depth, ledger().expanded) == (2, 2, 1)
    found.figures(2).add_states(3, 3, 0, [NOTHING, NOTHING])
    assert found.depth == 4, "the last level of the driver is not counted twice"


def test_a_violation_ends_it_with_its_level_unless_it_is_to_go_on() -> None:
    found = ledger(closed=5, expanded=5, violating=4)
    assert told(found) == ([1, 3, 5, 5], 3, [3, 10], True)
    assert space(found)[0].violations == {1: Hit(4, 3, (4,))}
    assert told(found, keep_going=True) == ([1, 3, 5, 5, 5], 5, [5, 18], False)
    assert space(found, keep_going=True)[0].violations == {1: Hit(4, 3, (4,))}


def test_a_refused_step_ends_it_before_its_level_counts_as_expanded() -> None:
    found = ledger(closed=5, expanded=5, refused=3)
    assert told(found) == ([1, 3, 5], 2, [2, 6], True)
    assert space(found)[0].refused == Hit(3, 2, (7, 3))
    assert told(found, keep_going=True) == ([1, 3, 5, 5, 5], 5, [5, 18], False)
    assert space(found, keep_going=True)[0].refused == Hit(3, 2, (7, 3))


@pytest.mark.parametrize("keep_going", [False, True])
@pytest.mark.parametrize(("known", "levels", "expanded"), [
    ({}, [1, 3, 5, 5, 5], 5),
    ({"violating": 3}, [1, 3], 1),
    ({"violating": 4}, [1, 3, 5], 2),
    ({"refused": 3}, [1, 3, 5], 2),
    ({"violating": 5, "refused": 3}, [1, 3, 5], 2),
    ({"violating": 3, "refused": 4}, [1, 3], 1),
], ids=str)  # fmt: skip
def test_before_violations_there_is_none(
    known: dict[str, int], levels: list[int], expanded: int, keep_going: bool
) -> None:
    """What is left ends with the level before the first that violates, or with that of the first refused step."""
    before = ledger(closed=5, expanded=5, **known).before_violations(keep_going)
    assert (before.levels, before.expanded, before.violations, before.refused) == (levels, expanded, {}, None)


def test_what_the_driver_found_by_itself_is_kept_before_violations() -> None:
    found = ledger(closed=5, expanded=5, violating=4)
    found.start = replace(START, violations={0: Hit(2, 1, (5,))})
    assert found.before_violations(False).violations == {0: Hit(2, 1, (5,))}
    assert found.before_violations(True).levels == [1, 3, 5]


@pytest.mark.parametrize(("limits", "levels", "reason"), [
    (Limits(depth=2), [1, 3], StopReason.DEPTH),
    (Limits(depth=3), [1, 3, 5], StopReason.DEPTH),
    (Limits(states=4), [1, 3], StopReason.STATES),
    (Limits(states=5), [1, 3, 5], StopReason.STATES),
    (Limits(states=9), [1, 3, 5], StopReason.STATES),
    (Limits(states=10), [1, 3, 5, 5], StopReason.STATES),
])  # fmt: skip
def test_a_limit_ends_it_with_the_level_that_reaches_it(limits: Limits, levels: list[int], reason: StopReason) -> None:
    found, over = space(ledger(closed=5, expanded=5), limits)
    assert (found.levels, found.expanded, found.stopped_by, over) == (levels, len(levels) - 1, reason, True)


@pytest.mark.parametrize("keep_going", [False, True])
@pytest.mark.parametrize("known", [{"violating": 4}, {"refused": 3}, {}], ids=str)
def test_what_the_driver_found_by_itself_counts_in_the_same_way(known: dict[str, int], keep_going: bool) -> None:
    """Where the driver has searched more levels the result is the same."""
    found = ledger(closed=6, expanded=5, end=6, **known)
    for warm in range(3, 6):
        whole, _ = space(found, Limits(depth=warm), keep_going=True)
        started = Ledger(replace(whole, stopped_by=None), b"")
        started.levels = {level: figures for level, figures in found.levels.items() if level >= warm}
        if warm <= known.get("violating", known.get("refused", 9)):
            assert space(started, keep_going=keep_going) == space(found, keep_going=keep_going)


@pytest.mark.parametrize(
    ("shape", "fits"),
    [((2, 2, 1), True), ((3, 2, 1), False), ((2, 1, 1), False), ((2, 3, 1), False), ((2, 2, 2), False)],
)
def test_a_ledger_is_of_a_search_with_so_many_actions_conditions_and_words(
    shape: tuple[int, int, int], fits: bool
) -> None:
    assert ledger(closed=5, expanded=4, violating=4).fits(SpaceShape(*shape)) == fits


def test_a_ledger_is_read_as_it_was_written() -> None:
    start = replace(START, violations={0: Hit(2, 1, (5,))}, refused=Hit(1, 2, (6,)))
    found = ledger(closed=5, expanded=4, violating=4, refused=3)
    found.start = start
    read = Ledger.from_entries(json.loads(json.dumps(found.entries())))
    assert (read.start.levels, read.start.steps, read.start.expanded) == ([1, 3], [1, 2], 1)
    assert (read.start.violations, read.start.refused) == (start.violations, start.refused)
    assert read.levels == found.levels

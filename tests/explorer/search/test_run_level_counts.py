"""What the levels of a run amount to, level by level, whichever engine has found them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from insync.explorer.search.explored import Explored, Hit, LevelSummary
from insync.explorer.search.run_levels import RunLevels, SpaceShape
from insync.machine.packed import Found
from insync.runtime.watch import Limits, StopReason

NOTHING = Found()


def start() -> RunLevels:
    """Two levels in one file, the second of them not expanded: two actions, two properties."""
    first = LevelSummary(1, 1, violations=[NOTHING] * 2, steps=[1, 2], files={0: bytes(16), 1: bytes(16)})
    return RunLevels(2, {1: first, 2: LevelSummary(3, 3, violations=[NOTHING] * 2)}, 2)


def some(*, closed: int = 0, expanded: int = 0, refused: int = 0, violating: int = 0, end: int = 9) -> RunLevels:
    """Levels that are known after some levels of five states each.

    Args:
        closed: the last level whose states are known.
        expanded: the last level that was expanded, in two parts.
        refused: the level with two steps that are refused; 0 for none.
        violating: the level with two states that violate the second property.
        end: the first level without a state.
    """
    made = start()
    for level in range(3, closed + 1):
        found = [Found(2, (level,)) if level == violating else NOTHING for _ in range(2)]
        there = level < end
        made.figures(level).files = {0: bytes([level] * 16), 1: bytes([level + 1] * 16)}
        made.figures(level).add_states(1 * there, 2 * there, 2 * there, [NOTHING, NOTHING])
        made.figures(level).add_states(1 * there, 3 * there, 0, [NOTHING, found[1]])
    for level in range(2, expanded + 1):
        made.figures(level).add_steps([1, 0], Found(2, (7, level)) if level == refused else NOTHING, 1)
        made.figures(level).add_steps([0, 4], NOTHING, 0)
    return made


def space(found: RunLevels, limits: Limits | None = None, keep_going: bool = False) -> tuple[Explored, bool]:
    return found.space(limits or Limits(), keep_going)


def told(
    found: RunLevels, limits: Limits | None = None, keep_going: bool = False
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
    assert told(some(**known)) == (levels, expanded, steps, over)


def test_states_that_stand_for_others() -> None:
    """Levels and limits count all states; how many were visited is beside them."""
    result, _ = space(some(closed=4, expanded=4))
    assert (result.levels, result.visited) == ([1, 3, 5, 5], [1, 3, 2, 2])
    assert space(some(closed=4, expanded=4), Limits(states=9))[0].levels == [1, 3, 5]


def test_states_outside_are_known_of_each_level_that_is_closed() -> None:
    result, _ = space(some(closed=4, expanded=3))
    assert (result.levels, result.outside, result.stepless) == ([1, 3, 5, 5], [0, 0, 2, 2], [0, 1, 1])
    again, _ = space(read_again(some(closed=4, expanded=3)))
    assert (again.outside, again.stepless) == (result.outside, result.stepless)


def test_how_far_it_is() -> None:
    found = some(closed=5, expanded=4, end=5)
    assert (found.depth, found.expanded, found.visited(3)) == (4, 4, 6)
    assert (some().depth, some().expanded) == (2, 1)
    assert sorted(found.counted.digests) == [1, 3, 4, 5]


def test_a_violation_ends_it_with_its_level_unless_it_is_to_go_on() -> None:
    found = some(closed=5, expanded=5, violating=4)
    assert told(found) == ([1, 3, 5, 5], 3, [3, 10], True)
    assert space(found)[0].violations == {1: Hit(4, 2, (4,))}
    assert told(found, keep_going=True) == ([1, 3, 5, 5, 5], 5, [5, 18], False)
    assert space(found, keep_going=True)[0].violations == {1: Hit(4, 2, (4,))}


def test_a_refused_step_ends_it_before_its_level_counts_as_expanded() -> None:
    found = some(closed=5, expanded=5, refused=3)
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
    before = some(closed=5, expanded=5, **known).before_violations(keep_going)
    assert (before.levels, before.expanded, before.violations, before.refused) == (levels, expanded, {}, None)


def test_what_the_driver_found_by_itself_is_kept_before_violations() -> None:
    found = some(closed=5, expanded=5, violating=4)
    found.levels[2] = replace(found.levels[2], violations=[Found(1, (5,)), NOTHING])
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
    found, over = space(some(closed=5, expanded=5), limits)
    assert (found.levels, found.expanded, found.stopped_by, over) == (levels, len(levels) - 1, reason, True)


@pytest.mark.parametrize("keep_going", [False, True])
@pytest.mark.parametrize("known", [{"violating": 4}, {"refused": 3}, {}], ids=str)
def test_what_a_search_has_found_counts_in_the_same_way_when_it_is_read_again(
    known: dict[str, int], keep_going: bool
) -> None:
    """Also where it has ended: with a step that is refused its last level is not expanded."""
    found = some(closed=6, expanded=5, end=6, **known)
    for depth in range(3, 7):
        whole, _ = space(found, Limits(depth=depth), keep_going)
        again = RunLevels(2, dict(enumerate(whole.summaries, 1)), 2)
        assert space(again, Limits(depth=depth), keep_going)[0] == whole


@pytest.mark.parametrize(
    ("shape", "fits"),
    [((2, 2, 1), True), ((3, 2, 1), False), ((2, 1, 1), False), ((2, 3, 1), False), ((2, 2, 2), False)],
)
def test_levels_are_of_a_search_with_so_many_actions_conditions_and_words(
    shape: tuple[int, int, int], fits: bool
) -> None:
    assert some(closed=5, expanded=4, violating=4).fits(SpaceShape(*shape)) == fits


def read_again(found: RunLevels) -> RunLevels:
    return RunLevels.from_entries(json.loads(json.dumps(found.entries())), 2)


def test_levels_are_read_as_they_were_written() -> None:
    found = some(closed=5, expanded=4, violating=4, refused=3)
    assert read_again(found) == found

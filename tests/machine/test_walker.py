from __future__ import annotations

from insync.machine.walker import FailedWalk, Walked, merged

FIRST = Walked((1, 2), {1: 1, 2: 1}, 2, None)
FAILS = Walked((3, 0), {0: 1, 2: 1}, 3, FailedWalk(7, 0, (0, 0)))
LATER = Walked((5, 5), {2: 5}, 5, FailedWalk(9, 1, (1,)))


def test_walks_that_follow_each_other_are_summed_up_to_the_first_that_fails() -> None:
    assert merged([FIRST]) == FIRST
    assert merged([FIRST, FIRST]) == Walked((2, 4), {1: 2, 2: 2}, 4, None)
    assert merged([FIRST, FAILS, LATER]) == Walked((4, 2), {0: 1, 1: 1, 2: 2}, 5, FailedWalk(7, 0, (0, 0)))

from __future__ import annotations

import pytest

from insync.machine.kernels import WALKS, compile_kernels
from insync.machine.packed import PackedRows
from insync.machine.walker import FailedWalk, Walked, Walker, merged
from insync.model import Model
from insync.model.abstraction import abstraction_of
from insync_evaluator import conditions
from insync_toys import Clock, Commit, DieHard, Overflow

FIRST = Walked((1, 2), {1: 1, 2: 1}, 2, None)
FAILS = Walked((3, 0), {0: 1, 2: 1}, 3, FailedWalk(7, 0, (0, 0)))
LATER = Walked((5, 5), {2: 5}, 5, FailedWalk(9, 1, (1,)))


def test_walks_that_follow_each_other_are_summed_up_to_the_first_that_fails() -> None:
    assert merged([FIRST]) == FIRST
    assert merged([FIRST, FIRST]) == Walked((2, 4), {1: 2, 2: 2}, 4, None)
    assert merged([FIRST, FAILS, LATER]) == Walked((4, 2), {0: 1, 1: 1, 2: 2}, 5, FailedWalk(7, 0, (0, 0)))


def walker_of(model: Model, depth: int = 9) -> Walker:
    given, abstraction = list(conditions(model).values()), abstraction_of(model)
    kernels = compile_kernels(model.program, given, WALKS, abstraction=abstraction)
    return Walker.of(kernels, PackedRows.of(model.program.initials.rows, model.program.schema.words), 5, depth)


@pytest.mark.parametrize("model", [DieHard(), Clock(), Overflow(), Commit()], ids=lambda model: str(model.name))
def test_what_a_walker_says_is_of_its_last_walks_alone(model: Model) -> None:
    walker = walker_of(model)
    for first, end in ((0, 300), (7, 9), (300, 320), (4, 4)):
        fresh = walker_of(model)
        assert walker.walk(first, end) == fresh.walk(first, end)
        assert walker.steps == fresh.steps
        assert walker.seen == fresh.seen
        assert bool(walker.seen) == (end > first)
        fresh.close()
    walker.close()


def test_a_walk_takes_as_many_steps_as_its_depth_unless_it_ends_before() -> None:
    for model in (Clock(), Commit()):
        for depth in (1, 9, 300):  # in one call of the code a place takes fewer steps than that
            walker = walker_of(model, depth)
            walked = walker.walk(0, 70)
            walker.close()
            assert sum(walked.lengths.values()) == 70
            assert sum(steps * walks for steps, walks in walked.lengths.items()) == sum(walked.steps)
            assert max(walked.lengths) <= depth
            assert walked.lengths.get(depth, 0) + walked.stuck == 70
    assert walked.stuck == 70, "all have decided and nobody has more to learn"


def test_where_nothing_fails_there_is_no_failing_walk() -> None:
    clock, overflow = walker_of(Clock()), walker_of(Overflow())
    assert (clock.walk(0, 50).failed, clock.walk(3, 4).failed) == (None, None)
    found = overflow.walk(0, 50).failed
    assert found is not None
    assert found.property == len(conditions(Overflow())), "its step is refused"
    for walker in (clock, overflow):
        walker.close()

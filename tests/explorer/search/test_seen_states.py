"""Abstract states are counted in the order of the walks, which end when they are saturated, or the memory is full."""

from __future__ import annotations

import pytest

from insync.explorer import Limits, simulate
from insync.explorer.search.walks import Walks
from insync.model import Model
from insync.runtime.errors import UserError
from insync.runtime.watch import Watch
from insync_corners import Overflow
from insync_toys import Clock, DieHard, TokenRing

DIE_HARD = 16  # states that the puzzle has


def test_the_whole_state_counts_where_a_model_names_nothing() -> None:
    seen = simulate(DieHard(), properties=[], walks=300, abstract_states=True).abstract_states
    assert seen is not None
    assert (seen.names, seen.distinct) == (("small", "big"), DIE_HARD)
    assert [walks for walks, _ in seen.growth] == [1, 10, 100, 300]
    assert seen.growth[-1] == (300, DIE_HARD)


@pytest.mark.parametrize("patience", [1, 7, 50])
@pytest.mark.parametrize("threads", [1, 3])
def test_they_end_after_so_many_walks_without_a_new_one(patience: int, threads: int) -> None:
    result = simulate(DieHard(), properties=[], depth=3, until_saturated=patience, threads=threads)
    seen = result.abstract_states
    assert seen is not None
    assert seen.last_new is not None
    assert (result.stopped_by, result.verdict) == ("saturation", "incomplete")
    assert result.walks == seen.last_new + 1 + patience
    assert result.steps == 3 * result.walks
    whole = simulate(DieHard(), properties=[], depth=3, walks=result.walks, abstract_states=True)
    assert (whole.abstract_states, whole.actions) == (seen, result.actions)


def test_a_failure_before_saturation_decides_and_one_after_it_is_not_found() -> None:
    first = simulate(DieHard(), properties=["never_four"], depth=9, walks=5000).failed_walk
    assert first is not None
    before = simulate(DieHard(), properties=["never_four"], depth=9, walks=5000, until_saturated=4000)
    assert (before.failed_walk, before.stopped_by, before.verdict) == (first, None, "violated")
    after = simulate(DieHard(), properties=["never_four"], depth=9, walks=5000, until_saturated=1)
    assert after.walks <= first
    assert (after.failed_walk, after.stopped_by, after.verdict) == (None, "saturation", "incomplete")


def test_a_walk_that_fails_at_once_has_seen_one() -> None:
    seen = simulate(TokenRing(), properties=["deadlock_free"], walks=3, until_saturated=2).abstract_states
    assert seen is not None
    model = Overflow()
    result = simulate(model, properties=[], walks=1, abstract_states=True)
    assert result.abstract_states is not None
    assert result.abstract_states.growth == ((1, result.abstract_states.distinct),)


def test_nothing_is_seen_before_the_first_walk() -> None:
    result = simulate(Clock(), walks=9, abstract_states=True, limits=Limits(seconds=0))
    seen = result.abstract_states
    assert seen is not None
    assert (seen.distinct, seen.last_new, seen.growth, result.walks) == (0, None, (), 0)


def test_they_end_when_the_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "is_full", property(lambda self: True))
    result = simulate(Clock(), walks=10**9, depth=50, abstract_states=True, threads=1)
    assert (result.stopped_by, result.verdict) == ("memory", "incomplete")
    assert result.abstract_states is not None
    assert result.abstract_states.growth[-1] == (result.walks, 12)
    assert simulate(Clock(), walks=9, depth=50, threads=1).stopped_by is None, "nothing is kept where nobody asks"


def test_what_is_stopped_counts_what_it_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    model: Model = Clock()
    simulate(model, walks=1, abstract_states=True)  # so that it is compiled
    result = simulate(model, walks=10**9, depth=50, abstract_states=True, limits=Limits(seconds=0.3), threads=2)
    seen = result.abstract_states
    assert seen is not None
    assert (result.stopped_by, seen.distinct) == ("time", 12)
    assert seen.growth[-1] == (result.walks, 12)


@pytest.mark.parametrize("patience", [0, -1, 1.5, True, "2"])
def test_patience_is_a_whole_number(patience: int) -> None:
    with pytest.raises(UserError, match=r"until_saturated=.* is out of range; give a whole number of at least 1"):
        Walks(10, 1, 0, until_saturated=patience)


def test_more_patience_than_walks_is_refused() -> None:
    with pytest.raises(UserError, match=r"until_saturated=10 needs more walks than walks=10, as the first one always"):
        simulate(Clock(), walks=10, until_saturated=10)
    assert simulate(Clock(), walks=10, until_saturated=9).walks == 10

"""Confined searches that end early: every engine tells the states outside of its last level apart, as the evaluator."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from insync.explorer import CheckResult, Limits, check
from insync.explorer.search import beyond_memory, breadth_first
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.machine.stores import sorted_file
from insync.model import Array, BoundValues, Condition, Index, Int, Model, State, StateView, action, invariant
from insync.runtime.watch import Watch
from insync_confined import Ladder, Mail, Plane


def timeless(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0)


class SymmetricPosts(Model):
    """Workers that take letters without end, each of them two within."""

    class Worker(Index, symmetric=True):
        size = 3

    within = ("few",)

    def declare(self, b: BoundValues) -> State:
        return State(letters=Array(self.Worker, Int(0, 9)))

    @action
    def take(self, s: StateView, worker: Worker) -> None:
        """One more."""
        s.letters[worker] += 1

    @invariant
    def few(self, s: StateView, worker: Worker) -> Condition:
        """A worker has two at most."""
        found: Condition = s.letters[worker] <= 2
        return found

    @invariant
    def below_five(self, s: StateView) -> Condition:
        """Together they have four at most."""
        found: Condition = s.letters[0] + s.letters[1] + s.letters[2] < 5
        return found


def on_disk(model: Model, **given: Any) -> CheckResult:
    """Search with each level in a run directory, and then, as a second run that goes on."""
    with tempfile.TemporaryDirectory() as folder:
        first = check(model, run_dir=f"{folder}/run", **given)
        assert timeless(check(model, run_dir=f"{folder}/run", resume=True, **given)) == timeless(first)
        return first


def by_codes(model: Model, **given: Any) -> CheckResult:
    """Search with codes in place of states from the first level on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(breadth_first, "MOST_WHOLE", 1)
        return check(model, threads=2, partitions=3, **given)


def beyond(model: Model, **given: Any) -> CheckResult:
    """Search on disk from the third time on that somebody asks for memory."""
    may_use, calls = Watch.may_use, itertools.count()
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(Watch, "may_use", lambda self, size: next(calls) != 2 and may_use(self, size))
        patch.setattr(beyond_memory, "LEAST_ROWS", 1)
        patch.setattr(beyond_memory, "MOST_BUFFER_BYTES", 24)
        patch.setattr(sorted_file, "BLOCK", 10)
        return check(model, run_dir=f"{folder}/run", threads=2, partitions=2, **given)


SEARCHES: dict[str, Callable[..., CheckResult]] = {
    "one thread": partial(check, threads=1),
    "three threads": partial(check, threads=3, partitions=5),
    "codes": by_codes,
    "run directory": on_disk,
    "files": beyond,
}


def test_each_search_keeps_its_states_as_its_name_says() -> None:
    kept = {name: found(Mail(), properties=[]).kept for name, found in SEARCHES.items()}
    assert (kept["three threads"], kept["codes"], kept["files"]) == ("states", "codes", "files")


@pytest.mark.slow_for("mail-files", "mail-run directory", "plane-files", "plane-run directory")
@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("model", [Plane(), Mail(), Ladder(), SymmetricPosts()], ids=lambda one: one.name)
def test_every_search_counts_as_the_evaluator_does_wherever_it_ends(name: str, model: Model) -> None:
    within = ["low"] if model.name == "ladder" else None
    judged: list[tuple[Limits, list[str] | None]] = [(Limits(depth=depth), None) for depth in range(1, 8)]
    for ends, properties in [*judged, *((Limits(states=states), []) for states in (1, 4, 9, 14))]:
        given: dict[str, Any] = {"limits": ends, "properties": properties, "within": within}
        expected = check_by_evaluator(model, **given)
        found = SEARCHES[name](model, **given)
        assert counts(found) == counts(expected), (ends, properties)


def test_states_outside_are_counted_for_all_that_a_representative_stands_for() -> None:
    found = check(SymmetricPosts(), limits=Limits(depth=4), properties=[])
    assert found.representatives == 1 + 1 + 2 + 3, "of the fourth level those with letters 3 0 0, 2 1 0 and 1 1 1"
    assert (found.levels, found.outside) == ((1, 3, 6, 7), 3)


def counts(found: CheckResult) -> tuple[object, ...]:
    seen = (found.verdict, found.stopped_by, found.levels, found.frontier, found.outside, found.deadlocks)
    return (*seen, found.distinct_states, found.depth, dict(found.actions))

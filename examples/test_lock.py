"""The lock as tests of a suite: the example of docs/guide/pytest.md."""

from __future__ import annotations

import pytest
from lock import FixedLock, Lock

from insync.explorer import InsyncCheck, Limits
from insync.model import ReadableState


def test_one_worker_is_inside(insync_check: InsyncCheck) -> None:
    """Every state of three workers is visited."""
    assert insync_check(FixedLock, bounds={"workers": 3}) == "holds"


def test_looking_first_is_a_mistake(insync_check: InsyncCheck) -> None:
    """The broken lock stays broken: somebody relies on this example."""
    insync_check(Lock, bounds={"workers": 2}, properties=["one_inside"], expect="violated")
    assert insync_check.answer is not None
    assert insync_check.answer.violations[0].trace_length == 5


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 5])
def test_all_sizes(insync_check: InsyncCheck, workers: int) -> None:
    """One test per size, which pytest-xdist spreads over processes."""
    insync_check(FixedLock, bounds={"workers": workers})


def test_the_first_levels(insync_check: InsyncCheck) -> None:
    """A search that is meant to end early says by what."""
    assert insync_check(FixedLock, bounds={"workers": 5}, limits=Limits(depth=3), stopped_by="depth") == "incomplete"


def holder_is_inside(state: ReadableState) -> bool:
    """Whoever holds the lock is inside."""
    return state["holder"] is None or state["doing"][state["holder"]] == "INSIDE"


def test_a_property_in_plain_python(insync_check: InsyncCheck) -> None:
    """The evaluator runs Python functions, for small spaces."""
    insync_check(FixedLock, bounds={"workers": 3}, properties=[holder_is_inside], engine="evaluator")

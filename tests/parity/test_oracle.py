"""The models against a second reading of the TLA+ modules, level by level, at bounds that TLC was not run at."""

from __future__ import annotations

from functools import cache

import pytest

from insync.explorer import check
from insync.model.catalogue import find_model
from insync_oracle import INVARIANTS, AsyncIsr, Variant, levels

VARIANTS = ("truncate_to_high_watermark", "kip101", "kip279", "kip320_first_try", "kip320")
BOUNDS = ("replicas", "log_size", "max_records", "max_leader_epoch")

# replicas, log_size, max_records, max_leader_epoch: some with more records than fit, some with fewer.
SMALL = [(1, 2, 2, 2), (2, 1, 1, 0), (2, 1, 3, 2), (2, 2, 1, 3)]
LARGE = [
    (2, 3, 2, 2),
    (2, 4, 4, 1),
    (3, 1, 1, 1),
    (4, 1, 1, 0),
    (2, 3, 3, 3),
    (2, 2, 3, 3),
    (3, 3, 3, 1),
    (3, 1, 2, 2),
    (4, 1, 1, 1),
    (5, 1, 1, 0),
    (4, 2, 2, 0),
]
ASYNC = [(1, 1, 1), (2, 1, 3), (2, 4, 3), (3, 3, 2), (3, 1, 3), (4, 1, 1)]
ASYNC_LARGE = [(4, 2, 1), (5, 1, 1)]


variant = cache(Variant)


def bounds_of(values: tuple[int, ...]) -> dict[str, int]:
    return dict(zip(BOUNDS, values, strict=True))


@pytest.mark.slow_for(
    "truncate_to_high_watermark-(2, 1, 3, 2)",
    "truncate_to_high_watermark-(2, 2, 1, 3)",
    "kip101-(2, 1, 3, 2)",
    "kip101-(2, 2, 1, 3)",
    "kip279-(2, 1, 3, 2)",
    "kip279-(2, 2, 1, 3)",
    "kip320_first_try-(2, 1, 3, 2)",
    "kip320_first_try-(2, 2, 1, 3)",
    "kip320-(2, 1, 3, 2)",
    "kip320-(2, 2, 1, 3)",
)
@pytest.mark.parametrize("bounds", SMALL, ids=str)
@pytest.mark.parametrize("name", VARIANTS)
def test_levels(name: str, bounds: tuple[int, int, int, int]) -> None:
    found = check(find_model(name)(**bounds_of(bounds)), properties=())
    assert list(found.levels) == levels(Variant(name, *bounds))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("bounds", LARGE, ids=str)
@pytest.mark.parametrize("name", VARIANTS)
def test_levels_of_larger_spaces(name: str, bounds: tuple[int, int, int, int]) -> None:
    test_levels(name, bounds)


@pytest.mark.slow_for(
    "truncate_to_high_watermark-(2, 1, 1, 2)-weak_isr",
    "truncate_to_high_watermark-(2, 1, 1, 2)-strong_isr",
    "truncate_to_high_watermark-(2, 2, 3, 1)-weak_isr",
    "truncate_to_high_watermark-(2, 2, 3, 1)-strong_isr",
    "truncate_to_high_watermark-(2, 2, 3, 1)-leader_in_isr",
    "kip101-(2, 1, 1, 2)-weak_isr",
    "kip101-(2, 1, 1, 2)-strong_isr",
    "kip101-(2, 1, 1, 2)-leader_in_isr",
    "kip101-(2, 2, 3, 1)-weak_isr",
    "kip101-(2, 2, 3, 1)-strong_isr",
    "kip101-(2, 2, 3, 1)-leader_in_isr",
    "kip279-(2, 1, 1, 2)-weak_isr",
    "kip279-(2, 1, 1, 2)-strong_isr",
    "kip279-(2, 1, 1, 2)-leader_in_isr",
    "kip279-(2, 2, 3, 1)-weak_isr",
    "kip279-(2, 2, 3, 1)-strong_isr",
    "kip279-(2, 2, 3, 1)-leader_in_isr",
    "kip320_first_try-(2, 1, 1, 2)-weak_isr",
    "kip320_first_try-(2, 1, 1, 2)-strong_isr",
    "kip320_first_try-(2, 1, 1, 2)-leader_in_isr",
    "kip320_first_try-(2, 2, 3, 1)-weak_isr",
    "kip320_first_try-(2, 2, 3, 1)-strong_isr",
    "kip320_first_try-(2, 2, 3, 1)-leader_in_isr",
    "kip320-(2, 1, 1, 2)-weak_isr",
    "kip320-(2, 1, 1, 2)-strong_isr",
    "kip320-(2, 1, 1, 2)-leader_in_isr",
    "kip320-(2, 2, 3, 1)-weak_isr",
    "kip320-(2, 2, 3, 1)-strong_isr",
    "kip320-(2, 2, 3, 1)-leader_in_isr",
)
@pytest.mark.parametrize("invariant", INVARIANTS)
@pytest.mark.parametrize(
    "bounds", [(2, 1, 1, 2), (2, 2, 3, 1), pytest.param((2, 3, 2, 2), marks=pytest.mark.slow)], ids=str
)
@pytest.mark.parametrize("name", VARIANTS)
def test_levels_up_to_the_violation(name: str, invariant: str, bounds: tuple[int, int, int, int]) -> None:
    found = check(find_model(name)(**bounds_of(bounds)), properties=[invariant])
    expected = levels(variant(name, *bounds), INVARIANTS[invariant])
    assert list(found.levels) == expected
    for violation in found.violations:
        assert violation.trace_length == len(expected)


@pytest.mark.slow_for("(3, 3, 2)", "(3, 1, 3)", "(4, 1, 1)")
@pytest.mark.parametrize(
    "bounds", [*ASYNC, *(pytest.param(each, marks=pytest.mark.slow) for each in ASYNC_LARGE)], ids=str
)
def test_levels_of_async_isr(bounds: tuple[int, int, int]) -> None:
    replicas, max_offset, max_version = bounds
    model = find_model("async_isr")(replicas=replicas, max_offset=max_offset, max_version=max_version)
    assert list(check(model, properties=()).levels) == levels(AsyncIsr(*bounds))

"""TLC's counts at more bounds, from 1 to 5 replicas, and the steps that it generates.

Measured with TLC 2.18, one worker, no symmetry, deadlock check off, on the published modules; `states_generated` is the
initial state and one for each step. Three modules generate more than there are steps here: two disjuncts lead to the
same state in Kip279 when the follower's log is empty, and in Kip320 when the leader drops a follower that both lags and
follows another epoch; and the bounds of AsyncIsr are a constraint that TLC applies to what it has generated.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from insync.explorer import check
from insync.model.catalogue import find_model

HERE = Path(__file__).parent
FIGURES = {"model", "states_generated", "distinct_states", "depth"}
GENERATES_MORE = {"kip279", "kip320", "async_isr"}
Row = dict[str, str]


def rows() -> Iterator[Row]:
    for name in ("more_bounds.csv", "async_isr_more_bounds.csv"):
        with (HERE / name).open() as file:
            yield from csv.DictReader(file)


@pytest.mark.slow
@pytest.mark.parametrize("row", [pytest.param(row, id="-".join(row.values())) for row in rows()])
def test_agrees_with_tlc_at_more_bounds(row: Row) -> None:
    bounds = {name: int(value) for name, value in row.items() if name not in FIGURES}
    found = check(find_model(row["model"])(**bounds), properties=[])
    assert (found.distinct_states, found.depth) == (int(row["distinct_states"]), int(row["depth"]))
    steps = int(row["states_generated"]) - 1
    assert found.transitions <= steps if row["model"] in GENERATES_MORE else found.transitions == steps

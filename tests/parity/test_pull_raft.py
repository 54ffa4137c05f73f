"""What TLC found on the module PullRaft of Vanlightly/raft-tlaplus: examples/pull_raft.py has the same states, depths.

With two servers and one election a step of it is a successor of TLC, too. Else TLC generates one for each message that
tells of a later term. Its VIEW leaves out the counters of elections and restarts, and keeps what clients know;
with a restart that is a search in which states are the same from which different steps are possible (`with_view`).
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from insync.explorer import check
from insync.model.catalogue import find_model
from insync_views import Counts, with_view

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "pull_raft.py")
ROWS = list(csv.DictReader((Path(__file__).parent / "pull_raft.csv").read_text().splitlines()))
BOUNDS = ("servers", "records", "elections", "restarts")
Row = dict[str, str]


def bounds_of(row: Row) -> dict[str, int]:
    return {name: int(row[name]) for name in BOUNDS}


def cases() -> list[object]:
    """Each row that does not leave out what guards read; the larger ones are slow."""
    slow = [pytest.mark.slow, pytest.mark.timeout(600)]
    return [
        pytest.param(
            row, id="-".join(row.values()), marks=[] if [row[name] for name in BOUNDS[:3]] == ["2", "1", "1"] else slow
        )
        for row in ROWS
        if not (row["view"] and int(row["restarts"]))
    ]


@pytest.mark.slow_for("2-1-1-1---80-139-12")
@pytest.mark.parametrize("row", cases())
def test_agrees_with_tlc(row: Row) -> None:
    found = check(f"{EXAMPLE}:PullRaft", bounds=bounds_of(row), symmetry=bool(row["symmetry"]))
    states = found.representatives if row["symmetry"] else found.distinct_states
    assert (found.verdict, states, found.depth) == ("holds", int(row["distinct"]), int(row["depth"]))
    if (row["servers"], row["elections"]) == ("2", "1"):
        assert found.transitions + 1 == int(row["generated"])


def test_a_view_without_what_guards_read_misses_states() -> None:
    (row,) = (row for row in ROWS if row["view"] and int(row["restarts"]))
    found = with_view(find_model(f"{EXAMPLE}:PullRaft")(**bounds_of(row)), ["elections", "restarts"])
    assert found == Counts.on_record(row)


def test_every_row_is_compared_once() -> None:
    assert len(cases()) + 1 == len(ROWS) == 8


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_leader_that_counts_what_it_sends_loses_what_it_has_acknowledged() -> None:
    found = check(f"{EXAMPLE}:HastyPullRaft", bounds={"servers": 3, "elections": 2})
    (violation,) = found.violations
    assert (violation.property, violation.trace_length) == ("leader_has_all_acknowledged_values", 14)
    assert check(f"{EXAMPLE}:PullRaft", bounds={"servers": 3, "elections": 2}).verdict == "holds"

"""What TLC found on the module Raft of Vanlightly/raft-tlaplus: examples/raft.py has the same states and depths.

With two servers and one election a step of it is a successor of TLC, too. Else TLC generates one for each message
that tells of a later term.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from insync.explorer import check

EXAMPLE = f"{Path(__file__).parents[2] / 'examples' / 'raft.py'}:Raft"
ROWS = list(csv.DictReader((Path(__file__).parent / "raft.csv").read_text().splitlines()))
Row = dict[str, str]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row, id="-".join(row.values()), marks=[] if row is ROWS[0] else [pytest.mark.slow, pytest.mark.timeout(600)]
        )
        for row in ROWS
    ],
)
def test_agrees_with_tlc(row: Row) -> None:
    found = check(EXAMPLE, bounds={name: int(row[name]) for name in ("servers", "records", "elections", "restarts")})
    assert (found.verdict, found.distinct_states, found.depth) == ("holds", int(row["distinct"]), int(row["depth"]))
    if (row["servers"], row["elections"]) == ("2", "1"):
        assert found.transitions + 1 == int(row["generated"])

"""What TLC found on the module Raft of Vanlightly/raft-tlaplus: examples/raft.py has the same states and depths.

With two servers and one election a step of it is a successor of TLC, too. Else TLC generates one for each message
that tells of a later term.

TLC's VIEW leaves out what guards read, so the row with it is that of a search that takes states for the same from which
different steps are possible, as in test_kraft.py.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from insync.explorer import check
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.model import Model
from insync.model.catalogue import find_model
from insync_views import Counts, with_view

EXAMPLE = f"{Path(__file__).parents[2] / 'examples' / 'raft.py'}:Raft"
ROWS = list(csv.DictReader((Path(__file__).parent / "raft.csv").read_text().splitlines()))
Row = dict[str, str]


GATE = [row for row in ROWS if int(row["distinct"]) < 400]
"""Rows that the evaluator searches in a moment."""


def raft(row: Row) -> Model:
    return find_model(EXAMPLE)(**{name: int(row[name]) for name in ("servers", "records", "elections", "restarts")})


@pytest.mark.parametrize("row", GATE, ids=lambda row: "-".join(row.values()))
def test_the_evaluator_agrees_with_tlc(row: Row) -> None:
    if row["view"]:
        # Raft's VIEW leaves out what clients know, too, which the guard of ClientRequest reads.
        assert with_view(raft(row), ("elections", "restarts", "written")) == Counts.on_record(row)
        return
    found = check_by_evaluator(raft(row))
    assert (found.verdict, Counts.of(found)) == ("holds", Counts.on_record(row))


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id="-".join(row.values()), marks=[pytest.mark.slow, pytest.mark.timeout(600)])
        for row in ROWS
        if not row["view"]
    ],
)
def test_agrees_with_tlc(row: Row) -> None:
    found = check(raft(row))
    assert (found.verdict, found.distinct_states, found.depth) == ("holds", int(row["distinct"]), int(row["depth"]))
    if (row["servers"], row["elections"]) == ("2", "1"):
        assert found.transitions + 1 == int(row["generated"])

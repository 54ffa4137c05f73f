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
from insync.model import Model
from insync.model.catalogue import find_model
from insync.model.evaluator import Evaluator

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


@pytest.mark.parametrize("row", cases())
def test_agrees_with_tlc(row: Row) -> None:
    found = check(f"{EXAMPLE}:PullRaft", bounds=bounds_of(row), symmetry=bool(row["symmetry"]))
    states = found.representatives if row["symmetry"] else found.distinct_states
    assert (found.verdict, states, found.depth) == ("holds", int(row["distinct"]), int(row["depth"]))
    if (row["servers"], row["elections"]) == ("2", "1"):
        assert found.transitions + 1 == int(row["generated"])


def with_view(model: Model) -> tuple[int, int, int]:
    """Return states, generated and depth of a search that takes for equal what differs in the counters alone."""
    program, steps = model.program, Evaluator(model.program)
    shown = [n for n, cell in enumerate(program.schema.cells) if cell.path not in ("elections", "restarts")]
    queue = [(state, 1) for state in program.initials]
    seen = {tuple(state[n] for n in shown) for state, _ in queue}
    generated = len(queue)
    for state, depth in queue:
        for number in steps.enabled(state):
            generated += 1
            after = steps.step(number, state)
            view = tuple(after[n] for n in shown)
            if view not in seen:
                seen.add(view)
                queue.append((after, depth + 1))
    return len(seen), generated, queue[-1][1]


def test_a_view_without_what_guards_read_misses_states() -> None:
    (row,) = (row for row in ROWS if row["view"] and int(row["restarts"]))
    found = with_view(find_model(f"{EXAMPLE}:PullRaft")(**bounds_of(row)))
    assert found == tuple(int(row[name]) for name in ("distinct", "generated", "depth"))


def test_every_row_is_compared_once() -> None:
    assert len(cases()) + 1 == len(ROWS) == 8


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_leader_that_counts_what_it_sends_loses_what_it_has_acknowledged() -> None:
    found = check(f"{EXAMPLE}:HastyPullRaft", bounds={"servers": 3, "elections": 2})
    (violation,) = found.violations
    assert (violation.property, violation.trace_length) == ("leader_has_all_acknowledged_values", 14)
    assert check(f"{EXAMPLE}:PullRaft", bounds={"servers": 3, "elections": 2}).verdict == "holds"

"""How far off the estimate of the end is, on spaces that other checkers counted; benchmarks/README.md has the tables.

`level_sizes.csv` has the levels of those spaces of the other tables that have at least 1,000 states. Where several have
the same levels, one is measured. `level_sizes_cluster.csv` has those of spaces of `cluster`, most of which
tests/kafka/cluster/test_spaces.py counts as well; they had no part in the choice of the method.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from insync.explorer import check
from insync.explorer.progress import estimated_end

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "benchmarks" / "README.md"
NOT_BOUNDS = {"model", "symmetry", "property", "verdict", "distinct_states", "depth", "trace_length"}
NOT_BOUNDS |= {"states_generated", "representatives"}
PARTS = ((0, 20), (20, 50), (50, 80), (80, 100))


def table(name: str) -> list[dict[str, str]]:
    with (HERE / name).open() as file:
        return list(csv.DictReader(file))


def levels_of(row: dict[str, str]) -> list[int]:
    return [int(size) for size in row["levels"].split()]


def test_the_recorded_levels_have_the_states_that_tlc_counted() -> None:
    counted = {}
    for name in ("tlc.csv", "async_isr.csv", "more_bounds.csv", "async_isr_more_bounds.csv", "symmetry.csv"):
        for row in table(name):
            if row.get("verdict") != "violated":
                bounds = " ".join(value for key, value in row.items() if key not in NOT_BOUNDS)
                counted[row["model"], bounds] = (int(row["distinct_states"]), int(row["depth"]))
    examples = {row["model"]: int(row["distinct_states"]) for row in table("tlaplus_examples.csv")}
    recorded = table("level_sizes.csv")
    for row in recorded:
        levels = levels_of(row)
        if row["model"] in examples:
            assert sum(levels) == examples[row["model"]]
        elif (row["model"], row["bounds"]) in counted:
            assert (sum(levels), len(levels)) == counted[row["model"], row["bounds"]]
    assert sum((row["model"], row["bounds"]) in counted or row["model"] in examples for row in recorded) > 80


@pytest.mark.slow_but("row4")
@pytest.mark.parametrize("row", [row for row in table("level_sizes.csv") if sum(levels_of(row)) < 1_300])
def test_the_recorded_levels_are_those_of_the_search(row: dict[str, str]) -> None:
    if row["model"].startswith("examples/"):
        model, bounds = str(ROOT / row["model"]), {}
    else:
        names = next(r for r in table("more_bounds.csv") if r["model"] == row["model"])
        given = [name for name in names if name not in NOT_BOUNDS]
        model = row["model"]
        bounds = dict(zip(given, map(int, row["bounds"].split()), strict=True))
    assert list(check(model, bounds=bounds, properties=[]).levels) == levels_of(row)


@pytest.mark.slow
@pytest.mark.parametrize("row", table("level_sizes_cluster.csv"), ids=lambda row: row["settings"].replace(" ", ","))
def test_a_recorded_space_of_the_cluster_is_that_of_the_search(row: dict[str, str]) -> None:
    pairs = dict(pair.split("=") for pair in row["settings"].split())
    chosen = {name: int(value) if value.isdigit() and name != "acks" else value for name, value in pairs.items()}
    assert list(check("cluster", bounds=chosen, properties=[]).levels) == levels_of(row)


def measured(name: str) -> list[tuple[str, ...]]:
    """Return a row of the page's table for each part of a space that may have been found."""
    spaces = {tuple(levels_of(row)) for row in table(name)}
    rows = []
    for least, most in PARTS:
        moments, states, depths = 0, list[float](), list[float]()
        for levels in spaces:
            for known in range(1, len(levels)):
                if not least <= 100 * sum(levels[:known]) / sum(levels) < most:
                    continue
                moments += 1
                said = estimated_end(levels[:known])
                if said is not None:
                    ratio = said.states / sum(levels)
                    states.append(max(ratio, 1 / ratio))
                    depths.append(abs(said.levels - len(levels)) / len(levels))
        shares = [f"{100 * at(depths, part):.0f} %" for part in (0.5, 0.9)]
        factors = [f"{at(states, part):.2f}" for part in (0.5, 0.9)]
        rows.append((f"{least} to {most} %", f"{len(states)} of {moments}", *factors, *shares))
    return rows


def at(values: list[float], part: float) -> float:
    return sorted(values)[int(part * len(values))]


def test_the_page_has_the_errors() -> None:
    told = re.findall(r"^\| (\d+ to \d+ %) \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    assert [(part, *rest.split(" | ")) for part, rest in told] == [
        *measured("level_sizes.csv"),
        *measured("level_sizes_cluster.csv"),
    ]

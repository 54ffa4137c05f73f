"""The models of examples/tlaplus have the states, the depth and the steps that TLC reports of their TLA+ modules.

The figures are those of the manifests of the public repository tlaplus/Examples. TLC counts each initial state and each
successor as generated; the column `note` says where it generates a state more than once for one step here.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from insync.explorer import check

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "tlaplus"
SLOW: set[str] = set()
Row = dict[str, str]


def rows() -> list[Row]:
    with (Path(__file__).parent / "tlaplus_examples.csv").open() as file:
        return list(csv.DictReader(file))


def name_of(row: Row) -> str:
    return row["model"].partition(":")[2]


PARAMETERS = [pytest.param(r, id=name_of(r), marks=[pytest.mark.slow] * (name_of(r) in SLOW)) for r in rows()]


@pytest.mark.parametrize("row", PARAMETERS)
def test_agrees_with_tlc(row: Row) -> None:
    file, _, rest = row["model"].partition(":")
    name, *given = rest.split(" --")
    found = check(f"{ROOT / file}:{name}", bounds=dict(one.split() for one in given))
    assert found.verdict == "holds", found.violations
    assert (found.distinct_states, found.depth) == (int(row["distinct_states"]), int(row["depth"]))
    generated = found.transitions + found.levels[0]
    if row["note"].startswith("generated"):
        assert generated < int(row["generated_states"])
    else:
        assert generated == int(row["generated_states"])


def test_every_example_has_a_row() -> None:
    assert {Path(row["model"].partition(":")[0]).name for row in rows()} == {path.name for path in FOLDER.glob("*.py")}

"""The models of examples/tlaplus have the states, the depth and the steps that TLC reports of their TLA+ modules.

The figures are those of the manifests of the public repository tlaplus/Examples. TLC counts each initial state and each
successor as generated. The column `note` says what is counted otherwise: where there are several ways to one successor,
which TLC generates once for each; and where TLC does not find the depth of the manifest again, the depth that it finds,
with one worker and with two.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from insync.explorer import check, liveness

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "tlaplus"
SLOW = {"Bakery"}
Row = dict[str, str]


def rows() -> list[Row]:
    with (Path(__file__).parent / "tlaplus_examples.csv").open() as file:
        return list(csv.DictReader(file))


def name_of(row: Row) -> str:
    return row["model"].partition(":")[2]


PARAMETERS = [pytest.param(r, id=name_of(r), marks=[pytest.mark.slow] * (name_of(r) in SLOW)) for r in rows()]


@pytest.mark.parametrize("row", PARAMETERS)
def test_agrees_with_tlc(row: Row) -> None:
    found = check(f"{ROOT}/{row['model']}")
    assert found.verdict == "holds", found.violations
    assert found.distinct_states == int(row["distinct_states"])
    exact_depth = re.search(r"depth: (\d+)", row["note"])
    assert found.depth == int(exact_depth[1] if exact_depth else row["depth"])
    generated = found.transitions + found.levels[0]
    if "generated:" in row["note"]:
        assert generated < int(row["generated_states"])
    else:
        assert generated == int(row["generated_states"])


@pytest.mark.parametrize(
    ("model", "bounds", "distinct_states", "generated", "depth"),
    [
        ("bakery.py:Bakery", {"processes": 1}, 204, 630, 1),
        ("paxos_commit.py:PaxosCommit", {"managers": 1, "ballots": 2}, 66893, None, 23),
        ("tcp.py:Tcp", {"segments": 3}, 7698, 40861, 27),
    ],
)
def test_agrees_with_tlc_at_other_bounds(
    model: str, bounds: dict[str, int], distinct_states: int, generated: int | None, depth: int
) -> None:
    """Run by us, with one worker; of Tcp with no more than three segments on their way to an end."""
    found = check(f"{FOLDER}/{model}", bounds=bounds)
    assert (found.verdict, found.distinct_states, found.depth) == ("holds", distinct_states, depth)
    assert generated is None or found.transitions + found.levels[0] == generated


@pytest.mark.parametrize(
    "model",
    ["ewd840:Ewd840", "token_ring:TokenRing", "dining_philosophers:DiningPhilosophers", "chang_roberts:ChangRoberts"],
)
def test_what_must_happen_happens(model: str) -> None:
    pytest.importorskip("scipy")
    file, _, name = model.partition(":")
    assert liveness(f"{FOLDER / file}.py:{name}").verdict == "holds"


def test_every_example_has_a_row() -> None:
    assert {Path(row["model"].partition(":")[0]).name for row in rows()} == {path.name for path in FOLDER.glob("*.py")}

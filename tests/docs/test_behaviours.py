"""The table of behaviours in docs/guide/cluster-model.md: each has a property that a defect of the catalogue breaks.

That the defect breaks it and that its fix holds is what the tests of the catalogue run (tests/kafka/cluster).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.kafka.groups.consumer_group import ConsumerGroup
from insync.properties.registry import invariants_of, run_properties_of

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "cluster-model.md"
PROMISED = {*invariants_of(Cluster()), *run_properties_of(Cluster), *invariants_of(ConsumerGroup())}


def rows() -> list[list[str]]:
    """The cells of each row: number, behaviour, where, property, holds, breaks."""
    table = PAGE.read_text().split(
        "| # | behaviour | where | property | holds | breaks |\n|---|---|---|---|---|---|\n"
    )[1]
    lines = table.split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def defects_in(cell: str) -> list[str]:
    """The entries that a cell names, those between two of one kind included."""
    found: list[str] = []
    for letter, first, last in re.findall(r"([A-Z])-(\d+)(?: to [A-Z]-(\d+))?", cell):
        numbers = range(int(first), int(last or first) + 1)
        found += [name for name in (f"{letter}-{number:0{len(first)}}" for number in numbers) if name in DEFECTS]
    return found


CATALOGUED = [row for row in rows() if defects_in(row[5])]


def test_there_is_a_row_for_each_behaviour_that_the_mission_names_and_more() -> None:
    assert [row[0] for row in rows()][:17] == [str(number) for number in range(1, 18)]
    assert {row[0] for row in rows()[17:]} <= {""}
    others = [row[1] for row in rows() if row not in CATALOGUED]
    assert others == [
        "replicas are placed one broker after the other", "a fetch that fails", "replication quotas"
    ], "tests/kafka/test_placement.py and tests/kafka/cluster/test_pausing.py have both cases of these"  # fmt: skip


@pytest.mark.parametrize("row", CATALOGUED, ids=[row[1] for row in CATALOGUED])
def test_some_property_of_a_behaviour_is_broken_by_each_defect_that_its_row_names(row: list[str]) -> None:
    named = set(re.findall(r"`(\w+)`", row[3]))
    assert named <= PROMISED | {"all others"}
    missing = {name: DEFECTS[name].breaks for name in defects_in(row[5]) if not DEFECTS[name].harmless}
    assert {name: broken for name, broken in missing.items() if broken not in named} == {}

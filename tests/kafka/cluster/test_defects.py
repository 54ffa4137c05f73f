"""The catalogue of defects: each is found at its bounds, is drawn, and its fix holds there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from catalogue_pages import write_pictures
from insync.kafka.cluster.configuration import BOUNDS, SETTINGS
from insync.kafka.defects import DEFECTS, LEFT_OUT, Defect
from insync.kafka.releases import Rules
from insync.kafka_questions.defects import search_defect
from insync.properties.kafka import (
    cluster,
    cluster_availability,
    cluster_consumers,
    cluster_controllers,
    cluster_deletions,
    cluster_directories,
    cluster_order,
    cluster_producers,
    cluster_removals,
    cluster_runs,
    cluster_sessions,
    cluster_truncation,
)

QUICK = (
    "R-01",
    "L-1",
    "L-9",
    "L-10",
    "L-11",
    "L-12",
    "R-15",
    "R-21",
    "R-22",
    "R-26",
    "C-2",
    "C-10",
    "C-17",
    "C-18",
    "M-7",
    "M-11",
    "M-12",
    "M-13",
    "M-14",
    "M-15",
    "M-16",
    "M-17",
    "M-22",
    "N-10",
    "N-11",
    "N-12",
    "N-13",
    "N-14",
    "N-15",
    "N-18",
    "N-19",
    "N-20",
    "R-48",
    "R-49",
    "R-50",
    "R-51",
    "R-52",
    "R-53",
    "R-54",
    "R-57",
    "C-19",
)
"""Those that take a second or two; `make slow` runs all."""


def verify(defect: Defect, folder: Path) -> None:
    broken = search_defect(defect)
    assert broken.verdict == ("holds" if defect.harmless else "violated")
    assert [trace.length for trace in broken.traces] == ([] if defect.harmless else [defect.length])
    write_pictures(folder, defect, broken)
    drawn = {path.name: path.stat().st_size for path in folder.iterdir()}
    assert set(drawn) == (set() if defect.harmless else {f"{defect.name}.svg", f"{defect.name}-trace.html"})
    assert all(size < 300_000 for size in drawn.values())
    for text in (path.read_text() for path in folder.iterdir()):
        assert defect.breaks not in text.partition("</title>")[0], "the title is the name of the entry"
    fixed = search_defect(defect, defect.fixed_witness)
    assert fixed.verdict == "holds", "the fix does not hold at the bounds of the defect"


@pytest.mark.slow_but("L-12", "R-26", "C-18", "M-11", "R-48", "R-52", "R-53", "R-54", "C-19")
@pytest.mark.parametrize("name", QUICK)
def test_a_defect_is_found_and_drawn_and_its_fix_holds(name: str, tmp_path: Path) -> None:
    verify(DEFECTS[name], tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", [name for name in DEFECTS if name not in QUICK])
def test_every_other_defect_is_found_and_drawn_and_its_fix_holds(name: str, tmp_path: Path) -> None:
    verify(DEFECTS[name], tmp_path)


@pytest.mark.parametrize("name", list(DEFECTS))
def test_an_entry_names_rules_bounds_and_a_property_that_exist(name: str) -> None:
    defect = DEFECTS[name]
    assert set(defect.rules) | set(defect.base) <= set(Rules.names())
    assert set(defect.bounds) | set(defect.fixed) <= {*BOUNDS, *SETTINGS}
    producing = (cluster_deletions, cluster_producers, cluster_runs)
    declared = (*producing, cluster_directories, cluster_order, cluster_removals, cluster_sessions, cluster_truncation)
    modules = (cluster, cluster_availability, cluster_consumers, cluster_controllers, *declared)
    assert defect.breaks in {name for module in modules for name in module.__all__}
    assert bool(defect.rules) != bool(defect.fixed), "the fix is a rule or a setting"
    assert defect.length > 1 or defect.harmless


def test_every_safety_entry_of_the_catalogue_is_modelled_or_left_out_with_a_reason() -> None:
    known = {*DEFECTS, *(entry.name for entry in LEFT_OUT)}
    assert {f"R-{number:02}" for number in range(1, 62)} <= known
    assert all(entry.reason for entry in LEFT_OUT)
    assert not set(DEFECTS) & {entry.name for entry in LEFT_OUT}


def test_entries_are_in_order() -> None:
    numbers = [int(name.partition("-")[2]) for name in DEFECTS if re.match("R-", name)]
    assert numbers == sorted(numbers)

"""What `check --statistics` says of a space beside its size."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.explorer import check
from insync.explorer.documents.document import Style
from insync.explorer.documents.statistics import describe_statistics, level_bar
from insync.kafka.published import Kip320
from insync.runtime.memory import HugePages

Insync = Callable[..., Any]


@pytest.fixture
def pages_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for the huge pages of small searches too."""
    monkeypatch.setattr(sys.modules["insync.explorer.check"], "MANY_PAGES", 0)


@pytest.mark.usefixtures("pages_of_all")
@pytest.mark.parametrize("pages", [HugePages(3, 1), HugePages(0, 51)], ids=["some pages", "no pages"])
def test_the_lines_of_a_space(insync: Insync, pages: HugePages, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two replicas: 1, 4, 12, ... states a level, two thirds of them in the middle; counted in tests/parity.

    How many huge pages are had depends on the memory that is free; without any the line about them is broken in two.
    """
    monkeypatch.setattr(sys.modules["insync.explorer.check"], "huge_pages", lambda: pages)
    code, out, _ = insync("check", "kip320", "--replicas", 2, "--statistics")
    *_, blank, levels, steps, fields, memory = out.replace("\n        ", " ").splitlines()
    schema = Kip320(replicas=2).program.schema
    assert (code, blank) == (0, "")
    assert levels == "levels  ▁▁▁▁▁▂▂▄▅▇███▆▄▂▁▁  18 levels, the largest is level 12 with 900 states"
    answer = json.loads(insync("check", "kip320", "--replicas", 2, "--json").out)
    mean = answer["transitions"] / answer["distinct_states"]
    assert steps.startswith(f"steps   {mean:.2f} a state on average, of ")
    assert fields.startswith(f"fields  {schema.bits} bits a state, in 1 word: replica.log.epoch 8, ")
    assert schema.words == 1
    assert re.fullmatch(
        rf"memory  {pages.had} huge pages had, {pages.missed} missed(: this machine gives none, .+)?", memory
    )


def test_of_a_small_space_nobody_asks_for_its_pages(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["insync.explorer.check"], "huge_pages", lambda: pytest.fail("asked"))
    last = insync("check", "kip320", "--replicas", 2, "--statistics").out.splitlines()[-1]
    assert not last.startswith("memory")
    answer = json.loads(insync("check", "kip320", "--replicas", 2, "--statistics", "--json").out)
    assert answer["statistics"]["huge_pages"] is None


@pytest.mark.usefixtures("pages_of_all")
def test_scripts_have_them_as_well(insync: Insync) -> None:
    answer = json.loads(insync("check", "kip320", "--replicas", 2, "--statistics", "--json").out)
    said = answer["statistics"]
    assert said["steps_per_state"] == pytest.approx(answer["transitions"] / answer["distinct_states"], abs=1e-6)
    assert said["bound_actions"] == len(Kip320(replicas=2).program.actions)
    assert sum(field["bits"] for field in said["fields"]) == said["bits"] == Kip320(replicas=2).program.schema.bits
    sizes = [field["bits"] for field in said["fields"]]
    assert sizes == sorted(sizes, reverse=True)
    assert answer["kept"] == "states"
    assert sum(said["huge_pages"].values()) > 0
    assert "statistics" not in json.loads(insync("check", "kip320", "--replicas", 2, "--json").out)


def test_of_a_search_that_was_stopped_the_last_level_has_not_taken_its_steps(insync: Insync) -> None:
    _, out, _ = insync("check", "kip320", "--replicas", 2, "--max-depth", 2, "--statistics", "--json")
    assert json.loads(out)["statistics"]["steps_per_state"] == 4.0, "of the initial state alone"
    code, out, _ = insync("check", "kip320", "--replicas", 2, "--max-seconds", "1e-9", "--statistics")
    assert (code, "levels" in out) == (3, False)


def test_an_output_without_such_characters_has_a_bar_all_the_same(
    insync: Insync, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", plain)
    insync("check", "kip320", "--replicas", 2, "--statistics")
    plain.seek(0)
    assert "levels  .....::=+#@@@*=:..  18 levels, " in plain.read()


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=500))
def test_a_bar_is_short_and_highest_where_the_levels_are_largest(levels: list[int]) -> None:
    bar = level_bar(levels, "12345678")
    each = -(-len(levels) // 60)
    assert len(bar) == -(-len(levels) // each) <= 60
    assert bar[levels.index(max(levels)) // each] == "8"
    heights = {max(levels[at * each : (at + 1) * each]): height for at, height in enumerate(bar)}
    assert [heights[size] for size in sorted(heights)] == sorted(heights.values())


def test_codes_in_place_of_states_are_told(insync: Insync, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.explorer.search.breadth_first.MOST_WHOLE", 0)
    said = insync("check", "kip320", "--replicas", 2, "--statistics").out
    assert "kept    as codes: exact, a number for each part of a state" in said
    assert json.loads(insync("check", "kip320", "--replicas", 2, "--json").out)["kept"] == "codes"


def test_a_machine_without_huge_pages_gets_a_sentence() -> None:
    result = check("kip320", bounds={"replicas": 1})
    told = [
        describe_statistics(replace(result, huge_pages=pages), Kip320(replicas=1), Style(width=200)).splitlines()[-1]
        for pages in (HugePages(0, 51), HugePages(50, 1))
    ]
    assert told[0].startswith("memory  0 huge pages had, 51 missed: this machine gives none, and large searches take")
    assert told[1] == "memory  50 huge pages had, 1 missed"
    assert "missed" not in describe_statistics(replace(result, huge_pages=None), Kip320(replicas=1), Style(width=200))

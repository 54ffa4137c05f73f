"""What TLC found on the published modules with SYMMETRY: so many states, where it visits one for all permutations."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from insync.explorer import check
from insync.model.catalogue import find_model

BOUNDS = ("replicas", "log_size", "max_records", "max_leader_epoch")
ROWS = list(csv.DictReader((Path(__file__).parent / "symmetry.csv").read_text().splitlines()))


def identity(row: dict[str, str]) -> str:
    return "-".join([row["model"], *(row[name] for name in BOUNDS)])


@pytest.mark.slow_for(
    "kip320-3-2-1-2",
    "kip320_first_try-3-2-1-2",
    "truncate_to_high_watermark-3-2-1-2",
    "kip320-4-1-1-1",
    "kip320_first_try-4-1-1-1",
    "truncate_to_high_watermark-4-1-1-1",
)
@pytest.mark.parametrize("row", ROWS, ids=identity)
def test_agrees_with_tlc_under_symmetry(row: dict[str, str]) -> None:
    model = find_model(row["model"])(**{name: int(row[name]) for name in BOUNDS})
    found = check(model, properties=())
    expected = [int(row[name]) for name in ("representatives", "distinct_states", "depth")]
    assert [found.representatives, found.distinct_states, found.depth] == expected


@pytest.mark.slow
def test_a_space_of_four_million_states() -> None:
    found = check(find_model("kip320")(replicas=3, log_size=3, max_records=3, max_leader_epoch=2))
    assert (found.representatives, found.distinct_states, found.verdict) == (683_278, 4_093_531, "holds")


@pytest.mark.slow_for("kip101", "kip279")
@pytest.mark.parametrize("name", ["kip101", "kip279", "kip320_first_try"])
def test_verdicts_and_lengths_are_those_of_all_states(name: str) -> None:
    model = find_model(name)(replicas=3, log_size=2, max_records=2, max_leader_epoch=1)
    found, plain = (check(model, symmetry=used, keep_going=True) for used in (True, False))
    assert (found.levels, found.actions, found.properties) == (plain.levels, plain.actions, plain.properties)
    assert [v.trace_length for v in found.violations] == [v.trace_length for v in plain.violations]


def test_models_in_which_members_have_an_order_are_not_symmetric() -> None:
    """The leader of `async_isr` is the first replica, and the assignment of `cluster` is in order."""
    for name in ("async_isr", "cluster"):
        assert find_model(name)().program.symmetry is None

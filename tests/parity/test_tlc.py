"""Every count, depth, verdict and trace length that TLC found on the published TLA+ modules."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from insync.explorer import check
from insync.model.catalogue import find_model

HERE = Path(__file__).parent
NOT_BOUNDS = {"model", "symmetry", "property", "verdict", "distinct_states", "depth", "trace_length"}
Row = dict[str, str]


def rows() -> Iterator[Row]:
    for name in ("tlc.csv", "async_isr.csv"):
        with (HERE / name).open() as file:
            yield from csv.DictReader(file)


def identity(row: Row) -> str:
    bounds = ",".join(value for name, value in row.items() if name not in NOT_BOUNDS)
    return f"{row['model']}-{bounds}-{row['property']}"


@pytest.mark.slow_but(
    "truncate_to_high_watermark-2,2,2,2-weak_isr",
    "truncate_to_high_watermark-2,2,2,2-strong_isr",
    "truncate_to_high_watermark-2,2,2,2-leader_in_isr",
    "kip101-2,2,2,2-leader_in_isr",
    "kip279-2,2,2,2-weak_isr",
    "kip279-2,2,2,2-strong_isr",
    "kip279-2,2,2,2-leader_in_isr",
    "kip320_first_try-2,2,2,2-strong_isr",
    "kip320_first_try-2,2,2,2-leader_in_isr",
    "kip320-3,2,2,1-leader_in_isr",
    "kip320-2,2,2,2-weak_isr",
    "kip320-2,2,2,2-strong_isr",
    "kip320-2,2,2,2-leader_in_isr",
    "async_isr-2,2,2-none",
    "async_isr-3,1,1-valid_high_watermark",
    "async_isr-3,2,2-valid_high_watermark",
)
@pytest.mark.parametrize("row", [pytest.param(row, id=identity(row)) for row in rows()])
def test_agrees_with_tlc(row: Row) -> None:
    bounds = {name: int(value) for name, value in row.items() if name not in NOT_BOUNDS}
    model = find_model(row["model"])(**bounds)
    wanted = row["property"]
    found = check(model, properties=() if wanted == "none" else [wanted])

    if row["verdict"] == "violated":
        assert found.verdict == "violated"
        (violation,) = found.violations
        assert (violation.property, violation.trace_length) == (wanted, int(row["trace_length"]))
        return
    # Without a property TLC's word is "complete": all states were seen.
    assert found.verdict == "holds"
    assert (found.distinct_states, found.depth) == (int(row["distinct_states"]), int(row["depth"]))


def test_every_row_is_a_test_of_its_own() -> None:
    names = [identity(row) for row in rows()]
    assert len(names) == len(set(names)) == 75


@pytest.mark.slow
@pytest.mark.parametrize("row", [pytest.param(row, id=identity(row)) for row in rows()])
def test_agrees_with_tlc_where_codes_are_kept(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows, the states kept as codes from the first level on, so that every trace is searched again."""
    monkeypatch.setattr("insync.explorer.search.breadth_first.MOST_WHOLE", 0)
    test_agrees_with_tlc(row)

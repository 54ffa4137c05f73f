"""Mistakes, seeded into insync one at a time, are each noticed by what other checkers have said.

How each is noticed is on record in tests/parity/seeded.csv. To record it again:
`PYTHONPATH=tests/support INSYNC_CODE=quick .venv/bin/python tests/parity/test_seeded.py`.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path

import pytest

import insync_seeded
from insync_seeded import MISTAKES, Noticed

RECORD = Path(__file__).parent / "seeded.csv"
UNDER = ("code", "packing", "storage", "codes", "search", "symmetry", "simplification")


def told(name: str, cache: Path) -> Noticed | None:
    """What a process with the mistake says, of which nothing is cached; a process that crashes has noticed it too."""
    script = Path(insync_seeded.__file__)
    environment = {
        **os.environ,
        "INSYNC_CACHE_DIR": str(cache),
        "INSYNC_CODE": "quick",
        "PYTHONPATH": str(script.parent),
    }
    command = [sys.executable, str(script), name]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    if ran.returncode < 0:
        return Noticed("", "insync", f"crashes ({-ran.returncode})", "")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    return None if found is None else Noticed(**found)


@cache
def record() -> dict[str, Noticed]:
    with RECORD.open(encoding="utf-8", newline="") as file:
        return {row.pop("mistake"): Noticed(**row) for row in csv.DictReader(file)}


def test_there_are_twenty_and_more_of_every_kind() -> None:
    assert len(MISTAKES) >= 20
    assert {name.partition(":")[0] for name in MISTAKES} == set(UNDER)


def test_every_mistake_is_on_record_and_a_judge_has_noticed_it() -> None:
    assert list(record()) == list(MISTAKES)
    for name, found in record().items():
        assert found.judges, name
    judged = [found for found in record().values() if found.judges != "insync"]
    assert len(judged) >= 20


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_without_a_mistake_nothing_is_noticed(tmp_path: Path) -> None:
    assert told("none", tmp_path) is None


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_noticed_as_it_is_on_record(name: str, tmp_path: Path) -> None:
    assert told(name, tmp_path) == record()[name]


def write() -> None:
    """Run all mistakes, and write how each is noticed."""
    with RECORD.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["mistake", *(one.name for one in fields(Noticed))], lineterminator="\n")
        writer.writeheader()
        for name in MISTAKES:
            with tempfile.TemporaryDirectory() as folder:
                found = told(name, Path(folder))
            writer.writerow({"mistake": name, **(asdict(found) if found else {})})
            sys.stdout.write(f"{name}: {found}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    write()

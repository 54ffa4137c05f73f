"""A run goes on only where all that it searches is the same, and what is not is named."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from insync.explorer.breadth_first.space import Space
from insync.machine.packed import Stepless
from insync.model.errors import UserError
from insync.spark_explore.driver.ledger import Ledger
from insync.spark_explore.driver.manifest import Identity, Manifest, read_manifest, require_same, write_manifest
from insync.spark_explore.wire.run_folder import RunFolder

pytest.importorskip("pyarrow")

IDENTITY = Identity("0.1", "kip320", {"replicas": 2}, ("strong_isr",), "c0de", within=("weak_isr",))
OTHERS: dict[str, Any] = {
    "insync": "0.2",
    "model": "kip279",
    "bounds": {"replicas": 3},
    "properties": (),
    "code": "c0ffee",
    "symmetric": True,
    "within": (),
}


def test_every_part_of_the_identity_has_another_value_here() -> None:
    assert set(OTHERS) == {part.name for part in fields(Identity)}


@pytest.mark.parametrize("part", OTHERS)
def test_a_run_of_something_else_is_refused_by_what_is_different(tmp_path: Path, part: str) -> None:
    run = RunFolder(str(tmp_path))
    require_same(run, IDENTITY, IDENTITY)
    other = replace(IDENTITY, **{part: OTHERS[part]})
    for found, wanted in ((IDENTITY, other), (other, IDENTITY)):
        with pytest.raises(UserError, match=f"this run was made by .*: {part} is .* there and .* here"):
            require_same(run, found, wanted)


@pytest.mark.parametrize("part", OTHERS)
def test_an_identity_is_read_as_it_was_written(tmp_path: Path, part: str) -> None:
    run, identity = RunFolder(str(tmp_path)), replace(IDENTITY, **{part: OTHERS[part]})
    start = Space([], [0], [1], expanded=0, visited=[1], stepless=[Stepless()])
    write_manifest(run, Manifest(identity, "run", 4, Ledger(start)))
    read = read_manifest(run)
    assert (read.identity, read.run, read.partitions) == (identity, "run", 4)

"""The manifest of a run directory is read as it was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.explorer.breadth_first.space import Space
from insync.explorer.run_identity import Identity
from insync.spark_explore.driver.ledger import Ledger
from insync.spark_explore.driver.manifest import Manifest, read_manifest, write_manifest
from insync.spark_explore.wire.run_folder import RunFolder

pytest.importorskip("pyarrow")

IDENTITY = Identity("0.1", "kip320", {"replicas": 2}, ("strong_isr",), "c0de", within=("weak_isr",))


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = RunFolder(str(tmp_path))
    start = Space([], [0], [1], expanded=0, visited=[1])
    write_manifest(run, Manifest(IDENTITY, "run", 4, Ledger(start)))
    read = read_manifest(run)
    assert (read.identity, read.run, read.partitions) == (IDENTITY, "run", 4)

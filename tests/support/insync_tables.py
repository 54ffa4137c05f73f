"""An executor's tables for tests, in a module that a process of its own can import."""

from __future__ import annotations

from pathlib import Path

from insync.spark_explore.executor.tables import Tables
from insync.spark_explore.wire.run_folder import RunFolder
from insync_machine import store_kernels

ROW = 16


def tables_in(tmp_path: Path, run: RunFolder, limit: int | None = None, on_disk: bool = False) -> Tables:
    return Tables(tmp_path / "executor", run, store_kernels(2), 1, limit, on_disk)


def load_and_leave(tmp_path: Path, uri: str) -> None:
    tables = tables_in(tmp_path, RunFolder(uri))
    with tables.table(0) as table:
        tables.load(table, 2)
        tables.commit(table)

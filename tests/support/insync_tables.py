"""An executor's tables for tests, in a module that a process of its own can import."""

from __future__ import annotations

from pathlib import Path

from insync.spark_explore.executor.tables import Tables
from insync.spark_explore.wire.run_folder import RunFolder
from insync.spark_explore.wire.run_states import RunStates
from insync_machine import store_kernels

ROW = 16


def states_at(uri: str, warm: int = 1) -> RunStates:
    return RunStates(RunFolder(uri), "run", 2, warm)


def tables_in(tmp_path: Path, states: RunStates, limit: int | None = None, on_disk: bool = False) -> Tables:
    return Tables(tmp_path / "executor", states, store_kernels(2), limit, on_disk)


def load_and_leave(tmp_path: Path, uri: str) -> None:
    tables = tables_in(tmp_path, states_at(uri))
    with tables.table(0) as table:
        tables.load(table, 2)
        tables.commit(table)

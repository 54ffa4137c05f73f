"""A run directory on a store that is not the local file system, and looks like one, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from insync.spark_explore.wire.run_folder import StoreFolder

__all__ = ["on_a_store"]


class _Store:
    def __init__(self, real: Any, kind: str) -> None:
        self._real, self.type_name = real, kind

    def open_output_stream(self, path: str) -> Any:
        Path(path).parent.mkdir(parents=True, exist_ok=True)  # object stores have no folders
        return self._real.open_output_stream(path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def on_a_store(folder: Path, kind: str = "s3") -> StoreFolder:
    """Return a run directory whose file system says that it is of another kind."""
    from pyarrow.fs import LocalFileSystem

    files: Any = _Store(LocalFileSystem(), kind)
    return StoreFolder(str(folder), files, str(folder))

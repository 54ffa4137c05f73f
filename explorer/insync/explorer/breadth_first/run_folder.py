"""The names of the files of a run directory, and what is said where one cannot be written, or is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from insync.machine.on_disk.place import FilePlace
from insync.machine.row_forms import FORMS
from insync.model.errors import UserError

__all__ = ["RunFolder"]


class RunFolder(FilePlace):
    """A run directory.

    Args:
        folder: which.
    """

    def level_path(self, level: int, partition: int) -> Path:
        """Return where the states of a level are that a partition had in memory."""
        return self.sorted_path("level", level, partition)

    def other_levels(self, form: str) -> Iterator[Path]:
        """Yield the files of levels that are not sorted rows of one form, whole or not."""
        for kind in ("level", *(each.name for each in FORMS)):
            if kind != form:
                yield from self.folder.glob(f"{kind}-[0-9]*")

    def damaged(self, path: Path) -> UserError:
        """Return what is said of a file that is not what was written."""
        return UserError(f"{path}: this is not the level that was written. Search again in another --run-dir.")

    def unwritable(self, error: OSError) -> UserError:
        """Return what is said of a folder that cannot be written."""
        return UserError(
            f"{self.folder}: the run directory cannot be written ({error.strerror}). Name one with room; what it has "
            "by now stays, and --resume goes on with it."
        )

    def unreadable(self, path: Path, error: OSError) -> UserError:
        """Return what is said of a file that cannot be read."""
        return UserError(f"{path}: cannot be read ({error.strerror}). The run directory is not complete; search again.")

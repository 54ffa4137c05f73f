"""The names of the files of a run directory, and what is said where one cannot be written, or is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from insync.machine.stores.row_encoding import FORMS
from insync.machine.stores.sorted_file import FilePlace
from insync.model.errors import UserError

__all__ = ["IN_MEMORY", "RunFolder", "unwritable"]

IN_MEMORY = "level"
"""What stands in the place of a form in the name of a file of states that a partition had in memory."""


class RunFolder(FilePlace):
    """A run directory.

    Args:
        folder: which.
        run: the random name of its run.
    """

    def level_path(self, level: int, partition: int) -> Path:
        """Return where the states of a level are that a partition had in memory."""
        return self.sorted_path(IN_MEMORY, level, partition)

    def other_levels(self, form: str) -> Iterator[Path]:
        """Yield the files of levels that are not sorted rows of one form, whole or not."""
        for kind in (IN_MEMORY, *(each.name for each in FORMS)):
            if kind != form:
                yield from self.folder.glob(f"{kind}-[0-9]*")

    def damaged(self, path: Path) -> UserError:
        """Return what is said of a file that is not what was written."""
        return UserError(f"{path}: this is not the level that was written. Search again in another --run-dir.")

    def unwritable(self, error: OSError) -> UserError:
        """Return what is said of a folder that cannot be written."""
        return unwritable(self.folder, error)

    def unreadable(self, path: Path, error: OSError) -> UserError:
        """Return what is said of a file that cannot be read."""
        return UserError(f"{path}: cannot be read ({error.strerror}). The run directory is not complete; search again.")


def unwritable(folder: Path, error: OSError) -> UserError:
    """Return what is said of a run directory that cannot be written, and of the file if one stands in the way."""
    place = error.filename2 or error.filename or folder
    return UserError(
        f"{place}: the run directory cannot be written ({error.strerror}). Name one with room; what it has "
        "by now stays, and --resume goes on with it."
    )

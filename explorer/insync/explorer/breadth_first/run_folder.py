"""The names of the files of a run directory, and what is said where one cannot be written, or is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from insync.explorer.breadth_first.sorted_file import Damaged
from insync.machine.row_forms import FORMS
from insync.model.errors import UserError

__all__ = ["damaged", "level_path", "other_levels", "reading", "sorted_path", "unwritable", "writing"]


def level_path(folder: Path, level: int) -> Path:
    """Return where the states of a level are, of all partitions."""
    return folder / f"level-{level:05}"


def sorted_path(folder: Path, form: str, level: int, partition: int) -> Path:
    """Return where the sorted rows of a level are, of one partition and in one form."""
    return folder / f"{form}-{level:05}-{partition:04}"


def other_levels(folder: Path, form: str) -> Iterator[Path]:
    """Yield the files of levels that are not sorted rows of one form, whole or not."""
    for kind in ("level", *(each.name for each in FORMS)):
        if kind != form:
            yield from folder.glob(f"{kind}-[0-9]*")


def damaged(path: Path) -> UserError:
    """Return what is said of a file that is not what was written."""
    return UserError(f"{path}: this is not the level that was written. Search again in another --run-dir.")


def unwritable(folder: Path, error: OSError) -> UserError:
    """Return what is said of a folder that cannot be written."""
    return UserError(
        f"{folder}: the run directory cannot be written ({error.strerror}). Name one with room; what it has "
        "by now stays, and --resume goes on with it."
    )


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Write files of a folder within the block.

    Raises:
        UserError: there is no room for them.
    """
    try:
        yield
    except OSError as error:
        raise unwritable(folder, error) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Read a file within the block.

    Raises:
        UserError: it cannot be read, or is not what was written.
    """
    try:
        yield
    except OSError as error:
        message = f"{path}: cannot be read ({error.strerror}). The run directory is not complete; search again."
        raise UserError(message) from error
    except Damaged as error:
        raise damaged(path) from error

"""A folder of sorted files, and what its owner says where one cannot be written, or is damaged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from insync.machine.stores.sorted_file import SORTED_FORMAT
from insync.model.checksums import Damaged, Label
from insync.model.errors import UserError

__all__ = ["FilePlace"]


class FilePlace(ABC):
    """Where sorted files are.

    Args:
        folder: which.
        run: the identity of the run that they belong to.
    """

    def __init__(self, folder: Path, run: str) -> None:
        self.folder, self.run = folder, run

    @abstractmethod
    def unwritable(self, error: OSError) -> UserError:
        """Return what is said of a folder that cannot be written."""

    @abstractmethod
    def unreadable(self, path: Path, error: OSError) -> UserError:
        """Return what is said of a file that cannot be read."""

    @abstractmethod
    def damaged(self, path: Path) -> UserError:
        """Return what is said of a file that is not what was written."""

    def sorted_path(self, form: str, level: int, partition: int) -> Path:
        """Return where the sorted rows of a level are, of one partition and in one form."""
        return self.folder / f"{form}-{level:05}-{partition:04}"

    def label(self, form: str, level: int, partition: int, words: int) -> Label:
        """Return what says which file one of sorted rows is; `words` is the size of a row."""
        return {
            "kind": "sorted rows",
            "format": SORTED_FORMAT,
            "run": self.run,
            "form": form,
            "level": level,
            "partition": partition,
            "words": words,
        }

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write files of the folder within the block.

        Raises:
            UserError: there is no room for them.
        """
        try:
            yield
        except OSError as error:
            raise self.unwritable(error) from error

    @contextmanager
    def reading(self, path: Path) -> Iterator[None]:
        """Read a file within the block.

        Raises:
            UserError: it cannot be read, or is not what was written.
        """
        try:
            yield
        except OSError as error:
            raise self.unreadable(path, error) from error
        except Damaged as error:
            raise self.damaged(path) from error

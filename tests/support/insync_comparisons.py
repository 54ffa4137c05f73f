"""Tables of comparisons with other checkers, which several processes may write at a time."""

from __future__ import annotations

import csv
import fcntl
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Generic, TypeVar

__all__ = ["Comparison", "Comparisons", "Key"]

Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared with what insync says.

    Attributes:
        model: the model.
        bounds: its bounds, those that are not the defaults.
        properties: `named` for what the subject is judged by, `none` where the whole space was counted; or a property
            of runs.
        engine: the checker, and the way in which it is given the model (insync_ways.py).
    """

    model: str
    bounds: str
    properties: str
    engine: str

    @property
    def key(self) -> Key:
        """What names it in a table."""
        return self.model, self.bounds, self.properties, self.engine


Row = TypeVar("Row", bound=Comparison)


class Comparisons(Generic[Row]):
    """A table of comparisons in a file, a row for each.

    Args:
        path: the file, of comma-separated values.
        kind: what a row is; its fields, all of them texts, are the columns.
    """

    def __init__(self, path: Path, kind: type[Row]) -> None:
        self.path, self._kind = path, kind
        self._version: tuple[int, int] | None = None
        self._rows: Mapping[Key, Row] = {}

    def read(self) -> Mapping[Key, Row]:
        """Return the rows by what was compared; a file that is the one last read, as each write makes a new one, is not
        read again.
        """
        if not self.path.exists():
            return {}
        with self.path.open(encoding="utf-8", newline="") as file:
            known = os.fstat(file.fileno())
            if self._version != (version := (known.st_ino, known.st_mtime_ns)):
                self._rows = {row.key: row for row in (self._kind(**row) for row in csv.DictReader(file))}
                self._version = version
        return self._rows

    def keep(self, row: Row) -> None:
        """Put a row into the table, in place of the one for the same comparison."""
        with self._locked():
            self._write({**self.read(), row.key: row})

    def forget(self, keys: Collection[Key]) -> None:
        """Take rows out of the table, those of them that are there."""
        with self._locked():
            known = self.read()
            if not known.keys().isdisjoint(keys):
                self._write({key: row for key, row in known.items() if key not in keys})

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self.path.with_suffix(".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _write(self, rows: Mapping[Key, Row]) -> None:
        """Write the table, whole or not at all."""
        new = self.path.with_suffix(".new")
        with new.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([field.name for field in fields(self._kind)])
            writer.writerows(astuple(rows[key]) for key in sorted(rows))
        new.replace(self.path)

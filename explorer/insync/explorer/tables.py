"""How results look in Python: a short `repr`, HTML in a notebook, and tables for Arrow and pandas."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from insync.runtime.errors import UserError, closest
from insync.runtime.text import in_one_line

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Shown", "TableColumns", "with_fields"]

TableColumns = Mapping[str, "Sequence[object] | pa.Array"]
"""The columns of a table by name, of equal length."""


def with_fields(own: TableColumns, fields: TableColumns) -> TableColumns:
    """Return a table's own columns and those of a model's fields; a field with the name of the former gets a `_`."""
    return {**own, **{f"{name}_" if name in own else name: values for name, values in fields.items()}}


class Shown:
    """A result with a short `repr`, which a notebook shows as HTML, and with tables if it has any."""

    __slots__ = ()

    def summary(self) -> str:
        """Return the result in one line, without its type."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return in_one_line(f"<{type(self).__name__} {self.summary()}>")

    def _repr_html_(self) -> str:
        # By name, as the module that draws all results imports this one.
        return str(importlib.import_module("insync.explorer.documents.document").notebook(self))

    def tables(self) -> tuple[str, ...]:
        """Return the names of the tables; the first one is the default."""
        return tuple(self._tables())

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the function that makes each table, by its name."""
        return {}

    def to_arrow(self, table: str | None = None) -> pa.Table:
        """Return a table of the result for Arrow.

        Args:
            table: its name; None is the first one. `tables()` has the names.

        Raises:
            UserError: there is no such table, or the extra `tables` is not installed.
        """
        _require("pyarrow")
        import pyarrow as pa

        return pa.table(dict(self._columns(table)))

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        """Return a table of the result for pandas; see `to_arrow`."""
        _require("pandas")
        frame: pd.DataFrame = self.to_arrow(table).to_pandas()
        return frame

    def _columns(self, table: str | None) -> TableColumns:
        known = self._tables()
        if not known:
            message = f"{type(self).__name__} has no tables. Use its other methods."
            raise UserError(message)
        name = next(iter(known)) if table is None else table
        if name not in known:
            message = f"{type(self).__name__} has no table {name!r}. {closest(str(name), known)}"
            raise UserError(message)
        return known[name]()


def _require(library: str) -> None:
    if find_spec(library) is None:
        message = f"Tables need the extra `tables` ({library} is missing); install it: pip install 'insync[tables]'."
        raise UserError(message)

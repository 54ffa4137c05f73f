"""The formats that a model can be exported to: each is one function, and this is the table of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from insync.explorer.export.dot import dot_files
from insync.explorer.export.promela import promela_files
from insync.explorer.export.tla.module import tla_files, unrolled_tla_files
from insync.model import Model
from insync.model.errors import UserError, closest

__all__ = ["FORMATS", "Format", "require_format"]

Format = Callable[[Model, Sequence[str], str], dict[str, str]]
"""Of a model, the names of properties and what the main file is called: the files by name, the main one first."""

FORMATS: Mapping[str, Format] = {
    "tla": tla_files,
    "tla-unrolled": unrolled_tla_files,
    "promela": promela_files,
    "dot": dot_files,
}
"""Every format, by the word that `--to` takes."""


def require_format(name: str) -> Format:
    """Return the format of a name.

    Raises:
        UserError: there is none.
    """
    if name not in FORMATS:
        message = f"There is no format {name!r} to export to. {closest(name, FORMATS)}"
        raise UserError(message)
    return FORMATS[name]

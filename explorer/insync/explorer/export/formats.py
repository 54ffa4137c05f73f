"""The table of export formats, one function for each, and the export to DOT."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from insync.explorer.export.promela import promela_files
from insync.explorer.export.tla.module import tla_files, unrolled_tla_files
from insync.explorer.runs.state_graph import build_graph, dot_text
from insync.model import Model
from insync.runtime.errors import UserError, closest
from insync.runtime.watch import Limits

__all__ = [
    "FORMATS",
    "require_format",
]


# DOT: the state graph of a model.


_MOST = 20_000


def dot_files(model: Model, properties: Sequence[str], name: str) -> dict[str, str]:
    """Return one file with the state graph of a model; `properties` are ignored.

    Raises:
        UserError: there are more than 20,000 states.
    """
    found = build_graph(model, limits=Limits(states=_MOST + 1))
    if found.stopped_by is not None or len(found) > _MOST:
        message = (
            f"The graph of {model.name} has more than {_MOST:,} states, so it was not written. Take smaller bounds, or "
            f"`insync graph` with --max-depth or a larger --max-states."
        )
        raise UserError(message)
    return {f"{name}.dot": dot_text(found)}


Format = Callable[[Model, Sequence[str], str], dict[str, str]]
"""Maps a model, names of properties and the name of the main file to the files by name, the main one first."""

FORMATS: Mapping[str, Format] = {
    "tla": tla_files,
    "tla-unrolled": unrolled_tla_files,
    "promela": promela_files,
    "dot": dot_files,
}
"""Every format by its name, as `--to` takes it."""


def require_format(name: str) -> Format:
    """Return the format with a name.

    Raises:
        UserError: there is none with that name.
    """
    if name not in FORMATS:
        message = f"There is no format {name!r} to export to. {closest(name, FORMATS)}"
        raise UserError(message)
    return FORMATS[name]

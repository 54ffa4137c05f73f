"""The formats that a model can be exported to: each is one function, and this is the table of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from insync.explorer.export.promela import promela_files
from insync.explorer.export.tla.module import tla_files, unrolled_tla_files
from insync.explorer.limits import Limits
from insync.explorer.runs.state_graph import build_graph, dot_text
from insync.model import Model
from insync.model.errors import UserError, closest

__all__ = [
    "FORMATS",
    "require_format",
]


# A model as DOT: the graph of its states, where there are few enough to be looked at.


_MOST = 20_000


def dot_files(model: Model, properties: Sequence[str], name: str) -> dict[str, str]:
    """Return the one file with the graph of a model; properties are no part of it.

    Raises:
        UserError: the space has more states than anybody looks at.
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

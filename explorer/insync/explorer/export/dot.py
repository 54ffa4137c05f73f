"""A model as DOT: the graph of its states, where there are few enough to be looked at."""

from __future__ import annotations

from collections.abc import Sequence

from insync.explorer.limits import Limits
from insync.explorer.runs.state_graph import build_graph, dot_text
from insync.model import Model
from insync.model.errors import UserError

__all__ = ["dot_files"]

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

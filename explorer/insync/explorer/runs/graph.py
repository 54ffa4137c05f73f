"""`graph`: the states and steps of a small space, to look at or to write for other tools."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from insync.explorer.given_model import ModelLike, model_of
from insync.explorer.limits import Limits
from insync.explorer.progress import Reporter
from insync.explorer.runs.graph_export import dot_text, graphml_text
from insync.explorer.runs.state_graph import StateGraph, build_graph
from insync.explorer.traces.files import write_whole
from insync.model.errors import UserError
from insync.properties.registry import confined

__all__ = ["graph", "require_graph_format", "write_graph"]

_WRITERS: Mapping[str, Callable[[StateGraph], str]] = {".graphml": graphml_text, ".dot": dot_text}


def graph(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    within: Sequence[str] | None = None,
    limits: Limits | None = None,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> StateGraph:
    """Return the graph of a model's states, all of them unless a limit ends the exploration.

    Args:
        model: what to explore: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        within: names of invariants; states in which one fails are in the graph without their steps. None is what the
            model's class says.
        limits: bounds of compilation and exploration; without one on the states it is `state_graph.MOST_STATES`.
        reporter: is told about once a second how far it is.
        stop: ends compilation or exploration when it is set.

    Raises:
        UserError: an unknown model, bound or invariant, or the extra `graph` is not installed.
    """
    return build_graph(confined(model_of(model, bounds), within), limits=limits, reporter=reporter, stop=stop)


def require_graph_format(path: Path) -> None:
    """Raise UserError unless the ending of a path says in which format a graph is written there."""
    if path.suffix not in _WRITERS:
        message = f"{path}: a graph is written as .graphml or .dot; give the file one of these endings."
        raise UserError(message)


def write_graph(path: str | Path, written: StateGraph) -> None:
    """Write a graph as GraphML or DOT, by the ending of the path.

    Raises:
        UserError: another ending, or the file cannot be written.
    """
    file = Path(path)
    require_graph_format(file)
    write_whole(file, _WRITERS[file.suffix](written))

"""The table of export formats, and the graphs of small spaces."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from insync.explorer.export.promela import promela_files
from insync.explorer.export.tla.module import tla_files, unrolled_tla_files
from insync.explorer.progress import Reporter
from insync.explorer.runs.state_graph import StateGraph, build_graph, dot_text, graphml_text
from insync.model import Model
from insync.runtime.errors import UserError, closest
from insync.runtime.watch import Limits, StopReason

__all__ = [
    "FORMATS",
    "GRAPHS",
    "MOST_STATES",
    "require_format",
    "small_graph",
]

MOST_STATES = 20_000
"""The most states of a graph that is exported, as it is made to be looked at."""

GRAPHS: Mapping[str, Callable[[StateGraph], str]] = {"graphml": graphml_text, "dot": dot_text}
"""The formats of graphs, each with the text of a graph."""


def small_graph(
    model: Model,
    *,
    depth: int | None = None,
    states: int = MOST_STATES,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> StateGraph:
    """Return the graph of a model's states, all of them unless `depth` or `stop` ends the exploration.

    Args:
        model: the model.
        depth: the number of levels; None is all.
        states: the most states that the graph may have.
        reporter: called about once a second with the progress.
        stop: ends the exploration when it is set.

    Raises:
        UserError: there are more states.
    """
    found = build_graph(model, limits=Limits(depth=depth, states=states + 1), reporter=reporter, stop=stop)
    if found.stopped_by not in (None, StopReason.DEPTH, StopReason.INTERRUPT) or len(found) > states:
        message = (
            f"The graph of {model.name} has more than {states:,} {'state' if states == 1 else 'states'}, so it was not "
            "written. Take smaller bounds, or `insync export` with --max-depth or a larger --max-states."
        )
        raise UserError(message)
    return found


def _graph_files(form: str, model: Model, properties: Sequence[str], name: str) -> dict[str, str]:
    """Return one file with the state graph of a model; `properties` are ignored."""
    return {f"{name}.{form}": GRAPHS[form](small_graph(model))}


Format = Callable[[Model, Sequence[str], str], dict[str, str]]
"""Maps a model, names of properties and the name of the main file to the files by name, the main one first."""

FORMATS: Mapping[str, Format] = {
    "tla": tla_files,
    "tla-unrolled": unrolled_tla_files,
    "promela": promela_files,
    **{form: partial(_graph_files, form) for form in GRAPHS},
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

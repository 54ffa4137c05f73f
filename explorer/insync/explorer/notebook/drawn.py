"""A trace as a drawing in a notebook."""

from __future__ import annotations

from html import escape

from insync.explorer.given_model import model_of
from insync.explorer.traces.grid import Columns, render_grid
from insync.explorer.traces.trace import Trace
from insync.model import Model, ReadableState
from insync.model.columns import show
from insync.model.errors import UserError

__all__ = ["drawing_of", "model_behind"]


def drawing_of(trace: Trace) -> str:
    """Return a trace as HTML."""
    model = model_behind(trace)
    columns: Columns = _plain_columns if model is None else model.grid
    return f"<pre>{escape(render_grid(trace, columns, width=160))}</pre>"


def model_behind(trace: Trace) -> Model | None:
    """Return the model of a trace: by its name, or the class that was last defined with it, as in a notebook's cell.

    None where there is no such model any more: what the trace says can be shown all the same.
    """
    try:
        return model_of(trace.model, trace.bounds)
    except UserError:
        pass
    here = [kind for kind in _kinds(Model) if kind.__module__ == "__main__" and kind.name == trace.model]
    try:
        return here[-1](**trace.bounds) if here else None
    except UserError:
        return None


def _kinds(base: type[Model]) -> list[type[Model]]:
    """Return the classes below a class, those of a class in the order of their definition."""
    return [found for kind in base.__subclasses__() for found in (kind, *_kinds(kind))]


def _plain_columns(state: ReadableState) -> dict[str, str]:
    return {name: show(value) for name, value in state.items()}

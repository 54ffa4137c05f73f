"""A trace as a picture in a notebook."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from html import escape

from insync.explorer.documents.html import folded, paragraph
from insync.explorer.named_model import loaded_kind
from insync.explorer.pictures.picture import Picture, picture
from insync.explorer.pictures.svg import svg
from insync.explorer.prove import induction_trace
from insync.explorer.traces.grid import Columns, render_grid
from insync.explorer.traces.trace import Trace
from insync.model import Model, ReadableState
from insync.model.catalogue import BUILT_IN
from insync.model.language.presentation import show
from insync.proofs.results import CounterexampleToInduction
from insync.runtime.errors import UserError

__all__ = ["drawing_of", "drawing_of_induction", "model_behind", "picture_html"]

_WIDTH = 120


def drawing_of(trace: Trace) -> str:
    """Return a trace as HTML: a picture, and the grid as text.

    If the model is not loaded, or has other fields now, the result is the grid alone. The model is never imported, as a
    trace from a stranger must not run code.
    """
    model = model_behind(trace)
    if model is None:
        why = f"{trace.model} is not loaded with these fields. What replay(trace, model=...) returns is a picture."
        return _grid(trace, _plain_columns) + paragraph(why, dim=True)
    drawn = picture(trace, model)
    named = "" if trace.model in BUILT_IN else f", model={type(model).__name__}"
    again = f'replay("{drawn.file}"{named})'
    kept = f'In Python write_trace("{drawn.file}", trace) keeps it, and {again} takes its steps again.'
    return picture_html(replace(drawn, command=kept)) + folded("As text", _grid(trace, model.grid))


def drawing_of_induction(model: Model, found: CounterexampleToInduction) -> str:
    """Return a counterexample to induction as HTML: a good state, and the step from it to a bad one."""
    drawn = picture(induction_trace(model, found), model)
    asked = f"Does every step from a good state of {model.name} keep {', '.join(found.failing)}?"
    said = "No: this one does not. Whether its first state is ever reached is not known."
    return picture_html(replace(drawn, question=asked, verdict=said, command=""))


def picture_html(drawn: Picture) -> str:
    """Return a picture as an `img` element with embedded data, which keeps its style apart from that of the page."""
    said = f"{drawn.question} {drawn.verdict} {''.join(phrase.text for phrase in drawn.reason)}"
    data = b64encode(svg(drawn).encode()).decode()
    return f'<img alt="{escape(said)}" style="max-width: 100%" src="data:image/svg+xml;base64,{data}"/>'


def _grid(trace: Trace, columns: Columns) -> str:
    return f"<pre>{escape(render_grid(trace, columns, width=_WIDTH))}</pre>"


def model_behind(trace: Trace) -> Model | None:
    """Return the model of a trace: one that comes with insync, or the class of its name that was defined last.

    The result is None if there is none, or if the states of the trace do not belong to it.
    """
    try:
        kind = loaded_kind(trace.model)
        if kind is None:
            return None
        model = kind(**trace.bounds)
        for step in trace.steps:
            model.encode(step.state)
    except UserError:
        return None
    return model


def _plain_columns(state: ReadableState) -> dict[str, str]:
    return {name: show(value) for name, value in state.items()}

"""Elements of HTML for results: escaped text, verdicts, tables, bar charts, foldable parts, and traces as pictures.

The notebook decides on font and background. The colours here are legible on light and dark, and carry no information
alone.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape

from insync.explorer.named_model import loaded_kind
from insync.explorer.pictures.picture import Picture, picture
from insync.explorer.pictures.svg import svg
from insync.explorer.results import PropertyResult
from insync.explorer.traces.grid import Columns, render_grid
from insync.explorer.traces.trace import Trace
from insync.model import Model, ReadableState
from insync.model.catalogue import BUILT_IN
from insync.model.language.presentation import show
from insync.runtime.errors import UserError

__all__ = [
    "actions_table",
    "badge",
    "bars",
    "different",
    "drawing_of",
    "folded",
    "heading",
    "level_bars",
    "model_behind",
    "page",
    "paragraph",
    "picture_html",
    "properties_table",
    "table",
    "warned",
]


STYLE = """
.insync { font-size: 14px; line-height: 1.45; max-width: 100%; }
.insync p { margin: .3em 0; }
.insync .badge { display: inline-block; padding: 0 .5em; border-radius: .3em; color: #fff; font-weight: 600; }
.insync .good { background: #1b7034; }
.insync .bad { background: #b3261e; }
.insync .open { background: #7a5200; }
.insync .dim { opacity: .8; }
.insync table { border-collapse: collapse; margin: .4em 0; font-variant-numeric: tabular-nums; }
.insync th, .insync td { text-align: left; vertical-align: top; padding: .15em .7em .15em 0; border: 0; }
.insync th, .insync td { background: none; }
.insync th { font-weight: 600; border-bottom: 1px solid currentColor; }
.insync td.number, .insync th.number { text-align: right; }
.insync pre { overflow-x: auto; background: none; color: inherit; font-size: 12px; line-height: 1.35; }
.insync summary { cursor: pointer; padding: .15em 0; min-height: 24px; }
.insync figure { margin: .5em 0; }
"""

_TONES = {"holds": "good", "violated": "bad", "incomplete": "open"}


def page(parts: Iterable[str]) -> str:
    """Return parts as one element with its style sheet."""
    return f'<div class="insync"><style>{STYLE}</style>{"".join(parts)}</div>'


def badge(verdict: str) -> str:
    """Return a verdict as a coloured word."""
    return f'<span class="badge {_TONES.get(verdict, "open")}">{escape(verdict)}</span>'


def heading(verdict: str, model: str, bounds: Mapping[str, int | str]) -> str:
    """Return the first line of a result: verdict, model, bounds."""
    said = ", ".join(f"{name} {value}" for name, value in bounds.items())
    return f'<p>{badge(verdict)} <strong>{escape(model)}</strong> <span class="dim">{escape(said)}</span></p>'


def paragraph(text: str, *, dim: bool = False) -> str:
    """Return a paragraph with the line breaks of a text."""
    shown = "<br/>".join(escape(line) for line in text.splitlines())
    return f'<p class="dim">{shown}</p>' if dim else f"<p>{shown}</p>"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table. Columns of integers are right-aligned with thousands separators; None is an empty cell."""
    rows = [list(row) for row in rows]
    numbers = [bool(rows) and all(isinstance(row[at], int | None) for row in rows) for at in range(len(heads))]
    top = "".join(_cell("th", head, number) for head, number in zip(heads, numbers, strict=True))
    body = "".join(
        f"<tr>{''.join(_cell('td', cell, number) for cell, number in zip(row, numbers, strict=True))}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(tag: str, cell: object, number: bool) -> str:
    text = "" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell)
    return f'<{tag} class="number">{escape(text)}</{tag}>' if number else f"<{tag}>{escape(text)}</{tag}>"


def folded(title: str, content: str) -> str:
    """Return content that unfolds on a click on its title."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def bars(values: Sequence[int], caption: str) -> str:
    """Return a bar chart, with each value as a tooltip."""
    if not values:
        return ""
    width, height, top = 6 * len(values), 48, max(*values, 1)
    drawn = []
    for place, value in enumerate(values):
        tall = max(1.0, height * value / top) if value else 0.0
        drawn.append(
            f'<rect x="{6 * place}" y="{height - tall:.1f}" width="5" height="{tall:.1f}" fill="currentColor">'
            f"<title>{place + 1}: {value:,}</title></rect>"
        )
    return (
        f'<figure><svg role="img" aria-label="{escape(caption)}" viewBox="0 0 {width} {height}" '
        f'width="{min(2 * width, 480)}" height="{height}" preserveAspectRatio="none">{"".join(drawn)}</svg>'
        f'<figcaption class="dim">{escape(caption)}</figcaption></figure>'
    )


_WIDTH = 120


def drawing_of(trace: Trace) -> str:
    """Return a trace as HTML: a picture, and the grid as text.

    If the model is not loaded, or has other fields now, the result is the grid alone. The model is never imported, as a
    trace from a stranger must not run code.
    """
    model = model_behind(trace)
    if model is None:
        why = f"{trace.model} is not loaded with these fields. replay(trace, model=...) returns the trace as a picture."
        return _grid(trace, _plain_columns) + paragraph(why, dim=True)
    drawn = picture(trace, model)
    named = "" if trace.model in BUILT_IN else f", model={type(model).__name__}"
    again = f'replay("{drawn.file}"{named})'
    kept = f'In Python write_trace("{drawn.file}", trace) keeps it, and {again} takes its steps again.'
    return picture_html(replace(drawn, command=kept)) + folded("As text", _grid(trace, model.grid))


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


def different(traces: Iterable[Trace]) -> Iterator[str]:
    """Yield the drawing of each trace; for one with the steps of an earlier one, a sentence."""
    drawn: list[Trace] = []
    for trace in traces:
        if trace.refused is None and any(trace.steps == earlier.steps for earlier in drawn):
            yield paragraph(f"{trace.property} fails after the same steps.\n{trace.reason}")
        else:
            yield drawing_of(trace)
        drawn.append(trace)


def properties_table(properties: Sequence[PropertyResult], lengths: Mapping[str, int]) -> str:
    """Return the table of properties; `lengths` has the lengths of their traces."""
    rows = [(found.name, found.verdict.value, lengths.get(found.name)) for found in properties]
    return table(("property", "verdict", "states of its trace" if lengths else ""), rows)


def actions_table(actions: Mapping[str, int], impossible: Sequence[str]) -> str:
    """Return the table of the steps of each action, the most frequent first."""
    ranked = sorted(actions.items(), key=lambda pair: -pair[1])
    return table(
        ("action", "steps", ""),
        ((name, number, "impossible at these bounds" if name in impossible else None) for name, number in ranked),
    )


def level_bars(levels: Sequence[int]) -> str:
    """Return a bar chart of the states of each level."""
    caption = f"states by depth, 1 to {len(levels)}; the largest level has {max(levels, default=0):,}"
    return bars(levels, caption)


def warned(warnings: Sequence[str]) -> Iterator[str]:
    """Yield a paragraph for each warning."""
    yield from (paragraph(f"warning: {text}") for text in warnings)

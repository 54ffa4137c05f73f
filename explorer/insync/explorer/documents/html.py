"""Elements of HTML for results: escaped text, verdicts, tables, bar charts, foldable parts.

The notebook decides on font and background. The colours here are legible on light and dark, and carry no information
alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

__all__ = ["badge", "bars", "folded", "heading", "page", "paragraph", "table"]

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

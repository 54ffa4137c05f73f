"""The state that is looked at, as a piece of HTML."""

from __future__ import annotations

from html import escape

from insync.explorer.exploring.exploration import Exploration
from insync.model.columns import cell_text

__all__ = ["drawn_state"]


def drawn_state(exploration: Exploration) -> str:
    """Return the table of the state that an exploration looks at."""
    model, path = exploration.model, exploration.visited.path
    now = model.grid(model.decode(path[-1].codes))
    before = model.grid(model.decode(path[-2].codes)) if len(path) > 1 else now
    rows = []
    for name, cell in now.items():
        changed = before.get(name) != cell
        mark = '<span class="unseen"> changed</span>' if changed else ""
        rows.append(
            f'<tr class="{"changed" if changed else "same"}"><th scope="row">{escape(name)}{mark}</th>'
            f"<td>{escape(cell_text(cell) or '-')}</td></tr>"
        )
    return f"<table><caption>The state</caption>{''.join(rows)}</table>"

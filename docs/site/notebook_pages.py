"""A notebook as a page: its text, its cells, and what they showed when they were run last."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

__all__ = ["notebook_page"]

FENCE = "`" * 6  # longer than any in what is shown


def notebook_page(text: str) -> str:
    """Return the file of a notebook as Markdown, with raw HTML where a result shows itself."""
    return "\n\n".join(part for cell in json.loads(text)["cells"] for part in _cell(cell)) + "\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"{FENCE}python\n{source}\n{FENCE}"
    for output in cell["outputs"]:
        shown = output.get("data", {})
        if "text/html" in shown:
            yield f'{FENCE}{{raw}} html\n<div class="output">{"".join(shown["text/html"])}</div>\n{FENCE}'
        else:
            yield f"{FENCE}text\n{''.join(output.get('text', shown.get('text/plain', '')))}\n{FENCE}"

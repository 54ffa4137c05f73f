"""Traces as pictures: on standard output, or as a page in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from insync.explorer.traces.trace_file import is_itf

if TYPE_CHECKING:
    from insync.explorer.pictures.page import Caption
    from insync.explorer.pictures.picture import Picture
    from insync.explorer.traces.trace import Trace
    from insync.model import Model

__all__ = ["PICTURES", "as_picture", "write_page"]

PICTURES = ("html", "svg", "mermaid", "markdown")
"""The formats of pictures."""


def as_picture(form: str, trace: Trace, model: Model, file: Path) -> str:
    """Return a trace as a picture in one of `PICTURES`."""
    from insync.explorer.pictures import markup, page, svg
    from insync.explorer.pictures.picture import picture
    from insync.explorer.traces.trace_file import trace_text

    drawn = picture(trace, model, file=file)
    if form == "html":
        return page.html_page([page.Page(drawn, trace_text(trace))])
    return {"svg": svg.svg, "mermaid": markup.mermaid, "markdown": markup.markdown}[form](drawn)


def write_page(
    path: Path,
    shown: Sequence[tuple[Trace, Model, Path | None]],
    *,
    others: Sequence[Picture] = (),
    captions: Sequence[Caption] = (),
) -> None:
    """Write a page of traces, each with its model, its file, if any, and its caption, and of other pictures.

    Raises:
        UserError: the page cannot be written.
    """
    from insync.explorer.pictures import page

    replayed = [(trace, model, None if file is None or is_itf(file) else file) for trace, model, file in shown]
    page.write_page(path, replayed, others=others, captions=captions)

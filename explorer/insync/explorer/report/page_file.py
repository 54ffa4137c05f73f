"""The page of some traces as a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from insync.explorer.report.html import Page, html_page
from insync.explorer.report.picture import Picture, picture
from insync.explorer.traces.files import write_whole
from insync.explorer.traces.trace import Trace
from insync.explorer.traces.trace_file import trace_text
from insync.model import Model

__all__ = ["write_page"]


def write_page(
    path: Path, shown: Sequence[tuple[Trace, Model, Path | None]], *, others: Sequence[Picture] = ()
) -> None:
    """Write the page of some traces, each with its model and the file that `insync replay` takes, if there is one.

    Args:
        path: of the page.
        shown: the traces.
        others: pictures that stand below them and cannot be replayed.

    Raises:
        UserError: the page cannot be written.
    """
    pages = [Page(picture(trace, model, file=file), trace_text(trace)) for trace, model, file in shown]
    pages += [Page(drawn) for drawn in others]
    write_whole(path, html_page(pages))

"""The page of some traces as a file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain, count
from pathlib import Path

from insync.explorer.pictures.page import Page, html_page
from insync.explorer.pictures.picture import Picture, file_for, picture
from insync.explorer.traces.files import write_whole
from insync.explorer.traces.trace import Trace
from insync.explorer.traces.trace_file import trace_text
from insync.model import Model

__all__ = ["write_page"]


def write_page(
    path: Path, shown: Sequence[tuple[Trace, Model, Path | None]], *, others: Sequence[Picture] = ()
) -> None:
    """Write the page of some traces, each with its model and the file that `insync replay` takes, if there is one.

    Where there is none, the page offers one, and no two of these have the same name.

    Args:
        path: of the page.
        shown: the traces.
        others: pictures that stand below them and cannot be replayed.

    Raises:
        UserError: the page cannot be written.
    """
    offered: set[Path] = set()
    pages = []
    for trace, model, file in shown:
        name = file or _free(file_for(trace, model), offered)
        offered.add(name)
        pages.append(Page(picture(trace, model, file=name), trace_text(trace)))
    pages += [Page(drawn) for drawn in others]
    write_whole(path, html_page(pages))


def _free(name: Path, taken: Collection[Path]) -> Path:
    numbered = (name.with_stem(f"{name.stem}-{number}") for number in count(2))
    return next(each for each in chain([name], numbered) if each not in taken)
